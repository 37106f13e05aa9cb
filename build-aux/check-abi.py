#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ABI against that of the last tag.

    check-abi.py ROOT BUILD             compares with the newest docs/abi/libgrove-<version>.abi
    check-abi.py ROOT BUILD --record    writes the one of this version, when it is tagged

Additions pass; a removed or changed symbol, or a public struct that changed, fails. Status 77 when
nothing was tagged yet.
"""
import glob
import os
import re
import subprocess
import sys

ABIDIFF_INCOMPATIBLE = 8  # bit of its exit status
ABIDIFF_ERROR = 1 | 2


def version_of(path):
    return tuple(int(part) for part in re.findall(r'\d+', os.path.basename(path)))


def dump_command(root, library):
    return ['abidw', '--headers-dir', os.path.join(root, 'include', 'grove'), '--drop-private-types',
            '--no-comp-dir-path', '--no-corpus-path', '--short-locs', library]


def record(root, library, version):
    text = subprocess.run(dump_command(root, library), capture_output=True, text=True, check=True).stdout
    path = os.path.join(root, 'docs', 'abi', f'libgrove-{version}.abi')
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    print(f'{path}: written')
    return 0


def main():
    root, build = (os.path.abspath(path) for path in sys.argv[1:3])
    library = os.path.join(build, 'lib', 'libgrove.so')
    with open(os.path.join(root, 'include/grove/version.h'), encoding='utf-8') as f:
        version = re.search(r'GROVE_VERSION_STRING "([\d.]+)"', f.read()).group(1)
    if '--record' in sys.argv:
        return record(root, library, version)
    dumps = sorted(glob.glob(os.path.join(root, 'docs', 'abi', '*.abi')), key=version_of)
    if not dumps:
        print('abi: no tagged version to compare with yet; the symbol sets were compared')
        return 0
    result = subprocess.run(['abidiff', '--headers-dir2', os.path.join(root, 'include', 'grove'), '--drop-private-types',
                             '--no-added-syms', dumps[-1], library], capture_output=True, text=True)
    print(result.stdout, end='')
    if result.returncode & ABIDIFF_ERROR:
        print(result.stderr, end='')
        return 1
    if result.returncode & ABIDIFF_INCOMPATIBLE:
        print(f'abi: incompatible with {os.path.basename(dumps[-1])}')
        return 1
    print(f'abi: compatible with {os.path.basename(dumps[-1])}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
