# SPDX-License-Identifier: Apache-2.0
"""A watch on the pods of a namespace that keeps the fewest that were Ready at one moment, by clique, group and set."""
import http.client
import json
import threading

from schema_on_server import Server


def ready(pod):
    return 'deletionTimestamp' not in pod['metadata'] and any(
        c['type'] == 'Ready' and c['status'] == 'True' for c in pod.get('status', {}).get('conditions', []))


class Readiness:
    """Ready of a clique: pods; of a group or a set: its replicas of which every clique has its minimum."""

    def __init__(self, cluster, ns):
        self.path = f'/api/v1/namespaces/{ns}/pods'
        self.server = Server(cluster.admin)
        self.needs = {q['metadata']['name']: q['spec']['minAvailable']
                      for q in cluster.items(f'/apis/grove.io/v1alpha1/namespaces/{ns}/podcliques')}
        first = cluster.get(self.path)
        self.pods = {p['metadata']['uid']: p for p in first['items']}
        self.all = dict(self.pods)  # whatever was there at any time
        self.version = first['metadata']['resourceVersion']
        self.lowest, self.changes, self.problem = {}, 0, None
        self.homes = {self.labels(p)['grove.io/podclique']: self.home(p) for p in first['items']}
        self.count()

    @staticmethod
    def labels(pod):
        return pod['metadata']['labels']

    def home(self, pod):
        """What the clique belongs to: replicas of a set and, in a group, of the group."""
        of = self.labels(pod)
        found = [('set', of['app.kubernetes.io/part-of'], of['grove.io/podcliqueset-replica-index'])]
        if 'grove.io/podcliquescalinggroup' in of:
            found.append(('group', of['grove.io/podcliquescalinggroup'], of['grove.io/podcliquescalinggroup-replica-index']))
        return found

    def count(self):
        by_clique = dict.fromkeys(self.homes, 0)
        for pod in self.pods.values():
            clique = self.labels(pod)['grove.io/podclique']
            by_clique[clique] = by_clique.get(clique, 0) + ready(pod)
        whole = {}
        for clique, homes in self.homes.items():
            for home in homes:
                whole[home] = whole.get(home, True) and by_clique[clique] >= self.needs[clique]
        now = {('clique', name): n for name, n in by_clique.items()}
        for (kind, name, _), complete in whole.items():
            now[(kind, name)] = now.get((kind, name), 0) + complete
        for key, n in now.items():
            self.lowest[key] = min(n, self.lowest.get(key, n))

    def follow(self):
        try:
            for line in self.answer:
                event = json.loads(line)
                uid = event['object']['metadata']['uid']
                if event['type'] == 'DELETED':
                    self.pods.pop(uid, None)
                else:
                    self.pods[uid] = event['object']
                self.all[uid] = event['object']
                self.changes += 1
                self.count()
        except (OSError, ValueError, KeyError, AttributeError, http.client.HTTPException) as error:
            self.problem = error

    def __enter__(self):
        connection = http.client.HTTPSConnection(self.server.host, context=self.server.context)
        connection.request('GET', f'{self.path}?watch=1&resourceVersion={self.version}&timeoutSeconds=600')
        self.answer = connection.getresponse()
        self.connection, self.thread = connection, threading.Thread(target=self.follow, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        if not self.thread.is_alive():
            raise AssertionError(f'the watch ended early: {self.problem}')

    def floors(self):
        return dict(self.lowest)
