#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes man pages and the command line reference from what the programs say of themselves.

    gen-man.py [--check] --grovectl PROGRAM --groved PROGRAM --initc PROGRAM

docs/man/*.1 and *.8 from `--help` of each program and verb, docs/man/libgrove.3 from docs/man/libgrove.3.in and the
first lines of the public headers, docs/reference/cli.md from the same help texts. --check writes nothing and fails
when a file would change.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPTION = re.compile(r'^ {1,4}(-\S.*?)(?: {2,}(\S.*))?$')
PAGES = {
    'grovectl': ('1', 'validate, render, place and simulate Grove workloads, and look at clusters that run them'),
    'groved': ('8', 'run PodCliqueSets on a Kubernetes cluster, or a cluster in memory'),
    'grove-initc': ('1', 'wait until the pods that start earlier are ready'),
}


def says(program, *words):
    result = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return result.stdout.rstrip('\n')


def verbs_of(grovectl):
    """(name, summary) of each verb, as `grovectl help` lists them."""
    return re.findall(r'^  (\S+) +(.+)$', says(grovectl, 'help').partition('Verbs:')[2], re.M)


def escaped(text):
    """Text for man: no line of it is taken for a request."""
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + text if text[:1] in ".'" else text


class Page:
    """Help text on its way to man macros, line by line."""

    def __init__(self):
        self.lines, self.verbatim, self.open_paragraph = [], False, False

    def macro(self, line):
        if self.verbatim:
            self.lines.append('.fi')
            self.verbatim = False
        self.open_paragraph = False
        self.lines.append(line)

    def usage(self, block):
        self.macro('.nf')
        self.verbatim = True
        for line in block:
            self.lines.append(escaped(re.sub(r'^usage: |^ {7}', '', line)))

    def text(self, line):
        option = OPTION.match(line)
        if not line:
            self.macro('.PP')
        elif option:
            self.macro('.TP')
            self.lines.append(f'.B {escaped(option[1])}')
            if option[2]:
                self.lines.append(escaped(option[2]))
            self.open_paragraph = True
        elif line.startswith('  ') and not self.open_paragraph:
            if not self.verbatim:
                self.macro('.nf')
                self.verbatim = True
            self.lines.append(escaped(line))
        elif line.startswith('  '):
            self.lines.append(escaped(line.strip()))
        else:
            if self.lines and (self.verbatim or self.open_paragraph):
                self.macro('.PP')
            self.lines.append(escaped(line))

    def help(self, text):
        """Synopsis apart from the rest."""
        usage, _, rest = text.partition('\n\n')
        self.usage(usage.splitlines())
        self.macro('.PP')
        for line in rest.splitlines():
            self.text(line)

    def finish(self):
        self.macro('.\\"')
        kept = []
        for line in self.lines[:-1]:  # a paragraph in front of a heading or of another one is none
            if line == '.PP' and kept and kept[-1] == '.PP':
                continue
            if line.startswith(('.SH', '.SS')) and kept and kept[-1] == '.PP':
                kept.pop()
            kept.append(line)
        while kept and kept[-1] == '.PP':
            kept.pop()
        return '\n'.join(kept) + '\n'


def head(name, section, summary, version):
    return ['.\\" SPDX-License-Identifier: Apache-2.0', '.\\" Written by build-aux/gen-man.py from the program: do not edit.',
            f'.TH {name.upper()} {section} "" "libgrove {version}" "libgrove"', '.SH NAME', f'{name} \\- {escaped(summary)}']


def tool_page(name, text, version):
    section, summary = PAGES[name]
    page = Page()
    page.lines = head(name, section, summary, version)
    page.macro('.SH SYNOPSIS')
    usage, _, rest = text.partition('\n\n')
    page.usage(usage.splitlines())
    page.macro('.SH DESCRIPTION')
    for line in rest.splitlines():
        page.text(line)
    return page


def grovectl_page(program, version):
    page = Page()
    page.lines = head('grovectl', *PAGES['grovectl'], version)
    page.macro('.SH SYNOPSIS')
    page.usage(['grovectl VERB [ARGS...]', 'kubectl grove VERB [ARGS...]'])
    page.macro('.SH VERBS')
    for name, summary in verbs_of(program):
        page.macro(f'.SS {name} \\- {escaped(summary)}')
        page.help(says(program, name, '--help'))
    page.macro('.SH FILES')
    page.lines.append('Shell completion asks the program itself: bash, zsh and fish find it where it is installed.')
    return page


def see_also(page, name):
    page.macro('.SH SEE ALSO')
    others = [f'.BR {escaped(other)} ({section})' for other, (section, _) in PAGES.items() if other != name]
    page.lines += others + ([] if name == 'libgrove' else ['.BR libgrove (3)'])
    return page.finish()


def overview(version):
    """libgrove(3): the hand-written part with the headers by their own words."""
    rows = []
    for path in sorted(glob.glob(os.path.join(ROOT, 'include/grove/**/*.h'), recursive=True)):
        with open(path, encoding='utf-8') as f:
            said = re.search(r'/\*\n \* (grove/\S+\.h) - (.*?)\n \*(?:\n|/)', f.read(), re.S)
        if not said:
            sys.exit(f'{path}: does not begin by saying what it is for')
        rows += ['.TP', f'.B <{said[1]}>', escaped(re.sub(r'\n \* *', ' ', said[2]))]
    with open(os.path.join(ROOT, 'docs/man/libgrove.3.in'), encoding='utf-8') as f:
        return f.read().replace('@VERSION@', version).replace('@HEADERS@', '\n'.join(rows))


def reference(programs):
    """The same words as a page of the book."""
    parts = ['<!-- SPDX-License-Identifier: Apache-2.0 -->', '<!-- Written by build-aux/gen-man.py from the programs: do not edit. -->',
             '# Command line reference', '', 'What `--help` of each program and verb says. The same texts are the man pages.', '']
    for name, summary in verbs_of(programs.grovectl):
        parts += [f'## grovectl {name}', '', f'{summary[0].upper()}{summary[1:]}.', '', '```text', says(programs.grovectl, name, '--help'), '```', '']
    for name, program in (('groved', programs.groved), ('grove-initc', programs.initc)):
        parts += [f'## {name}', '', '```text', says(program, '--help'), '```', '']
    return '\n'.join(parts)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--check', action='store_true')
    for name in ('grovectl', 'groved', 'initc'):
        parser.add_argument('--' + name, required=True)
    programs = parser.parse_args()
    with open(os.path.join(ROOT, 'include/grove/version.h'), encoding='utf-8') as f:
        version = re.search(r'GROVE_VERSION_STRING "([\d.]+)"', f.read()).group(1)
    files = {
        'docs/man/grovectl.1': see_also(grovectl_page(programs.grovectl, version), 'grovectl'),
        'docs/man/groved.8': see_also(tool_page('groved', says(programs.groved, '--help'), version), 'groved'),
        'docs/man/grove-initc.1': see_also(tool_page('grove-initc', says(programs.initc, '--help'), version), 'grove-initc'),
        'docs/man/libgrove.3': overview(version),
        'docs/reference/cli.md': reference(programs),
    }
    stale = 0
    for name, text in files.items():
        path = os.path.join(ROOT, name)
        if os.path.exists(path) and open(path, encoding='utf-8').read() == text:
            continue
        stale += 1
        if programs.check:
            print(f'{name}: is not what the programs say; run ./dev man')
        else:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            print(f'{name}: written')
    return 1 if stale and programs.check else 0


if __name__ == '__main__':
    sys.exit(main())
