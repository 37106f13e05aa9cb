# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at numbered writes: a set is made, changed and deleted by daemons none of which lives long.

Whatever the cluster is, real or embedded: `ask(method, path, body, kind)` answers (status, object), `start(*words)` gives a
daemon that may write at once.
"""
import subprocess
import time

GROVE = '/apis/grove.io/v1alpha1'
MERGE = 'application/merge-patch+json'
NAME = 'mortal'
OWNED = ('/apis/scheduler.grove.io/v1alpha1', 'podgangs'), ('/api/v1', 'services'), (GROVE, 'podcliques'), \
    (GROVE, 'podcliquescalinggroups'), ('/api/v1', 'pods')
LONGEST = 60  # seconds that a daemon may need for what is left, when nobody kills it


def clique(name, pods):
    pod = {'terminationGracePeriodSeconds': 1, 'containers': [{'name': 'c', 'image': 'example.com/a:1'}]}
    return {'name': name, 'spec': {'roleName': name, 'replicas': pods, 'minAvailable': pods, 'podSpec': pod}}


class Crashes:
    def __init__(self, ask, start, ns):
        self.ask, self.start, self.ns, self.points = ask, start, ns, 0
        self.sets = f'{GROVE}/namespaces/{ns}/podcliquesets'

    def items(self, base, plural):
        return self.ask('GET', f'{base}/namespaces/{self.ns}/{plural}', None, None)[1].get('items', [])

    def pods(self):
        return self.items('/api/v1', 'pods')

    def status(self):
        return self.ask('GET', f'{self.sets}/{NAME}', None, None)[1].get('status', {})

    def until(self, done):
        """One daemon after the other, each killed after one or two more writes, until one has nothing left to do."""
        while True:
            with self.start('--crash-after', str(1 + self.points % 2)) as d:
                end = time.monotonic() + LONGEST
                while d.process.poll() is None and not done():
                    assert time.monotonic() < end, f'neither written nor done in {LONGEST} s'
                    try:
                        d.process.wait(timeout=0.1)
                    except subprocess.TimeoutExpired:
                        pass
                if d.process.poll() is None:
                    d.stop()
                    return
                assert d.process.returncode == -9, d.process.returncode
                self.points += 1
                d.end()

    def create(self):
        group = {'name': 'cell', 'cliqueNames': ['lead', 'work'], 'replicas': 2, 'minAvailable': 1}
        template = {'cliques': [clique('route', 2), clique('lead', 1), clique('work', 2)], 'podCliqueScalingGroups': [group]}
        status, answer = self.ask('POST', self.sets, {
            'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': NAME, 'namespace': self.ns},
            'spec': {'replicas': 4, 'template': template}}, 'application/json')
        assert status == 201, answer
        self.until(lambda: self.status().get('availableReplicas') == 4)
        self.check(32)

    def change(self):
        """The groups grow by a replica, and the set shrinks to one: creations and deletions at once."""
        for i in range(4):
            self.ask('PATCH', f'{GROVE}/namespaces/{self.ns}/podcliquescalinggroups/{NAME}-{i}-cell/scale', {'spec': {'replicas': 3}}, MERGE)
        self.ask('PATCH', f'{self.sets}/{NAME}', {'spec': {'replicas': 1}}, MERGE)
        self.until(lambda: len(self.pods()) == 11 and self.status().get('availableReplicas') == 1)
        self.check(11)

    def delete(self):
        self.ask('DELETE', f'{self.sets}/{NAME}', {}, 'application/json')
        self.until(lambda: not any(self.items(*kind) for kind in ((GROVE, 'podcliquesets'), *OWNED)))

    def check(self, want):
        """No pod twice, and nothing whose owner is not there."""
        pods = self.pods()
        places = {(p['metadata']['labels']['grove.io/podclique'], p['metadata']['labels']['grove.io/podclique-pod-index']) for p in pods}
        assert len(pods) == len(places) == want, (len(pods), len(places), want)
        there = {o['metadata']['uid'] for kind in ((GROVE, 'podcliquesets'), *OWNED) for o in self.items(*kind)}
        orphans = [o['metadata']['name'] for kind in OWNED for o in self.items(*kind)
                   if o['metadata'].get('labels', {}).get('app.kubernetes.io/managed-by') == 'grove-operator'
                   and not {r['uid'] for r in o['metadata'].get('ownerReferences', [])} & there]
        assert not orphans, orphans

    def run(self):
        self.create()
        self.change()
        self.delete()
        assert self.points >= 50, f'only {self.points} writes to die at'
        return self.points
