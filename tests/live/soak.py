# SPDX-License-Identifier: Apache-2.0
"""A long run under churn: memory stays flat, no watch and no descriptor is lost, and at rest nothing is asked of the server."""
import os
import pathlib
import random
import statistics
import time

from cluster import MERGE, memory, until
from stage import GROVE, Stage, a_set, clique

GROUP = [{'name': 'cell', 'cliqueNames': ['lead', 'work'], 'replicas': 2, 'minAvailable': 1}]
SETS = 6


class Churn:
    """Sets that come, grow, shrink, roll, lose pods and go, one change after the other."""

    def __init__(self, stage, ns):
        self.stage, self.c, self.ns = stage, stage.c, ns
        self.random = random.Random(8)
        self.base = f'{GROVE}/namespaces/{ns}'
        self.number, self.done = 0, 0

    def names(self):
        return [o['metadata']['name'] for o in self.c.items(f'{self.base}/podcliquesets') if 'deletionTimestamp' not in o['metadata']]

    def create(self, _):
        self.number += 1
        self.stage.create(a_set(self.ns, f's{self.number}', cliques=[clique('route', 2), clique('lead', 1), clique('work', 2)], groups=GROUP))

    def scale(self, name):
        self.c.call('PATCH', f'{self.base}/podcliquescalinggroups/{name}-0-cell/scale', {'spec': {'replicas': self.random.randint(1, 4)}}, MERGE)

    def resize(self, name):
        self.c.call('PATCH', f'{self.base}/podcliquesets/{name}', {'spec': {'replicas': self.random.randint(1, 2)}}, MERGE)

    def roll(self, name):
        pcs = self.c.get(f'{self.base}/podcliquesets/{name}')
        cliques = pcs.get('spec', {}).get('template', {}).get('cliques', [])
        for one in cliques:
            one['spec']['podSpec']['containers'][0]['image'] = f'example.com/a:{self.done}'
        self.c.call('PATCH', f'{self.base}/podcliquesets/{name}', {'spec': {'template': {'cliques': cliques}}}, MERGE)

    def lose_a_pod(self, name):
        pods = self.c.items(f'/api/v1/namespaces/{self.ns}/pods?labelSelector=app.kubernetes.io/part-of%3D{name}')
        if pods:
            self.c.call('DELETE', f"/api/v1/namespaces/{self.ns}/pods/{self.random.choice(pods)['metadata']['name']}")

    def delete(self, name):
        self.c.call('DELETE', f'{self.base}/podcliquesets/{name}')

    def step(self):
        names = self.names()
        act = self.create if len(names) < SETS else self.random.choice(
            [self.scale, self.scale, self.resize, self.roll, self.lose_a_pod, self.lose_a_pod, self.delete])
        act(self.random.choice(names) if names else '')
        self.done += 1


class Soak(Stage):
    REST = 30  # seconds without a request

    @staticmethod
    def descriptors(d):
        return len(list(pathlib.Path(f'/proc/{d.process.pid}/fd').iterdir()))

    @staticmethod
    def requests(d):
        return sum(v for k, v in d.metrics().items() if k.startswith('rest_client_requests_total'))

    def run(self):
        minutes = float(os.environ.get('GROVE_LIVE_MINUTES', '3'))
        ns = f'live-soak-{os.getpid()}'
        self.c.namespace(ns)
        churn, samples = Churn(self, ns), []
        with self.daemon(config={'scheduler': {'profiles': [{'name': 'default-scheduler'}]}}) as d:
            d.wait_for('leading')
            watches = d.metrics()['grove_watches_synced']
            begun = time.monotonic()
            while time.monotonic() < begun + 60 * minutes:
                churn.step()
                samples.append((memory(d.process.pid)[1], self.descriptors(d)))
                time.sleep(0.5)
            self.remove(ns, 300)
            until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
            time.sleep(3)
            asked = self.requests(d)
            time.sleep(self.REST)
            rest = self.requests(d) - asked
            now = d.metrics()
            third = len(samples) // 3
            middle, last = samples[third:2 * third], samples[2 * third:]
            grown = statistics.median(m for m, _ in last) - statistics.median(m for m, _ in middle)
            lost = max(n for _, n in last) - max(n for _, n in middle)
            told = (f'{minutes:g} min, {churn.done} changes, {churn.number} sets; RssAnon {statistics.median(m for m, _ in last):.1f} MB, '
                    f'{grown:+.2f} MB from the second third to the last, descriptors {lost:+d}; {rest:.0f} requests in {self.REST} s at rest')
            print(told, flush=True)
            assert grown <= 0.5, f'memory grows: {grown:.2f} MB'
            assert lost <= 4, f'{lost} descriptors more'
            assert now['grove_watches'] == now['grove_watches_synced'] == watches, (now['grove_watches'], now['grove_watches_synced'], watches)
            assert rest == 0, f'{rest} requests at rest'
            assert d.stop() == 0
        self.drop(ns)
        return told
