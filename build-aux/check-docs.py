#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documentation that holds: links lead somewhere, headings exist, tables kept by programs are current, every page of
the book is reached from its index, snippets are what they say they are, words are spelled.

    check-docs.py [ROOT]

Snippets: C compiles (with the names of PREAMBLE), JSON and YAML parse, grovectl and groved are called with verbs and
options that docs/reference/cli.md knows. A fence marked `text` is looked at by nobody. Spelling by codespell, where it is
installed. Links to other hosts are not followed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import source_tree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LINK = re.compile(r'(?<!!)\[[^\]]*\]\(([^)\s]+)(?: "[^"]*")?\)|!\[[^\]]*\]\(([^)\s]+)\)')
FENCE = re.compile(r'^(```|~~~).*?^\1', re.M | re.S)
HEADING = re.compile(r'^#{1,6} +(.+?) *#*$', re.M)

SNIPPET = re.compile(r'^```(\w+)[^\n]*\n(.*?)^```', re.M | re.S)
INDEX = 'docs/README.md'
CLI = 'docs/reference/cli.md'
PREAMBLE = """
#include <grove/grove.h>
#include <grove/sys/backend.h>
#include <grove/sys/conformance.h>
#include <stdio.h>
#include <string.h>
extern grove_env *env; extern grove_doc *doc; extern grove_error err; extern grove_backend backend;
extern const char *text; extern size_t len;
"""


def anchors(text):
    """The fragments that a reader's page gives to the headings."""
    found = set()
    for title in HEADING.findall(FENCE.sub('', text)):
        title = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', title)
        slug = re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')
        number, base = 1, slug
        while slug in found:
            slug, number = f'{base}-{number}', number + 1
        found.add(slug)
    return found


def check_links(report, root, name, text):
    blank = FENCE.sub(lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text)
    blank = re.sub(r'`[^`\n]*`', lambda m: ' ' * len(m.group(0)), blank)
    for found in LINK.finditer(blank):
        target = found.group(1) or found.group(2)
        line = blank.count('\n', 0, found.start()) + 1
        if re.match(r'[a-z]+:', target):
            continue
        path, _, fragment = target.partition('#')
        full = os.path.normpath(os.path.join(root, os.path.dirname(name), path)) if path else os.path.join(root, name)
        if not full.startswith(root):
            report.add(name, line, f'the link {target} leaves the project')
        elif not os.path.exists(full):
            report.add(name, line, f'the link {target} leads nowhere')
        elif fragment and full.endswith('.md'):
            with open(full, encoding='utf-8') as f:
                if fragment not in anchors(f.read()):
                    report.add(name, line, f'no heading gives #{fragment} in {path or name}')


def check_c(report, name, line, code):
    """As the body of a function; a snippet that declares one of the names of PREAMBLE has its own."""
    includes = ''.join(found + '\n' for found in re.findall(r'^#.*$', code, re.M))
    body = re.sub(r'^#.*$', '', code, flags=re.M)
    with tempfile.NamedTemporaryFile('w', suffix='.c') as f:
        f.write(f'{includes}{PREAMBLE}int snippet(void);\nint snippet(void) {{\n{body}\nreturn 0;\n}}\n')
        f.flush()
        result = subprocess.run(['cc', '-std=c11', '-fsyntax-only', '-Werror=implicit-function-declaration', '-Iinclude', f.name],
                                capture_output=True, text=True, cwd=ROOT)
    if result.returncode:
        report.add(name, line, 'the C snippet does not compile: ' + (re.search(r'error: (.*)', result.stderr) or [0, '?'])[1])


