#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the gates: what only CI waits for.

    gates.py [NAME...]     all, or those named
    gates.py --list        names and what each holds
    gates.py --table       the table that docs/ci.md holds
    gates.py --minutes test|gates

Each gate counts once. One that takes over three times its minutes is ended and has failed. Logs are in
build-gates/. The last line is `N passed, N failed, N skipped`.
"""
import os
import re
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77
FUZZ_SECONDS = os.environ.get('GROVE_FUZZ_SECONDS', '8')

# name, minutes on two cores with nothing built, command, what it holds
GATES = [
    ('source', 1, './dev source', 'layers, banned calls, file heads, symbol map, sizes, marks and words'),
    ('format', 1, './dev format --check', 'every C file is as clang-format writes it'),
    ('clang', 5, './dev clang', 'clang with warnings as errors, all suites'),
    ('release', 5, './dev release', 'gcc -O3 with -Wnull-dereference as error, all suites'),
    ('asan', 10, './dev asan', 'AddressSanitizer, leak check and UBSan on all suites'),
    ('tsan', 3, './dev tsan', 'ThreadSanitizer on the suites that start threads'),
    ('quality', 8, './dev build && python3 tests/conformance/placement.py --all --grovectl build/tools/grovectl/grovectl',
     '14,000 labelled placement instances: each placement and refusal right, at most 0.1 % unknown'),
    ('noyaml', 4, './dev noyaml', 'the JSON-only core: -Dyaml=disabled, suites without YAML, equal answers'),
    ('arena', 9, './dev arena', 'each arena object its own malloc, under ASan, all suites'),
    ('fuzz', 6, f'./dev fuzz --seconds {FUZZ_SECONDS} --seed 1', 'each fuzz target for some seconds (GROVE_FUZZ_SECONDS)'),
    ('lint', 9, './dev lint', 'clang-tidy, cppcheck and shellcheck without a finding'),
    ('install', 4, 'build-aux/check-install.sh', 'what is installed serves C, C++ and Meson programs; the tarball builds without Python and network'),
    ('bindings', 5, './dev bindings', 'Python: types, leaks, wheel; Go: vet, race detector, conformance'),
    ('abi', 3, './dev abi', 'map = declarations = symbols, no globals; no break since the last tag, old programs run'),
    ('docs', 1, './dev docs', 'Doxygen without a warning; links, snippets, spelling and index of the documentation'),
    ('cross-arm64', 5, './dev cross arm64', '64-bit ARM: unit, golden and hash suites, byte-equal'),
    ('cross-s390x', 10, './dev cross s390x', 'a big-endian machine: the same suites'),
    ('cross-i386', 4, './dev cross i386', 'a 32-bit machine: the same suites'),
    ('wasm', 5, './dev wasm', 'WebAssembly: the JSON-only core under Node, equal answers'),
    ('control-plane', 18, './dev control-plane smoke', 'the real control plane is built from its Go modules and works'),
    ('k8s', 9, './dev k8s && ./dev goaway',
     'conformance kit and engine against that control plane, and against one that sends GOAWAY on one request in fifty'),
    ('live', 8, './dev live life webhooks conformance upgrade node',
     "groved under its own rights on that control plane: a set from creation to deletion, webhooks, recordings, from Grove's operator and back; "
     'on a real kubelet: start order, identity, a rolling update'),
]
TEST_MINUTES = 10  # the stage before the gates: `./dev test`


def table():
    rows = ['| stage | minutes | command | holds |', '|---|---|---|---|',
            f'| test | {TEST_MINUTES} | `./dev test` | unit, golden and conformance suites, self-tests of the gates |']
    rows += [f'| {name} | {minutes} | `{command}` | {holds} |' for name, minutes, command, holds in GATES]
    total = TEST_MINUTES + sum(gate[1] for gate in GATES)
    return '\n'.join(rows + [f'| **sum** | **{total}** | | |']) + '\n'


def tail(path, lines):
    with open(path, encoding='utf-8', errors='replace') as log:
        return log.read().splitlines()[-lines:]


def run_gate(name, minutes, command, log_path):
    """-> (exit status, seconds)."""
    started = time.monotonic()
    with open(log_path, 'w', encoding='utf-8') as log:
        process = subprocess.Popen(command, shell=True, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(timeout=minutes * 180)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.write(f'\nended after {minutes * 3} minutes\n')
            status = 124
        except BaseException:  # ended from outside: take the gate along
            os.killpg(process.pid, signal.SIGTERM)
            raise
    return status, time.monotonic() - started


def cases(log_path):
    """The count of test cases a gate ended with, to show beside its result."""
    for line in reversed(tail(log_path, 5)):
        if re.match(r'^\d+ passed, \d+ failed', line):
            return f' ({line})'
    return ''


def main():
    if '--table' in sys.argv:
        print(table(), end='')
        return 0
    if sys.argv[1:2] == ['--minutes']:
        print(TEST_MINUTES if sys.argv[2] == 'test' else sum(gate[1] for gate in GATES))
        return 0
    if '--list' in sys.argv:
        for name, minutes, _, holds in GATES:
            print(f'{name:13} {minutes:2} min  {holds}')
        return 0
    unknown = set(sys.argv[1:]) - {gate[0] for gate in GATES}
    if unknown:
        print(f'no gate named {", ".join(sorted(unknown))}', file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logs = os.path.join(ROOT, 'build-gates')
    os.makedirs(logs, exist_ok=True)
    count = {'passed': 0, 'failed': 0, 'skipped': 0}
    for name, minutes, command, _ in GATES:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        log_path = os.path.join(logs, name + '.log')
        print(f'gate {name:13} ...', end=' ', flush=True)
        status, seconds = run_gate(name, minutes, command, log_path)
        result = 'passed' if status == 0 else 'skipped' if status == SKIPPED else 'failed'
        count[result] += 1
        print(f'{result}, {seconds / 60:.1f} of {minutes} min{cases(log_path)}', flush=True)
        if result == 'failed':
            for line in tail(log_path, 60):
                print(f'    {line}')
        elif result == 'skipped':
            print(f'    skipped: {name}: {(tail(log_path, 1) or ["no reason given"])[0]}')
    print(f'{count["passed"]} passed, {count["failed"]} failed, {count["skipped"]} skipped', flush=True)
    return 0 if count['failed'] == 0 and count['passed'] > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
