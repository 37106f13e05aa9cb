# SPDX-License-Identifier: Apache-2.0
"""Clusters and what drives them: backends (the embedded one, or one written in Python), and the engine.

    sim = SimulatedCluster(nodes='1x2x2x8')
    sim.apply(manifest)
    engine = Engine(bind_schedulers=['grove-scheduler'])
    run(engine, sim, until_ns=sim.now_ns + 60 * SECOND)
    pods = sim.list('Pod')
"""
from __future__ import annotations

import ctypes
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from . import _lowlevel as low
from ._core import Environment, Handle, environment, made, optional, text, written
from ._library import functions
from .admission import Config
from .documents import Document, Object, document
from .errors import GroveError, InvalidArgument, NotFound, fill, new_error, raise_for

SECOND = 1_000_000_000
CAP_STATUS: int = low.GROVE_CAP_STATUS
CAP_SCALE: int = low.GROVE_CAP_SCALE
CAP_STRATEGIC: int = low.GROVE_CAP_STRATEGIC
CAP_APPLY: int = low.GROVE_CAP_APPLY
CAP_REPLACE: int = low.GROVE_CAP_REPLACE
CAP_EVICT: int = low.GROVE_CAP_EVICT
CAP_DRY_RUN: int = low.GROVE_CAP_DRY_RUN
CAP_SELECTORS: int = low.GROVE_CAP_SELECTORS
CAP_GC: int = low.GROVE_CAP_GC
CAP_VIRTUAL_TIME: int = low.GROVE_CAP_VIRTUAL_TIME
CAP_DETERMINISTIC: int = low.GROVE_CAP_DETERMINISTIC
NEVER: int = low.GROVE_NEVER
_PATCHES = {low.GROVE_PATCH_NONE: '', low.GROVE_PATCH_MERGE: 'merge', low.GROVE_PATCH_JSON: 'json',
            low.GROVE_PATCH_STRATEGIC: 'strategic'}
_SUBRESOURCES = {low.GROVE_SUBRESOURCE_NONE: '', low.GROVE_SUBRESOURCE_STATUS: 'status',
                 low.GROVE_SUBRESOURCE_SCALE: 'scale', low.GROVE_SUBRESOURCE_BINDING: 'binding',
                 low.GROVE_SUBRESOURCE_EVICTION: 'eviction'}
_EVENTS = {'ADDED': low.GROVE_EVENT_ADDED, 'MODIFIED': low.GROVE_EVENT_MODIFIED, 'DELETED': low.GROVE_EVENT_DELETED,
           'BOOKMARK': low.GROVE_EVENT_BOOKMARK, 'SYNCED': low.GROVE_EVENT_SYNCED, 'GONE': low.GROVE_EVENT_GONE}


def _kinds() -> dict[str, int]:
    """Kind names to numbers; where two groups use a name, the later one is `Kind.group`."""
    found: dict[str, int] = {}
    for number in range(1, low.GROVE_KIND_COUNT):
        name = text(functions.kind_name(number))
        found[f'{name}.{text(functions.kind_group(number))}' if name in found else name] = number
    return found


_KINDS = _kinds()
_KIND_NAMES = {number: name for name, number in _KINDS.items()}


def api_version(kind: str) -> str:
    """`apps/v1`, or `v1` for the core group."""
    number = kind_number(kind)
    group, version = text(functions.kind_group(number)), text(functions.kind_version(number))
    return f'{group}/{version}' if group else version


def has_scale(kind: str) -> bool:
    return bool(functions.kind_has_subresource(kind_number(kind), low.GROVE_SUBRESOURCE_SCALE))


def is_namespaced(kind: str) -> bool:
    return bool(functions.kind_is_namespaced(kind_number(kind)))


def kind_number(kind: str) -> int:
    if kind not in _KINDS:
        raise NotFound(low.GROVE_E_NOT_FOUND, f'no kind {kind!r}')
    return _KINDS[kind]


@dataclass(frozen=True)
class Operation:
    """One thing that the engine wants done. Preconditions (uid, resource_version) hold wherever they are set."""

    token: int
    verb: str
    kind: str
    namespace: str
    name: str
    subresource: str
    patch_type: str
    body: Any
    uid: str
    resource_version: str
    target: str
    reason: str
    label_selector: str
    field_selector: str
    grace_seconds: int
    replicas: int
    wants_reply: bool

    @classmethod
    def make(cls, verb: str, kind: str, namespace: str = '', name: str = '', *, body: Any = None, token: int = 1) -> 'Operation':
        """An operation of one's own, for what a person would do."""
        return cls(token, verb, kind, namespace, name, '', '', body, '', '', '', '', '', '', low.GROVE_GRACE_DEFAULT, 0, False)


