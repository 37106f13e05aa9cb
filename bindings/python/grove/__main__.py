# SPDX-License-Identifier: Apache-2.0
"""`python -m grove render|validate|default`: the forms of grovectl, by way of this binding."""
from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Optional

import grove


def read(path: str) -> str:
    if path == '-':
        return sys.stdin.read()
    with open(path, encoding='utf-8', newline='') as source:
        return source.read()


def configuration(path: Optional[str]) -> Optional[grove.Config]:
    return grove.Config.from_text(read(path)) if path else None


def show(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + '\n')


def finding(it: grove.Finding) -> dict[str, Any]:
    return {'code': it.code, 'type': it.type, 'path': it.path, 'message': it.message, 'line': it.line,
            'column': it.column}


def judged(verdict: grove.Verdict) -> dict[str, Any]:
    return {'allowed': verdict.allowed, 'stage': verdict.stage, 'errors': [finding(f) for f in verdict.errors],
            'warnings': [finding(f) for f in verdict.warnings]}


def render(options: argparse.Namespace) -> int:
    config = configuration(options.config)
    for pcs in grove.load(read(options.file)):
        verdict = grove.validate(pcs, config=config, fields='Ignore', namespace=options.namespace)
        if not verdict:
            for error in verdict.errors:
                print(f'{error.path}: {error.message}', file=sys.stderr)
            return 1
        show(grove.render(pcs, config=config, namespace=options.namespace))
    return 0


def validate(options: argparse.Namespace) -> int:
    config = configuration(options.config)
    if options.cases:
        for line in read(options.cases).splitlines():
            case = json.loads(line)
            old = case.get('old')
            verdict = grove.validate(case['input'], old=old, config=config, operation=operation(case.get('op')))
            print(json.dumps({'name': case['name'], **judged(verdict)}))
        return 0
    results = []
    for index, doc in enumerate(grove.load(read(options.file))):
        verdict = grove.validate(doc, config=config)
        value = doc.to_python()
        results.append({'file': options.file, 'index': index, 'kind': value.get('kind', ''),
                        'name': value.get('metadata', {}).get('name', ''), **judged(verdict)})
    show({'results': results})
    return 0 if all(result['allowed'] for result in results) else 1


def operation(word: Optional[str]) -> Any:
    return word if word in ('create', 'update', 'status', 'scale') else 'auto'


def default(options: argparse.Namespace) -> int:
    for doc in grove.load(read(options.file)):
        show(grove.default(doc, config=configuration(options.config)))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog='python -m grove')
    parser.add_argument('--version', action='version', version=grove.__version__)
    verbs = parser.add_subparsers(dest='verb', required=True)
    for verb, run in (('render', render), ('validate', validate), ('default', default)):
        sub = verbs.add_parser(verb)
        sub.add_argument('file', nargs='?', default='-')
        sub.add_argument('--config')
        sub.add_argument('-n', '--namespace')
        sub.add_argument('-o', '--output', choices=['json'], default='json')
        sub.add_argument('--cases')
        sub.set_defaults(run=run)
    options = parser.parse_args()
    try:
        status: int = options.run(options)
        return status
    except (grove.GroveError, OSError, ValueError) as error:
        print(f'grove: {error}', file=sys.stderr)
        return 2


if __name__ == '__main__':
    sys.exit(main())
