#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shares a time among fuzz targets by what each still finds.

    fuzz-share.py FOLDER ROOT SEED SECONDS TARGET...

FOLDER holds the built targets; their corpora grow in FOLDER/corpus. First every target gets a slice of one length; after
that the next slice goes to the target that found most new features a second in its last one, and a target that was
passed over for as long as all of them take once gets one all the same: what has run dry may have a door behind the next
input. Prints target, executions, edges, features and seconds. Exit status 1: a finding.
"""
import os
import re
import subprocess
import sys
import time

SLICES_EACH = 6  # so many slices a target if all were alike


class Target:
    def __init__(self, name):
        self.name = name
        self.runs = self.edges = self.features = 0
        self.seconds = self.rate = 0.0
        self.turn = -1


def options(name, root):
    """What libFuzzer is told of a target. Entropic scheduling costs more than it brings where features are many."""
    words = ['-entropic=0', '-timeout=10', '-rss_limit_mb=2048', '-print_final_stats=1', f'-artifact_prefix=finding-{name}-']
    words_of = os.path.join(root, 'fuzz', 'dictionaries', f'{name}.dict')
    return words + ([f'-dict={words_of}'] if os.path.exists(words_of) else [])


def run(folder, root, name, seed, seconds):
    """Runs one target; its log is FOLDER/NAME.log. Returns exit status and log."""
    grown = os.path.join('corpus', name)
    os.makedirs(os.path.join(folder, grown), exist_ok=True)
    command = [os.path.join('fuzz', f'fuzz_{name}'), *options(name, root), f'-seed={seed}', f'-max_total_time={seconds}',
               grown, os.path.join(root, 'fuzz', 'corpus', name)]
    path = os.path.join(folder, f'{name}.log')
    with open(path, 'wb') as log:
        status = subprocess.run(['./' + command[0], *command[1:]], cwd=folder, stdout=log, stderr=log,
                                stdin=subprocess.DEVNULL, check=False).returncode
    with open(path, encoding='utf-8', errors='replace') as log:
        return status, log.read()


def figures(log):
    """Executions, edges and features that a log ends with."""
    runs = re.findall(r'stat::number_of_executed_units:\s*(\d+)', log)
    seen = re.findall(r'\bcov: (\d+) ft: (\d+)', log)
    return int(runs[-1]) if runs else 0, int(seen[-1][0]) if seen else 0, int(seen[-1][1]) if seen else 0


def begun_with(log):
    """Features of the corpus that a run began with."""
    seen = re.findall(r'INITED cov: \d+ ft: (\d+)', log)
    return int(seen[0]) if seen else 0


def choose(targets, turn):
    waiting = [t for t in targets if turn - t.turn > len(targets)]
    return min(waiting, key=lambda t: t.turn) if waiting else max(targets, key=lambda t: t.rate)


def table(targets):
    print(f'{"target":12} {"executions":>12} {"edges":>8} {"features":>9} {"seconds":>8}')
    for t in targets:
        print(f'{t.name:12} {t.runs:12} {t.edges:8} {t.features:9} {t.seconds:8.0f}')
    print(f'{"all":12} {sum(t.runs for t in targets):12} {"":8} {"":9} {sum(t.seconds for t in targets):8.0f}')


def main():
    folder, root, seed, total = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    targets = [Target(name) for name in sys.argv[5:]]
    slices = SLICES_EACH * len(targets) if len(targets) > 1 else 1
    slice_seconds = max(1, round(total / slices))
    left, turn = total, 0
    while left > 0:
        t = targets[turn] if turn < len(targets) else choose(targets, turn)
        begun = time.monotonic()
        status, log = run(folder, root, t.name, seed + turn if seed else 0, min(slice_seconds, max(1, round(left))))
        took = time.monotonic() - begun
        if status != 0:
            print(log[-6000:])
            table(targets)
            print(f'fuzz {t.name}: a finding; its input is {folder}/finding-{t.name}-*')
            return 1
        runs, t.edges, features = figures(log)
        t.rate = (features - begun_with(log)) / took
        t.runs, t.features, t.seconds, t.turn = t.runs + runs, features, t.seconds + took, turn
        left -= took
        turn += 1
    table(targets)
    return 0


if __name__ == '__main__':
    sys.exit(main())
