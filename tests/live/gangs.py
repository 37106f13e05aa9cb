# SPDX-License-Identifier: Apache-2.0
"""Whole gangs on a real cluster: released to a stock scheduler while a rival steals the room, and bound by groved itself."""
import contextlib
import os
import pathlib
import signal
import time

from cluster import MERGE, until
from stage import GROVE, Stage, a_set, clique

RACK = 'topology.kubernetes.io/rack'
ROOM = 'live.libgrove.io/room'
GPU = 'nvidia.com/gpu'
TOPOLOGY = 'live-gangs'
BINDING = '/apis/grove.io/v1alpha1/clustertopologybindings'
REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
REFUSE = 'nodesim.libgrove.io/refuse'
RACKFUL = 4  # nodes of a rack, each with 8 GPUs


class Gangs(Stage):
    """Two ways of placing: `released` (default-scheduler with gangScheduling) and `bound` (grove-scheduler)."""

    @staticmethod
    def profiles(name, **config):
        return {'scheduler': {'defaultProfileName': name, 'profiles': [{'name': name, 'config': config}]}}

    def with_binder(self):
        """The rights of a chart whose configuration places gangs."""
        self.c.rights(lambda obj: obj, 'adapters.binder=true')

    # ---- nodes ----

    def nodes(self):
        return self.c.items('/api/v1/nodes')

    def racks(self):
        found = {}
        for node in self.nodes():
            found.setdefault(node['metadata']['labels'][RACK], []).append(node['metadata']['name'])
        return found

    def label(self, names, key, value):
        for name in names:
            self.c.call('PATCH', f'/api/v1/nodes/{name}', {'metadata': {'labels': {key: value}}}, MERGE)

    def unlabel_all(self):
        self.label([n['metadata']['name'] for n in self.nodes()], ROOM, None)

    # ---- sets ----

    def packed(self, ns, name, pods, selector=None, **spec):
        """So many whole nodes of one rack."""
        one = clique('work', pods)
        one['spec']['podSpec'].update(spec)
        one['spec']['podSpec']['containers'][0]['resources'] = {'requests': {GPU: 8}, 'limits': {GPU: 8}}
        if selector:
            one['spec']['podSpec']['nodeSelector'] = selector
        obj = a_set(ns, name, cliques=[one])
        obj['spec']['template']['topologyConstraint'] = {'topologyName': TOPOLOGY, 'pack': {'required': 'rack'}}
        return obj

    def racks_of(self, ns, name):
        where = {n['metadata']['name']: n['metadata']['labels'][RACK] for n in self.nodes()}
        return [where[p['spec']['nodeName']] for p in self.pods_of(ns, name) if p['spec'].get('nodeName')]

    def pods_of(self, ns, name):
        return [p for p in self.pods(ns) if p['metadata']['labels'].get('app.kubernetes.io/part-of') == name]

    def topology(self):
        self.c.call('POST', BINDING, {'apiVersion': 'grove.io/v1alpha1', 'kind': 'ClusterTopologyBinding', 'metadata': {'name': TOPOLOGY},
                                      'spec': {'levels': [{'domain': 'rack', 'key': RACK}]}})

    @contextlib.contextmanager
    def scheduler_stopped(self):
        """The stock scheduler sees nothing until the block is left."""
        pid = self.c.part('kube-scheduler')
        os.kill(pid, signal.SIGSTOP)
        try:
            until('every thread of it stands', lambda: all(
                stat.read_text().rsplit(')', 1)[1].split()[0] == 'T' for stat in pathlib.Path(f'/proc/{pid}/task').glob('*/stat')))
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @staticmethod
    def waits_for_room(d, ns, gang):
        """What the daemon says about a gang that finds no place; empty before it does."""
        told = d.ctl('explain', 'podgang', f'{ns}/{gang}')[1]
        return told if 'no place for the whole gang' in told else ''

    # ---- released to the stock scheduler ----

    def rival(self, ns, rack):
        labels = {'app': 'rival'}
        container = {'name': 'c', 'image': 'example.com/rival:1', 'resources': {'limits': {GPU: 8}}}
        status, answer = self.c.call('POST', f'/apis/apps/v1/namespaces/{ns}/deployments', {
            'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'rival'},
            'spec': {'replicas': 1, 'selector': {'matchLabels': labels}, 'template': {'metadata': {'labels': labels}, 'spec': {
                'terminationGracePeriodSeconds': 1, 'nodeSelector': {RACK: rack}, 'containers': [container]}}}})
        assert status == 201, answer
        return until('the rival has its pod', lambda: [p for p in self.pods(ns) if p['metadata']['labels'].get('app') == 'rival'])[0]

    def released_towards(self, pod):
        """The racks that the pod was released to."""
        terms = pod['spec']['affinity']['nodeAffinity'][REQUIRED]['nodeSelectorTerms']
        return [next(e['values'] for e in t['matchExpressions'] if e['key'] == RACK) for t in terms]

    def stolen(self):
        """
        A rack is chosen and its gates are open; before the scheduler looks, somebody else asks for a node of that rack. It cannot
        bind the gang whole: what it bound is taken back, the gang waits gated and says why, and goes whole to room that comes.
        """
        ns = self.namespace('released')
        first, other = sorted(self.racks())[:2]
        self.label(self.racks()[first], ROOM, 'yes')
        with self.daemon(config=self.profiles('default-scheduler', gangScheduling=True)) as d:
            d.wait_for('leading')
            with self.scheduler_stopped():  # the rival is first in its queue
                self.rival(ns, first)
                self.create(self.packed(ns, 'demo', RACKFUL, {ROOM: 'yes'}))
                until('all are released', lambda: (p := self.pods_of(ns, 'demo')) and len(p) == RACKFUL and not any(
                    x['spec'].get('schedulingGates') for x in p))
                pods = self.pods_of(ns, 'demo')
                assert all(self.released_towards(p) == [[first]] for p in pods), [p['spec']['affinity'] for p in pods]
                lost = {p['metadata']['uid'] for p in pods}
            until('the rival is bound', lambda: any(p['spec'].get('nodeName') for p in self.pods(ns) if p['metadata']['labels'].get('app')))
            until('the rest of the gang is bound', lambda: len(self.racks_of(ns, 'demo')) == RACKFUL - 1)
            begun = time.monotonic()
            until('its pods are made anew, gated', lambda: (p := self.pods_of(ns, 'demo')) and len(p) == RACKFUL and not any(
                x['metadata']['uid'] in lost for x in p) and all(x['spec'].get('schedulingGates') for x in p), 120)
            waited = time.monotonic() - begun
            told = until('the gang says why it waits', lambda: self.waits_for_room(d, ns, 'demo-0'))
            self.label(self.racks()[other], ROOM, 'yes')
            until('the set is available', lambda: self.available(ns) == 1)
            assert self.racks_of(ns, 'demo') == [other] * RACKFUL, self.racks_of(ns, 'demo')
            self.c.call('DELETE', f'/apis/apps/v1/namespaces/{ns}/deployments/rival')
            self.remove(ns)
        print(told, flush=True)
        return f'taken back {waited:.0f} s after a rival stole a node, then whole in the next rack'

    # ---- bound by groved itself ----

    def bound(self):
        """
        Two racks' worth of sets of low priority fill what may be used; a set of high priority pushes out one of them, whole, and
        not the one that a disruption budget protects. A set that fits nowhere says so on its pods, as a scheduler does.
        """
        ns = self.namespace('bound')
        racks = sorted(self.racks())[:2]
        for rack in racks:
            self.label(self.racks()[rack], ROOM, 'yes')
        own = {'schedulerName': 'grove-scheduler'}
        with self.daemon(config=self.profiles('grove-scheduler')) as d:
            d.wait_for('leading')
            for name in ('low', 'kept'):
                self.create(self.packed(ns, name, RACKFUL, {ROOM: 'yes'}, **own))
                until(f'{name} is available', lambda name=name: self.available(ns, name) == 1)
                assert len(set(self.racks_of(ns, name))) == 1, self.racks_of(ns, name)
            self.protect(ns, 'kept')
            kept = {p['metadata']['uid'] for p in self.pods_of(ns, 'kept')}
            self.create(self.packed(ns, 'large', RACKFUL + 1, {ROOM: 'yes'}, **own))
            until('the pods of a gang without room say so', lambda: (p := self.pods_of(ns, 'large')) and len(p) == RACKFUL + 1 and all(
                self.unschedulable(x) for x in p))
            said = self.unschedulable(self.pods_of(ns, 'large')[0])
            print(said, flush=True)
            assert 'rack' in said, said
            events = self.c.items(f'/api/v1/namespaces/{ns}/events?fieldSelector=reason%3DFailedScheduling')
            assert events, 'no event tells of it'
            self.c.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
                'apiVersion': 'scheduling.k8s.io/v1', 'kind': 'PriorityClass', 'metadata': {'name': 'live-gangs'}, 'value': 1000})
            high = self.packed(ns, 'high', RACKFUL, {ROOM: 'yes'}, **own)
            high['spec']['template']['priorityClassName'] = 'live-gangs'
            self.create(high)
            until('high is available', lambda: self.available(ns, 'high') == 1)
            assert len(set(self.racks_of(ns, 'high'))) == 1, self.racks_of(ns, 'high')
            assert not self.racks_of(ns, 'low'), self.racks_of(ns, 'low')
            assert kept == {p['metadata']['uid'] for p in self.pods_of(ns, 'kept')}, 'the protected set lost a pod'
            self.remove(ns)
        return 'bound by rack, refused in words, preempted whole past a disruption budget'

    def protect(self, ns, name):
        status, answer = self.c.call('POST', f'/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets', {
            'apiVersion': 'policy/v1', 'kind': 'PodDisruptionBudget', 'metadata': {'name': name},
            'spec': {'minAvailable': RACKFUL, 'selector': {'matchLabels': {'app.kubernetes.io/part-of': name}}}})
        assert status == 201, answer
        path = f'/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/{name}'
        until('the budget is counted', lambda: self.c.get(path).get('status', {}).get('currentHealthy') == RACKFUL)

    @staticmethod
    def unschedulable(pod):
        """What the pod's condition says, if that is that nobody has a place for it."""
        for one in pod.get('status', {}).get('conditions', []):
            if one['type'] == 'PodScheduled' and one['status'] == 'False' and one['reason'] == 'Unschedulable':
                return one['message']
        return ''

    # ---- refused by a kubelet ----

    def refused(self):
        """A node's kubelet finds less room than its status says: the pod that it refuses goes to another node of the rack."""
        ns = self.namespace('refused')
        rack = sorted(self.racks())[0]
        nodes = self.racks()[rack]
        self.label(nodes, ROOM, 'yes')
        self.annotate(nodes, REFUSE, GPU)
        try:
            with self.daemon(config=self.profiles('grove-scheduler')) as d:
                d.wait_for('leading')
                self.create(self.packed(ns, 'demo', 2, {ROOM: 'yes'}, schedulerName='grove-scheduler'))
                until('a kubelet refuses', lambda: [p for p in self.pods_of(ns, 'demo') if p['status'].get('phase') == 'Failed'])
                bad = {p['spec']['nodeName'] for p in self.pods_of(ns, 'demo')}
                self.annotate([n for n in nodes if n not in bad], REFUSE, None)
                until('the set is available', lambda: self.available(ns) == 1)
                used = {p['spec']['nodeName'] for p in self.pods_of(ns, 'demo')}
                assert not used & bad, (used, bad)
                self.remove(ns)
        finally:
            self.annotate(nodes, REFUSE, None)
        return 'what kubelets refused went elsewhere'

    def annotate(self, names, key, value):
        for name in names:
            self.c.call('PATCH', f'/api/v1/nodes/{name}', {'metadata': {'annotations': {key: value}}}, MERGE)

    # ---- all of it ----

    def namespace(self, what):
        self.unlabel_all()
        self.used.append(f'live-gangs-{os.getpid()}-{what}')
        self.c.namespace(self.used[-1])
        return self.used[-1]

    def clear(self):
        """Whatever part failed: nothing keeps its nodes."""
        self.unlabel_all()
        for ns in self.used:
            self.c.call('DELETE', f'/apis/apps/v1/namespaces/{ns}/deployments')
            self.c.call('DELETE', f'/api/v1/namespaces/{ns}/pods?gracePeriodSeconds=0')
            self.drop(ns)
        self.c.call('DELETE', f'{BINDING}/{TOPOLOGY}')
        self.c.call('DELETE', '/apis/scheduling.k8s.io/v1/priorityclasses/live-gangs')

    def run(self):
        self.used = []
        self.topology()
        self.with_binder()
        try:
            return '; '.join(part() for part in (self.refused, self.bound, self.stolen))
        finally:
            self.clear()
            self.c.rights()
