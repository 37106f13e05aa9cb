#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groved on a node with a real kubelet, containerd, runc and CNI. Runs inside of tests/control-plane/node/node.sh.

usage: node.py --groved PROGRAM [SCENARIO...]

    order      init containers wait for the cliques before, InOrder and Explicit, alone and in replicas of a group
    identity   a pod whose process ended, that was deleted, that was evicted: the same index and host name
    rolling    an update takes down one pod of a clique, one replica of a group, one replica of a set at a time
    outage     the API server is killed while init containers wait, and comes back
    refused    groved binds gangs itself, and the kubelet refuses what the node's status promised
    installed  groved in pods of its own, as the manifest installs it; the API server calls its webhooks there

Prints a line for each scenario; exit status 1 when one failed.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback

from cluster import MANIFEST, OWN, Cluster, until
from stage import GROVE, Stage, a_set
from watch import Readiness

IMAGE = 'localhost/workload:1'
INITC_IMAGE = 'libgrove/grove-initc:0.1.0'
CONFIG = {'initContainer': {'image': INITC_IMAGE}, 'scheduler': {'profiles': [{'name': 'default-scheduler'}]},
          'topologyAwareScheduling': {'enabled': False}}
MERGE = 'application/merge-patch+json'


def clique(name, pods, ready_after=0, after=(), minimum=None, cpu='10m', **more):
    """A clique of our own workload, Ready so many seconds after it started."""
    container = {'name': 'work', 'image': IMAGE, 'imagePullPolicy': 'Never', 'args': ['serve', str(ready_after)],
                 'resources': {'requests': {'cpu': cpu}},
                 'readinessProbe': {'exec': {'command': ['/workload', 'ready']}, 'periodSeconds': 1, 'failureThreshold': 1}}
    spec = {'roleName': name, 'replicas': pods, 'minAvailable': minimum or pods,
            'podSpec': {'terminationGracePeriodSeconds': 5, 'containers': [container], **more}}
    if after:
        spec['startsAfter'] = list(after)
    return {'name': name, 'spec': spec}


def ordered(obj, kind):
    obj['spec']['template']['cliqueStartupType'] = kind
    return obj


def condition(pod, kind):
    return next((c for c in pod.get('status', {}).get('conditions', []) if c['type'] == kind), {'status': 'Unknown'})


def is_ready(pod):
    return condition(pod, 'Ready')['status'] == 'True' and 'deletionTimestamp' not in pod['metadata']


def label(pod, name):
    return pod['metadata']['labels'].get(f'grove.io/{name}')


class NodeStage(Stage):
    """A namespace, a groved, and what is asked of pods."""

    def __init__(self, cluster, kubeconfig):
        super().__init__(cluster, kubeconfig)
        self.ns = f'node-{type(self).__name__.lower()}'

    def run(self):
        self.c.namespace(self.ns)
        with self.daemon(config={**CONFIG, **self.more_config()}) as d:
            d.wait_for('leading')
            told = self.play(d)
            self.remove(self.ns)
        self.drop(self.ns)
        return told

    def more_config(self):
        return {}

    def ready(self, count, timeout=90):
        """All pods, once so many are there and Ready."""
        return until(f'{count} pods are Ready', lambda: (p := self.pods(self.ns)) and len(p) == count and all(map(is_ready, p)) and p,
                     timeout)

    def report(self, pod):
        """What the pod says of itself, asked inside of it."""
        text = self.c.kubectl('-n', self.ns, 'exec', pod['metadata']['name'], '-c', 'work', '--', '/workload', 'report')
        return dict(line.split('=', 1) for line in text.splitlines())


