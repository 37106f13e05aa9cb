# SPDX-License-Identifier: Apache-2.0
"""What the source checks share: the list of files, C text without comments, findings and waivers.

A waiver is a comment on the line of the finding or on the line above:
`gate-allow(<check>): reason`. It needs a reason, and one that excuses nothing is itself a finding.
"""
import os
import re
import shutil
import subprocess
import sys

WAIVER = re.compile(r'gate-allow\(([a-z-]+)\)(?::[ \t]*(.*?))?[ \t]*(?:\*/.*)?$')


def files(root, *suffixes, under=('',)):
    """Tracked and new files of the tree with one of the suffixes, sorted; without ignored ones."""
    command = ['git', '-C', root, 'ls-files', '--cached', '--others', '--exclude-standard']
    result = subprocess.run(command, capture_output=True, text=True) if shutil.which('git') else None
    if result and result.returncode == 0:
        names = result.stdout.splitlines()
    else:  # no git, or a tree outside it: everything but build folders
        names = []
        for folder, folders, found in os.walk(root):
            folders[:] = [f for f in folders if f != '.git' and not (f == 'build' or f.startswith('build-') and f != 'build-aux')]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in found]
    return sorted(n for n in set(names)
                  if n.endswith(suffixes) and n.startswith(tuple(under)) and os.path.isfile(os.path.join(root, n)))


def read(root, name):
    with open(os.path.join(root, name), encoding='utf-8', errors='replace') as f:
        return f.read()


def without_comments(text, keep_strings=True):
    """C text with comments (and string contents, if asked) blanked; line breaks and columns stay."""
    def blank(match):
        token = match.group(0)
        if token.startswith(('//', '/*')):
            return re.sub(r'[^\n]', ' ', token)
        if keep_strings:
            return token
        return token[0] + re.sub(r'[^\n]', ' ', token[1:-1]) + token[-1]
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


class Report:
    """Findings of one check, with its waivers taken into account."""

    def __init__(self, check):
        self.check = check
        self.findings = []
        self.warnings = []
        self.waivers = {}  # (file, line) -> used

    def read_waivers(self, name, text):
        for number, line in enumerate(text.splitlines(), 1):
            found = WAIVER.search(line)
            if not found or found.group(1) != self.check:
                continue
            if not found.group(2):
                self.findings.append((name, number, 'a waiver without a reason'))
            self.waivers[name, number] = False

    def add(self, name, line, message):
        for at in (line, line - 1):
            if (name, at) in self.waivers:
                self.waivers[name, at] = True
                return
        self.findings.append((name, line, message))

    def warn(self, name, line, message):
        self.warnings.append((name, line, message))

    def finish(self):
        """Prints everything; the exit status."""
        for (name, line), used in self.waivers.items():
            if not used:
                self.findings.append((name, line, 'a waiver that excuses nothing'))
        for name, line, message in sorted(self.warnings):
            print(f'{name}:{line}: warning: {message}')
        for name, line, message in sorted(self.findings):
            print(f'{name}:{line}: {message} [{self.check}]')
        print(f'{self.check}: {len(self.findings)} findings')
        return 1 if self.findings else 0


def root_argument():
    return os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.getcwd()
