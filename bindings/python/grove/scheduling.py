# SPDX-License-Identifier: Apache-2.0
"""Where gangs go: nodes, classes of pods, gangs, decisions; own ordering and veto by callback.

    s = Scheduler()
    s.topology('default', ['zone', 'rack'])
    for i in range(4):
        s.add_node(f'n{i}', {'zone': 'z', 'rack': f'r{i // 2}'}, {'cpu': 64000, 'nvidia.com/gpu': 8})
    worker = s.pod_class({'cpu': 8000, 'nvidia.com/gpu': 8})
    decision = s.place(Gang('train', [PodGroup('worker', worker, 2)], required='rack'))
    if decision.verdict == 'placed':
        s.commit(decision)

Amounts are integers in any unit, the same for nodes and classes.
"""
from __future__ import annotations

import ctypes
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Literal, Mapping, Optional, Sequence

from . import _lowlevel as low
from ._core import Environment, Handle, environment, made, optional, text, written
from ._library import functions
from .errors import new_error, raise_for

_VERDICTS: dict[int, Literal['placed', 'infeasible', 'unknown']] = {
    low.GROVE_PLACED: 'placed', low.GROVE_INFEASIBLE: 'infeasible', low.GROVE_UNKNOWN: 'unknown'}
_EFFECTS = {'': low.GROVE_TAINT_ANY, 'NoSchedule': low.GROVE_TAINT_NO_SCHEDULE,
            'PreferNoSchedule': low.GROVE_TAINT_PREFER_NO_SCHEDULE, 'NoExecute': low.GROVE_TAINT_NO_EXECUTE}


@dataclass(frozen=True)
class Candidate:
    """A domain that is about to be tried; `rank` is the engine's own key, smaller first."""

    topology: int
    level: int
    domain: int
    rank: int


@dataclass(frozen=True)
class Taint:
    key: str
    value: str = ''
    effect: str = 'NoSchedule'


@dataclass(frozen=True)
class Toleration:
    """Without a value: any value. Without a key: every taint."""

    key: str = ''
    value: Optional[str] = None
    effect: str = ''


@dataclass(frozen=True)
class PodGroup:
    """`count` identical pods, of which `minimum` are placed with the gang or nothing is."""

    name: str
    pod_class: int
    count: int
    minimum: Optional[int] = None
    required: Optional[str] = None
    preferred: Optional[str] = None
    members: Sequence[str] = ()
    """Nodes of members that have their place already."""
    sticky: Mapping[int, str] = field(default_factory=dict)
    """Wish: pod index to node name."""


@dataclass(frozen=True)
class Group:
    """Podgroups (by name) that are packed together."""

    name: str
    podgroups: Sequence[str]
    required: Optional[str] = None
    preferred: Optional[str] = None


@dataclass(frozen=True)
class Gang:
    """What is placed as one; levels are label keys of the topology, or `host`."""

    name: str
    podgroups: Sequence[PodGroup]
    groups: Sequence[Group] = ()
    topology: str = 'default'
    required: Optional[str] = None
    preferred: Optional[str] = None
    priority: int = 0


@dataclass(frozen=True)
class Decision:
    """The answer about one gang. INFEASIBLE comes only with a proof, which `certificate` names."""

    verdict: Literal['placed', 'infeasible', 'unknown']
    steps: int
    nodes: Mapping[str, tuple[Optional[str], ...]]
    """Podgroup to the node of each pod; None for a surplus pod without one."""
    score: int
    """Millionths; 1,000,000: nobody could do better even on an empty cluster."""
    cost: Mapping[str, int]
    certificate: Mapping[str, Any]
    explanation: Mapping[str, Any]
    victims: tuple[tuple[Optional[int], Optional[int]], ...] = ()
    """(gang, pod): pod None is the whole gang, gang None a pod without one."""
    gang: Optional[Gang] = None


