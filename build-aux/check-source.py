#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Size, marks and words of the source.

    check-source.py [ROOT]

Errors: a file over 800 lines, a mark (TODO and its kin) without a reason, paths of one machine, words
that have no place here, spaces at line ends, tabs in C. Warnings: functions over 60 lines.
"""
import re
import sys

import source_tree

FILE_LINES = 800
FUNCTION_LINES = 60
CODE = ('.c', '.h', '.py', '.sh', '.go', 'meson.build', 'dev', '.ci/run')
TEXT = CODE + ('.md', '.yaml', '.yml', '.txt', '.map')
DATA = ('tests/golden/', 'tests/data/', 'tests/conformance/cases/', 'fuzz/corpus/', 'examples/articles/')
GENERATED = re.compile(r'(/gen/|_gen\.[ch]$|generated|go\.sum$)')
HOLDS_EXAMPLES = ('build-aux/check-source.py', 'tests/build-aux/test_gates.py')
MARK = re.compile(r'\b(TODO|FIXME|XXX|HACK)\b(\([^)]+\): ?\S.{9,})?')
# Written in pieces so that this file does not find itself.
PATHS = re.compile('|'.join([r'(?<![\w.])/wo' r'rk/', r'(?<![\w.])/ro' r'ot/', r'/tmp/' r'wt\b', r'/home/' r'\w']))
WORDS = re.compile(r'\b(' + '|'.join(['work' 'place', 'poly' 'glot', 'Open' 'AI', 'Chat' 'GPT', 'Clau' 'de', 'Anth' 'ropic', 'Co' 'pilot',
                                      'this ses' 'sion', 'developer ses' 'sion', r'\.lib' 'rary']) + r')\b', re.I)
FUNCTION = re.compile(r'^(?!typedef|struct|union|enum|static const|const|#)[A-Za-z_][^;={}]*\)[^;={}]*\{[ \t]*$', re.M)


def check_functions(report, name, text):
    code = source_tree.without_comments(text, keep_strings=False)
    for found in FUNCTION.finditer(code):
        end = code.find('\n}', found.end())
        start = code.count('\n', 0, found.start()) + 1
        lines = code.count('\n', 0, end) + 3 - start if end >= 0 else 0
        if lines > FUNCTION_LINES:
            title = re.findall(r'(\w+)\s*\(', found.group(0))
            report.warn(name, start, f'{title[0] if title else "function"} has {lines} lines')


def check_lines(report, name, text):
    for number, line in enumerate(text.splitlines(), 1):
        mark = MARK.search(line) if name.endswith(CODE) else None
        if mark and not mark.group(2):
            report.add(name, number, f'{mark.group(1)} without a reason: {mark.group(1)}(what it waits for): why')
        if PATHS.search(line):
            report.add(name, number, 'a path of one machine')
        word = WORDS.search(line)
        if word:
            report.add(name, number, f'the word "{word.group(0)}" has no place here')
        if line != line.rstrip() and not name.endswith('.md'):
            report.add(name, number, 'space at the end of the line')
        if '\t' in line and name.endswith(('.c', '.h', '.py')):
            report.add(name, number, 'a tab')


def check(root):
    report = source_tree.Report('source')
    for name in source_tree.files(root, *TEXT):
        if name.startswith(DATA) or GENERATED.search(name) or name == 'LICENSE':
            continue
        text = source_tree.read(root, name)
        if name not in HOLDS_EXAMPLES:
            report.read_waivers(name, text)
        count = text.count('\n')
        if name.endswith(CODE) and count > FILE_LINES:
            report.add(name, 3, f'{count} lines: more than one idea in a file of over {FILE_LINES}')
        if name not in HOLDS_EXAMPLES:
            check_lines(report, name, text)
        if name.endswith(('.c', '.h')):
            check_functions(report, name, text)
    return report.finish()


if __name__ == '__main__':
    sys.exit(check(source_tree.root_argument()))
