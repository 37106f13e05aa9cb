#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two people's first hour with the library, step by step: an operator's author, and a researcher of scheduling.

    journeys.py --include FOLDER --shared FILE [unittest arguments]     (LIBGROVE and PYTHONPATH for the binding)

Each step says how long it took and what came of it; what it asserts is what the person needs, never the time.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unittest

import grove

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'examples', 'python'))
import memory_cluster  # noqa: E402

options = None


class Journey(unittest.TestCase):
    """Prints each step with its time."""

    def setUp(self):
        self.begun = time.monotonic()

    def tearDown(self):
        print(f'    {time.monotonic() - self.begun:6.2f} s  {self.id().rsplit(".", 1)[1]}', file=sys.stderr)


def clique(name, replicas, gpu, minimum=None, **spec):
    container = {'name': 'main', 'image': 'example.com/serve:1', 'resources': {'limits': {'nvidia.com/gpu': gpu}} if gpu else {}}
    return {'name': name, 'spec': {'roleName': name, 'replicas': replicas, 'minAvailable': minimum or replicas,
                                   'podSpec': {'containers': [container]}, **spec}}


def inference(name='serve', prefill=2):
    """What a framework makes of its own model: a frontend, and two roles of leader and workers."""
    cliques = [clique('front', 1, 0), clique('pl', 1, 1), clique('pw', 3, 1, startsAfter=['pl']), clique('dl', 1, 1),
               clique('dw', 1, 1, startsAfter=['dl'])]
    groups = [{'name': 'prefill', 'replicas': prefill, 'minAvailable': 1, 'cliqueNames': ['pl', 'pw']},
              {'name': 'decode', 'replicas': 1, 'minAvailable': 1, 'cliqueNames': ['dl', 'dw']}]
    return {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': name, 'namespace': 'default'},
            'spec': {'replicas': 1, 'template': {'cliqueStartupType': 'CliqueStartupTypeExplicit', 'cliques': cliques,
                                                 'podCliqueScalingGroups': groups}}}


