# SPDX-License-Identifier: Apache-2.0
"""From a set to its children: rendering offline, and planning against what was observed."""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass, field
from typing import Any, Literal, Mapping, Optional, Sequence

from . import _lowlevel as low
from ._core import Environment, Handle, environment, made, optional, text, written
from ._library import functions
from .admission import Config, default_document
from .documents import Document, Object, document
from .errors import new_error, raise_for

_VERDICTS = {'none': low.GROVE_VERDICT_NONE, 'placed': low.GROVE_VERDICT_PLACED,
             'infeasible': low.GROVE_VERDICT_INFEASIBLE, 'unknown': low.GROVE_VERDICT_UNKNOWN}


def render(pcs: Object, *, config: Optional[Config] = None, namespace: Optional[str] = None,
           exact_templates: bool = False, as_sent: bool = False) -> Any:
    """A List of the PodCliqueSet and all its children, as they are before anything is scheduled."""
    flags = ((low.GROVE_RENDER_EXACT_TEMPLATES if exact_templates else 0)
             | (low.GROVE_RENDER_AS_SENT if as_sent else 0))
    stored = default_document(pcs, config=config, namespace=namespace)
    return Document(made(lambda out, error: functions.render(
        stored.environment.pointer, stored.pointer, stored.root, config.pointer if config else None,
        optional(namespace), flags, out, error)), stored.environment).to_python()


def names(pcs: Object, *, config: Optional[Config] = None) -> Any:
    """Every name that comes from a PodCliqueSet at its largest scale, with its length and limit."""
    stored = default_document(pcs, config=config)
    return Document(made(lambda out, error: functions.names_list(
        stored.environment.pointer, stored.pointer, stored.root, config.pointer if config else None, out, error)),
        stored.environment).to_python()


@dataclass(frozen=True)
class Placement:
    """What somebody decided about a gang: which of its pods (by name) go where."""

    gang: str
    verdict: Literal['none', 'placed', 'infeasible', 'unknown']
    pods: Mapping[str, str] = field(default_factory=dict)
    """Pod name to node name."""
    reason: str = ''
    text: str = ''
    score: int = 0
    retry_ns: int = low.GROVE_NEVER


class Store(Handle):
    """The observed cluster. Feed it every object that a watch or list delivers and every deletion."""

    _free = functions.store_free

    def __init__(self, *objects: Object, env: Optional[Environment] = None) -> None:
        super().__init__(None)
        self.environment = environment(env)
        self._pointer = made(lambda out, error: functions.store_new(self.environment.pointer, out))
        for item in objects:
            self.put(item)

    def put(self, item: Object) -> None:
        doc, error = document(item, self.environment), new_error()
        raise_for(functions.store_put(self.pointer, doc.pointer, doc.root, ctypes.byref(error)), error)

    def remove(self, item: Object) -> None:
        doc, error = document(item, self.environment), new_error()
        raise_for(functions.store_remove(self.pointer, doc.root, ctypes.byref(error)), error)

    def next_dirty(self) -> Optional[tuple[str, str]]:
        """Namespace and name of the next set that something changed for."""
        namespace, name = ctypes.c_char_p(), ctypes.c_char_p()
        if not functions.store_next_dirty(self.pointer, ctypes.byref(namespace), ctypes.byref(name)):
            return None
        return text(namespace.value), text(name.value)

    def mark_all(self) -> None:
        raise_for(functions.store_mark_all(self.pointer))

    def stats(self) -> dict[str, int]:
        stats = low.grove_store_stats(size=ctypes.sizeof(low.grove_store_stats))
        raise_for(functions.store_stats_get(self.pointer, ctypes.byref(stats)))
        return {name: getattr(stats, name) for name, _ in stats._fields_ if name not in ('size', 'reserved')}


class Planner(Handle):
    """What should change for one set: a pure function of store, placements and time. One thread at a time."""

    _free = functions.planner_free

    def __init__(self, *, config: Optional[Config] = None, env: Optional[Environment] = None) -> None:
        super().__init__(None)
        self.environment = environment(env)
        self.config = config
        self._pointer = made(lambda out, error: functions.planner_new(self.environment.pointer, out))

    def plan(self, store: Store, namespace: str, name: str, *, now_ns: int, placements: Sequence[Placement] = (),
             seed: int = 0) -> Any:
        """The plan as a dict: kind Plan with its actions, waits and deadline."""
        keep: list[Any] = []
        request = low.grove_plan_request(
            size=ctypes.sizeof(low.grove_plan_request), ns=namespace.encode(), name=name.encode(), now_ns=now_ns,
            seed=seed, config=self.config.pointer if self.config else None, n_placements=len(placements))
        if placements:
            structs = [_placement(placement, keep) for placement in placements]
            array = (ctypes.POINTER(low.grove_placement) * len(structs))(*[ctypes.pointer(s) for s in structs])
            keep += structs + [array]
            request.placements = array
        plan = made(lambda out, error: functions.plan_make(self.pointer, store.pointer, ctypes.byref(request), out,
                                                           error))
        try:
            return json.loads(written(self.environment,
                                      lambda buf, error: functions.plan_write_json(plan, 0, buf, error)))
        finally:
            functions.plan_unref(plan)


def _placement(placement: Placement, keep: list[Any]) -> Any:
    pods = (low.grove_placed_pod * len(placement.pods))(
        *[low.grove_placed_pod(pod=pod.encode(), node=node.encode()) for pod, node in placement.pods.items()])
    keep.append(pods)
    return low.grove_placement(
        size=ctypes.sizeof(low.grove_placement), verdict=_VERDICTS[placement.verdict], gang=placement.gang.encode(),
        reason=placement.reason.encode(), text=placement.text.encode(), pods=pods, n_pods=len(placement.pods),
        score=placement.score, retry_ns=placement.retry_ns)
