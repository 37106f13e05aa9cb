#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what comes from the public headers: lib/libgrove.map, docs/api/grove-api.json, the Python low level.

    update-map.py [ROOT]              the map and the description
    update-map.py --release [ROOT]    and docs/symbols-in-versions.txt, when a minor version is tagged
"""
import os
import subprocess
import sys

import public_symbols

RELEASED_HEAD = '# The minor version each exported symbol came with; written by update-map.py --release.\n'


def write_if_changed(path, text):
    if not os.path.exists(path) or open(path, encoding='utf-8').read() != text:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        print(f'{path}: written')


def main():
    arguments = [a for a in sys.argv[1:] if a != '--release']
    root = os.path.abspath(arguments[0]) if arguments else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if '--release' in sys.argv:
        since, now = public_symbols.released(root), public_symbols.minor(root)
        rows = [f'{name} {since.get(name, now)}\n' for name in sorted({*since, *public_symbols.declared(root)})]
        write_if_changed(os.path.join(root, public_symbols.RELEASED), RELEASED_HEAD + ''.join(rows))
    write_if_changed(os.path.join(root, public_symbols.MAP), public_symbols.map_text(root))
    for program in ('build-aux/api-description.py', 'bindings/python/generate.py'):
        if os.path.exists(os.path.join(root, program)):  # a part of the tree has none
            subprocess.run([sys.executable, os.path.join(root, program), root], check=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