class Order(NodeStage):
    """No main container starts before the pods it waits for are Ready, by the kubelet's own times."""

    def waited(self, pod, parents):
        name = pod['metadata']['name']
        since = max(condition(p, 'Ready')['lastTransitionTime'] for p in parents)
        init = next(c for c in pod['status']['initContainerStatuses'] if c['name'] == 'grove-initc')
        started = pod['status']['containerStatuses'][0]['state']['running']['startedAt']
        assert init['state']['terminated']['exitCode'] == 0 and init['restartCount'] == 0, init
        assert init['state']['terminated']['startedAt'] < since, f'{name}: had nothing to wait for'
        assert since <= init['state']['terminated']['finishedAt'] <= started, (name, since, init, started)
        log = self.c.kubectl('-n', self.ns, 'logs', name, '-c', 'grove-initc')
        assert 'all are ready' in log and 'error' not in log, log

    def play(self, d):
        self.create(ordered(a_set(self.ns, 'line', cliques=[clique('lead', 1, 3), clique('mid', 2, 2), clique('work', 2)]),
                            'CliqueStartupTypeInOrder'))
        group = [{'name': 'cell', 'cliqueNames': ['head', 'hand'], 'replicas': 2, 'minAvailable': 1}]
        self.create(ordered(a_set(self.ns, 'tree', groups=group, cliques=[
            clique('hand', 2, after=['head']), clique('head', 1, 4), clique('free', 1)]), 'CliqueStartupTypeExplicit'))
        pods = self.ready(12, 120)
        by_clique = {}
        for pod in pods:
            by_clique.setdefault(label(pod, 'podclique'), []).append(pod)
        pairs = [('line-0-mid', ['line-0-lead']), ('line-0-work', ['line-0-mid'])] + [
            (f'tree-0-cell-{i}-hand', [f'tree-0-cell-{i}-head']) for i in (0, 1)]
        for child, parents in pairs:
            for pod in by_clique[child]:
                self.waited(pod, [p for parent in parents for p in by_clique[parent]])
        for free in ('line-0-lead', 'tree-0-free', 'tree-0-cell-0-head'):
            assert 'initContainerStatuses' not in by_clique[free][0]['status'], free
        until('both are available', lambda: self.available(self.ns, 'line') == self.available(self.ns, 'tree') == 1)
        return f'{sum(len(by_clique[c]) for c, _ in pairs)} pods of {len(pairs)} cliques waited'


class Identity(NodeStage):
    def who(self):
        """Index to what the pod says; every index must be there once."""
        found = {}
        for pod in self.ready(3):
            index = label(pod, 'podclique-pod-index')
            name = f'demo-0-work-{index}'
            said = self.report(pod)
            assert said['hostname'] == said['/etc/hostname'] == pod['spec']['hostname'] == name, said
            assert said['GROVE_PCLQ_POD_INDEX'] == index and said['GROVE_PCLQ_NAME'] == 'demo-0-work', said
            assert (said['GROVE_PCS_NAME'], said['GROVE_PCS_INDEX']) == ('demo', '0'), said
            assert said['GROVE_HEADLESS_SERVICE'] == f'demo-0.{self.ns}.svc.cluster.local', said
            found[index] = pod
        assert sorted(found) == ['0', '1', '2'], found.keys()
        return found

    def replaced(self, index, before, what):
        """The same index by another pod; the others are those that were there."""
        uid = before[index]['metadata']['uid']
        until(f'{what}: the pod went', lambda: all(p['metadata']['uid'] != uid for p in self.pods(self.ns)))
        after = self.who()
        for other in set(before) - {index}:
            assert after[other]['metadata']['uid'] == before[other]['metadata']['uid'], (what, other)
        return after

    def play(self, d):
        self.create(a_set(self.ns, cliques=[clique('work', 3, 1)]))
        pods = self.who()
        path = f'/api/v1/namespaces/{self.ns}/pods/'
        # its process ends: the kubelet starts the container again in the same pod
        name = pods['1']['metadata']['name']
        self.c.kubectl('-n', self.ns, 'exec', name, '--', '/workload', 'end', '3')
        again = until('it runs again', lambda: next((p for p in self.pods(self.ns) if p['metadata']['name'] == name and is_ready(p) and
                                                     p['status']['containerStatuses'][0]['restartCount'] == 1), None))
        last = again['status']['containerStatuses'][0]['lastState']['terminated']
        assert last['exitCode'] == 3 and self.who()['1']['metadata']['uid'] == pods['1']['metadata']['uid'], last
        self.c.call('DELETE', path + name)
        pods = self.replaced('1', pods, 'deleted')
        name = pods['0']['metadata']['name']
        self.c.call('DELETE', path + name, {'gracePeriodSeconds': 0})
        pods = self.replaced('0', pods, 'deleted by force')
        name = pods['2']['metadata']['name']
        status, answer = self.c.call('POST', path + name + '/eviction', {'apiVersion': 'policy/v1', 'kind': 'Eviction',
                                                                         'metadata': {'name': name, 'namespace': self.ns}})
        assert status == 201, answer
        self.replaced('2', pods, 'evicted')
        return 'restarted in place; deleted, deleted by force, evicted: same index and host name'


