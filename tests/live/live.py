#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groved on a real control plane, always under the ServiceAccount and the rights of deploy/.

usage: live.py --groved PROGRAM [STAGE...]

    life          a set through creation, scaling by /scale, deletion by the real garbage collector
    webhooks      defaulting, validating and the authorizer, called by the real API server
    conformance   recorded manifests by kubectl apply: children and status equal to the recordings
    cost          1,000 pods in one set, two shapes: requests, memory, CPU; nothing written at rest
    failover      a leader that is killed, and one that stops
    crash         SIGKILL after each few writes, until all is done
    rights        each right taken away in turn: what is missing is named (GROVE_LIVE_RIGHTS: those with this text)
    gangs         whole gangs through a stock scheduler with a rival beside, and bound by groved itself
    upgrade       what Grove's operator left is taken over and handed back, as documented: no pod touched
    operating     the operators' page from an empty cluster; every verb of grovectl; back to nothing
    soak          churn for GROVE_LIVE_MINUTES (3): flat memory, no lost watch, no request at rest
    node          a control plane of its own with a real kubelet and containerd: node.py (GROVE_NODE_SCENARIOS: only these)

All but the last need `./dev control-plane up`; exit 77 without. The last line is `N passed, N failed[, N skipped]`.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
import traceback

import yaml

from cluster import MERGE, OWN, ROOT, SKIPPED, Binder, Cluster, cpu_seconds, memory, until
from stage import ELECTION, GROVE, KINDS, Stage, a_set, clique, in_namespace

import children  # of tests/conformance, which cluster.py puts on the path
import ready
import whole
from cost import Cost
from crash import Crashes
from gangs import Gangs
from operating import Operating
from rights import Rights
from soak import Soak
from upgrade import Upgrade


class Life(Stage):
    def run(self):
        self.c.namespace('live-life')
        group = [{'name': 'cell', 'cliqueNames': ['lead', 'work'], 'replicas': 2, 'minAvailable': 1}]
        with self.daemon(config=ELECTION) as d:
            d.wait_for('leading')
            self.create(a_set('live-life', cliques=[clique('route', 1), clique('lead', 1), clique('work', 2)], groups=group))
            until('the set is available', lambda: self.available('live-life') == 1)
            assert len(self.pods('live-life')) == 7, len(self.pods('live-life'))
            scale = f'{GROVE}/namespaces/live-life/podcliquescalinggroups/demo-0-cell/scale'
            status, answer = self.c.call('PATCH', scale, {'spec': {'replicas': 3}}, MERGE)
            assert status == 200, answer
            until('the group grew', lambda: len(self.pods('live-life')) == 10)
            self.c.call('PATCH', scale, {'spec': {'replicas': 1}}, MERGE)
            until('the group shrank', lambda: len(self.pods('live-life')) == 4)
            self.remove('live-life')
            assert d.stop() == 0
        holder = self.c.get(f'/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/grove-operator-leader-election')
        assert not holder['spec'].get('holderIdentity'), holder
        self.drop('live-life')
        return '7 pods, group to 3 and to 1, gone; Lease given back'


