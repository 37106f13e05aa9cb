# SPDX-License-Identifier: Apache-2.0
"""A cluster of one's own in Python: objects in a dict, a small kubelet, and libgrove's engine to run sets on it.

It claims few capabilities and passes libgrove's conformance kit for those.

    python memory_cluster.py set.yaml
"""
from __future__ import annotations

import copy
import datetime
import itertools
import re
import sys
from typing import Any, Optional

import grove
from grove import Operation, Sink, Watch
from grove.errors import AlreadyExists, Conflict, GroveError, InvalidArgument, NotFound, Refused

Key = tuple[str, str, str]  # kind, namespace, name
NAME = re.compile(r'[a-z0-9]([-a-z0-9.]*[a-z0-9])?')
PATH_SEGMENT = re.compile(r'[^/%]+')  # the names of RBAC objects
HTTP = {NotFound: (404, 'NotFound'), AlreadyExists: (409, 'AlreadyExists'), Conflict: (409, 'Conflict'),
        Refused: (422, 'Invalid')}
GATED = {'type': 'PodScheduled', 'status': 'False', 'reason': 'SchedulingGated'}
FIXED_IN_PODS = ('nodeName', 'schedulerName', 'containers', 'hostname', 'subdomain')


class Malformed(Refused):
    """HTTP 400 in place of 422."""