class Rolling(NodeStage):
    def change(self, name, ready_after):
        """Another argument in every clique: an update of all."""
        path = f'{GROVE}/namespaces/{self.ns}/podcliquesets/{name}'
        template = self.c.get(path)['spec']['template']
        for one in template['cliques']:
            one['spec']['podSpec']['containers'][0]['args'] = ['serve', str(ready_after)]
        status, answer = self.c.call('PATCH', path, {'spec': {'template': {'cliques': template['cliques']}}}, MERGE)
        assert status == 200, answer

    def play(self, d):
        group = [{'name': 'cell', 'cliqueNames': ['head', 'hand'], 'replicas': 2, 'minAvailable': 1}]
        self.create(a_set(self.ns, 'demo', replicas=2, groups=group,
                          cliques=[clique('work', 3, 1, minimum=2), clique('head', 1, 1), clique('hand', 1, 1)]))
        before = {p['metadata']['uid'] for p in self.ready(14, 120)}
        with Readiness(self.c, self.ns) as seen:
            self.change('demo', 2)
            until('the update ended', lambda: self.updated('demo') == 2 and len(self.pods(self.ns)) == 14, 300)
            after = self.ready(14)
        assert not before & {p['metadata']['uid'] for p in after}, 'a pod stayed'
        assert seen.changes > 14, 'the watch saw nothing'
        floors = seen.floors()
        for i in (0, 1):
            assert floors[('clique', f'demo-{i}-work')] == 2, floors
            assert floors[('group', f'demo-{i}-cell')] == 1, floors
        assert floors[('set', 'demo')] == 1, floors
        return f'14 pods replaced; at worst 2 of 3 pods, 1 of 2 group replicas, 1 of 2 set replicas Ready ({seen.changes} changes seen)'

    def updated(self, name):
        status = self.c.get(f'{GROVE}/namespaces/{self.ns}/podcliquesets/{name}').get('status', {})
        return status.get('updatedReplicas', 0) if status.get('updateProgress', {}).get('updateEndedAt') else 0


class ApiServer:
    """The process of the real one, to be ended and started again as it was."""

    def __init__(self, cluster):
        self.c = cluster
        self.pid = int((cluster.folder / 'kube-apiserver.pid').read_text())
        self.words = pathlib.Path(f'/proc/{self.pid}/cmdline').read_text().rstrip('\0').split('\0')

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def start(self):
        with open(self.c.folder / 'kube-apiserver.log', 'a', encoding='utf-8') as log:
            self.pid = subprocess.Popen(self.words, stdout=log, stderr=log, start_new_session=True).pid
        (self.c.folder / 'kube-apiserver.pid').write_text(str(self.pid))
        until('the API server is back', lambda: self.c.kubectl('get', '--raw', '/readyz', code=None).strip() == 'ok')


class Outage(NodeStage):
    def play(self, d):
        self.create(ordered(a_set(self.ns, cliques=[clique('lead', 1, 12), clique('work', 2)]), 'CliqueStartupTypeInOrder'))

        def waiting():
            states = [c['state'] for p in self.pods(self.ns) for c in p.get('status', {}).get('initContainerStatuses', [])]
            return len(states) == 2 and all('running' in s for s in states)
        until('init containers wait', waiting)
        server = ApiServer(self.c)
        server.kill()
        time.sleep(8)
        server.start()
        told = []
        for pod in self.ready(3, 120):
            for init in pod['status'].get('initContainerStatuses', []):
                assert init['restartCount'] == 0, init
                log = self.c.kubectl('-n', self.ns, 'logs', pod['metadata']['name'], '-c', 'grove-initc')
                told.append(len(log.splitlines()))
                assert 'all are ready' in log and 'is tried again' in log, log
        return f'no init container restarted, {max(told)} lines each at most'


class Ghost:
    """A pod of a file, in a namespace that does not exist: the kubelet runs it, the API server never hears of it."""
    PATH = pathlib.Path(os.environ.get('GROVE_NODE_DIR', '')) / 'static/ghost.yaml'

    def __init__(self, cpu):
        self.PATH.write_text(json.dumps({
            'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'ghost', 'namespace': 'nowhere'},
            'spec': {'terminationGracePeriodSeconds': 1, 'containers': [{
                'name': 'work', 'image': IMAGE, 'imagePullPolicy': 'Never', 'args': ['serve'],
                'resources': {'requests': {'cpu': cpu}}}]}}))
        until('the kubelet runs the file', self.runs)

    @staticmethod
    def runs():
        logs = pathlib.Path(os.environ['GROVE_NODE_DIR']) / 'podlogs'
        return any('nowhere_ghost' in str(p) for p in logs.glob('*/*/0.log'))

    def leave(self):
        self.PATH.unlink()
        until('the pod of the file is gone', lambda: not self.runs())


