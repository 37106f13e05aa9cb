#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of the library that the tests run, with a floor for each layer.

    coverage.py BUILD     a build with -Db_coverage=true whose tests have run

Asserts of what cannot happen (GROVE_E_INTERNAL) and of memory count like all else. Fails below a floor.
"""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLOORS = {'base': 95, 'value': 95, 'model': 95, 'plan': 90, 'sched': 90}  # percent of lines


def lines_of(build):
    """file -> {line: runs}, over all objects that hold the file."""
    found = collections.defaultdict(lambda: collections.defaultdict(int))
    counters = [path for path in glob.glob(os.path.join(build, 'lib', '**', '*.gcda'), recursive=True)]
    with tempfile.TemporaryDirectory() as work:
        for path in counters:
            subprocess.run(['gcov', '--json-format', os.path.abspath(path)], cwd=work, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for report in glob.glob(os.path.join(work, '*.gcov.json.gz')):
                with gzip.open(report) as f:
                    data = json.load(f)
                for part in data['files']:
                    name = os.path.relpath(os.path.normpath(os.path.join(data['current_working_directory'], part['file'])), ROOT)
                    for line in part['lines']:
                        found[name][line['line_number']] += line['count']
                os.unlink(report)
    return found


def main():
    files = lines_of(sys.argv[1])
    layers = collections.defaultdict(lambda: [0, 0])
    worst = []
    for name, lines in files.items():
        parts = name.split('/')
        if parts[0] != 'lib' or not name.endswith('.c'):
            continue
        run = sum(1 for count in lines.values() if count)
        layers[parts[1]][0] += run
        layers[parts[1]][1] += len(lines)
        worst.append((100 * run / len(lines), len(lines) - run, name))
    bad = 0
    for layer, (run, all_lines) in sorted(layers.items()):
        share, floor = 100 * run / all_lines, FLOORS.get(layer, 0)
        verdict = '' if share >= floor else '  BELOW THE FLOOR'
        bad += bool(verdict)
        print(f'{layer:10} {share:5.1f} % of {all_lines:5} lines{f", floor {floor} %" if floor else ""}{verdict}')
    print('least covered:')
    for share, missing, name in sorted(worst)[:15]:
        print(f'  {share:5.1f} %  {missing:4} lines not run  {name}')
    missing_layers = FLOORS.keys() - layers.keys()
    if missing_layers:
        print(f'no counters of {", ".join(sorted(missing_layers))}: did the tests run?')
    return 1 if bad or missing_layers else 0


if __name__ == '__main__':
    sys.exit(main())