class Webhooks(Stage):
    def run(self):
        ns = 'live-webhooks'
        self.c.namespace(ns)
        authorizer = {'authorizer': {'enabled': True, 'exemptServiceAccountUserNames': [
            'system:serviceaccount:kube-system:generic-garbage-collector', 'system:serviceaccount:kube-system:namespace-controller',
            'system:kube-controller-manager']}}
        with self.daemon(config={**authorizer, 'guardScale': 'Deny'}) as d:
            d.wait_for('leading')
            bad = a_set(ns, 'bad')
            bad['spec']['template']['cliques'][0]['spec']['minAvailable'] = 9
            status, answer = self.c.call('POST', f'{GROVE}/namespaces/{ns}/podcliquesets', bad)
            assert status == 403 and 'pcs.validating.webhooks.grove.io' in answer['message'], answer
            self.create(a_set(ns))
            stored = self.c.get(f'{GROVE}/namespaces/{ns}/podcliquesets/demo')['spec']['template']
            assert stored['cliqueStartupType'] and stored['terminationDelay'], stored
            until('the set is available', lambda: self.available(ns) == 1)
            path = f'{GROVE}/namespaces/{ns}/podcliques/demo-0-work'
            status, answer = self.c.call('PATCH', path, {'metadata': {'labels': {'x': 'y'}}}, MERGE)
            assert status == 403 and 'authorizer.webhooks.grove.io' in answer['message'], (status, answer)
            assert d.metrics()['grove_webhook_refusals_total{webhook="/webhooks/validate-podcliqueset"}'] == 1
            status, answer = self.c.call('PATCH', path + '/scale', {'spec': {'replicas': 1}}, MERGE)
            assert status == 403 and 'scale.validating.webhooks.grove.io' in answer['message'], (status, answer)
            self.c.call('DELETE', f'{GROVE}/namespaces/{ns}/podcliquesets/demo')
            time.sleep(0.1)  # in the middle of it
            d.kill()
        # all webhooks are on Fail and nobody answers: the set waits for its operator, nothing is lost
        with self.daemon(config=authorizer) as d:
            d.wait_for('leading')
            until('the set is gone', lambda: not self.c.items(f'{GROVE}/namespaces/{ns}/podcliquesets') and not self.pods(ns))
            self.create(a_set(ns, 'again'))
            until('the set is available', lambda: self.available(ns, 'again') == 1)
            self.c.call('DELETE', f'/api/v1/namespaces/{ns}')
            time.sleep(0.1)
            d.kill()
        # the same while a namespace goes, whose controller tries again and again
        with self.daemon(config=authorizer) as d:
            d.wait_for('leading')
            until('the namespace is gone', lambda: self.c.call('GET', f'/api/v1/namespaces/{ns}')[0] == 404, 180)
        return 'refused, defaulted, protected; killed while a set and while a namespace is deleted'


