#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The format of C files, as .clang-format says.

    check-format.py --check      every file; fails where one differs
    check-format.py --fix        writes the files changed against main; --all: every file
    check-format.py --staged     fails where a line about to be committed differs (the hook)
"""
import re
import subprocess
import sys

import source_tree

GENERATED = re.compile(r'(/gen/|_gen\.[ch]$|generated)')


def git(*arguments):
    result = subprocess.run(['git', *arguments], capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else ''


def c_files(root='.'):
    return [n for n in source_tree.files(root, '.c', '.h') if not GENERATED.search(n)]


def changed():
    base = git('merge-base', 'HEAD', 'main').strip() or 'HEAD'
    names = set(git('diff', '--name-only', base).split()) | set(git('ls-files', '--others', '--exclude-standard').split())
    return [n for n in c_files() if n in names]


def check(names):
    bad = []
    for start in range(0, len(names), 50):
        result = subprocess.run(['clang-format', '--dry-run', '-Werror', '--ferror-limit=1', *names[start:start + 50]],
                                capture_output=True, text=True)
        bad += sorted({line.split(':')[0] for line in result.stderr.splitlines() if 'error:' in line})
    for name in bad:
        print(f'{name}: not as clang-format writes it: ./dev format')
    print(f'format: {len(bad)} of {len(names)} files differ')
    return 1 if bad else 0


def staged_lines(name):
    """--lines options for what the index changes in the file."""
    options = []
    for line in git('diff', '--cached', '-U0', '--', name).splitlines():
        hunk = re.match(r'@@ -\S+ \+(\d+)(?:,(\d+))? @@', line)
        if hunk:
            first, count = int(hunk.group(1)), int(hunk.group(2) or 1)
            if count:
                options.append(f'--lines={first}:{first + count - 1}')
    return options


def check_staged():
    bad = 0
    for name in git('diff', '--cached', '--name-only', '--diff-filter=AM').split():
        options = staged_lines(name)
        if not name.endswith(('.c', '.h')) or GENERATED.search(name) or not options:
            continue
        text = git('show', f':{name}')
        result = subprocess.run(['clang-format', f'--assume-filename={name}', *options], input=text,
                                capture_output=True, text=True)
        if result.returncode == 0 and result.stdout != text:
            print(f'{name}: the staged lines are not as clang-format writes them: ./dev format')
            bad = 1
    return bad


def main():
    if '--staged' in sys.argv:
        return check_staged()
    if '--check' in sys.argv:
        return check(c_files())
    names = c_files() if '--all' in sys.argv else changed()
    if names:
        subprocess.run(['clang-format', '-i', *names], check=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