@dataclass(frozen=True)
class Watch:
    """A watch to begin: without resource_version, ADDED for all there is, then SYNCED, then changes."""

    token: int
    kind: str
    namespace: str
    label_selector: str
    field_selector: str
    resource_version: str


class Sink:
    """Receives what Backend.process delivers."""

    def __init__(self, raw: Any, env: Environment) -> None:
        self._raw = raw
        self._environment = env

    def complete(self, token: int, obj: Any = None, *, status: int = 0, http: int = 200, reason: str = '',
                 message: str = '', retriable: bool = False, uncertain: bool = False) -> None:
        """Ends an operation: with the object its verb promises, or a status below 0."""
        flags = (low.GROVE_ERROR_RETRIABLE if retriable else 0) | (low.GROVE_ERROR_UNCERTAIN if uncertain else 0)
        completion = low.grove_completion(
            size=ctypes.sizeof(low.grove_completion), status=status, token=token, http=http, flags=flags,
            reason=reason.encode(), message=message.encode())
        with _Borrowed(obj, self._environment) as doc:
            if doc is not None:
                completion.object_doc, completion.object = doc.pointer, doc.root
            _delivered(self._raw.completion(self._raw.ctx, ctypes.byref(completion)))

    def event(self, token: int, kind: str, what: str, obj: Any = None, *, resource_version: str = '') -> None:
        """Tells of a change. `what`: ADDED, MODIFIED, DELETED, BOOKMARK, SYNCED or GONE."""
        event = low.grove_event(size=ctypes.sizeof(low.grove_event), type=_EVENTS[what], token=token,
                                kind=kind_number(kind), resource_version=resource_version.encode())
        with _Borrowed(obj, self._environment) as doc:
            if doc is not None:
                event.object_doc, event.object = doc.pointer, doc.root
            _delivered(self._raw.event(self._raw.ctx, ctypes.byref(event)))


class SinkRefused(GroveError):
    """The receiver could not take an item: Backend.process should let it through and deliver it again next time."""


def _delivered(status: int) -> None:
    if status < 0:
        raise SinkRefused(status, 'the receiver could not take it')


class _Borrowed:
    """An object as a document for the time of a call; documents that were handed in stay open."""

    def __init__(self, obj: Any, env: Environment) -> None:
        self._doc = None if obj is None else document(obj, env)
        self._ours = self._doc is not None and not isinstance(obj, Document)

    def __enter__(self) -> Optional[Document]:
        return self._doc

    def __exit__(self, *_: Any) -> None:
        if self._ours and self._doc is not None:
            self._doc.close()


class Backend(ABC):
    """A cluster written in Python. Deliver nothing but from process(); see grove/sys/backend.h for the contract."""

    capabilities: int = 0

    @abstractmethod
    def submit(self, operation: Operation) -> None:
        """Takes an operation; raise a GroveError when it is not taken."""

    @abstractmethod
    def watch(self, watch: Watch) -> None:
        """Begins a watch."""

    @abstractmethod
    def cancel(self, token: int) -> None:
        """Ends an operation or a watch; raise NotFound for unknown tokens."""

    @abstractmethod
    def process(self, now_ns: int, budget: int, sink: Sink) -> int:
        """Delivers at most `budget` items (0: no bound). Returns when it wants to be called again, or NEVER."""

    def close(self) -> None:
        """Called when the backend is no longer used."""


class _Adapter:
    """The C table of a backend written in Python."""

    def __init__(self, backend: Backend, env: Environment) -> None:
        self.backend, self.environment = backend, env
        types: dict[str, Any] = {field[0]: field[1] for field in low.grove_backend_ops._fields_}
        self.ops = low.grove_backend_ops(size=ctypes.sizeof(low.grove_backend_ops))
        self.ops.submit = types['submit'](self._guarded(lambda op: backend.submit(_operation(op.contents, env))))
        self.ops.cancel = types['cancel'](self._guarded(backend.cancel))
        self.ops.watch = types['watch'](self._guarded(lambda watch: backend.watch(_watch(watch.contents))))
        self.ops.process = types['process'](self._process)
        self.ops.destroy = types['destroy'](lambda _impl: backend.close())
        self.struct = low.grove_backend(size=ctypes.sizeof(low.grove_backend), caps=backend.capabilities,
                                        ops=ctypes.pointer(self.ops), impl=None)

    @staticmethod
    def _guarded(call: Any) -> Any:
        def guarded(_impl: Any, argument: Any, error: Any) -> int:
            try:
                call(argument)
                return 0
            except Exception as raised:
                return fill(error, raised)
        return guarded

    def _process(self, _impl: Any, now: int, budget: int, sink: Any, deadline: Any, error: Any) -> int:
        try:
            deadline[0] = self.backend.process(now, budget, Sink(sink.contents, self.environment))
            return 0
        except SinkRefused as refused:
            return refused.status
        except Exception as raised:
            return fill(error, raised)