class MemoryCluster(grove.Backend):
    capabilities = grove.CAP_STATUS | grove.CAP_SCALE | grove.CAP_DETERMINISTIC

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.version = 0
        self.now_ns = 0
        self.letters = itertools.count(1)
        self.operations: dict[int, Operation] = {}
        self.answers: dict[int, dict[str, Any]] = {}
        self.watches: dict[int, Watch] = {}
        self.events: list[tuple[int, str, str, Any, str]] = []
        self.verbs = {'GET': self.get, 'LIST': self.list, 'CREATE': self.create, 'PATCH': self.patch,
                      'DELETE': self.delete, 'BIND': self.bind, 'EVENT': self.tell, 'SCALE': self.scale}
        self.store('ADDED', ('Namespace', '', 'default'), {'metadata': {'name': 'default'}})

    # ---- the contract: take things in, deliver from process() only ----

    def submit(self, operation: Operation) -> None:
        if operation.token == 0 or operation.verb == '?':
            raise InvalidArgument(-2, 'no token, or no verb')
        self.operations[operation.token] = operation

    def watch(self, watch: Watch) -> None:
        if watch.token == 0:
            raise InvalidArgument(-2, 'no token')
        self.watches[watch.token] = watch
        for key, obj in sorted(self.objects.items()):
            if self.sees(watch, key, obj):
                self.events.append((watch.token, watch.kind, 'ADDED', obj, obj['metadata']['resourceVersion']))
        self.events.append((watch.token, watch.kind, 'SYNCED', None, str(self.version)))

    def cancel(self, token: int) -> None:
        if token in self.operations:
            self.answers[token] = {'obj': None, 'status': -20, 'http': 0}
        elif self.watches.pop(token, None) is None:
            raise NotFound(-7, 'no such token')
        self.events = [event for event in self.events if event[0] != token]

    def process(self, now_ns: int, budget: int, sink: Sink) -> int:
        self.now_ns = now_ns
        left = budget or sys.maxsize
        while left and self.operations:
            token, operation = next(iter(self.operations.items()))
            if token not in self.answers:  # kept, so that what the sink cannot take is not done twice
                self.answers[token] = self.carry_out(operation)
            if operation.wants_reply:
                answer = self.answers[token]
                sink.complete(token, **answer)
            del self.operations[token], self.answers[token]
            left -= 1
        while left and self.events:
            token, kind, what, obj, version = self.events[0]
            sink.event(token, kind, what, obj, resource_version=version)
            del self.events[0]
            left -= 1
        return now_ns if self.operations or self.events else grove.NEVER

    def carry_out(self, operation: Operation) -> dict[str, Any]:
        try:
            obj = self.verbs[operation.verb](operation)
            return {'obj': obj, 'http': 201 if operation.verb in ('CREATE', 'BIND') else 200}
        except (NotFound, AlreadyExists, Conflict, Refused) as error:
            http, reason = (400, 'BadRequest') if isinstance(error, Malformed) else HTTP[type(error)]
            return {'obj': None, 'status': error.status, 'http': http, 'reason': reason, 'message': error.message}

    # ---- storing and telling ----

    @staticmethod
    def sees(watch: Watch, key: Key, obj: Any) -> bool:
        labels = obj['metadata'].get('labels', {})
        wanted = [term.split('=') for term in watch.label_selector.split(',') if term]
        return (watch.kind == key[0] and watch.namespace in ('', key[1])
                and all(labels.get(name) == value for name, value in wanted))

    def store(self, what: str, key: Key, obj: Any) -> Any:
        self.version += 1
        obj['metadata']['resourceVersion'] = str(self.version)
        if what == 'DELETED':
            del self.objects[key]
        else:
            self.objects[key] = obj
        for watch in self.watches.values():
            if self.sees(watch, key, obj):
                self.events.append((watch.token, key[0], what, obj, str(self.version)))
        if what == 'DELETED':
            for other, dependent in list(self.objects.items()):
                owners = dependent['metadata'].get('ownerReferences', [])
                if any(owner['uid'] == obj['metadata']['uid'] for owner in owners) and other in self.objects:
                    self.remove(other)
        return obj

    def stored(self, operation: Operation) -> tuple[Key, Any]:
        key = (operation.kind, operation.namespace, operation.name)
        if key not in self.objects:
            raise NotFound(-7, f'{operation.kind} "{operation.name}" not found')
        obj = self.objects[key]
        for wanted, field in ((operation.uid, 'uid'), (operation.resource_version, 'resourceVersion')):
            if wanted and wanted != obj['metadata'][field]:
                raise Conflict(-9, f'{field} is {obj["metadata"][field]}')
        return key, obj

    def time(self) -> str:
        return datetime.datetime.fromtimestamp(self.now_ns // grove.SECOND, datetime.timezone.utc).strftime(
            '%Y-%m-%dT%H:%M:%SZ')

    # ---- verbs ----

    def get(self, operation: Operation) -> Any:
        obj = self.stored(operation)[1]
        return self.as_scale(obj) if operation.subresource == 'scale' else obj

    def list(self, operation: Operation) -> Any:
        items = [obj for key, obj in sorted(self.objects.items())
                 if key[0] == operation.kind and operation.namespace in ('', key[1])]
        return {'kind': operation.kind + 'List', 'metadata': {'resourceVersion': str(self.version)}, 'items': items}

    def create(self, operation: Operation) -> Any:
        obj = copy.deepcopy(operation.body)
        kind, namespace = operation.kind, operation.namespace
        if obj.setdefault('kind', kind) != kind.partition('.')[0]:
            raise Malformed(-15, f'the body is a {obj["kind"]}')
        obj.setdefault('apiVersion', grove.api_version(kind))
        metadata = obj.setdefault('metadata', {})
        if 'name' not in metadata and 'generateName' in metadata:
            metadata['name'] = f'{metadata["generateName"]}{next(self.letters):05}'
        name = metadata.get('name', '')
        if not (PATH_SEGMENT if kind.startswith('Role') else NAME).fullmatch(name):
            raise Refused(-15, f'metadata.name: {name!r}')
        if namespace and ('Namespace', '', namespace) not in self.objects:
            raise NotFound(-7, f'namespaces "{namespace}" not found')
        if (kind, namespace, name) in self.objects:
            raise AlreadyExists(-8, f'{kind} "{name}" already exists')
        if namespace:
            metadata['namespace'] = namespace
        metadata.update(uid=f'00000000-0000-0000-0000-{self.version + 1:012}', creationTimestamp=self.time(),
                        generation=1)
        obj.pop('status', None)
        if kind == 'Pod':
            obj['status'] = {'phase': 'Pending'}
            if obj['spec'].get('schedulingGates'):
                obj['status']['conditions'] = [GATED]
        return self.store('ADDED', (kind, namespace, name), obj)

    def patch(self, operation: Operation) -> Any:
        key, before = self.stored(operation)
        try:
            apply = grove.merge_patch if operation.patch_type == 'merge' else grove.json_patch
            after = apply(before, operation.body)
        except GroveError as error:
            raise Refused(-15, error.message) from error
        return self.update(key, before, after, operation.subresource)

    def update(self, key: Key, before: Any, after: Any, subresource: str) -> Any:
        """What a write may change: status through its subresource, all else without."""
        old, new = before['metadata'], after.get('metadata', {})
        if new.get('name') != old['name'] or new.get('uid') != old['uid']:
            raise Malformed(-15, 'name and uid cannot be changed')
        if new.get('resourceVersion') != old['resourceVersion']:
            raise Conflict(-9, 'the object has been modified')
        if subresource == 'status':
            after = {**before, 'status': after.get('status', {})}
        elif 'status' in before or 'status' in after:
            after['status'] = before.get('status', {})
        if 'deletionTimestamp' in old and set(after['metadata'].get('finalizers', [])) - set(old.get('finalizers', [])):
            raise Refused(-15, 'no finalizer can be added to what is being deleted')
        if key[0] == 'Pod':
            self.check_pod(before['spec'], after['spec'])
        if after == before:
            return before
        if after.get('spec') != before.get('spec'):
            after['metadata']['generation'] += 1
        if 'deletionTimestamp' in old and not after['metadata'].get('finalizers'):
            return self.store('DELETED', key, after)
        return self.store('MODIFIED', key, after)

    @staticmethod
    def check_pod(before: Any, after: Any) -> None:
        gates = [gate['name'] for gate in before.get('schedulingGates', [])]
        if any(gate['name'] not in gates for gate in after.get('schedulingGates', [])):
            raise Refused(-15, 'gates can only be removed')
        if any(before.get(field) != after.get(field) for field in FIXED_IN_PODS):
            raise Refused(-15, 'the field cannot be changed')

    def delete(self, operation: Operation) -> Any:
        key, _obj = self.stored(operation)
        return self.remove(key)

    def remove(self, key: Key) -> Any:
        obj = copy.deepcopy(self.objects[key])
        if not obj['metadata'].get('finalizers'):
            return self.store('DELETED', key, obj)
        if 'deletionTimestamp' not in obj['metadata']:
            obj['metadata'].update(deletionTimestamp=self.time(), deletionGracePeriodSeconds=0)
            self.store('MODIFIED', key, obj)
        return self.objects[key]

    def scale(self, operation: Operation) -> Any:
        if not grove.has_scale(operation.kind):
            raise NotFound(-7, f'{operation.kind} has no scale')
        key, before = self.stored(operation)
        if operation.replicas < 0:
            raise Refused(-15, 'spec.replicas: must not be negative')
        after = copy.deepcopy(before)
        after['spec']['replicas'] = operation.replicas
        return self.as_scale(self.update(key, before, after, ''))

    @staticmethod
    def as_scale(obj: Any) -> Any:
        return {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': obj['metadata'],
                'spec': {'replicas': obj['spec']['replicas']},
                'status': {'replicas': obj.get('status', {}).get('replicas', 0)}}

    def bind(self, operation: Operation) -> Any:
        key, before = self.stored(operation)
        if before['spec'].get('schedulingGates') or before['spec'].get('nodeName'):
            raise Conflict(-9, 'the pod is gated or bound already')
        after = copy.deepcopy(before)
        after['spec']['nodeName'] = operation.target
        self.store('MODIFIED', key, after)
        return None

    def tell(self, operation: Operation) -> Any:
        return None  # nobody reads events here

    # ---- the kubelet, and whoever schedules ----

    def run_pods(self) -> None:
        """Every pod without a gate gets a node and is Ready at once."""
        for key, before in list(self.objects.items()):
            if key[0] != 'Pod' or before['spec'].get('schedulingGates') or before['status']['phase'] == 'Running':
                continue
            after = copy.deepcopy(before)
            after['spec'].setdefault('nodeName', 'one-big-node')
            after['status'] = {'phase': 'Running', 'startTime': self.time(), 'conditions': [
                {'type': kind, 'status': 'True', 'lastTransitionTime': self.time()}
                for kind in ('PodScheduled', 'Initialized', 'ContainersReady', 'Ready')]}
            self.store('MODIFIED', key, after)


def converge(cluster: MemoryCluster, engine: grove.Engine, now_ns: int, turns: int = 50) -> None:
    for _ in range(turns):
        before = cluster.version
        engine.turn(cluster, now_ns)
        cluster.run_pods()
        now_ns += grove.SECOND
        if cluster.version == before:
            return


def main(path: Optional[str] = None) -> int:
    cluster, engine = MemoryCluster(), grove.Engine()
    start = cluster.now_ns = 1_767_225_600 * grove.SECOND
    with open(path or sys.argv[1], encoding='utf-8') as source:
        for manifest in grove.load(source.read()):
            stored = grove.default(manifest)
            cluster.submit(Operation.make('CREATE', stored['kind'], 'default', body=stored, token=1))
    converge(cluster, engine, start)
    for (kind, namespace, name), obj in sorted(cluster.objects.items()):
        print(f'{kind:24} {name:48} {obj.get("status", {}).get("phase", "")}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
