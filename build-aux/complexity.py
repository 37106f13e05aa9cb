#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The longest and the most complex functions, internal functions that one file alone uses, and repeated code.

    complexity.py [ROOT] [--top N]

Complexity: 1 and one for each branch (if, for, while, case, ?, &&, ||). A report for people: it fails nothing, but
for what nobody uses at all.
"""
import collections
import os
import re
import sys

import source_tree

FUNCTION = re.compile(r'^(?!typedef|struct|enum|union|static const|#|else|return)[A-Za-z_][\w \t*\n(),.]*?\b(\w+)\([^;{}]*\)\s*\{', re.M)
BRANCH = re.compile(r'\b(?:if|for|while|case)\b|&&|\|\||\?')
REPEATED = 12  # lines in a row


def functions(code):
    """(name, first line, lines, complexity) of each function of a file without comments and strings."""
    for found in FUNCTION.finditer(code):
        depth, at = 0, found.end() - 1
        while at < len(code):
            depth += {'{': 1, '}': -1}.get(code[at], 0)
            at += 1
            if depth == 0:
                break
        body = code[found.end():at]
        first = code.count('\n', 0, found.start()) + 1
        yield found.group(1), first, code.count('\n', found.start(), at) + 1, 1 + len(BRANCH.findall(body))


def main():
    arguments = sys.argv[1:]
    top = int(arguments.pop(arguments.index('--top') + 1)) if '--top' in arguments else 15
    arguments = [a for a in arguments if a != '--top']
    root = arguments[0] if arguments else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = {name: source_tree.without_comments(source_tree.read(root, name), keep_strings=False)
            for name in source_tree.files(root, '.c', '.h', under=('lib/', 'tools/', 'include/', 'tests/', 'fuzz/', 'bench/'))}
    rows = [(lines, complexity, name, first, function) for name, text in code.items()
            if name.endswith('.c') and name.startswith(('lib/', 'tools/')) and '/gen/' not in name
            for function, first, lines, complexity in functions(text)]
    print(f'{len(rows)} functions')
    print('longest:')
    for lines, complexity, name, first, function in sorted(rows, reverse=True)[:top]:
        print(f'  {lines:4} lines, complexity {complexity:3}  {name}:{first} {function}')
    print('most complex:')
    for lines, complexity, name, first, function in sorted(rows, key=lambda row: -row[1])[:top]:
        print(f'  complexity {complexity:3}, {lines:4} lines  {name}:{first} {function}')
    users = collections.defaultdict(set)
    for name, text in code.items():
        for word in set(re.findall(r'\bgv_\w+', text)):
            users[word].add(name)
    internal = {function: name for _, _, name, _, function in rows if function.startswith('gv_')}
    lonely = sorted((name, function) for function, name in internal.items()
                    if {user for user in users[function] if user.endswith('.c')} == {name})
    print(f'functions of a header that only their own file uses: {len(lonely)}')
    for name, function in lonely[:top]:
        print(f'  {name}: {function}')
    seen = collections.defaultdict(list)
    for name, text in code.items():
        if name.startswith('lib/') and name.endswith('.c') and '/gen/' not in name:
            lines = [(i + 1, ' '.join(line.split())) for i, line in enumerate(text.splitlines()) if len(line.strip()) > 1
                     and not line.startswith('#')]
            for i in range(len(lines) - REPEATED):
                seen['\n'.join(line for _, line in lines[i:i + REPEATED])].append(f'{name}:{lines[i][0]}')
    repeats = sorted(places for places in seen.values() if len(places) > 1)
    print(f'{REPEATED} lines in a row that stand elsewhere, too: {len(repeats)}')
    for places in repeats[:top]:
        print('  ' + ', '.join(places[:4]))
    return 0


if __name__ == '__main__':
    sys.exit(main())
