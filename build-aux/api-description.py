#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Describes the public C API as data, for those who generate bindings: docs/api/grove-api.json.

    api-description.py ROOT            writes the file
    api-description.py ROOT --check    says whether the file is what the headers declare

The headers are the source. Their C is plain (check-headers.py keeps it so): typedefs, structs, integers,
callbacks, prototypes, constants. What this reader cannot tell is an error, never left out in silence.
"""
import json
import os
import re
import sys

import public_symbols
import source_tree

OUTPUT = 'docs/api/grove-api.json'
LEFT_OUT = {'include/grove/cjson.h', 'include/grove/grove.h', 'include/grove/export.h'}
TOKEN = re.compile(r'''(?P<comment>/\*.*?\*/)|(?P<define>^[ \t]*\#[ \t]*define(?:/\*.*?\*/|\\\n|[^\n])*)
    |(?P<directive>^[ \t]*\#[^\n]*)|(?P<string>"(?:\\.|[^"\\])*")|(?P<word>[A-Za-z_]\w*)|(?P<number>\d\w*)
    |(?P<mark>\.\.\.|[^\s])''', re.X | re.S | re.M)
WRAPPERS = ('GROVE_BEGIN_DECLS', 'GROVE_END_DECLS')
KNOWN_VALUES = {'INT64_MAX': 2**63 - 1, 'INT64_MIN': -2**63, 'UINT32_MAX': 2**32 - 1, 'UINT64_MAX': 2**64 - 1,
                'INT32_MAX': 2**31 - 1}


class Unreadable(Exception):
    pass


def comment_text(comment):
    body = re.sub(r'^/\*+<?|\*/$', '', comment)
    return ' '.join(re.sub(r'^[ \t]*\*[ \t]?', '', line).strip() for line in body.splitlines()).strip()


class Header:
    """Reads one header, declaration by declaration."""

    def __init__(self, path, text, api):
        self.path, self.api = path, api
        self.name = path[len('include/'):]
        self.tokens = [(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]
        self.at = 0

    def read(self):
        doc = None
        first = self.tokens[1] if len(self.tokens) > 1 else ('', '')
        if first[0] == 'comment':
            self.api['headers'].append({'name': self.name, 'purpose': self.purpose(first[1])})
        while self.at < len(self.tokens):
            group, text = self.tokens[self.at]
            if group == 'comment':
                if text.startswith('/**') and not text.startswith('/**<'):
                    doc = comment_text(text)
                self.at += 1
            elif group == 'define':
                self.constant(text, doc)
                doc = None
            elif group == 'directive' or text in WRAPPERS:
                self.at += 1
            else:
                self.declaration(doc)
                doc = None

    def purpose(self, comment):
        text = comment_text(comment).split('. ')[0].rstrip('.')
        return text.partition(' - ')[2]

    def trailing_doc(self):
        """The comment behind a declaration on its line, which stands for it."""
        if self.at < len(self.tokens) and self.tokens[self.at][1].startswith('/**<'):
            self.at += 1
            return comment_text(self.tokens[self.at - 1][1])
        return None

    def constant(self, text, doc):
        self.at += 1
        match = re.match(r'\s*#\s*define\s+(\w+)(\(?)\s*(.*)', text.replace('\\\n', ' '), re.S)
        name, call, value = match.groups()
        value, behind, comment = value.partition('/**<')
        if behind:
            doc = comment_text('/**<' + comment)
        value = re.sub(r'/\*.*?\*/', '', value, flags=re.S).strip()
        if (call == '(' and not value.endswith(')')) or not value or '{' in value or not name.startswith('GROVE_'):
            return  # include guards, macros with arguments, initialisers
        if call == '(':
            value = '(' + value
        self.api['constants'].append({'name': name, 'value': self.evaluate(name, value), 'header': self.name,
                                      'doc': doc or ''})

    def evaluate(self, name, text):
        if text.startswith('"'):
            return json.loads(text)
        known = dict(KNOWN_VALUES, **{c['name']: c['value'] for c in self.api['constants']})
        plain = re.sub(r'\b(?:U?INT(?:32|64)_C)\((.*?)\)', r'(\1)', text)
        plain = re.sub(r'\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b', r'\1', plain)
        words = set(re.findall(r'[A-Za-z_]\w*', re.sub(r'0[xX][0-9a-fA-F]+', '', plain)))
        if not words <= known.keys():
            raise Unreadable(f'{self.path}: {name}: unknown {sorted(words - known.keys())}')
        return eval(plain, {'__builtins__': {}}, known)  # integers, names of constants and operators only

    # ---- declarations ----

    def declaration(self, doc):
        tokens = self.until_semicolon()
        words = [text for group, text in tokens if group != 'comment']
        if words[0] == 'typedef':
            self.typedef(tokens[1:], words[1:], doc)
        elif words[0] == 'GROVE_API':
            self.function(words[1:], doc)
        elif words[0] == 'struct' and len(words) == 2:
            pass  # announced here, described by the header that has its typedef
        else:
            raise Unreadable(f'{self.path}: cannot read: {" ".join(words[:8])}')

    def until_semicolon(self):
        depth, begin = 0, self.at
        while True:
            group, text = self.tokens[self.at]
            self.at += 1
            depth += (text == '{') - (text == '}')
            if group == 'mark' and text == ';' and depth == 0:
                return self.tokens[begin:self.at - 1]

    def typedef(self, tokens, words, doc):
        if words[0] == 'struct' and '{' in words:
            self.struct(tokens, words[-1], doc)
            return
        trailing = self.trailing_doc()
        entry = {'name': words[-1], 'kind': 'opaque', 'header': self.name, 'doc': doc or trailing or ''}
        if '(' in words:
            name, callback = self.callback(words)
            entry.update(name=name, kind='callback', **callback)
        elif words[0] != 'struct':
            entry.update(kind='integer', base=' '.join(words[:-1]))
        self.api['types'].append(entry)

    def struct(self, tokens, name, doc):
        begin = next(i for i, token in enumerate(tokens) if token[1] == '{')
        fields, words, before = [], [], None
        for group, text in tokens[begin + 1:-2]:
            if group == 'comment':
                if text.startswith('/**<'):
                    (fields[-1] if not words else {})['doc'] = comment_text(text)
                elif text.startswith('/**'):
                    before = comment_text(text)
            elif text == ';':
                fields += self.fields(words, before)
                words, before = [], None
            else:
                words.append(text)
        self.api['types'].append({'name': name, 'kind': 'struct', 'header': self.name, 'doc': doc or '',
                                  'fields': fields})

    def fields(self, words, doc):
        if '(' in words:
            name, callback = self.callback(words)
            return [{'name': name, 'type': 'callback', **callback, 'doc': doc or ''}]
        field = self.variable(words)
        return [dict(field, doc=doc or '')]

    def callback(self, words):
        """`T (*name)(PARAMS)` -> name, {returns, params}."""
        opened = words.index('(')
        if words[opened + 1] != '*' or words[opened + 3] != ')':
            raise Unreadable(f'{self.path}: cannot read: {" ".join(words)}')
        return words[opened + 2], {'returns': spell(words[:opened]), 'params': self.params(words[opened + 5:-1])}

    def function(self, words, doc):
        opened = words.index('(')
        trailing = self.trailing_doc()
        doc = doc or trailing or ''
        since = re.search(r'Since (\d+\.\d+)', doc)
        self.api['functions'].append({
            'name': words[opened - 1], 'returns': spell(words[:opened - 1]), 'params': self.params(words[opened + 1:-1]),
            'header': self.name, 'library': 'grove-k8s' if self.path in public_symbols.OTHER_LIBRARIES else 'grove',
            'since': since.group(1) if since else '0.1', 'doc': doc})

    def params(self, words):
        params, current, depth = [], [], 0
        for word in words + [',']:
            depth += (word == '(') - (word == ')')
            if word == ',' and depth == 0:
                if current and current != ['void']:
                    params.append(self.param(current))
                current = []
            else:
                current.append(word)
        return params

    def param(self, words):
        if '(' in words:
            name, callback = self.callback(words)
            return {'name': name, 'type': 'callback', **callback}
        return self.variable(words)

    def variable(self, words):
        entry = {}
        if words[-1] == ']':
            size = words[words.index('[') + 1]
            entry['array'] = self.evaluate('array', size)
            words = words[:words.index('[')]
        return {'name': words[-1], 'type': spell(words[:-1]), **entry}


def spell(words):
    return ' '.join(words).replace('* *', '**').replace('* const *', '*const *')


def describe(root):
    version = re.search(r'GROVE_VERSION_STRING "(.*?)"', source_tree.read(root, 'include/grove/version.h')).group(1)
    api = {'apiVersion': 'libgrove.io/v1alpha1', 'kind': 'LibraryDescription', 'version': version, 'headers': [],
           'constants': [], 'types': [], 'functions': []}
    for path in header_order(root):
        Header(path, source_tree.read(root, path), api).read()
    check(root, api)
    return api


def header_order(root):
    """Headers behind those they include, so that each name is known before its use."""
    order = []

    def visit(path):
        if path in order or not os.path.exists(os.path.join(root, path)):
            return
        for included in re.findall(r'#include <(grove/.*?)>', source_tree.read(root, path)):
            if 'include/' + included not in LEFT_OUT:
                visit('include/' + included)
        order.append(path)

    for folder in ('include/grove', 'include/grove/sys'):
        for name in sorted(os.listdir(os.path.join(root, folder))):
            if name.endswith('.h') and f'{folder}/{name}' not in LEFT_OUT:
                visit(f'{folder}/{name}')
    return order


def check(root, api):
    """Nothing public is missing: the functions are those of the symbol maps."""
    found = {function['name'] for function in api['functions']}
    declared = public_symbols.declared(root).keys() | public_symbols.declared(root, others=True).keys()
    if found != declared:
        raise Unreadable(f'functions read and declared differ: {sorted(found ^ declared)}')


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    try:
        text = json.dumps(describe(root), indent=1, ensure_ascii=False) + '\n'
    except Unreadable as error:
        print(f'api-description: {error}', file=sys.stderr)
        return 1
    path = os.path.join(root, OUTPUT)
    if '--check' not in sys.argv:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)
        return 0
    if not os.path.exists(path) or open(path, encoding='utf-8').read() != text:
        print(f'api-description: {OUTPUT} is not what the headers declare; run build-aux/api-description.py .',
              file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
