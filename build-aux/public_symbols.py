# SPDX-License-Identifier: Apache-2.0
"""The symbols the public headers declare, and the map that exports them."""
import os
import re

import source_tree

MAP = 'lib/libgrove.map'
RELEASED = 'docs/symbols-in-versions.txt'
# Headers of other libraries: header -> (map, library in the build folder).
OTHER_LIBRARIES = {'include/grove/k8s.h': ('lib/k8s/libgrove-k8s.map', 'lib/k8s/libgrove-k8s.so')}
DECLARATION = re.compile(r'\bGROVE_API\b([^;({]*?)(\w+)[ \t\n]*(?:\(|;|\[)')


def declared(root, others=False):
    """name -> header, for every GROVE_API declaration of libgrove, or of the other libraries."""
    found = {}
    for name in source_tree.files(root, '.h', under=('include/grove/',)):
        if (name in OTHER_LIBRARIES) != others:
            continue
        code = source_tree.without_comments(source_tree.read(root, name), keep_strings=False)
        code = re.sub(r'^[ \t]*#(?:[^\n\\]|\\.)*', '', code, flags=re.M | re.S)
        for match in DECLARATION.finditer(code):
            found[match.group(2)] = name
    return found


def minor(root):
    text = source_tree.read(root, 'include/grove/version.h')
    major, low = (re.search(rf'#define GROVE_VERSION_{part} (\d+)', text).group(1) for part in ('MAJOR', 'MINOR'))
    return f'{major}.{low}'


def released(root):
    """name -> minor version it came with, for the symbols of past releases."""
    if not os.path.exists(os.path.join(root, RELEASED)):
        return {}
    lines = (line.split() for line in source_tree.read(root, RELEASED).splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 2 and words[0] != '#'}


def nodes(root):
    """Node name -> sorted symbols, in the order of versions; sys/ symbols have nodes of their own."""
    since, now = released(root), minor(root)
    result = {}
    for name, header in declared(root).items():
        room = 'GROVE_SYS' if header.startswith('include/grove/sys/') else 'GROVE'
        version = tuple(int(part) for part in since.get(name, now).split('.'))
        result.setdefault((room, version), []).append(name)
    return {f'{room}_{version[0]}_{version[1]}': sorted(names)
            for (room, version), names in sorted(result.items())}


def map_text(root):
    lines = ['/* SPDX-License-Identifier: Apache-2.0 */',
             '/* Written by build-aux/update-map.py from the GROVE_API declarations in include/grove. */']
    last = {}
    first = True
    for node, names in nodes(root).items():
        room = node.rsplit('_', 2)[0]
        lines += [f'{node} {{', 'global:'] + [f'    {name};' for name in names]
        if first:
            lines += ['local:', '    *;']
        lines.append(f'}} {last[room]};' if room in last else '};')
        last[room] = node
        first = False
    return '\n'.join(lines) + '\n'


def mapped(root, map_name=MAP):
    """name -> node, as the map in the tree says."""
    found, node = {}, None
    for line in source_tree.without_comments(source_tree.read(root, map_name)).splitlines():
        opened = re.match(r'(\w+) \{', line)
        node = opened.group(1) if opened else node
        symbol = re.match(r'\s+([\w*]+);', line)
        if symbol and symbol.group(1) != '*':
            found[symbol.group(1)] = node
    return found