class OperatorAuthor(Journey):
    """C2: from linking to a rollout of one's own."""

    def test_1_link(self):
        self.assertRegex(grove.__version__, r'^\d+\.\d+\.\d+$')
        with tempfile.TemporaryDirectory() as work:
            source = os.path.join(work, 'use.c')
            with open(source, 'w', encoding='utf-8') as f:
                f.write('#include <grove/grove.h>\n#include <stdio.h>\nint main(void) { return puts(grove_version()) < 0; }\n')
            program = os.path.join(work, 'use')
            folder = os.path.dirname(options.shared)
            subprocess.run(['cc', '-I', options.include, source, options.shared, f'-Wl,-rpath,{folder}', '-o', program], check=True)
            self.assertEqual(subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip(), grove.__version__)

    def test_2_validate_what_is_generated(self):
        self.assertTrue(grove.validate(inference()))
        refused = grove.validate(inference('a-name-that-a-tenant-chose-without-thinking-of-limits'))
        self.assertFalse(refused)
        self.assertTrue(all(finding.code and finding.path for finding in refused.errors))
        once = grove.default(inference())
        self.assertEqual(grove.default(once), once)
        names = {(child['kind'], child['metadata']['name']) for child in grove.render(inference())['items']}
        self.assertIn(('PodClique', 'serve-0-prefill-1-pw'), names)
        self.assertIn(('PodGang', 'serve-0-prefill-0'), names)

    def test_3_map_the_model(self):
        children = grove.render(inference())['items']
        waiting = [pod for pod in children if pod['kind'] == 'Pod' and '-pw-' in pod['metadata']['name']]
        self.assertEqual(len(waiting), 6)
        for pod in waiting:  # startup order for every engine, the leader's address by environment
            self.assertTrue(any('--podcliques' in ' '.join(c.get('args', [])) for c in pod['spec']['initContainers']))
            env = {e['name'] for e in pod['spec']['containers'][0]['env']}
            self.assertLessEqual({'GROVE_PCSG_NAME', 'GROVE_PCSG_INDEX', 'GROVE_HEADLESS_SERVICE'}, env)
        with grove.SimulatedCluster(nodes='1x2x4x8') as sim, grove.Engine() as engine:
            sim.apply(grove.default(inference()))
            grove.run(engine, sim, until_ns=sim.now_ns + 120 * grove.SECOND)
            sim.scale('PodCliqueScalingGroup', 'default', 'serve-0-prefill', 3)
            changed = inference()  # the template is applied again: the scaler's word stands
            changed['metadata']['labels'] = {'touched': 'yes'}
            sim.apply(grove.default(changed))
            grove.run(engine, sim, until_ns=sim.now_ns + 120 * grove.SECOND)
            self.assertEqual(sim.get('PodCliqueScalingGroup', 'default', 'serve-0-prefill')['spec']['replicas'], 3)

    def test_4_status_to_copy_up(self):
        with grove.SimulatedCluster(nodes='1x1x1x4') as sim, grove.Engine() as engine:
            sim.apply(grove.default(inference()))
            grove.run(engine, sim, until_ns=sim.now_ns + 60 * grove.SECOND)
            self.assertEqual(sim.get('PodCliqueSet', 'default', 'serve')['status'].get('availableReplicas', 0), 0)
            why = engine.explain('PodCliqueSet', 'default', 'serve', now_ns=sim.now_ns)
            self.assertTrue(all(wait['reason'] and wait['message'] for wait in why['waits']))
            sim.add_nodes('nodes=2,prefix=more')
            grove.run(engine, sim, until_ns=sim.now_ns + 300 * grove.SECOND)
            self.assertEqual(sim.get('PodCliqueSet', 'default', 'serve')['status']['availableReplicas'], 1)
            self.assertTrue(sim.list('Event', 'default'))

    def test_5_own_rollout_on_own_backend(self):
        cluster = memory_cluster.MemoryCluster()
        self.assertFalse([check for check in grove.conformance(cluster) if check.result == 'failed'])
        answer = grove.diff(inference(), inference(prefill=3))
        self.assertEqual([child['name'] for child in answer['created'] if child['kind'] == 'PodGang'], ['serve-0-prefill-1'])
        with grove.SimulatedCluster(nodes='1x2x4x8') as sim, grove.Engine() as engine:
            sim.apply(grove.default(inference()))
            grove.run(engine, sim, until_ns=sim.now_ns + 120 * grove.SECOND)
            newer = inference()
            newer['spec']['template']['cliques'][0]['spec']['podSpec']['containers'][0]['image'] = 'example.com/serve:2'
            sim.apply(grove.default(newer))
            grove.run(engine, sim, until_ns=sim.now_ns + 600 * grove.SECOND)
            images = {pod['spec']['containers'][0]['image'] for pod in sim.list('Pod', 'default') if '-front-' in pod['metadata']['name']}
            self.assertEqual(images, {'example.com/serve:2'})


