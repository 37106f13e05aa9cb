# SPDX-License-Identifier: Apache-2.0
"""From Grove's operator to groved and back, step by step as docs/reference/operator.md has it, on the objects that Grove left."""
import json
import os
import pathlib
import subprocess
import time

from cluster import MERGE, OWN, until
from daemon import ELECTION
from stage import GROVE, Stage

STATE = pathlib.Path(__file__).parent / 'grove-state.json'
LEASE = f'/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/grove-operator-leader-election'
PLURALS = {'ServiceAccount': 'serviceaccounts', 'Role': 'roles', 'RoleBinding': 'rolebindings', 'Secret': 'secrets', 'Service': 'services',
           'PodCliqueSet': 'podcliquesets', 'PodCliqueScalingGroup': 'podcliquescalinggroups', 'PodClique': 'podcliques',
           'PodGang': 'podgangs', 'PodGroup': 'podgroups', 'Pod': 'pods'}
GROVES_FINALIZERS = {'grove.io/podcliqueset.grove.io', 'grove.io/podclique.grove.io', 'grove.io/podcliquescalinggroup.grove.io'}
HASHES = ('grove.io/pod-template-hash', 'grove.io/podclique', 'grove.io/podgang')
HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/podcliqueset-validating-webhook'


def now(seconds=0):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000000Z', time.gmtime(time.time() + seconds))


class Upgrade(Stage):
    CONFIG = {'leaderElection': ELECTION}

    def path(self, kind, api, name=''):
        base = f'/api/{api}' if '/' not in api else f'/apis/{api}'
        return f'{base}/namespaces/{self.ns}/{PLURALS[kind]}' + (f'/{name}' if name else '')

    def each(self):
        for obj in self.state:
            yield obj, self.c.get(self.path(obj['kind'], obj['apiVersion'], obj['metadata']['name']))

    def load(self):
        """What Grove's operator left, with the uids of this server and its pods on this server's nodes."""
        nodes = [n['metadata']['name'] for n in self.c.items('/api/v1/nodes')]
        text = STATE.read_text()
        for mark, word in (('<ns>', self.ns), ('<node>', nodes[0]), ('<time>', now(-3600).replace('.000000', '')), ('<text>', 'as recorded')):
            text = text.replace(mark, word)
        self.state, uids = json.loads(text), {}
        for obj in self.state:
            for owner in obj['metadata'].get('ownerReferences', []):
                owner['uid'] = uids[owner['kind'], owner['name']]
            if obj['kind'] == 'Secret':
                del obj['data']
            status, made = self.c.call('POST', self.path(obj['kind'], obj['apiVersion']), obj)
            assert status == 201, (status, made)
            uids[obj['kind'], obj['metadata']['name']] = made['metadata']['uid']
            if obj.get('status') and obj['kind'] not in ('Service', 'PodGroup'):
                path = self.path(obj['kind'], obj['apiVersion'], obj['metadata']['name']) + '/status'
                status, made = self.c.call('PATCH', path, {'status': obj['status']}, MERGE)
                assert status == 200, (status, made)
        until('its pods run', lambda: all(any(c['type'] == 'Ready' and c['status'] == 'True' for c in p.get('status', {}).get('conditions', []))
                                          for p in self.pods(self.ns)))

    def look(self):
        """What must not change by a change of operators."""
        return {(obj['kind'], obj['metadata']['name']): (
            there['metadata']['uid'], 'deletionTimestamp' in there['metadata'], tuple(there['metadata'].get('finalizers', [])),
            tuple(there['metadata'].get('labels', {}).get(h) for h in HASHES), json.dumps(there['spec'], sort_keys=True) if obj['kind'] == 'Pod' else '',
            there.get('status', {}).get('currentPodTemplateHash'), there.get('status', {}).get('currentGenerationHash'))
            for obj, there in self.each()}

    def shadow(self):
        """Step 1: what groved would do; no pod of it, and nothing deleted."""
        with self.daemon('--shadow', '--once', config=self.CONFIG) as d:
            code = d.end(60)
        lines = [line for line in d.output.splitlines() if line.startswith('would ') and f' {self.ns}/' in line]
        assert code in (0, 4), (code, d.lines[-3:])
        bad = [line for line in lines if line.split()[1] == 'DELETE' or line.split()[2] == 'Pod']
        assert not bad, bad
        return len(lines)

    @staticmethod
    def to_objects(d):
        """Writes to anything but the webhooks' own objects."""
        own = ('webhookconfigurations"', 'secrets"')
        return sum(v for k, v in d.metrics().items() if k.startswith('grove_writes_total') and not any(name in k for name in own))

    def other_lease(self, holder):
        spec = {'holderIdentity': holder, 'leaseDurationSeconds': 3, 'acquireTime': now(), 'renewTime': now(), 'leaseTransitions': 1}
        lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': LEASE.rsplit('/', 1)[1], 'namespace': OWN}, 'spec': spec}
        status, _ = self.c.call('POST', LEASE.rsplit('/', 1)[0], lease)
        if status == 409:
            status, _ = self.c.call('PATCH', LEASE, {'spec': spec}, MERGE)
        assert status in (200, 201), status

    def takeover(self, before):
        """Step 3: behind the other operator's Lease, then in its place."""
        self.other_lease('grove-operator-of-before')
        with self.daemon(config=self.CONFIG) as d:
            d.wait_for('candidate')
            assert self.to_objects(d) == 0
            d.wait_for('leading', 20)
            until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
            time.sleep(3)
            assert self.look() == before, self.difference(before)
            writes = self.to_objects(d)
            time.sleep(3)
            assert self.to_objects(d) == writes, 'it does not come to rest'
            assert self.c.call('GET', HOOKS)[0] == 200
            self.back(before)
            assert d.stop() == 0
        assert self.look() == before, self.difference(before)
        assert not self.c.get(LEASE)['spec'].get('holderIdentity')
        return writes

    def back(self, before):
        """The way back: webhooks go, everything else stays for the operator that comes next."""
        done = subprocess.run([self.c.groved, 'uninstall', '--keep-workloads', '--kubeconfig', self.c.admin], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert self.c.call('GET', HOOKS)[0] == 404
        for _, there in self.each():
            assert set(there['metadata'].get('finalizers', [])) <= GROVES_FINALIZERS, there['metadata']
        assert self.look() == before, self.difference(before)

    def difference(self, before):
        return [(key, was, now_) for (key, was), now_ in zip(before.items(), self.look().values()) if was != now_]

    def run(self):
        self.ns = f'live-upgrade-{os.getpid()}'
        self.c.namespace(self.ns)
        self.load()
        before = self.look()
        would = self.shadow()
        writes = self.takeover(before)
        # once more: whoever comes next, here groved itself, ends what is deleted
        with self.daemon(config=self.CONFIG) as d:
            d.wait_for('leading', 20)
            assert self.look() == before, self.difference(before)
            self.c.call('PATCH', f'{GROVE}/namespaces/{self.ns}/podcliquesets/inference13', {'spec': {'replicas': 2}}, MERGE)
            until('a replica more', lambda: len(self.pods(self.ns)) == 8)
            assert self.look() == before, self.difference(before)
            self.remove(self.ns)
        self.drop(self.ns)
        return f'{len(before)} objects of Grove taken over and handed back: {would} writes foretold, {writes:.0f} made, no pod touched, no finalizer left'
