# SPDX-License-Identifier: Apache-2.0
"""Manifests for the tests, and the ways there."""
from __future__ import annotations

import pathlib
from typing import Any

import grove

ROOT = pathlib.Path(__file__).resolve().parents[3]
MANIFESTS = ROOT / 'examples' / 'manifests'


def manifest(stem: str) -> Any:
    path = next(MANIFESTS.glob(f'*{stem}*.yaml'))
    return next(grove.load(path.read_text(encoding='utf-8'))).to_python()


def small_set(name: str = 'small', replicas: int = 2) -> Any:
    container = {'name': 'main', 'image': 'example.com/serve:1', 'resources': {'requests': {'cpu': '1'}}}
    return {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': name, 'namespace': 'default'},
            'spec': {'replicas': 1, 'template': {'cliques': [{'name': 'worker', 'spec': {
                'roleName': 'worker', 'replicas': replicas, 'minAvailable': replicas,
                'podSpec': {'containers': [container]}}}]}}}