def _operation(op: Any, env: Environment) -> Operation:
    if op.size < ctypes.sizeof(low.grove_op):
        raise InvalidArgument(low.GROVE_E_INVALID, 'the operation is of an older library')
    body = None
    if op.body_doc:
        node = op.body or functions.doc_root(op.body_doc)
        body = json.loads(written(env, lambda buf, error: functions.node_write_json(node, 0, buf, error)))
    return Operation(op.token, text(functions.verb_name(op.verb)), _KIND_NAMES.get(op.kind, ''), text(op.ns),
                     text(op.name), _SUBRESOURCES[op.subresource], _PATCHES[op.patch_type], body, text(op.uid),
                     text(op.resource_version), text(op.target), text(op.reason), text(op.label_selector),
                     text(op.field_selector), op.grace_seconds, op.replicas,
                     not op.flags & low.GROVE_OP_NO_REPLY)


def _watch(watch: Any) -> Watch:
    return Watch(watch.token, _KIND_NAMES.get(watch.kind, ''), text(watch.ns), text(watch.label_selector),
                 text(watch.field_selector), text(watch.resource_version))


class SimulatedCluster(Handle):
    """A Kubernetes cluster in memory, in virtual time."""

    _free = functions.sim_free

    def __init__(self, *, nodes: str = '', seed: int = 0, scheduler_names: Optional[Sequence[str]] = None,
                 env: Optional[Environment] = None) -> None:
        super().__init__(None)
        self.environment = environment(env)
        options = low.grove_sim_options(size=ctypes.sizeof(low.grove_sim_options), seed=seed)
        if scheduler_names is not None:
            options.scheduler_names = ','.join(scheduler_names).encode()
        self._pointer = made(lambda out, error: functions.sim_new(self.environment.pointer, ctypes.byref(options), out,
                                                                  error))
        self._struct: Any = None
        if nodes:
            self.add_nodes(nodes)

    def close(self) -> None:
        struct, self._struct = getattr(self, '_struct', None), None
        if struct is not None:
            struct.ops.contents.destroy(struct.impl)
        super().close()

    @property
    def now_ns(self) -> int:
        return int(functions.sim_now(self.pointer))

    @property
    def struct(self) -> Any:
        if self._struct is None:
            struct, error = low.grove_backend(size=ctypes.sizeof(low.grove_backend)), new_error()
            raise_for(functions.sim_backend(self.pointer, ctypes.byref(struct), ctypes.byref(error)), error)
            self._struct = struct
        return self._struct

    def add_nodes(self, spec: str) -> None:
        """`BLOCKSxRACKSxNODESxGPUS`, the long form of the same, or a text of Node objects."""
        self._call(functions.sim_add_nodes, spec.encode())

    def apply(self, item: Object) -> None:
        """As `kubectl apply`."""
        doc = document(item, self.environment)
        self._call(functions.sim_apply, doc.pointer, doc.root)

    def advance(self, to_ns: int) -> None:
        self._call(functions.sim_advance, to_ns)

    def get(self, kind: str, namespace: str, name: str) -> Any:
        pointer = made(lambda out, error: functions.sim_get(self.pointer, kind_number(kind), namespace.encode(),
                                                            name.encode(), out, error))
        return Document(pointer, self.environment).to_python()

    def list(self, kind: str, namespace: Optional[str] = None, *, label_selector: Optional[str] = None) -> list[Any]:
        pointer = made(lambda out, error: functions.sim_list(
            self.pointer, kind_number(kind), optional(namespace), optional(label_selector), out, error))
        items: list[Any] = Document(pointer, self.environment).to_python()['items']
        return items

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self._call(functions.sim_delete, kind_number(kind), namespace.encode(), name.encode())

    def scale(self, kind: str, namespace: str, name: str, replicas: int) -> None:
        self._call(functions.sim_scale, kind_number(kind), namespace.encode(), name.encode(), replicas)

    def fail_node(self, node: str) -> None:
        self._call(functions.sim_fail_node, node.encode())

    def recover_node(self, node: str) -> None:
        self._call(functions.sim_recover_node, node.encode())

    def crash(self, namespace: str, pod: str, *, container: Optional[str] = None, exit_code: int = 1) -> None:
        self._call(functions.sim_crash, namespace.encode(), pod.encode(), optional(container), exit_code)

    def _call(self, function: Any, *arguments: Any) -> None:
        error = new_error()
        raise_for(function(self.pointer, *arguments, ctypes.byref(error)), error)


