#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The map, the declarations and the library's exported symbols are one set.

    check-symbols.py ROOT [BUILD]     without BUILD: map against declarations only
"""
import os
import subprocess
import sys

import public_symbols
import source_tree


def exported(library):
    """name -> version node, as the dynamic symbol table says."""
    result = subprocess.run(['nm', '-D', '--defined-only', '--with-symbol-versions', library],
                            capture_output=True, text=True, check=True)
    found = {}
    for line in result.stdout.splitlines():
        words = line.split()
        name, _, node = words[-1].partition('@')
        if words[-2] != 'A':
            found[name] = node.lstrip('@')
    return found


def check_others(report, root, build):
    """Each other library exports what its header declares and its map lists."""
    for header, (map_name, library) in public_symbols.OTHER_LIBRARIES.items():
        if not os.path.exists(os.path.join(root, header)):
            continue
        declared = {name for name, where in public_symbols.declared(root, others=True).items() if where == header}
        for name in sorted(declared ^ public_symbols.mapped(root, map_name).keys()):
            report.add(map_name, 1, f'{name} is not both declared and in the map')
        path = os.path.join(build, library) if build else ''
        if os.path.exists(path):  # it is built only where libcurl is
            for name in sorted(declared ^ exported(path).keys()):
                report.add(header, 1, f'{name} is not both declared and exported by {library}')


def check(root, build):
    report = source_tree.Report('symbols')
    declared, mapped = public_symbols.declared(root), public_symbols.mapped(root)
    map_name = public_symbols.MAP
    if source_tree.read(root, map_name) != public_symbols.map_text(root):
        report.add(map_name, 1, 'is not what update-map.py writes')
    for name in sorted(declared.keys() - mapped.keys()):
        report.add(declared[name], 1, f'{name} is declared but not in the map')
    for name in sorted(mapped.keys() - declared.keys()):
        report.add(map_name, 1, f'{name} is in the map but not declared')
    for name, header in declared.items():
        if not name.startswith('grove_'):
            report.add(header, 1, f'{name}: a public name begins with grove_')
    for name in sorted(public_symbols.released(root).keys() - declared.keys()):
        report.add(public_symbols.RELEASED, 1, f'{name} was released and is gone')
    if build:
        library = os.path.join(build, 'lib', 'libgrove.so')
        symbols = exported(library)
        for name in sorted(declared.keys() - symbols.keys()):
            report.add(declared[name], 1, f'{name} is declared but libgrove.so does not define it')
        for name in sorted(symbols.keys() - declared.keys()):
            report.add('libgrove.so', 1, f'{name} is exported but not declared')
        for name in sorted(symbols.keys() & mapped.keys()):
            if symbols[name] != mapped[name]:
                report.add('libgrove.so', 1, f'{name} has node {symbols[name]}, the map says {mapped[name]}')
    check_others(report, root, build)
    return report.finish()


if __name__ == '__main__':
    sys.exit(check(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
