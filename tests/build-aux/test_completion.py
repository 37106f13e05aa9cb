#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion in bash, zsh and fish offers what the program knows, neither more nor less.

    test_completion.py GROVECTL
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, 'tools', 'completion')
GROVECTL = os.path.abspath(sys.argv.pop(1))


def says(*words):
    return subprocess.run([GROVECTL, *words], capture_output=True, text=True, check=True).stdout


VERBS = re.findall(r'^  (\S+) ', says('help').partition('Verbs:')[2], re.M)


def bash(*line):
    words = ' '.join(f"'{word}'" for word in (GROVECTL, *line))
    program = (f'. {SCRIPTS}/grovectl.bash; COMP_WORDS=({words}); COMP_CWORD={len(line)}; _grovectl; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
    return subprocess.run(['bash', '-c', program], capture_output=True, text=True, check=True).stdout.split()


def fish(*line):
    with tempfile.TemporaryDirectory() as home:
        os.symlink(GROVECTL, os.path.join(home, 'grovectl'))
        env = {**os.environ, 'HOME': home, 'PATH': home + ':' + os.environ['PATH'], 'XDG_CONFIG_HOME': home, 'XDG_DATA_HOME': home}
        program = f'source {SCRIPTS}/grovectl.fish; complete -C "grovectl {" ".join(line)}"'
        out = subprocess.run(['fish', '--no-config', '-c', program], capture_output=True, text=True, check=True, env=env, cwd=home).stdout
    return [row.split('\t')[0] for row in out.splitlines()]


def zsh(*line):
    """compadd and _describe stand in for those of the line editor and print what they are offered."""
    words = ' '.join(f"'{word}'" for word in (GROVECTL, *line))
    program = ('compadd() { shift; print -l -- "$@" }; _describe() { print -l -- ${found%%:*} }; _files() { print FILES }; '
               f'words=({words}); CURRENT={len(line) + 1}; . {SCRIPTS}/_grovectl')
    return subprocess.run(['zsh', '-f', '-c', program], capture_output=True, text=True, check=True).stdout.split()


SHELLS = {'bash': bash, 'zsh': zsh, 'fish': fish}


class Completion(unittest.TestCase):
    def each(self, *line):
        for name, complete in SHELLS.items():
            if shutil.which(name):
                with self.subTest(shell=name):
                    yield name, complete(*line)

    def test_verbs(self):
        self.assertGreater(len(VERBS), 10)
        for name, found in self.each(''):
            self.assertEqual(sorted(set(found) - {'help'}), sorted(VERBS), name)

    def test_options_of_each_verb(self):
        for verb in VERBS:
            told = set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', says(verb, '--help'))) | {'--help'}
            self.assertEqual({word for word in bash(verb, '--') if word != '--'}, told, verb)
        told = set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', says('validate', '--help'))) - {'--help'}
        for name, found in self.each('validate', '--'):
            self.assertEqual(set(word for word in found if word.startswith('--')) - {'--help'}, told, name)

    def test_words_of_an_option(self):
        for name, found in self.each('validate', '-o', ''):
            self.assertEqual(set(found) & {'text', 'json', 'sarif', 'github'}, {'text', 'json', 'sarif', 'github'}, name)

    def test_files(self):
        with tempfile.NamedTemporaryFile(prefix='set-', suffix='.yaml') as manifest:
            self.assertEqual(bash('validate', manifest.name[:-2]), [manifest.name])


if __name__ == '__main__':
    unittest.main(verbosity=2)
