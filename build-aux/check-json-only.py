#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A core without YAML gives the same answers, also as WebAssembly.

    check-json-only.py GROVECTL GROVECTL_WITHOUT_YAML [ROOT]

Each recorded set is turned into JSON and rendered by both; the bytes must be equal. The last line is
`N passed, N failed`.
"""
import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile

import yaml


def plain(value):
    """What YAML knows beyond JSON, as text."""
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    raise TypeError(type(value))


def to_json(source, target):
    with open(source, encoding='utf-8') as f:
        documents = [document for document in yaml.safe_load_all(f) if document]
    with open(target, 'w', encoding='utf-8') as f:
        json.dump(documents[0] if len(documents) == 1 else documents, f, default=plain)


def answer(grovectl, verb, path, config):
    result = subprocess.run([grovectl, verb, path, '--config', config, '-o', 'json'], capture_output=True)
    return result.returncode, result.stdout


def main():
    full, bare = (os.path.abspath(path) for path in sys.argv[1:3])
    root = sys.argv[3] if len(sys.argv) > 3 else '.'
    passed = failed = 0
    cases = os.path.join(root, 'tests/golden/children')
    for name in sorted(glob.glob(os.path.join(cases, '*/input.yaml'))):
        own = os.path.join(os.path.dirname(name), 'config.yaml')
        with tempfile.TemporaryDirectory() as folder:
            path, config = os.path.join(folder, 'input.json'), os.path.join(folder, 'config.json')
            to_json(name, path)
            to_json(own if os.path.exists(own) else os.path.join(cases, 'config.yaml'), config)
            for verb in ('render', 'validate', 'default'):
                want = answer(full, verb, path, config)
                if want == answer(bare, verb, path, config) and (want[0] == 0 or verb == 'validate'):
                    passed += 1
                else:
                    failed += 1
                    print(f'{name}: {verb} differs without YAML')
    print(f'{passed} passed, {failed} failed')
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
