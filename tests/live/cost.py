# SPDX-License-Identifier: Apache-2.0
"""What 1,000 pods in one set cost, beside the budgets, Grove's figures and a load generator on the same server."""
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import yaml

from cluster import MERGE, cpu_seconds, memory, until
from schema_on_server import Server  # of tests/conformance, which cluster.py puts on the path
from stage import Stage, a_set, clique

PODS = 1000
BARE = 32  # requests of the load generator side by side


class Arrivals(threading.Thread):
    """The times at which pods of a namespace appear, as a watch tells them."""

    def __init__(self, cluster, ns):
        super().__init__(daemon=True)
        self.server, self.ns, self.times = Server(cluster.admin), ns, []
        self.ended = threading.Event()

    def run(self):
        seen = set()
        while not self.ended.wait(0.05) and len(seen) < PODS:
            items = self.server.call('GET', f'/api/v1/namespaces/{self.ns}/pods?resourceVersion=0', {})[1].get('items', [])
            now = time.monotonic()
            for uid in {p['metadata']['uid'] for p in items} - seen:
                seen.add(uid)
                self.times.append(now)

    def rate(self):
        """Creations a second between the first tenth and the last one."""
        low, high = self.times[PODS // 10], self.times[-PODS // 10]
        return (PODS * 8 // 10) / max(high - low, 0.001)


class Audit:
    """What a recording tells of the writes: how many of which kind and why, and those that changed nothing."""

    def __init__(self, path):
        self.counts, self.no_ops, self.versions, self.under_way = {}, [], {}, {}
        with open(path, encoding='utf-8') as lines:
            for line in lines:
                record = json.loads(line)
                if 'submit' in record:
                    asked = record['submit']
                    key = asked['kind'], asked.get('ns', ''), asked.get('name', '')
                    self.under_way[asked['token']] = asked, self.versions.get(key)
                elif 'event' in record:
                    self.see(record['event'].get('kind'), record['event'].get('object'))
                elif 'completion' in record:
                    self.completed(record['completion'])

    def see(self, kind, obj):
        meta = (obj or {}).get('metadata', {})
        if kind and 'resourceVersion' in meta:
            self.versions[kind, meta.get('namespace', ''), meta['name']] = meta['resourceVersion']

    def completed(self, answer):
        asked, before = self.under_way.pop(answer['token'], (None, None))
        if not asked or asked['verb'] in ('GET', 'LIST'):
            return
        sub = '/status' if asked.get('subresource') else ''
        key = f"{asked['verb']} {asked['kind'].rsplit('/', 1)[-1]}{sub} ({asked.get('reason', '')})"
        self.counts[key] = self.counts.get(key, 0) + 1
        obj = answer.get('object')
        self.see(asked['kind'], obj)
        if asked['verb'] == 'PATCH' and obj and before == obj['metadata'].get('resourceVersion'):
            self.no_ops.append(f"{key} {asked.get('name')}: {json.dumps(asked.get('body'))[:200]}")

    def table(self):
        return {k: self.counts[k] for k in sorted(self.counts, key=lambda k: (-self.counts[k], k))}


class Cost(Stage):
    """
    Cliques: pods wait for a node label until all gates are off, as Grove's figure was taken without a scheduler.
    Groups: scaled gangs stay gated until their base gang is scheduled, so nothing waits, and all requests until the set is
    available count, as in Grove's figure. A fifth of each is run again with a recording, which says where requests go.
    """
    LABEL = 'live.libgrove.io/open'
    SHAPES = {
        'cliques': (2500, 5830, lambda ns, n: a_set(ns, 'big', n, [clique('work', 10)])),
        'groups': (5000, 18400, lambda ns, n: a_set(ns, 'big', n, [clique('route', 2), clique('pre', 1), clique('dec', 3)], [
            {'name': 'cell', 'cliqueNames': ['pre', 'dec'], 'replicas': 2, 'minAvailable': 1}]))}
    BUDGETS = {'cpu_seconds': 2, 'rss_peak_mb': 20, 'idle_rss_anon_mb': 6, 'ready_ms': 100, 'of_bare_rate': 0.9, 'writes_at_rest': 0,
               'events_a_pod': 0}

    @staticmethod
    def by_verb(samples):
        counts = {}
        for name, value in samples.items():
            if name.startswith('rest_client_requests_total') and 'verb="EVENT"' not in name:
                verb = name.split('verb="')[1].split('"')[0]
                counts[verb] = counts.get(verb, 0) + int(value)
        return counts

    @staticmethod
    def by_resource(samples):
        found = {}
        for name, value in samples.items():
            if name.startswith('grove_writes_total'):
                found[' '.join(name.split('"')[1::2])] = int(value)
        return found

    def events(self, ns):
        """Objects that tell what groved did; what is told again and again is counted in one."""
        return sum('grove' in e.get('reportingController', '') for e in self.c.items(f'/apis/events.k8s.io/v1/namespaces/{ns}/events'))

    def label_nodes(self, value):
        for node in self.c.items('/api/v1/nodes'):
            self.c.call('PATCH', f"/api/v1/nodes/{node['metadata']['name']}", {'metadata': {'labels': {self.LABEL: value}}}, MERGE)

    def held(self, obj):
        for one in obj['spec']['template']['cliques']:
            one['spec']['podSpec']['nodeSelector'] = {self.LABEL: 'true'}
        return obj

    # ---- a load generator that does nothing but create ----

    def bare_rate(self):
        """Pods a second that this server lets curl create, as a gated pod of the same size."""
        ns = f'live-cost-bare-{os.getpid()}'
        self.c.namespace(ns)
        config = yaml.safe_load(pathlib.Path(self.c.admin).read_text())
        user = config['users'][0]['user']
        server = config['clusters'][0]['cluster']
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'generateName': 'bare-'}, 'spec': {
            'schedulingGates': [{'name': 'live.libgrove.io/never'}], 'containers': [{'name': 'c', 'image': 'example.com/a:1'}]}}
        with tempfile.TemporaryDirectory() as folder:
            body = pathlib.Path(folder) / 'pod.json'
            body.write_text(json.dumps(pod))
            words = ['curl', '-sS', '--http2', '--parallel', '--parallel-max', str(BARE), '--cacert', server['certificate-authority'],
                     '--cert', user['client-certificate'], '--key', user['client-key'], '-H', 'Content-Type: application/json',
                     '-o', '/dev/null', '-w', '%{http_code}\\n', '--data-binary', f'@{body}',
                     f"{server['server']}/api/v1/namespaces/{ns}/pods?n=[1-{PODS}]"]
            begun = time.monotonic()
            done = subprocess.run(words, capture_output=True, text=True, timeout=300)
            took = time.monotonic() - begun
        made = done.stdout.split().count('201')
        self.c.call('DELETE', f'/api/v1/namespaces/{ns}/pods?gracePeriodSeconds=0')
        self.drop(ns)
        assert made == PODS, (made, done.stderr[:500])
        return PODS / took

    # ---- one shape ----

    def measure(self, shape, bare):
        budget, go, build = self.SHAPES[shape]
        ns = f'live-cost-{shape}-{os.getpid()}'
        self.c.namespace(ns)
        self.label_nodes('true' if shape == 'groups' else None)
        with self.daemon(config={'scheduler': {'profiles': [{'name': 'default-scheduler'}]}}) as d:
            d.wait_for('leading')
            ready = int(d.wait_for('ready')['after_ms'])
            idle = memory(d.process.pid)[1]
            arrivals = Arrivals(self.c, ns)
            arrivals.start()
            begun = time.monotonic()
            self.create(self.held(build(ns, 100)))
            until('all gates are off', lambda: (p := self.pods(ns)) and len(p) == PODS and not any(
                x['spec'].get('schedulingGates') for x in p), 300, 1)
            took, counts = time.monotonic() - begun, self.by_verb(d.metrics())
            arrivals.join()
            self.label_nodes('true')
            until('all are available', lambda: self.available(ns, 'big') == 100, 400, 1)
            until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
            time.sleep(2)
            samples, writes = d.metrics(), d.writes()
            after = sum(self.by_verb(samples).values())
            total = after if shape == 'groups' else sum(counts.values())
            peak, _ = memory(d.process.pid)
            cpu = cpu_seconds(d.process.pid)
            time.sleep(10)
            found = {'cpu_seconds': round(cpu, 2), 'rss_peak_mb': round(peak, 1), 'idle_rss_anon_mb': round(idle, 1), 'ready_ms': ready,
                     'of_bare_rate': round(arrivals.rate() / bare, 2), 'writes_at_rest': int(d.writes() - writes),
                     'events_a_pod': round(self.events(ns) / PODS, 2)}
            print(json.dumps({'shape': shape, 'requests_until_released': counts, 'sum': total, 'budget': budget, 'go': go,
                              'requests_until_available': after, 'seconds': round(took, 1), 'bare_creates_a_second': round(bare),
                              'writes_until_available': self.by_resource(samples)}))
            for name, value in found.items():
                least = name == 'of_bare_rate'
                kept = value >= self.BUDGETS[name] if least else value <= self.BUDGETS[name]
                print(f'  {shape:8} {name:18} {value:>8} budget {">=" if least else "<="} {self.BUDGETS[name]} {"" if kept else "MISSED"}', flush=True)
            # the budgets are printed beside; what is held is well below Grove's own figure
            assert total <= go * 6 // 10, f'{shape}: {total} requests, Grove {go}'
            assert found['writes_at_rest'] == 0, f"{shape}: {found['writes_at_rest']} writes at rest"
            self.remove(ns, 300)
        self.drop(ns)
        return f'{shape} {total} (budget {budget}, Grove {go})'

    def audit(self, shape):
        """A fifth of it with a recording: which writes there are and why, none that changes nothing, no event for each pod."""
        ns = f'live-cost-audit-{shape}-{os.getpid()}'
        self.c.namespace(ns)
        self.label_nodes('true')
        with tempfile.TemporaryDirectory() as folder:
            path = f'{folder}/recording'
            with self.daemon('--record', path, config={'scheduler': {'profiles': [{'name': 'default-scheduler'}]}}) as d:
                d.wait_for('leading')
                self.create(self.held(self.SHAPES[shape][2](ns, 20)))
                until('all are available', lambda: self.available(ns, 'big') == 20, 300, 1)
                until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
                d.ctl('record', 'off')
                events = self.events(ns)
                self.remove(ns, 300)
                d.stop()
            audit = Audit(path)
        self.drop(ns)
        print(json.dumps({'audit': shape, 'pods': PODS // 5, 'event_objects': events, 'writes': audit.table()}, indent=1), flush=True)
        assert not audit.no_ops, audit.no_ops[:10]

    def run(self):
        for shape in self.SHAPES:
            self.audit(shape)
        bare = self.bare_rate()
        return ', '.join(self.measure(shape, bare) for shape in self.SHAPES)