class Scheduler(Handle):
    """A cluster as the scheduler sees it. One thread at a time.

    order(candidate) gives the key by which domains are tried, smaller first; answers stay sound and complete whatever
    it returns. veto(class, node name) forbids a node by returning True. What they raise leaves place().
    """

    _free = functions.sched_free

    def __init__(self, *, order: Optional[Callable[[Candidate], int]] = None,
                 veto: Optional[Callable[[int, str], bool]] = None, env: Optional[Environment] = None) -> None:
        super().__init__(None)
        self.environment = environment(env)
        self._topologies: dict[str, int] = {}
        self._raised: Optional[BaseException] = None
        options = low.grove_sched_options(size=ctypes.sizeof(low.grove_sched_options))
        types: dict[str, Any] = {field[0]: field[1] for field in low.grove_sched_options._fields_}
        self._callbacks = (types['order'](self._ordered(order)) if order else None,
                           types['veto'](self._vetoed(veto)) if veto else None)  # alive as long as the scheduler
        if self._callbacks[0] is not None:
            options.order = self._callbacks[0]
        if self._callbacks[1] is not None:
            options.veto = self._callbacks[1]
        self._pointer = made(lambda out, error: functions.sched_new(self.environment.pointer, ctypes.byref(options),
                                                                    out, error))
        self._gang = made(lambda out, error: functions.gang_new(self.pointer, out))
        self._decision = made(lambda out, error: functions.decision_new(self.pointer, out))
        self._decided: Optional[Decision] = None

    def close(self) -> None:
        if self._pointer is not None and hasattr(self, '_decision'):
            functions.decision_free(self._decision)
            functions.gang_free(self._gang)
        super().close()

    # ---- callbacks ----

    def _ordered(self, order: Callable[[Candidate], int]) -> Callable[[Any, Any], int]:
        def call(_ctx: Any, candidate: Any) -> int:
            it = candidate.contents
            try:
                return int(order(Candidate(it.topology, it.level, it.domain, it.rank)))
            except BaseException as raised:  # it cannot pass through C; place() raises it
                self._raised = self._raised or raised
                return int(it.rank)
        return call

    def _vetoed(self, veto: Callable[[int, str], bool]) -> Callable[[Any, int, int], int]:
        def call(_ctx: Any, pod_class: int, node: int) -> int:
            try:
                return 1 if veto(pod_class, self.node_name(node) or '') else 0
            except BaseException as raised:
                self._raised = self._raised or raised
                return 1
        return call

    # ---- the cluster ----

    def resource(self, name: str) -> int:
        index = ctypes.c_uint32()
        raise_for(functions.sched_resource(self.pointer, name.encode(), ctypes.byref(index)))
        return index.value

    def topology(self, name: str, keys: Sequence[str]) -> None:
        """Declares a topology: label keys from broad to narrow."""
        array = (ctypes.c_char_p * len(keys))(*[key.encode() for key in keys])
        index, error = ctypes.c_uint32(), new_error()
        raise_for(functions.sched_topology(self.pointer, name.encode(), array, len(keys), ctypes.byref(index),
                                           ctypes.byref(error)), error)
        self._topologies[name] = index.value

    def _amounts(self, amounts: Mapping[str, int]) -> Any:
        by_index = {self.resource(name): amount for name, amount in amounts.items()}
        size = max(by_index, default=-1) + 1
        return (ctypes.c_int64 * size)(*[by_index.get(i, 0) for i in range(size)])

    def _node(self, name: Optional[str], labels: Mapping[str, str], capacity: Mapping[str, int],
              taints: Sequence[Taint], unschedulable: bool, down: bool) -> tuple[Any, list[Any]]:
        label_array = _labels(labels)
        taint_array = (low.grove_sched_taint * len(taints))(
            *[low.grove_sched_taint(key=t.key.encode(), value=t.value.encode(), effect=_EFFECTS[t.effect])
              for t in taints])
        amounts = self._amounts(capacity)
        flags = (low.GROVE_NODE_UNSCHEDULABLE if unschedulable else 0) | (low.GROVE_NODE_DOWN if down else 0)
        node = low.grove_sched_node(
            size=ctypes.sizeof(low.grove_sched_node), flags=flags, name=optional(name), labels=label_array,
            n_labels=len(labels), taints=taint_array, n_taints=len(taints), capacity=amounts, n_capacity=len(amounts))
        return node, [label_array, taint_array, amounts]

    def add_node(self, name: str, labels: Mapping[str, str], capacity: Mapping[str, int], *,
                 taints: Sequence[Taint] = (), unschedulable: bool = False, down: bool = False) -> None:
        """`capacity` may name `pods`; without it the node takes any number."""
        if 'pods' not in capacity:
            capacity = {**capacity, 'pods': 1 << 30}
        node, _keep = self._node(name, labels, capacity, taints, unschedulable, down)
        index, error = ctypes.c_uint32(), new_error()
        raise_for(functions.sched_node_add(self.pointer, ctypes.byref(node), ctypes.byref(index),
                                           ctypes.byref(error)), error)

    def update_node(self, name: str, labels: Mapping[str, str], capacity: Mapping[str, int], *,
                    taints: Sequence[Taint] = (), unschedulable: bool = False, down: bool = False) -> None:
        if 'pods' not in capacity:
            capacity = {**capacity, 'pods': 1 << 30}
        node, _keep = self._node(name, labels, capacity, taints, unschedulable, down)
        error = new_error()
        raise_for(functions.sched_node_update(self.pointer, self.node_id(name), ctypes.byref(node),
                                              ctypes.byref(error)), error)

    def remove_node(self, name: str) -> None:
        raise_for(functions.sched_node_remove(self.pointer, self.node_id(name)))

    def node_id(self, name: str) -> int:
        found = int(functions.sched_node_find(self.pointer, name.encode()))
        if found == low.GROVE_SCHED_NONE:
            raise KeyError(name)
        return found

    def node_name(self, node: int) -> Optional[str]:
        name = functions.sched_node_name(self.pointer, node)
        return text(name) if name is not None else None

    def free(self, node: str) -> dict[str, int]:
        """What is free on a node, by resource."""
        amounts = functions.sched_node_free(self.pointer, self.node_id(node))
        count = functions.sched_resource_count(self.pointer)
        return {text(functions.sched_resource_name(self.pointer, i)): amounts[i] for i in range(count)}

    def pod_class(self, requests: Mapping[str, int], *, selector: Mapping[str, str] = {},
                  tolerations: Sequence[Toleration] = (), max_per_host: int = 0, key: int = 0) -> int:
        """What matters about a pod for its place; equal descriptions get the same number."""
        amounts, labels = self._amounts(requests), _labels(selector)
        tolerated = (low.grove_sched_toleration * len(tolerations))(
            *[low.grove_sched_toleration(key=t.key.encode(), value=optional(t.value), effect=_EFFECTS[t.effect],
                                         exists=int(t.value is None)) for t in tolerations])
        spec = low.grove_sched_class_spec(
            size=ctypes.sizeof(low.grove_sched_class_spec), n_requests=len(amounts), requests=amounts, selector=labels,
            n_selector=len(selector), tolerations=tolerated, n_tolerations=len(tolerations), max_per_host=max_per_host,
            key=key)
        index, error = ctypes.c_uint32(), new_error()
        raise_for(functions.sched_class(self.pointer, ctypes.byref(spec), ctypes.byref(index), ctypes.byref(error)),
                  error)
        return index.value

    def add_pod(self, node: str, pod_class: int, *, priority: int = 0, never_evict: bool = False) -> int:
        """A pod that runs outside the gangs of this scheduler."""
        pod = low.grove_sched_pod(size=ctypes.sizeof(low.grove_sched_pod), node=self.node_id(node), class_id=pod_class,
                                  priority=priority, flags=low.GROVE_POD_NEVER_EVICT if never_evict else 0)
        index, error = ctypes.c_uint32(), new_error()
        raise_for(functions.sched_pod_add(self.pointer, ctypes.byref(pod), ctypes.byref(index), ctypes.byref(error)),
                  error)
        return index.value

    def remove_pod(self, pod: int) -> None:
        raise_for(functions.sched_pod_remove(self.pointer, pod))

    # ---- deciding ----

    def place(self, gang: Gang, *, steps: int = 0, preempt: bool = False) -> Decision:
        """Finds places; changes nothing. With preempt, gangs and pods of lower priority may go."""
        self._describe(gang)
        options = low.grove_place_options(size=ctypes.sizeof(low.grove_place_options), steps=steps)
        decide = functions.sched_preempt if preempt else functions.sched_place
        error = new_error()
        status = decide(self.pointer, self._gang, ctypes.byref(options), self._decision, ctypes.byref(error))
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        raise_for(status, error)
        self._decided = self._read(gang)
        return self._decided

    def commit(self, decision: Decision) -> int:
        """Turns the last decision, if it is `placed`, into pods; the number names the gang in release()."""
        if decision is not self._decided or decision.verdict != 'placed':
            raise ValueError('only the last decision can be committed, and only when it is placed')
        index, error = ctypes.c_uint32(), new_error()
        raise_for(functions.sched_commit(self.pointer, self._gang, self._decision, ctypes.byref(index),
                                         ctypes.byref(error)), error)
        self._decided = None
        return index.value

    def release(self, gang: int) -> None:
        raise_for(functions.sched_release(self.pointer, gang))

    @contextmanager
    def what_if(self) -> Iterator[None]:
        """Everything done to pods and gangs in the block is undone at its end."""
        mark = ctypes.c_uint64()
        raise_for(functions.sched_mark(self.pointer, ctypes.byref(mark)))
        try:
            yield
        finally:
            self._decided = None
            raise_for(functions.sched_rollback(self.pointer, mark.value))

    def state_hash(self) -> int:
        return int(functions.sched_hash(self.pointer))

    def verify(self) -> None:
        """Compares every running sum with a fresh count."""
        error = new_error()
        raise_for(functions.sched_verify(self.pointer, ctypes.byref(error)), error)

    def _level(self, topology: int, key: Optional[str]) -> int:
        if key is None:
            return int(low.GROVE_LEVEL_NONE)
        return int(functions.sched_level(self.pointer, topology, key.encode()))

    def _describe(self, gang: Gang) -> None:
        topology, g = self._topologies[gang.topology], self._gang
        raise_for(functions.gang_begin(g, topology, gang.name.encode()))
        raise_for(functions.gang_pack(g, self._level(topology, gang.required), self._level(topology, gang.preferred)))
        raise_for(functions.gang_priority(g, gang.priority))
        ids: dict[str, int] = {}
        index = ctypes.c_uint32()
        for pg in gang.podgroups:
            minimum = pg.count if pg.minimum is None else pg.minimum
            raise_for(functions.gang_podgroup(g, pg.name.encode(), pg.pod_class, minimum, pg.count,
                                              self._level(topology, pg.required), self._level(topology, pg.preferred),
                                              ctypes.byref(index)))
            ids[pg.name] = index.value
            for node in pg.members:
                raise_for(functions.gang_member(g, index.value, self.node_id(node)))
            for pod, node in pg.sticky.items():
                raise_for(functions.gang_sticky(g, index.value, pod, self.node_id(node)))
        for group in gang.groups:
            members = (ctypes.c_uint32 * len(group.podgroups))(*[ids[name] for name in group.podgroups])
            raise_for(functions.gang_group(g, group.name.encode(), members, len(members),
                                           self._level(topology, group.required),
                                           self._level(topology, group.preferred), ctypes.byref(index)))

    def _read(self, gang: Gang) -> Decision:
        verdict = _VERDICTS[functions.decision_verdict(self._decision)]
        nodes: dict[str, tuple[Optional[str], ...]] = {}
        cost: dict[str, int] = {}
        score = 0
        count = ctypes.c_uint32()
        if verdict == 'placed':
            for index, pg in enumerate(gang.podgroups):
                ids = functions.decision_nodes(self._decision, index, ctypes.byref(count))
                nodes[pg.name] = tuple(self.node_name(ids[i]) for i in range(count.value))
            costs = low.grove_cost(size=ctypes.sizeof(low.grove_cost))
            raise_for(functions.decision_cost(self._decision, ctypes.byref(costs)))
            cost = {name: getattr(costs, name) for name, _ in costs._fields_ if name not in ('size', 'reserved')}
            score = functions.decision_score(self._decision)
        victims = functions.decision_victims(self._decision, ctypes.byref(count))
        return Decision(verdict, functions.decision_steps(self._decision), nodes, score, cost, self._certificate(),
                        self._explanation(), tuple((_some(victims[i].gang), _some(victims[i].pod))
                                                   for i in range(count.value)), gang)

    def _certificate(self) -> dict[str, Any]:
        it = low.grove_certificate(size=ctypes.sizeof(low.grove_certificate))
        if functions.decision_certificate(self._decision, ctypes.byref(it)) < 0 or not it.reason:
            return {}
        nearest = self.node_name(it.nearest) if it.nearest != low.GROVE_SCHED_NONE else None
        return {'reason': text(functions.reason_name(it.reason)), 'level': it.level, 'candidates': it.candidates,
                'nearest': nearest, 'have': it.have, 'need': it.need}

    def _explanation(self) -> dict[str, Any]:
        raw = written(self.environment, lambda buf, error: functions.sched_explain(
            self.pointer, self._gang, self._decision, low.GROVE_EXPLAIN_JSON, buf, error))
        result: dict[str, Any] = json.loads(raw) if raw else {}
        return result


def _some(number: int) -> Optional[int]:
    return None if number == low.GROVE_SCHED_NONE else number


def _labels(labels: Mapping[str, str]) -> Any:
    return (low.grove_sched_label * len(labels))(
        *[low.grove_sched_label(key=key.encode(), value=value.encode()) for key, value in labels.items()])
