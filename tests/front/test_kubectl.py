#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that users type, by the real kubectl, against the HTTP front.

usage: test_kubectl.py --groved PROGRAM [unittest arguments]

Tables are compared with recordings of a real server (tests/golden/front/tables.json) up to ages, counts and the
random ends of names.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import unittest

from kubectl import KUBECTL, OLD, KubectlCase, not_old

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, '..', 'golden', 'front')
MANIFEST = os.path.join(GOLDEN, 'set.yaml')
SET = 'inference-disaggregated'
PROGRAM = None


def stem(name):
    """A name without its random end; nodes by their place only."""
    return re.sub(r'(-(?:router|pleader|pworker))-[a-z0-9]{5}$', r'\1', name)


def table(text):
    """Headers and name stems of each table of an output."""
    tables = []
    for block in text.strip('\n').split('\n\n'):
        lines = [re.split(r'\s{2,}', line.strip()) for line in block.split('\n')]
        column = lines[0].index('NAME') if 'NAME' in lines[0] else 0
        tables.append([lines[0], sorted(stem(line[column]) for line in lines[1:])])
    return tables


class Kubectl(KubectlCase):
    @classmethod
    def setUpClass(cls):
        cls.start(PROGRAM)
        cls.run_once('apply', '-f', MANIFEST)

    def pod(self):
        return self.run_once('get', 'pod', '-o', 'jsonpath={.items[0].metadata.name}')

    def test_tables_equal_the_recorded_ones(self):
        with open(os.path.join(GOLDEN, 'tables.json'), encoding='utf-8') as f:
            golden = json.load(f)
        for command, want in golden.items():
            with self.subTest(command):
                self.assertEqual(table(self.run_once(*command.split())), want)

    def test_get_in_other_forms(self):
        whole = json.loads(self.run_once('get', 'pcs', SET, '-o', 'json'))
        self.assertEqual(whole['kind'], 'PodCliqueSet')
        self.assertIn('kind: PodCliqueSet', self.run_once('get', 'pcs', SET, '-o', 'yaml'))
        phases = self.run_once('get', 'pods', '-o', 'jsonpath={range .items[*]}{.status.phase}{"\\n"}{end}').split()
        self.assertEqual(phases, ['Running'] * 12)
        self.assertEqual(len(self.run_once('get', 'pods', '--chunk-size=5').splitlines()), 13)
        self.assertEqual(len(self.run_once('get', 'pods', '--sort-by=.metadata.name').splitlines()), 13)
        self.assertEqual(len(self.run_once('get', 'pods', '-l', f'grove.io/podclique={SET}-0-router', '--show-labels').splitlines()), 3)

    def test_describe(self):
        text = self.run_once('describe', 'pcs', SET)
        self.assertRegex(text, r'(?m)^Kind: +PodCliqueSet$')
        self.assertIn('PodCliqueCreateOrUpdateSuccessful', text)
        self.assertRegex(self.run_once('describe', 'pod', self.pod()), r'Controlled By: +PodClique/')
        self.assertIn('Non-terminated Pods', self.run_once('describe', 'node', 'node-b0-r0-n0'))

    def test_scale(self):
        self.run_once('apply', '-f', '-', stdin=self.other('scaled'))
        self.assertEqual(self.run_once('scale', 'pcs', 'scaled', '--replicas=2'), 'podcliqueset.grove.io/scaled scaled\n')
        self.assertEqual(self.run_once('scale', 'pcsg', 'scaled-0-prefill', '--replicas=3'), 'podcliquescalinggroup.grove.io/scaled-0-prefill scaled\n')
        self.assertEqual(self.run_once('scale', 'pclq', 'scaled-0-router', '--current-replicas=2', '--replicas=3'), 'podclique.grove.io/scaled-0-router scaled\n')
        self.run_once('scale', 'pclq', 'scaled-0-router', '--current-replicas=9', '--replicas=3', code=1)
        self.run_once('scale', 'node', 'node-b0-r0-n0', '--replicas=2', code=1)
        self.run_once('delete', 'pcs', 'scaled')
        self.run_once('get', 'pcs', 'scaled', code=1)

    def other(self, name):
        with open(MANIFEST, encoding='utf-8') as f:
            return f.read().replace(f'name: {SET}\n', f'name: {name}\n')

    def test_apply_again_and_on_the_server(self):
        self.assertRegex(self.run_once('apply', '-f', MANIFEST), r'(configured|unchanged)$')
        if not OLD:
            self.assertRegex(self.run_once('apply', '--dry-run=server', '-f', MANIFEST), r'server dry run')
        text = self.other('ssa')
        self.assertIn('serverside-applied', self.run_once('apply', '--server-side', '-f', '-', stdin=text))
        self.run_once('delete', 'pcs', 'ssa', '--wait=true')

    def test_create_refused(self):
        self.assertIn('already exists', self.run_once('create', '-f', MANIFEST, code=1))
        unknown = self.other('bad').replace('replicas:', 'replicaz: 1\n  replicas:', 1)
        if not OLD:
            self.assertIn('unknown field "spec.replicaz"', self.run_once('create', '-f', '-', stdin=unknown, code=1))
        refused = self.other('bad').replace('roleName: router', 'roleName: pleader')
        self.assertIn('Error from server', self.run_once('create', '-f', '-', stdin=refused, code=1))

    def test_create_by_command(self):
        self.assertEqual(self.run_once('create', 'namespace', 'made'), 'namespace/made created\n')
        self.assertEqual(self.run_once('create', 'configmap', 'm', '--from-literal=a=b', namespace='made'), 'configmap/m created\n')
        self.assertEqual(self.run_once('get', 'configmap', 'm', '-o', 'jsonpath={.data.a}', namespace='made'), 'b')
        self.assertEqual(self.run_once('create', 'serviceaccount', 's', namespace='made'), 'serviceaccount/s created\n')
        for words, path, value in (('secret generic k --from-literal=a=b --from-literal=c=', '{.data}', {'a': 'Yg==', 'c': ''}),
                                   ('role r --verb=get,list --resource=pods', '{.rules}', [{'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get', 'list']}]),
                                   ('rolebinding b --role=r --serviceaccount=made:s', '{.subjects}', [{'kind': 'ServiceAccount', 'name': 's', 'namespace': 'made'}]),
                                   ('pdb p --selector=a=b --min-available=50%', '{.spec}', {'minAvailable': '50%', 'selector': {'matchLabels': {'a': 'b'}}}),
                                   ('service clusterip v --tcp=80:8080', '{.spec.ports}', [{'name': '80-8080', 'port': 80, 'protocol': 'TCP', 'targetPort': 8080}])):
            if OLD and words.startswith('pdb'):
                continue  # asks for policy/v1beta1
            with self.subTest(words):
                self.assertIn('created', self.run_once('create', *words.split(), namespace='made'))
                kind, name = words.split()[0], words.replace('generic ', '').replace('clusterip ', '').split()[1]
                self.assertEqual(json.loads(self.run_once('get', kind, name, '-o', f'jsonpath={path}', namespace='made')), value)
        self.run_once('delete', 'namespace', 'made')

    def test_label_annotate_patch(self):
        self.assertIn('labeled', self.run_once('label', 'pcs', SET, 'team=a'))
        self.run_once('label', 'pcs', SET, 'team=b', code=1)
        self.assertIn('labeled', self.run_once('label', 'pcs', SET, 'team=b', '--overwrite'))
        self.assertRegex(self.run_once('label', 'pcs', SET, 'team-'), '(un)?labeled')
        self.assertIn('annotated', self.run_once('annotate', 'pcs', SET, 'note=x'))
        self.assertIn('no change', self.run_once('patch', 'pcs', SET, '--type=merge', '-p', '{"metadata":{"annotations":{"note":"x"}}}'))
        self.run_once('patch', 'pcs', SET, '-p', '{"metadata":{"labels":{"a":"b"}}}', code=1)
        self.run_once('patch', 'pod', self.pod(), '-p', '{"metadata":{"labels":{"a":"b"}}}')

    def test_wait_and_delete(self):
        name = self.pod()
        self.assertIn('condition met', self.run_once('wait', '--for=condition=Ready', f'pod/{name}', '--timeout=30s'))
        self.assertIn('deleted', self.run_once('delete', 'pod', name))
        self.run_once('get', 'pod', name, code=1)
        self.assertIn('not found', self.run_once('delete', 'pod', 'nosuch', code=1))
        self.run_once('delete', 'pod', 'nosuch', '--ignore-not-found')

    def test_nodes_are_cordoned_and_drained(self):
        node = 'node-b0-r0-n0'
        self.assertIn('cordoned', self.run_once('cordon', node))
        self.assertIn('SchedulingDisabled', self.run_once('get', 'node', node))
        self.assertRegex(self.run_once('drain', node, '--ignore-daemonsets', '--timeout=60s'), 'drained|node/node-b0-r0-n0 evicted')
        self.assertIn('uncordoned', self.run_once('uncordon', node))

    def test_watch_shows_a_deletion_and_what_comes_after(self):
        name = self.pod()
        command = [KUBECTL, '-n', 'demo', 'get', 'pods', '-w', '--output-watch-events', '--request-timeout=30s']
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) as watch:
            self.addCleanup(watch.kill)
            self.assertEqual(watch.stdout.readline().split()[:2], ['EVENT', 'NAME'])
            self.assertEqual({watch.stdout.readline().split()[0] for _ in range(12)}, {'ADDED'})
            self.run_once('delete', 'pod', name, '--wait=false')
            gone = fresh = None
            statuses = []
            while not (gone and fresh):
                line = watch.stdout.readline().split()
                self.assertTrue(line, 'the watch ended too early')
                statuses += [line[3]] if line[1] == name else []
                gone = line if line[0] == 'DELETED' and line[1] == name else gone
                fresh = line if line[0] == 'ADDED' and stem(line[1]) == stem(name) else fresh
            self.assertIn('Terminating', statuses)
            watch.terminate()

    def test_an_image_is_rolled_out(self):
        self.run_once('apply', '-f', '-', stdin=self.other('rolled'))
        self.run_once('apply', '-f', '-', stdin=self.other('rolled').replace('example.com/router:1', 'example.com/router:2'))
        images = self.run_once('get', 'pods', '-l', 'grove.io/podclique=rolled-0-router', '-o', 'jsonpath={.items[*].spec.containers[0].image}')
        self.assertEqual(images.split(), ['example.com/router:2'] * 2)
        self.run_once('delete', 'pcs', 'rolled')

    @not_old
    def test_explain(self):
        text = self.run_once('explain', 'pcs.spec.template')
        self.assertRegex(text, r'(?m)^FIELD: template <Object>$')
        self.assertRegex(text, r'(?m)^  cliques\t<\[\]Object> -required-$')
        for kind in ('configmaps', 'nodes', 'resourceclaims', 'computedomains', 'topologies.kai.scheduler', 'podgroups.scheduling.run.ai',
                     'podgroups.scheduling.volcano.sh', 'queues.scheduling.volcano.sh'):
            with self.subTest(kind):
                self.assertRegex(self.run_once('explain', kind), r'(?m)^  metadata\t<')

    def test_what_there_is(self):
        text = self.run_once('api-resources')
        for word in ('podcliquesets', 'pcsg', 'scheduler.grove.io/v1alpha1', 'poddisruptionbudgets'):
            self.assertIn(word, text)
        self.assertIn('grove.io/v1alpha1', self.run_once('api-versions'))
        self.assertRegex(self.run_once('version'), r'Server Version:.*1\.34')
        self.assertEqual(self.run_once('get', '--raw', '/readyz'), 'ok')
        self.assertIn('No resources found', subprocess.run([KUBECTL, 'get', 'pcs', '-n', 'default'], env=self.environment, capture_output=True,
                                                          text=True, timeout=60, check=True).stderr)
        self.assertIn('podcliquesets.grove.io "nosuch" not found', self.run_once('get', 'pcs', 'nosuch', code=1))
        self.run_once('get', 'nosuchkind', code=1)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    options, rest = parser.parse_known_args()
    PROGRAM = options.groved
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
