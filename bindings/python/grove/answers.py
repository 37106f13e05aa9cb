# SPDX-License-Identifier: Apache-2.0
"""Whole questions: plain data in, plain data out, no handles. docs/schemas says what the answers hold."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _lowlevel as low
from ._core import made, optional
from ._library import functions
from .admission import Config, default_document
from .cluster import kind_number
from .documents import Document, Object, document


def place(request: Object) -> Any:
    """Where gangs go, each committed before the next: {topology, nodes, gangs, explain} as grove/answer.h has it."""
    asked = document(request)
    return Document(made(lambda out, error: functions.place(asked.environment.pointer, asked.pointer, out, error)),
                    asked.environment).to_python()


def diff(old: Object, new: Object, *, config: Optional[Config] = None) -> Any:
    """Which children are created, deleted and changed (with the JSON patch) when a set changes."""
    before, after = default_document(old, config=config), default_document(new, config=config)
    return Document(made(lambda out, error: functions.diff(
        before.environment.pointer, before.pointer, after.pointer, config.pointer if config else None, out, error)),
        before.environment).to_python()


def explain(snapshot: Object, kind: str, name: str, *, namespace: Optional[str] = None, now_ns: int = 0,
            config: Optional[Config] = None) -> Any:
    """Why an object of a cluster (a List, as kubectl or simulate gives it) is not where it should be."""
    seen = document(snapshot)
    return Document(made(lambda out, error: functions.explain(
        seen.environment.pointer, seen.pointer, config.pointer if config else None, kind_number(kind),
        optional(namespace), name.encode(), now_ns, out, error)), seen.environment).to_python()


def simulate(objects: Object, *, nodes: Optional[str] = None, for_ns: int = 0, seed: int = 0, instant: bool = False,
             config: Optional[Config] = None) -> Any:
    """What is there after objects were applied to an empty cluster with Grove and virtual time ran."""
    applied = document(objects)
    options = low.grove_simulate_options(size=ctypes.sizeof(low.grove_simulate_options), nodes=optional(nodes),
                                         flags=low.GROVE_SIMULATE_INSTANT if instant else 0, for_ns=for_ns, seed=seed)
    return Document(made(lambda out, error: functions.simulate(
        applied.environment.pointer, applied.pointer, config.pointer if config else None, ctypes.byref(options), out,
        error)), applied.environment).to_python()