def check_calls(report, root, name, line, code):
    """grovectl and groved with verbs and options that they have."""
    cli = source_tree.read(root, CLI)
    for offset, call in enumerate(code.splitlines()):
        found = re.match(r'\s*(?:\./dev run )?(grovectl|groved)\s+(\S+)(.*)', call)
        if not found or found[2].startswith('...'):
            continue
        program, verb, rest = found.groups()
        title = f'## grovectl {verb}\n' if program == 'grovectl' else '## groved\n'
        if verb in ('help', '--help'):
            continue
        if title not in cli:
            report.add(name, line + offset, f'{program} has no verb {verb}')
            continue
        told = cli.partition(title)[2].partition('\n## ')[0]
        rest = rest.partition(' #')[0].partition(' && ')[0].partition(' | ')[0]
        for option in re.findall(r'(?<![\w-])--[a-z][a-z-]*', rest if program == 'grovectl' else verb + rest):
            if option not in told:
                report.add(name, line + offset, f'{program} {verb} has no option {option}')


def check_snippets(report, root, name, text):
    has_yaml = True
    try:
        import yaml
    except ImportError:
        has_yaml = False
    for found in SNIPPET.finditer(text):
        language, code = found.groups()
        line = text.count('\n', 0, found.start()) + 2
        if language == 'c':
            check_c(report, name, line, code)
        elif language in ('sh', 'bash') and os.path.exists(os.path.join(root, CLI)):
            check_calls(report, root, name, line, code)
        elif language == 'json':
            try:
                json.loads(code)
            except ValueError as e:
                report.add(name, line, f'the JSON snippet does not parse: {e}')
        elif language == 'yaml' and has_yaml:
            try:
                list(yaml.safe_load_all(code))
            except yaml.YAMLError as e:
                report.add(name, line, f'the YAML snippet does not parse: {str(e).splitlines()[0]}')


def check_index(report, root):
    """Every page under docs/ can be reached from the index."""
    if not os.path.exists(os.path.join(root, INDEX)):
        return
    seen, todo = set(), [INDEX]
    while todo:
        name = todo.pop()
        if name in seen or not name.endswith('.md') or not os.path.exists(os.path.join(root, name)):
            continue
        seen.add(name)
        for found in LINK.finditer(source_tree.read(root, name)):
            target = (found.group(1) or found.group(2)).partition('#')[0]
            if target and not re.match(r'[a-z]+:', target):
                todo.append(os.path.normpath(os.path.join(os.path.dirname(name), target)))
    for name in source_tree.files(root, '.md', under=('docs/',)):
        if name not in seen and not name.startswith('docs/design/'):
            report.add(name, 1, f'no way leads here from {INDEX}')


def check_spelling(report, root):
    if not shutil.which('codespell'):
        return
    words = os.path.join(root, 'docs', 'spelling.txt')  # right here, wrong elsewhere
    names = source_tree.files(root, '.md', '.3.in', under=('docs/', 'README.md', 'NEWS.md', 'SECURITY.md', 'bindings/', 'examples/', 'lib/'))
    names += source_tree.files(root, '.h', under=('include/',))
    command = ['codespell', '--builtin', 'clear,rare'] + (['--ignore-words', words] if os.path.exists(words) else [])
    result = subprocess.run(command + names, capture_output=True, text=True, cwd=root)
    for name, line, what in re.findall(r'^(.+?):(\d+): (.*==>.*)$', result.stdout, re.M):
        report.add(name, int(line), f'spelling: {what}')


def check_stages(report, root):
    program = os.path.join(root, 'build-aux', 'gates.py')
    page = os.path.join(root, 'docs', 'ci.md')
    if not os.path.exists(program):
        return
    table = subprocess.run([sys.executable, program, '--table'], capture_output=True, text=True, check=True).stdout
    if not os.path.exists(page) or table not in source_tree.read(root, 'docs/ci.md'):
        report.add('docs/ci.md', 1, 'does not hold the table that build-aux/gates.py --table prints')


def check(root):
    report = source_tree.Report('docs')
    for name in source_tree.files(root, '.md'):
        if name.startswith(('tests/golden/', 'tests/data/')):
            continue
        check_links(report, root, name, source_tree.read(root, name))
        check_snippets(report, root, name, source_tree.read(root, name))
    check_index(report, root)
    check_spelling(report, root)
    check_stages(report, root)
    return report.finish()


if __name__ == '__main__':
    sys.exit(check(source_tree.root_argument()))