class Engine(Handle):
    """The machine that keeps PodCliqueSets as they should be. One thread at a time."""

    _free = functions.engine_free

    def __init__(self, *, config: Optional[Config] = None, namespace: Optional[str] = None,
                 bind_schedulers: Sequence[str] = (), seed: int = 0, env: Optional[Environment] = None) -> None:
        super().__init__(None)
        self.environment = environment(env)
        self._config = config
        options = low.grove_engine_options(
            size=ctypes.sizeof(low.grove_engine_options), config=config.pointer if config else None,
            ns=optional(namespace), bind_schedulers=','.join(bind_schedulers).encode() or None, seed=seed)
        self._pointer = made(lambda out, error: functions.engine_new(self.environment.pointer, ctypes.byref(options),
                                                                     out, error))
        self._adapters: dict[int, _Adapter] = {}

    @property
    def idle(self) -> bool:
        return bool(functions.engine_is_idle(self.pointer))

    def stats(self) -> dict[str, int]:
        stats = low.grove_engine_stats(size=ctypes.sizeof(low.grove_engine_stats))
        raise_for(functions.engine_stats_get(self.pointer, ctypes.byref(stats)))
        return {name: getattr(stats, name) for name, _ in stats._fields_ if name != 'size'}

    def explain(self, kind: str, namespace: str, name: str, *, now_ns: int) -> Any:
        """Why an object waits, as a dict."""
        return json.loads(written(self.environment, lambda buf, error: functions.engine_explain(
            self.pointer, kind_number(kind), namespace.encode(), name.encode(), now_ns, 1, buf, error)))

    def turn(self, backend: 'Backend | SimulatedCluster', now_ns: int) -> int:
        """Watches, operations, deliveries, until neither side has more to do at `now_ns`; returns the deadline."""
        deadline, error = ctypes.c_int64(), new_error()
        raise_for(functions.runner_turn(self.pointer, ctypes.byref(self._backend(backend)), now_ns,
                                        ctypes.byref(deadline), ctypes.byref(error)), error)
        return deadline.value

    def _backend(self, backend: 'Backend | SimulatedCluster') -> Any:
        if isinstance(backend, SimulatedCluster):
            return backend.struct
        adapter = self._adapters.get(id(backend))
        if adapter is None:
            adapter = self._adapters[id(backend)] = _Adapter(backend, self.environment)
        return adapter.struct


@dataclass(frozen=True)
class Check:
    """One check of the conformance kit."""

    name: str
    result: str
    message: str


def conformance(backend: 'Backend | SimulatedCluster', *, filter: Optional[str] = None,
                env: Optional[Environment] = None) -> list[Check]:
    """Does a backend keep its promises? Runs the library's kit in virtual time; see grove/sys/conformance.h."""
    used = environment(env)
    checks: list[Check] = []

    def report(_ctx: Any, name: bytes, result: int, message: bytes) -> None:
        checks.append(Check(text(name), ('passed', 'failed', 'skipped')[result], text(message)))

    callback = low.grove_conformance_fn(report)
    options = low.grove_conformance_options(size=ctypes.sizeof(low.grove_conformance_options), report=callback,
                                            filter=optional(filter))
    counts = low.grove_conformance_report(size=ctypes.sizeof(low.grove_conformance_report))
    adapter = None if isinstance(backend, SimulatedCluster) else _Adapter(backend, used)
    struct = backend.struct if isinstance(backend, SimulatedCluster) else adapter and adapter.struct
    error = new_error()
    raise_for(functions.conformance_run(used.pointer, ctypes.byref(struct), ctypes.byref(options),
                                        ctypes.byref(counts), ctypes.byref(error)), error)
    return checks


def run(engine: Engine, cluster: SimulatedCluster, *, until_ns: int) -> None:
    """Lets an embedded cluster and an engine live until a point in virtual time."""
    now = cluster.now_ns
    while True:
        deadline = engine.turn(cluster, now)
        due = min(deadline, int(functions.sim_deadline(cluster.pointer)))
        if due > until_ns:
            break
        now = max(now + 1, due)
    cluster.advance(until_ns)
    engine.turn(cluster, until_ns)
