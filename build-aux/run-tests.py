#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build folder and counts test cases, not programs.

    run-tests.py BUILD [--suite S]... [--no-suite S]... [--label TEXT] [--wrap CMD] [NAME...]

Shows a line per program as it ends, the output of those that fail, every skipped case by name, and as
its last line `N passed, N failed, N skipped`. A program that ran no case has failed. Exit 0 only when
nothing failed and something passed.
"""
import argparse
import json
import os
import re
import subprocess
import sys

PLAIN = re.compile(r'^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', re.M)
CMOCKA_PASSED = re.compile(r'^\[  PASSED  \] (\d+) test\(s\)', re.M)
CMOCKA_FAILED = re.compile(r'^\[  FAILED  \] (?:[^\n]*: )?(\d+) test\(s\)', re.M)
CMOCKA_SKIPPED = re.compile(r'^\[  SKIPPED \] (?:[^\n]*: )?(\d+) test\(s\)', re.M)
CMOCKA_SKIP_NAME = re.compile(r'^\[  SKIPPED \] (\w+)$', re.M)
UNITTEST_RAN = re.compile(r'^Ran (\d+) tests? in', re.M)
UNITTEST_END = re.compile(r'^(?:OK|FAILED)(?: \(([^)]*)\))?$', re.M)
UNITTEST_SKIP_NAME = re.compile(r"^(\S+ \([^)]*\)).*\.\.\. skipped (.*)$", re.M)
PYTEST = re.compile(r'^=+ (.*\b(?:passed|failed|skipped|error).*) in [\d.]+s', re.M)


class Count:
    """Passed, failed and skipped cases, and what to tell about the skipped ones."""

    def __init__(self, passed=0, failed=0, skipped=0, notes=None):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.notes = notes or []

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.notes += other.notes

    @property
    def total(self):
        return self.passed + self.failed + self.skipped

    def __str__(self):
        return f'{self.passed} passed, {self.failed} failed, {self.skipped} skipped'


def words(text):
    """'failures=1, skipped=2' or '3 passed, 1 failed' -> a dict of numbers."""
    found = {}
    for name, number in re.findall(r'([a-z ]+)=(\d+)', text):
        found[name.strip()] = int(number)
    for number, name in re.findall(r'(\d+) ([a-z]+)', text):
        found[name] = int(number)
    return found


def count_output(text):
    """Cases a program says it ran, or None where it prints no count we know."""
    plain = PLAIN.findall(text)
    if plain:
        passed, failed, skipped = plain[-1]
        notes = re.findall(r'^(?:skipped|SKIP)[: ].*$', text, re.M)
        return Count(int(passed), int(failed), int(skipped or 0), notes)
    if CMOCKA_PASSED.search(text) or CMOCKA_FAILED.search(text):
        sums = [sum(map(int, p.findall(text))) for p in (CMOCKA_PASSED, CMOCKA_FAILED, CMOCKA_SKIPPED)]
        names = sorted(set(CMOCKA_SKIP_NAME.findall(text)))
        return Count(*sums, notes=names)
    ran = UNITTEST_RAN.findall(text)
    if ran:
        end = UNITTEST_END.findall(text)
        got = words(end[-1]) if end else {}
        failed = got.get('failures', 0) + got.get('errors', 0) + got.get('unexpected successes', 0)
        skipped = got.get('skipped', 0)
        notes = [f'{n}: {why}' for n, why in UNITTEST_SKIP_NAME.findall(text)]
        return Count(int(ran[-1]) - failed - skipped, failed, skipped, notes)
    pytest = PYTEST.findall(text)
    if pytest:
        got = words(pytest[-1])
        return Count(got.get('passed', 0), got.get('failed', 0) + got.get('errors', 0) + got.get('error', 0),
                     got.get('skipped', 0))
    return None


def count_program(entry):
    """One line of meson's testlog.json -> Count."""
    text = (entry.get('stdout') or '') + '\n' + (entry.get('stderr') or '')
    result = entry['result']
    if result == 'SKIP':
        return Count(skipped=1, notes=[(text.strip().splitlines() or ['no reason given'])[-1]])
    ok = result in ('OK', 'EXPECTEDFAIL')
    counted = count_output(text)
    if counted is None:
        return Count(1, 0) if ok else Count(0, 1)
    if not ok and counted.failed == 0:
        counted.failed = 1  # a crash, a time-out or a leak after the last case
    if counted.total == 0:
        counted.failed = 1
        counted.notes.append('ran no test')
    return counted


def read_log(path):
    with open(path, encoding='utf-8', errors='replace') as log:
        return [json.loads(line) for line in log if line.strip()]


def run(options):
    log = os.path.join(options.build, 'meson-logs', 'testlog.json')
    if os.path.exists(log):
        os.unlink(log)
    command = ['meson', 'test', '-C', options.build, '--no-rebuild', '--print-errorlogs']
    if options.jobs:
        command += ['--num-processes', str(options.jobs)]
    if options.multiplier:
        command += ['--timeout-multiplier', str(options.multiplier)]
    for suite in options.suite:
        command += ['--suite', suite]
    for suite in options.no_suite:
        command += ['--no-suite', suite]
    if options.wrap:
        command += ['--wrap', options.wrap]
    environment = dict(os.environ, MESON_TESTTHREADS=str(options.jobs or os.cpu_count() or 1))
    sys.stdout.flush()
    process = subprocess.Popen(command + options.names, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, env=environment, text=True, errors='replace')
    for line in process.stdout:
        # meson's own summary is replaced by ours, which counts cases
        if line.strip() and not re.match(r'^(ninja: |Full log|(Ok|Expected Fail|Fail|Unexpected Pass|Skipped|Timeout): +\d)', line):
            print(line, end='', flush=True)
    code = process.wait()
    return code, read_log(log) if os.path.exists(log) else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build')
    parser.add_argument('names', nargs='*')
    parser.add_argument('--suite', action='append', default=[])
    parser.add_argument('--no-suite', action='append', default=[])
    parser.add_argument('--wrap')
    parser.add_argument('--jobs', type=int)
    parser.add_argument('--multiplier', type=int)
    options = parser.parse_intermixed_args()
    code, entries = run(options)
    total = Count()
    for entry in entries:
        counted = count_program(entry)
        for note in counted.notes:
            print(f'  {"skipped" if counted.skipped else "note"}: {entry["name"]}: {note}')
        if counted.skipped > len(counted.notes):
            print(f'  skipped: {entry["name"]}: {counted.skipped - len(counted.notes)} cases, named in its output')
        counted.notes = []
        total.add(counted)
    if total.total == 0 or (code != 0 and total.failed == 0):
        print('no test ran' if total.total == 0 else f'the test runner ended with status {code}')
        total.failed += 1
    print(total)
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
