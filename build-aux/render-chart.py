#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders deploy/chart without Helm, for the part of its language that the chart keeps to.

    render-chart.py [--set a.b=VALUE]... [--namespace NS]     the manifest, on standard output
    render-chart.py --write | --check                         deploy/manifests/groved.yaml, from the default values

Known: if, else, with, end, define, include, comments, pipelines, and the functions of FUNCTIONS below. Anything else is an
error, so that the chart cannot quietly leave that part. Where `helm` is installed, --check compares with `helm template`.
"""
import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHART = ROOT / 'deploy/chart'
MANIFEST = ROOT / 'deploy/manifests/groved.yaml'
HEAD = '''# SPDX-License-Identifier: Apache-2.0
# deploy/chart with its default values, for those who use no Helm (made by build-aux/render-chart.py --write).
# Before it: groved install-crds (or kubectl apply --server-side -f deploy/crds/upstream), and the namespace.
'''
ACTION = re.compile(r'\{\{(-?)\s*(/\*.*?\*/|.*?)\s*(-?)\}\}', re.S)
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\(|\)|\||[^\s()|]+)')


class Dumper(yaml.SafeDumper):
    def increase_indent(self, flow=False, indentless=False):
        return super().increase_indent(flow, False)


def to_yaml(value):
    # Helm's writer sorts keys and does not indent lists
    return yaml.dump(value, default_flow_style=False, sort_keys=True, width=10 ** 6).rstrip('\n')


def indent(n, text):
    return '\n'.join(' ' * int(n) + line if line else line for line in text.split('\n'))


def dig(*args):
    value = args[-1]
    for key in args[:-2]:
        if not isinstance(value, dict) or key not in value:
            return args[-2]
        value = value[key]
    return value


# What is compared with Helm, each setting by itself.
SETTINGS = ['', 'replicas=1', 'watchNamespace=team', 'webhooks.enabled=false', 'serviceMonitor.enabled=true', 'alerts.enabled=true',
            'dashboard.enabled=true', 'flowSchema.enabled=true', 'adapters.kai=false', 'adapters.volcano=true', 'adapters.binder=true',
            'adapters.computeDomains=true']
HELM_FLAGS = ['-n', 'grove-system', '--kube-version', '1.34.0']  # a Helm built from its module takes itself for an older one


FUNCTIONS = {'toYaml': to_yaml, 'nindent': lambda n, text: '\n' + indent(n, text), 'dig': dig, 'int': int,
             'default': lambda other, value=None: value if value not in (None, '', [], {}, 0, False) else other,
             'printf': lambda form, *args: form.replace('%s', '{}').format(*args), 'gt': lambda a, b: a > b,
             'not': lambda v: not v,
             'sha256sum': lambda text: hashlib.sha256(text.encode()).hexdigest()}


def parse(text):
    """A list of texts and ('kind', expression, body, other) tuples; and the blocks that are defined."""
    parts, at, trim = [], 0, False
    for m in [*ACTION.finditer(text), None]:
        piece = text[at:m.start() if m else len(text)]
        piece = piece.lstrip() if trim else piece
        parts.append(piece.rstrip() if m and m.group(1) else piece)
        if m:
            parts.append((m.group(2),))
            at, trim = m.end(), bool(m.group(3))
    defined = {}

    def block(i, ends):
        body = []
        while i < len(parts):
            part = parts[i]
            i += 1
            if isinstance(part, str):
                body.append(part)
                continue
            word = part[0].split(' ', 1)
            if word[0] in ends:
                return body, i, word[0]
            if part[0].startswith('/*'):
                continue
            if word[0] in ('if', 'with', 'define'):
                inner, i, end = block(i, ('end', 'else'))
                other = []
                if end == 'else':
                    other, i, _ = block(i, ('end',))
                if word[0] == 'define':
                    defined[word[1].strip('"')] = inner
                else:
                    body.append((word[0], word[1], inner, other))
            else:
                body.append(('put', part[0], None, None))
        if ends:
            raise SyntaxError('a block does not end')
        return body, i, None
    return block(0, ())[0], defined


class Renderer:
    def __init__(self, values, namespace):
        meta = yaml.safe_load((CHART / 'Chart.yaml').read_text())
        self.top = {'Values': values, 'Chart': {'AppVersion': meta['appVersion'], 'Name': meta['name']},
                    'Release': {'Name': 'groved', 'Namespace': namespace}}
        self.defined = {}

    def value(self, token, dot):
        if token.startswith('"'):
            return token[1:-1].replace('\\"', '"')
        if re.fullmatch(r'-?\d+', token):
            return int(token)
        if token == '.':
            return dot
        if not token.startswith('.'):
            raise SyntaxError(f'not known: {token}')
        value = dot if dot is not self.top else self.top
        for key in token[1:].split('.'):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def call(self, words, dot):
        head, args = words[0], words[1:]
        if isinstance(head, str) and head == 'include':
            return self.render(self.defined[args[0]], args[1]).strip('\n')
        if isinstance(head, str) and head == '.Files.Get':
            return (CHART / args[0]).read_text()
        if isinstance(head, str) and head in FUNCTIONS:
            return FUNCTIONS[head](*args)
        if args:
            raise SyntaxError(f'not a function: {head}')
        return head

    def evaluate(self, text, dot):
        tokens = TOKEN.findall(text)

        def pipeline(i):
            value, words, piped = None, [], False
            while True:
                token = tokens[i] if i < len(tokens) else ')'
                i += 1
                if token in ('|', ')'):
                    value = self.call([*words, value] if piped else words, dot)
                    words, piped = [], True
                    if token == ')':
                        return value, i
                elif token == '(':
                    inner, i = pipeline(i)
                    words.append(inner)
                elif not words and (token in FUNCTIONS or token in ('include', '.Files.Get')):
                    words.append(token)
                else:
                    words.append(self.value(token, dot))
        return pipeline(0)[0]

    def render(self, body, dot):
        out = []
        for part in body:
            if isinstance(part, str):
                out.append(part)
                continue
            kind, text, inner, other = part
            value = self.evaluate(text, dot)
            if kind == 'put':
                out.append('' if value is None else str(value).lower() if isinstance(value, bool) else str(value))
            elif value:
                out.append(self.render(inner, value if kind == 'with' else dot))
            else:
                out.append(self.render(other, dot))
        return ''.join(out)

    def chart(self):
        bodies = []
        for path in sorted((CHART / 'templates').iterdir()):
            body, defined = parse(path.read_text())
            self.defined.update(defined)
            if path.suffix == '.yaml':
                bodies.append(body)
        documents = []
        for body in bodies:
            for text in re.split(r'^---$', self.render(body, self.top), flags=re.M):
                if yaml.safe_load(text):
                    documents.append(text.strip('\n') + '\n')
        return '---\n'.join(documents)


def put(values, path, text):
    *keys, last = path.split('.')
    for key in keys:
        values = values.setdefault(key, {})
    values[last] = yaml.safe_load(text)


def objects(text):
    return sorted((o for o in yaml.safe_load_all(text) if o), key=lambda o: (o['kind'], o['metadata']['name']))


def values_with(items):
    values = yaml.safe_load((CHART / 'values.yaml').read_text())
    for item in items:
        put(values, *item.split('=', 1))
    return values


def compare(helm, setting):
    """Our objects and Helm's, but for a hash of one writer's YAML."""
    ours = objects(Renderer(values_with([setting] if setting else []), 'grove-system').chart())
    words = [helm, 'template', 'groved', str(CHART), *HELM_FLAGS, *(['--set', setting] if setting else [])]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    theirs = objects(done.stdout)
    if len(ours) != len(theirs):
        sys.exit(f'{setting}: helm makes {len(theirs)} objects, not {len(ours)}')
    for one, other in zip(ours, theirs):
        for obj in (one, other):
            template = obj.get('spec', {}).get('template') if obj['kind'] == 'Deployment' else None
            if template:
                template['metadata'].pop('annotations')
        if one != other:
            sys.exit(f"{setting}: helm makes {other['kind']} {other['metadata']['name']} otherwise:\n{other}\n{one}")


def check(text):
    if not MANIFEST.exists() or MANIFEST.read_text() != HEAD + text:
        sys.exit('deploy/manifests/groved.yaml is not what the chart gives: build-aux/render-chart.py --write')
    helm = shutil.which('helm')
    for setting in SETTINGS if helm else []:
        compare(helm, setting)
    told = f'equal to helm in {len(SETTINGS)} settings' if helm else 'helm not installed here: not compared with it'
    print(f'chart: {len(objects(text))} objects, {told}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--set', action='append', default=[])
    parser.add_argument('--namespace', default='grove-system')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--check', action='store_true')
    args = parser.parse_args()
    text = Renderer(values_with(args.set), args.namespace).chart()
    if args.check:
        check(text)
    elif args.write:
        MANIFEST.parent.mkdir(exist_ok=True)
        MANIFEST.write_text(HEAD + text)
    else:
        sys.stdout.write(text)


if __name__ == '__main__':
    main()
