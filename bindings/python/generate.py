#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes grove/_lowlevel.py from docs/api/grove-api.json: the C API as ctypes, one to one.

    generate.py            writes the file
    generate.py --check    says whether the file is what the description gives
"""
from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
DESCRIPTION = HERE.parents[1] / 'docs' / 'api' / 'grove-api.json'
OUTPUT = HERE / 'grove' / '_lowlevel.py'
INTEGERS = {'int32_t': 'c_int32', 'uint32_t': 'c_uint32', 'int64_t': 'c_int64', 'uint64_t': 'c_uint64',
            'uint8_t': 'c_uint8', 'uint16_t': 'c_uint16', 'int16_t': 'c_int16', 'size_t': 'c_size_t', 'int': 'c_int',
            'double': 'c_double', 'char': 'c_char', 'short': 'c_short'}
WAIVER = '# gate-' + 'allow(source): one API, written by a program'
HEAD = f'''# SPDX-License-Identifier: Apache-2.0
{WAIVER}
"""The C API of libgrove as ctypes, one to one. Written by generate.py; not to be edited.

Pointers to opaque objects are c_void_p: plain integers here, wrapped by the modules beside this one.
"""
from __future__ import annotations

from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int32, c_int64,
                    c_short, c_size_t, c_uint32, c_uint64, c_uint8, c_void_p)
from typing import Any

'''


class Types:
    def __init__(self, api: dict[str, Any]) -> None:
        self.by_name = {entry['name']: entry for entry in api['types']}

    def spell(self, text: str) -> str:
        """ctypes expression of a C type."""
        plain = text.replace('const ', '').replace('struct ', '').replace(' ', '')
        if plain.endswith('*const*'):
            plain = plain.replace('*const*', '**')
        base, stars = plain.rstrip('*'), len(plain) - len(plain.rstrip('*'))
        if base == 'void':
            return ['None', 'c_void_p', 'POINTER(c_void_p)'][stars]
        if base == 'char' and stars:
            if stars == 1:
                return 'c_char_p' if text.startswith('const') else 'c_void_p'
            return 'POINTER(c_char_p)'
        entry = self.by_name.get(base)
        if entry is None:
            return self.pointer(INTEGERS[base], stars)
        if entry['kind'] == 'integer':
            return self.pointer(INTEGERS[self.root(entry['base'])], stars)
        if entry['kind'] == 'struct':
            return self.pointer(base, stars)
        if entry['kind'] == 'callback':
            return base
        return self.pointer('c_void_p', stars - 1)  # opaque

    def root(self, base: str) -> str:
        entry = self.by_name.get(base)
        return self.root(entry['base']) if entry else base

    @staticmethod
    def pointer(base: str, stars: int) -> str:
        for _ in range(stars):
            base = f'POINTER({base})'
        return base

    def of(self, entry: dict[str, Any]) -> str:
        if entry['type'] == 'callback':
            return self.callback(entry)
        spelled = self.spell(entry['type'])
        return f'{spelled} * {entry["array"]}' if 'array' in entry else spelled

    def callback(self, entry: dict[str, Any]) -> str:
        # A pointer to characters that is returned or passed in is bytes; NULL is None.
        return 'CFUNCTYPE(' + ', '.join([self.spell(entry['returns'])] + [self.of(p) for p in entry['params']]) + ')'


def constants(api: dict[str, Any]) -> list[str]:
    return [f'{c["name"]} = {c["value"]!r}' for c in api['constants']]


def structures(api: dict[str, Any], types: Types) -> list[str]:
    """All classes first, fields after: structs may point to one another."""
    lines: list[str] = []
    structs = [t for t in api['types'] if t['kind'] == 'struct']
    for struct in structs:
        lines += ['', '', f'class {struct["name"]}(Structure):', f'    """{struct["header"]}"""']
        lines += [f'    {field["name"]}: Any' for field in struct['fields']]
    lines += ['', '']
    for entry in api['types']:
        if entry['kind'] == 'callback':
            lines.append(f'{entry["name"]} = {types.callback(entry)}')
    for struct in structs:
        lines.append(f'{struct["name"]}._fields_ = [')
        lines += [f"    ('{field['name']}', {types.of(field)})," for field in struct['fields']]
        lines.append(']')
    return lines


def functions(api: dict[str, Any], types: Types) -> list[str]:
    lines = ['', '', 'class Functions:', '    """The functions of a loaded library, with their types."""', '',
             '    def __init__(self, library: CDLL) -> None:']
    for function in api['functions']:
        if function['library'] != 'grove':
            continue
        name = function['name']
        arguments = ', '.join(types.of(p) for p in function['params'])
        lines += [f'        self.{name[len("grove_"):]} = library.{name}',
                  f'        library.{name}.restype = {types.spell(function["returns"])}',
                  f'        library.{name}.argtypes = [{arguments}]']
    return lines


def text() -> str:
    api = json.loads(DESCRIPTION.read_text(encoding='utf-8'))
    types = Types(api)
    lines = constants(api) + structures(api, types) + functions(api, types)
    return HEAD + '\n'.join(lines) + '\n'


def main() -> int:
    wanted = text()
    if '--check' in sys.argv:
        if OUTPUT.exists() and OUTPUT.read_text(encoding='utf-8') == wanted:
            return 0
        print(f'{OUTPUT.name} is not what {DESCRIPTION.name} gives; run bindings/python/generate.py', file=sys.stderr)
        return 1
    OUTPUT.write_text(wanted, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