class Conformance(Stage):
    """Every case in a namespace of its own, all at once, beside one groved."""
    PREFIX = 'live-c-'

    def cases(self):
        """The most frequent configuration, and a spread of the cases that were recorded under it."""
        by_config = {}
        for folder in ready.default_cases():
            want, _ = ready.load(folder)
            if want and not ready.trapped(want):
                text = pathlib.Path(children.config_of(folder)).read_text()
                by_config.setdefault(text, []).append((pathlib.Path(folder), want))
        config, found = max(by_config.items(), key=lambda item: len(item[1]))
        limit = int(os.environ.get('GROVE_LIVE_CASES', '30'))
        return list(yaml.safe_load_all(config)), found[::max(1, len(found) // limit)]

    def ns(self, case):
        return self.PREFIX + hashlib.sha256(case.name.encode()).hexdigest()[:10]

    def actual(self, case):
        objects = []
        for base, plurals in KINDS:
            for plural in plurals.split():
                answer = self.c.get(f'/{base}/namespaces/{self.ns(case)}/{plural}')
                for obj in answer.get('items', []):
                    obj.setdefault('kind', answer['kind'][:-4])
                    obj.setdefault('apiVersion', answer['apiVersion'])
                    objects.append(obj)
        return objects

    def differences(self, case, want):
        kinds = {o['kind'] for o in want.values()} | set(whole.KINDS) - {'HorizontalPodAutoscaler'}
        got = whole.normal(self.actual(case), kinds)
        lines = children.compare(want, got)
        explained = ready.refused_explained(want, got) if lines else ()
        return [line for line in lines if not explained or not line.startswith(explained)]

    def remove_all(self, cases):
        for case, _ in cases:
            self.c.call('DELETE', f'{GROVE}/namespaces/{self.ns(case)}/podcliquesets')
        for case, _ in cases:
            until('its sets are gone', lambda c=case: not self.c.items(f'{GROVE}/namespaces/{self.ns(c)}/podcliquesets'), 240)
            self.drop(self.ns(case))

    def run(self):
        objects, cases = self.cases()
        config = next(o for o in objects if o['kind'] == 'OperatorConfiguration')
        with Binder(self.c, self.PREFIX), self.daemon(config=config) as d:
            d.wait_for('leading')
            bindings = [o for o in objects if o['kind'] != 'OperatorConfiguration']
            self.c.kubectl('apply', '-f', '-', stdin=yaml.safe_dump_all(bindings))
            for case, _ in cases:
                self.c.namespace(self.ns(case))
                self.c.kubectl('create', '-f', '-', stdin=yaml.safe_dump(in_namespace(case, self.ns(case))))
            left, end = {case: (want, []) for case, want in cases}, time.monotonic() + 60 + 3 * len(cases)
            while left and time.monotonic() < end:
                left = {case: (want, lines) for case, (want, _) in left.items() if (lines := self.differences(case, want))}
                time.sleep(0.5)
            for case, (_, lines) in left.items():
                print(f'conformance {case.name} ({self.ns(case)}): {len(lines)} differences')
                for line in lines[:8]:
                    print('    ' + line[:400])
            writes = d.writes()
            time.sleep(3)
            rest = d.writes() - writes
            self.remove_all(cases)
        equal = len(cases) - len(left)
        assert not left, f'{equal} of {len(cases)} equal'
        assert rest == 0, f'{rest} writes at rest'
        return f'{equal} of {len(cases)} equal, nothing written at rest'


class Failover(Stage):
    def one(self, end):
        with self.daemon(config=ELECTION) as first:
            first.wait_for('leading', 40)
            with self.daemon(config=ELECTION) as second:
                second.wait_for('candidate')
                begun = time.monotonic()
                end(first)
                second.wait_for('leading', 40)
                took = time.monotonic() - begun
                second.stop()
        return took

    def run(self):
        rounds = int(os.environ.get('GROVE_LIVE_ROUNDS', '1'))
        hard = sorted(self.one(lambda d: d.kill()) for _ in range(rounds))
        clean = sorted(self.one(lambda d: d.stop()) for _ in range(rounds))
        assert hard[-1] <= 20 and hard[len(hard) // 2] <= 18, hard
        assert clean[-1] <= 3, clean
        return f'killed: {hard[len(hard) // 2]:.1f} s, stopped: {clean[len(clean) // 2]:.1f} s (medians of {rounds})'


class Crash(Stage):
    def run(self):
        ns = f'live-crash-{os.getpid()}'
        self.c.namespace(ns)

        def ask(method, path, body, kind):
            return self.c.call(method, path, body, kind or 'application/json')

        # nobody answers for the webhooks of a daemon that is dead
        points = Crashes(ask, lambda *words: self.daemon('--no-webhooks', '--force-takeover', *words), ns).run()
        self.drop(ns)
        return f'{points} ends by SIGKILL over creation, change and deletion: no pod twice, none without owner'


class Node:
    """In namespaces of its own, which it brings up and takes down: nothing of the control plane here is used."""

    def __init__(self, groved):
        self.groved = groved

    def run(self):
        programs = (self.groved, self.groved.parent.parent / 'grove-initc/grove-initc')
        words = os.environ.get('GROVE_NODE_SCENARIOS', '').split()
        images = ' '.join(f'{p}=docker.io/libgrove/{p.name}:0.1.0' for p in programs)
        code = subprocess.run([ROOT / 'tests/control-plane/node/node.sh', 'run', sys.executable, ROOT / 'tests/live/node.py',
                               '--groved', self.groved, *words], env={**os.environ, 'GROVE_NODE_IMAGES': images}, check=False).returncode
        assert code in (0, SKIPPED), f'exit status {code}'
        return None if code == SKIPPED else 'nothing left behind'


STAGES = {'life': Life, 'webhooks': Webhooks, 'conformance': Conformance, 'cost': Cost, 'failover': Failover, 'crash': Crash, 'rights': Rights,
          'gangs': Gangs, 'upgrade': Upgrade, 'operating': Operating, 'soak': Soak}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--groved', required=True)
    parser.add_argument('stages', nargs='*', choices=[[], *STAGES, 'node'], default=[])
    args = parser.parse_args()
    groved = pathlib.Path(args.groved).resolve()
    names = args.stages or [*STAGES, 'node']
    cluster = kubeconfig = None
    if set(names) != {'node'}:
        cluster = Cluster(str(groved))
        cluster.clean()
        kubeconfig = cluster.install()
    passed = failed = skipped = 0
    for name in names:
        begun = time.monotonic()
        try:
            told = (Node(groved) if name == 'node' else STAGES[name](cluster, kubeconfig)).run()
        except Exception:  # noqa: BLE001 - one stage's failure does not hide the others'
            traceback.print_exc()
            told = False
        if cluster:
            cluster.clean()
        word = 'FAILED' if told is False else 'skipped' if told is None else 'ok'
        passed, failed, skipped = passed + (word == 'ok'), failed + (word == 'FAILED'), skipped + (word == 'skipped')
        print(f'{word:8} {name} ({time.monotonic() - begun:.0f} s) {told or ""}', flush=True)
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
