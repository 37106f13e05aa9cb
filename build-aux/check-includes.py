#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Include directions: no layer includes one above it; the outside sees public headers only.

    check-includes.py [ROOT]
"""
import os
import re
import sys

import source_tree

# Who may include whom inside lib/ (besides itself and the public headers).
LAYERS = {
    'base': [],
    'value': ['base'],
    'model': ['base', 'value'],
    'admission': ['base', 'value', 'model'],
    'store': ['base', 'value', 'model'],
    'plan': ['base', 'value', 'model', 'store'],
    'sched': ['base', 'value'],
    'backend': ['base', 'value', 'model'],
    'engine': ['base', 'value', 'model', 'store', 'plan', 'sched', 'backend'],
    'sim': ['base', 'value', 'model', 'admission', 'backend'],
    'answer': ['base', 'value', 'model', 'plan', 'sched', 'engine', 'sim'],
    'front': [],
    'k8s': [],
}
# Below the I/O line: ISO C11 headers, and those of a machine's own instructions, which do no I/O either.
ISO_ONLY = ['base', 'value', 'model', 'admission', 'store', 'plan', 'sched', 'backend', 'engine', 'sim', 'answer']
ISO_HEADERS = set('''assert ctype errno float inttypes iso646 limits math stdalign stdarg stdatomic stdbool
    stddef stdint stdio stdlib stdnoreturn string wchar'''.split())
MACHINE_HEADERS = {'emmintrin'}
FOREIGN = {'yaml.h': ['value']}  # third-party headers and the layers that may see them
PUBLIC_ONLY = ('tools/', 'bindings/', 'examples/', 'lib/k8s/')
LINKS = {'tools/groved/': 'front'}  # programs and the layer that is no part of the library but linked into them
DRIVES_A_BACKEND = ['include/grove/engine.h', 'include/grove/k8s.h']  # whoever drives the engine carries its operations out
PUBLIC_STANDARD = {'stddef.h', 'stdint.h', 'string.h', 'stdlib.h'}  # what a public header may draw in

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def includes(text):
    code = source_tree.without_comments(text)
    for found in INCLUDE.finditer(code):
        yield code.count('\n', 0, found.start()) + 1, found.group(1), found.group(2)


def check_public(report, name, line, target):
    if target.startswith('grove/'):
        stable = not name.startswith('include/grove/sys/') and name not in DRIVES_A_BACKEND
        if target.startswith('grove/sys/') and stable:
            report.add(name, line, f'a stable header includes {target}: sys/ may see it, not the reverse')
        return
    if name == 'include/grove/cjson.h' and target in ('cjson/cJSON.h', 'cJSON.h', 'stdio.h'):
        return  # header-only: what it does is done in the program, which formats doubles itself
    if target not in PUBLIC_STANDARD:
        report.add(name, line, f'a public header includes <{target}>')


def check_layer(report, name, layer, line, quote, target):
    first = target.split('/')[0]
    if target.startswith('grove/'):
        return
    if first in LAYERS and '/' in target:
        if first != layer and first not in LAYERS[layer]:
            report.add(name, line, f'{layer} may not see {first} ({target})')
    elif quote == '"':
        if '/' in target:
            report.add(name, line, f'"{target}" is in no layer')
    elif target in FOREIGN:
        if layer not in FOREIGN[target]:
            report.add(name, line, f'{layer} may not include <{target}>')
    elif layer in ISO_ONLY and target.removesuffix('.h') not in ISO_HEADERS | MACHINE_HEADERS:
        report.add(name, line, f'<{target}> is not ISO C11: {layer} lies below the I/O line')


def check_outside(report, root, name, line, quote, target):
    """Tools, bindings and the Kubernetes backend: public headers, own folder, system; the tools share one folder."""
    inside = target.split('/')[0] in LAYERS and '/' in target
    if target.startswith('grove/') or quote == '<' and not inside:
        return
    if any(name.startswith(folder) and target.startswith(layer + '/') for folder, layer in LINKS.items()):
        return
    beside = os.path.join(root, os.path.dirname(name), target)
    shared = name.startswith('tools/') and any(os.path.exists(os.path.join(root, folder, target))
                                               for folder in ('tools', 'tools/common'))
    if inside or not (os.path.exists(beside) or shared):
        report.add(name, line, f'only public headers are visible here, not "{target}"')


def check(root):
    report = source_tree.Report('includes')
    for name in source_tree.files(root, '.c', '.h', under=('include/', 'lib/', 'tools/', 'bindings/', 'examples/')):
        text = source_tree.read(root, name)
        report.read_waivers(name, text)
        layer = name.split('/')[1] if name.startswith('lib/') else None
        if layer and layer not in LAYERS:
            report.add(name, 1, f'lib/{layer} is no layer of the table')
            continue
        for line, quote, target in includes(text):
            if name.startswith('include/'):
                check_public(report, name, line, target)
            elif name.startswith(PUBLIC_ONLY):
                check_outside(report, root, name, line, quote, target)
            else:
                check_layer(report, name, layer, line, quote, target)
    return report.finish()


if __name__ == '__main__':
    sys.exit(check(source_tree.root_argument()))
