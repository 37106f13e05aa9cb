#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The map, the declarations and the library's exported symbols are one set; no exported data, globals, constructors.

    check-symbols.py ROOT [BUILD]     without BUILD: map against declarations only
"""
import os
import re
import subprocess
import sys

import public_symbols
import source_tree

SECTION = re.compile(r' *\[ *\d+\] (?P<name>\S+) +\S+ +[0-9a-f]+ [0-9a-f]+ (?P<size>[0-9a-f]+) ')
STATE = re.compile(r'\.(data(?!\.rel\.ro)|bss|tdata|tbss|init_array|fini_array|preinit_array|ctors|dtors)\b')


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


def kinds(library):
    """name -> letter that nm gives to an exported symbol: T for a function."""
    result = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True)
    rows = (line.split() for line in result.stdout.splitlines())
    return {words[-1].partition('@')[0]: words[-2] for words in rows if words[-2] != 'A'}


def state(archive):
    """Sections with contents that a library without globals and constructors has none of; per object of an archive."""
    result = subprocess.run(['readelf', '-SW', archive], capture_output=True, text=True, check=True)
    found, part = [], os.path.basename(archive)
    for line in result.stdout.splitlines():
        part = line.partition('(')[2].rstrip(')') or part if line.startswith('File: ') else part
        row = SECTION.match(line)
        if row and STATE.match(row['name']) and int(row['size'], 16) > 0:
            found.append((part, row['name']))
    return found


def check_static(report, declared, build):
    """The static library gives a program the public names only, and nothing that lives outside of calls."""
    archive = os.path.join(build, 'lib', 'libgrove.a')
    if os.path.exists(archive):
        listed = subprocess.run(['nm', '-g', '--defined-only', archive], capture_output=True, text=True, check=True).stdout
        symbols = {words[2] for words in (line.split() for line in listed.splitlines()) if len(words) == 3}
        for name in sorted(symbols ^ declared.keys()):
            report.add('libgrove.a', 1, f'{name} is not both declared and global')
    for path in (archive, os.path.join(build, 'lib', 'k8s', 'libgv_k8s.a')):
        if os.path.exists(path):
            for part, section in state(path):
                report.add(os.path.basename(path), 1, f'{part} has a section {section}: a global or a constructor')


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
        for name, kind in kinds(library).items():
            if kind != 'T':
                report.add('libgrove.so', 1, f'{name} is exported data')
        check_static(report, declared, build)
        for name in sorted(symbols.keys() & mapped.keys()):
            if symbols[name] != mapped[name]:
                report.add('libgrove.so', 1, f'{name} has node {symbols[name]}, the map says {mapped[name]}')
    check_others(report, root, build)
    return report.finish()


if __name__ == '__main__':
    sys.exit(check(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
