#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Heads of files and public headers that stand alone.

    check-headers.py [--fix] [ROOT]

Each file begins with the SPDX line and a comment saying what it is for. Each public header compiles by
itself as pedantic C99, C11 and C++11; grove/grove.h includes every stable one (--fix writes the list).
"""
import os
import re
import subprocess
import sys
import tempfile

import source_tree

SPDX = 'SPDX-License-Identifier: Apache-2.0'
C_SUFFIXES = ('.c', '.h', '.cc')
SCRIPT_SUFFIXES = ('.py', '.sh', '.go', 'meson.build', 'meson_options.txt')
DATA = ('tests/golden/', 'tests/data/', 'fuzz/corpus/', 'examples/articles/')
UMBRELLA = 'include/grove/grove.h'
NOT_IN_UMBRELLA = {'grove.h', 'cjson.h', 'k8s.h'}
COMPILERS = [
    (['gcc', '-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror'], '.c'),
    (['gcc', '-std=c11', '-pedantic', '-Wall', '-Wextra', '-Wstrict-prototypes', '-Werror'], '.c'),
    (['g++', '-std=c++11', '-pedantic', '-Wall', '-Wextra', '-Werror'], '.cc'),
]


def check_c_head(report, name, lines):
    if not lines or lines[0] != f'/* {SPDX} */':
        report.add(name, 1, f'the first line must be /* {SPDX} */')
        return
    rest = [line for line in lines[1:4] if line.strip()]
    if not rest or not rest[0].startswith('/*') or not rest[0].strip('/* ') and len(rest) < 2:
        report.add(name, 2, 'a comment must say what the file is for')


def check_script_head(report, name, lines):
    head = lines[:4]
    at = next((i for i, line in enumerate(head) if line.lstrip('#/ ') == SPDX), None)
    if at is None:
        report.add(name, 1, f'one of the first lines must be # {SPDX}')
        return
    if name.endswith(('meson.build', 'meson_options.txt')):
        return
    rest = [line for line in lines[at + 1:at + 4] if line.strip()]
    if not rest or not rest[0].startswith(('#', '"""', '//', '/*', 'package')):
        report.add(name, at + 2, 'a comment must say what the file is for')


def check_heads(report, root):
    for name in source_tree.files(root, *C_SUFFIXES, *SCRIPT_SUFFIXES):
        if name.startswith(DATA):
            continue
        lines = source_tree.read(root, name).splitlines()
        if name.endswith(C_SUFFIXES):
            check_c_head(report, name, lines)
        elif os.path.basename(name) != '__init__.py' or lines:
            check_script_head(report, name, lines)


def stable_headers(root):
    return [n for n in source_tree.files(root, '.h', under=('include/grove/',))
            if '/' not in n.removeprefix('include/grove/') and os.path.basename(n) not in NOT_IN_UMBRELLA]


def check_umbrella(report, root, fix):
    if not os.path.exists(os.path.join(root, UMBRELLA)):
        return
    text = source_tree.read(root, UMBRELLA)
    want = ''.join(f'#include <{n.removeprefix("include/")}>\n' for n in stable_headers(root))
    have = ''.join(re.findall(r'^#include <grove/.*>\n', text, re.M))
    if have == want:
        return
    if fix:
        text = text.replace(have, want) if have else text
        with open(os.path.join(root, UMBRELLA), 'w', encoding='utf-8') as f:
            f.write(text)
    else:
        report.add(UMBRELLA, 1, 'does not include every stable header: build-aux/check-headers.py --fix')


def check_guard(report, name, text):
    inside = name.removeprefix('include/')
    want = re.sub(r'\W', '_', inside).upper()
    if not re.search(rf'^#ifndef {want}\n#define {want}$', text, re.M):
        report.add(name, 1, f'the include guard must be {want}')


def check_alone(report, root):
    headers = source_tree.files(root, '.h', under=('include/',))
    with tempfile.TemporaryDirectory() as folder:
        for name in headers:
            text = source_tree.read(root, name)
            check_guard(report, name, text)
            if name.endswith('/cjson.h') and not os.path.exists('/usr/include/cjson/cJSON.h'):
                report.warn(name, 1, 'not compiled: cJSON is not installed')
                continue
            for compiler, suffix in COMPILERS:
                unit = os.path.join(folder, 'unit' + suffix)
                with open(unit, 'w', encoding='utf-8') as f:
                    f.write(f'#include <{name.removeprefix("include/")}>\ntypedef int unit_is_not_empty;\n')
                command = compiler + ['-I', os.path.join(root, 'include'), '-fsyntax-only', unit]
                result = subprocess.run(command, capture_output=True, text=True)
                if result.returncode != 0:
                    first = next((l for l in result.stderr.splitlines() if 'error' in l), result.stderr[:200])
                    report.add(name, 1, f'does not stand alone with {" ".join(compiler[:2])}: {first}')


def main():
    arguments = [a for a in sys.argv[1:] if a != '--fix']
    root = os.path.abspath(arguments[0]) if arguments else os.getcwd()
    report = source_tree.Report('headers')
    for name in source_tree.files(root, '.c', '.h'):
        report.read_waivers(name, source_tree.read(root, name))
    check_heads(report, root)
    check_umbrella(report, root, '--fix' in sys.argv)
    check_alone(report, root)
    return report.finish()


if __name__ == '__main__':
    sys.exit(main())