class Researcher(Journey):
    """C3: from a cluster in a file to a policy of one's own and a trace."""

    RACKS, NODES = 40, 25  # 1,000 nodes

    def cluster(self, **policy):
        scheduler = grove.Scheduler(**policy)
        scheduler.topology('default', ['block', 'rack'])
        for r in range(self.RACKS):
            for n in range(self.NODES):
                scheduler.add_node(f'r{r}n{n}', {'block': f'b{r // 8}', 'rack': f'r{r}'}, {'gpu': 8, 'pods': 110})
        return scheduler

    def gangs(self, scheduler):
        rng = random.Random(3)
        return [grove.Gang(f'g{i}', [grove.PodGroup('w', scheduler.pod_class({'gpu': rng.choice([2, 4, 8])}), rng.choice([2, 8, 24, 40]))],
                           required=rng.choice([None, 'rack', 'block'])) for i in range(50)]

    def serve(self, **policy):
        """Places the 50 gangs; what came of it as bytes, and racks used by each."""
        scheduler, told, spans = self.cluster(**policy), [], []
        for gang in self.gangs(scheduler):
            decision = scheduler.place(gang)
            told.append([gang.name, decision.verdict, sorted(decision.nodes.items()), decision.certificate.get('reason')])
            if decision.verdict == 'placed':
                spans.append(len({node.split('n')[0] for nodes in decision.nodes.values() for node in nodes if node}))
                scheduler.commit(decision)
        scheduler.verify()
        return json.dumps(told).encode(), sum(spans)

    def test_1_load_a_cluster(self):
        """As kubectl prints it."""
        state = grove.simulate(inference(), nodes='2x2x4x8')
        nodes = [node for node in state['items'] if node['kind'] == 'Node']
        self.assertEqual(len(nodes), 16)
        request = {'topology': ['kubernetes.io/hostname'], 'nodes': [
            {'name': node['metadata']['name'], 'labels': node['metadata']['labels'],
             'capacity': {'gpu': int(node['status']['allocatable']['nvidia.com/gpu'])}} for node in nodes],
            'gangs': [{'name': 'g', 'podgroups': [{'name': 'w', 'count': 4, 'requests': {'gpu': 8}}]}]}
        self.assertEqual(grove.place(request)['gangs'][0]['verdict'], 'placed')

    def test_2_three_policies_same_bytes(self):
        policies = {'own': {}, 'last first': {'order': lambda candidate: -candidate.domain},
                    'scattered': {'order': lambda candidate: candidate.domain * 7919 % 1009}}
        told = {}
        for name, policy in policies.items():
            told[name], span = self.serve(**policy)
            self.assertEqual(self.serve(**policy)[0], told[name], name)
            verdicts = json.loads(told[name])
            self.assertTrue(all(row[3] for row in verdicts if row[1] != 'placed'), 'each refusal has its reason')
            print(f'            {name}: {sum(row[1] == "placed" for row in verdicts)} of 50 placed, {span} racks used', file=sys.stderr)
        self.assertGreater(len(set(told.values())), 1)

    def test_3_refusals_are_proven(self):
        scheduler = self.cluster()
        decision = scheduler.place(grove.Gang('wide', [grove.PodGroup('w', scheduler.pod_class({'gpu': 8}), self.NODES + 1)], required='rack'))
        self.assertEqual(decision.verdict, 'infeasible')
        self.assertEqual((decision.certificate['have'], decision.certificate['need']), (self.NODES, self.NODES + 1))
        self.assertEqual(decision.explanation['would_help'][0]['relax'], 'gang')

    def replay(self):
        """Arrivals, a lost node, a burst of scale: a row for each minute, for a plot."""
        rows = []
        with grove.SimulatedCluster(nodes='2x2x4x8') as sim, grove.Engine() as engine:
            for minute in range(12):
                if minute < 4:
                    sim.apply(grove.default(inference(f'job{minute}')))
                if minute == 5:
                    sim.fail_node(sim.list('Pod', 'default')[0]['spec']['nodeName'])
                if minute == 6:
                    sim.scale('PodCliqueScalingGroup', 'default', 'job1-0-prefill', 4)
                grove.run(engine, sim, until_ns=sim.now_ns + 60 * grove.SECOND)
                pods = sim.list('Pod', 'default')
                rows.append((minute, len(pods), sum('nodeName' in pod['spec'] for pod in pods)))
                if minute < 5 or minute == 11:  # between, pods of the lost node are on their way out
                    self.whole_or_not_at_all(sim.list('PodClique', 'default'), pods)
            self.assertEqual({s['status']['availableReplicas'] for s in sim.list('PodCliqueSet', 'default')}, {1})
        return rows

    def whole_or_not_at_all(self, cliques, pods):
        for one in cliques:
            bound = [pod for pod in pods if 'nodeName' in pod['spec'] and 'deletionTimestamp' not in pod['metadata'] and
                     pod['metadata']['labels'].get('grove.io/podclique') == one['metadata']['name']]
            self.assertTrue(not bound or len(bound) >= one['spec']['minAvailable'], one['metadata']['name'])

    def test_4_trace_on_a_virtual_clock(self):
        rows = self.replay()
        self.assertGreater(rows[6][1], rows[5][1])
        self.assertEqual(self.replay(), rows)
        print('            minute, pods, bound: ' + ' '.join(f'{m},{p},{b}' for m, p, b in rows), file=sys.stderr)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--include', required=True)
    parser.add_argument('--shared', required=True)
    options, rest = parser.parse_known_args()
    options.shared = os.path.abspath(options.shared)
    unittest.main(argv=sys.argv[:1] + rest, verbosity=2)