class Refused(NodeStage):
    """groved binds gangs; the kubelet refuses them for room that it alone knows to be taken."""

    def more_config(self):
        return {'scheduler': {'defaultProfileName': 'grove-scheduler', 'profiles': [{'name': 'grove-scheduler'}]}}

    def run(self):
        self.c.rights(lambda obj: obj, 'adapters.binder=true')
        try:
            return super().run()
        finally:
            self.c.rights()

    def play(self, d):
        cpus = int(self.c.get('/api/v1/nodes/n1')['status']['allocatable']['cpu'])
        ghost = Ghost(f'{cpus * 1000 - 1000}m')
        with Readiness(self.c, self.ns) as seen:
            # two fit by what the API server knows, one by what the kubelet knows
            self.create(a_set(self.ns, cliques=[clique('work', 2, minimum=2, cpu=f'{cpus * 500 - 100}m')]))
            d.wait_for('the kubelet refused the pod: what it asked for counts as taken there for a while', 60)
            begun = time.monotonic()
            time.sleep(25)
            names = {p['metadata']['name'] for p in seen.all.values()}
            assert len(names) == 3, f'{len(names)} pods in 25 s: {names}'
            ghost.leave()
            self.ready(2, 240)  # tried again after 30 s, or another 60
            took = time.monotonic() - begun
        return f'{len(names)} pods in 25 s: one ran, one was refused, its successor waited; both run {took:.0f} s after the refusal'


class Installed(NodeStage):
    """The plain manifest and nothing else: images, security context, in-cluster token, probes, webhooks behind the Service."""
    LEASE = f'/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/grove-operator-leader-election'

    def leader(self):
        return self.c.get(self.LEASE).get('spec', {}).get('holderIdentity', '')

    def own_pods(self):
        pods = self.c.items(f'/api/v1/namespaces/{OWN}/pods?labelSelector=app.kubernetes.io/name%3Dgroved')
        return pods if len(pods) == 2 and all(map(is_ready, pods)) else None

    def run(self):
        self.c.kubectl('apply', '--server-side', '--force-conflicts', '-f', str(MANIFEST))
        try:
            return self.look()
        finally:
            self.c.kubectl('-n', OWN, 'delete', 'deployment', 'grove-operator')

    def look(self):
        pods = until('two pods of groved are Ready', self.own_pods, 90)
        first = until('one of them leads', self.leader)
        self.c.namespace(self.ns)
        bad = a_set(self.ns, 'bad', cliques=[clique('work', 1, minimum=9)])
        status, answer = self.c.call('POST', f'{GROVE}/namespaces/{self.ns}/podcliquesets', bad)
        assert status == 403 and 'pcs.validating.webhooks.grove.io' in answer['message'], answer
        self.create(ordered(a_set(self.ns, cliques=[clique('lead', 1, 2), clique('work', 2)]), 'CliqueStartupTypeInOrder'))
        stored = self.c.get(f'{GROVE}/namespaces/{self.ns}/podcliquesets/demo')
        assert stored['spec']['template']['terminationDelay'], stored
        old = self.ready(3)[0]['metadata']
        leader = next(p['metadata']['name'] for p in pods if p['metadata']['name'] in first)
        begun = time.monotonic()
        self.c.call('DELETE', f'/api/v1/namespaces/{OWN}/pods/{leader}')
        until('the other one leads', lambda: self.leader() not in ('', first))
        took = time.monotonic() - begun
        self.c.call('DELETE', f"/api/v1/namespaces/{self.ns}/pods/{old['name']}")
        until('the pod is replaced', lambda: old['uid'] not in [p['metadata']['uid'] for p in self.ready(3)])
        restarts = [c['restartCount'] for p in until('both are Ready', self.own_pods) for c in p['status']['containerStatuses']]
        assert restarts == [0, 0], restarts
        self.remove(self.ns)
        self.drop(self.ns)
        return f'refused, defaulted and ran a set from two pods; the other one led {took:.1f} s after the leader was deleted'


SCENARIOS = {'order': Order, 'identity': Identity, 'rolling': Rolling, 'outage': Outage, 'refused': Refused,
             'installed': Installed}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--groved', required=True)
    parser.add_argument('scenarios', nargs='*', choices=[[], *SCENARIOS], default=[])
    args = parser.parse_args()
    cluster = Cluster(str(pathlib.Path(args.groved).resolve()))
    kubeconfig = cluster.install()
    failed = 0
    for name in args.scenarios or SCENARIOS:
        begun = time.monotonic()
        try:
            word, told = 'ok', SCENARIOS[name](cluster, kubeconfig).run()
        except Exception:  # noqa: BLE001 - one scenario's failure does not hide the others'
            traceback.print_exc()
            word, told, failed = 'FAILED', '', failed + 1
        cluster.clean()
        print(f'node: {word:8} {name} ({time.monotonic() - begun:.0f} s) {told}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
