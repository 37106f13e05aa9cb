#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documentation that holds: links lead somewhere, headings exist, tables kept by programs are current.

    check-docs.py [ROOT]

Links to other hosts are not followed.
"""
import os
import re
import subprocess
import sys

import source_tree

LINK = re.compile(r'(?<!!)\[[^\]]*\]\(([^)\s]+)(?: "[^"]*")?\)|!\[[^\]]*\]\(([^)\s]+)\)')
FENCE = re.compile(r'^(```|~~~).*?^\1', re.M | re.S)
HEADING = re.compile(r'^#{1,6} +(.+?) *#*$', re.M)


def anchors(text):
    """The fragments that a reader's page gives to the headings."""
    found = set()
    for title in HEADING.findall(FENCE.sub('', text)):
        title = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', title)
        slug = re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')
        number, base = 1, slug
        while slug in found:
            slug, number = f'{base}-{number}', number + 1
        found.add(slug)
    return found


def check_links(report, root, name, text):
    blank = FENCE.sub(lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text)
    blank = re.sub(r'`[^`\n]*`', lambda m: ' ' * len(m.group(0)), blank)
    for found in LINK.finditer(blank):
        target = found.group(1) or found.group(2)
        line = blank.count('\n', 0, found.start()) + 1
        if re.match(r'[a-z]+:', target):
            continue
        path, _, fragment = target.partition('#')
        full = os.path.normpath(os.path.join(root, os.path.dirname(name), path)) if path else os.path.join(root, name)
        if not full.startswith(root):
            report.add(name, line, f'the link {target} leaves the project')
        elif not os.path.exists(full):
            report.add(name, line, f'the link {target} leads nowhere')
        elif fragment and full.endswith('.md'):
            with open(full, encoding='utf-8') as f:
                if fragment not in anchors(f.read()):
                    report.add(name, line, f'no heading gives #{fragment} in {path or name}')


def check_stages(report, root):
    program = os.path.join(root, 'build-aux', 'gates.py')
    page = os.path.join(root, 'docs', 'ci.md')
    if not os.path.exists(program):
        return
    table = subprocess.run([sys.executable, program, '--table'], capture_output=True, text=True, check=True).stdout
    if not os.path.exists(page) or table not in source_tree.read(root, 'docs/ci.md'):
        report.add('docs/ci.md', 1, 'does not hold the table that build-aux/gates.py --table prints')


def check(root):
    report = source_tree.Report('docs')
    for name in source_tree.files(root, '.md'):
        if name.startswith(('tests/golden/', 'tests/data/')):
            continue
        check_links(report, root, name, source_tree.read(root, name))
    check_stages(report, root)
    return report.finish()


if __name__ == '__main__':
    sys.exit(check(source_tree.root_argument()))
