#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What articles about Grove say one sees with kubectl, claim by claim: the number is in the test's name.

usage: test_claims.py --groved PROGRAM [unittest arguments]
"""
import argparse
import json
import os
import re
import sys
import unittest

from kubectl import KubectlCase

HERE = os.path.dirname(os.path.abspath(__file__))
MANIFESTS = os.path.join(HERE, '..', '..', 'examples', 'manifests')
SET = 'inference-disaggregated'
LETTERS = '[bcdfghjklmnpqrstvwxz2456789]{5}'
PROGRAM = None


# Those that say what kubectl shows or does.
WITH_KUBECTL = ('C008 C023 C028 C039 C069 C070 C071 C085 C101 C104 C132 C133 C136 C137 C138 C144 C146 C148 C149 C151 C162 C169 C184 '
                'C197 C198 C238 N10 N11').split()


class Complete(unittest.TestCase):
    def test_each_claim_has_a_test(self):
        words = {word for case in (Disaggregated, TensorParallel) for name in dir(case) if name.startswith('test_') for word in name.split('_')}
        self.assertEqual([claim for claim in WITH_KUBECTL if claim not in words], [])


class Claims(KubectlCase):
    MANIFEST = None

    @classmethod
    def setUpClass(cls):
        if cls is Claims:
            raise unittest.SkipTest('no manifest of its own')
        cls.start(PROGRAM)
        cls.run_once('apply', '-f', os.path.join(MANIFESTS, '02-cluster-topology.yaml'))
        cls.run_once('apply', '-f', os.path.join(MANIFESTS, cls.MANIFEST))

    def tearDown(self):
        """Each test finds the workload as it was applied."""
        self.run_once('delete', 'pcs', '--all')
        self.run_once('apply', '-f', os.path.join(MANIFESTS, self.MANIFEST))

    def names(self, kind, *more):
        return sorted(self.run_once('get', kind, '-o', 'name', *more).split())

    def get(self, *words):
        return json.loads(self.run_once('get', *words, '-o', 'json'))

    def pods(self, clique):
        """name -> uid"""
        items = self.get('pods', '-l', f'grove.io/podclique={clique}')['items']
        return {i['metadata']['name']: i['metadata']['uid'] for i in items}

    def scale(self, kind, name, replicas):
        self.assertIn(f'/{name} scaled', self.run_once('scale', kind, name, f'--replicas={replicas}'))


class Disaggregated(Claims):
    MANIFEST = '05-disaggregated.yaml'

    def test_C132_one_set_three_cliques_one_gang_eight_pods(self):
        rows = [line.split()[0] for line in self.run_once('get', 'pcs,pclq,pg,pod').splitlines() if line and not line.startswith('NAME')]
        pods = [r for r in rows if r.startswith('pod/')]
        self.assertEqual([r for r in rows if not r.startswith('pod/')],
                         [f'podcliqueset.grove.io/{SET}', f'podclique.grove.io/{SET}-0-decode', f'podclique.grove.io/{SET}-0-prefill',
                          f'podclique.grove.io/{SET}-0-router', f'podgang.scheduler.grove.io/{SET}-0'])
        self.assertEqual(len(pods), 8)
        for pod in pods:
            self.assertRegex(pod, rf'^pod/{SET}-0-(router|prefill|decode)-{LETTERS}$')

    def test_C133_the_group_stands_before_the_name(self):
        self.assertEqual(self.names('pcs'), [f'podcliqueset.grove.io/{SET}'])
        self.assertEqual(self.names('pclq')[0], f'podclique.grove.io/{SET}-0-decode')
        self.assertEqual(self.names('pg'), [f'podgang.scheduler.grove.io/{SET}-0'])

    def test_C104_pods_have_the_usual_columns(self):
        self.assertEqual(self.run_once('get', 'pods').splitlines()[0].split(), ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'])

    def test_C008_C169_C184_scale_of_a_clique_and_of_the_set_is_confirmed_by_status(self):
        self.scale('pclq', f'{SET}-0-router', 3)
        self.assertEqual(self.get('pclq', f'{SET}-0-router')['status']['readyReplicas'], 3)
        self.scale('pcs', SET, 2)
        self.assertEqual(self.get('pcs', SET)['status']['availableReplicas'], 2)

    def test_C071_the_whole_service_is_copied(self):
        self.scale('pcs', SET, 2)
        self.assertEqual(self.names('pg'), [f'podgang.scheduler.grove.io/{SET}-{i}' for i in (0, 1)])
        self.assertEqual(len(self.names('pclq')), 6)
        self.assertEqual(len(self.names('pod')), 16)

    def test_C144_N10_two_pods_more_and_the_old_ones_stay(self):
        clique = f'{SET}-0-prefill'
        before, others = self.pods(clique), {c: self.pods(f'{SET}-0-{c}') for c in ('router', 'decode')}
        self.assertEqual(len(before), 4)
        self.assertEqual(self.run_once('scale', 'pclq', clique, '--replicas=6'), f'podclique.grove.io/{clique} scaled\n')
        after = self.pods(clique)
        self.assertEqual(len(after), 6)
        self.assertEqual({name: after.get(name) for name in before}, before)
        self.assertEqual({c: self.pods(f'{SET}-0-{c}') for c in others}, others)
        self.assertEqual(len(self.names('pod')), 10)
        groups = {g['name']: g for g in self.get('pg', f'{SET}-0')['spec']['podgroups']}
        self.assertEqual((len(groups[clique]['podReferences']), groups[clique]['minReplicas']), (6, 4))

    def test_C085_decode_grows_by_itself(self):
        self.scale('pclq', f'{SET}-0-decode', 3)
        self.assertEqual([len(self.pods(f'{SET}-0-{c}')) for c in ('router', 'prefill', 'decode')], [2, 4, 3])

    def test_C136_C197_an_outside_controller_writes_both_targets(self):
        for clique, replicas in (('prefill', 6), ('decode', 4)):
            patch = json.dumps({'spec': {'replicas': replicas}})
            path = f'/apis/grove.io/v1alpha1/namespaces/demo/podcliques/{SET}-0-{clique}/scale'
            status, _, scale = self.groved.ask('PATCH', path, patch, 'application/merge-patch+json')
            self.assertEqual((status, scale['spec']['replicas']), (200, replicas))
        self.assertEqual([len(self.pods(f'{SET}-0-{c}')) for c in ('prefill', 'decode')], [6, 4])
        self.assertEqual(self.groved.ask('GET', path)[2]['status']['replicas'], 4)

    def test_C238_everything_comes_by_itself(self):
        self.assertEqual(self.names('pcs'), [f'podcliqueset.grove.io/{SET}'])
        self.assertEqual(self.names('svc'), [f'service/{SET}-0'])
        self.assertEqual(len(self.names('pclq')), 3)
        self.assertEqual(len(self.names('pg')), 1)

    def test_C101_C198_the_four_kinds_are_resources_like_any_other(self):
        text = self.run_once('api-resources', '-o', 'name').split()
        for name in ('podcliques.grove.io', 'podcliquescalinggroups.grove.io', 'podcliquesets.grove.io', 'podgangs.scheduler.grove.io'):
            self.assertIn(name, text)


class TensorParallel(Claims):
    MANIFEST = '06-tensor-parallel-group.yaml'
    GROUP = f'{SET}-0-prefill'

    def test_C028_C137_what_must_grow_together_does(self):
        self.assertEqual(self.names('pcsg'), [f'podcliquescalinggroup.grove.io/{self.GROUP}'])
        self.scale('pcsg', self.GROUP, 3)
        for replica in range(3):
            self.assertEqual([len(self.pods(f'{self.GROUP}-{replica}-{c}')) for c in ('pleader', 'pworker')], [1, 4])

    def test_C148_N11_a_third_copy_has_the_next_names(self):
        before = self.names('pclq')
        self.assertEqual(len([p for p in self.names('pod') if '-prefill-' in p]), 10)
        self.assertEqual(self.run_once('scale', 'pcsg', self.GROUP, '--replicas=3'), f'podcliquescalinggroup.grove.io/{self.GROUP} scaled\n')
        self.assertEqual(sorted(set(self.names('pclq')) - set(before)), [f'podclique.grove.io/{self.GROUP}-2-{c}' for c in ('pleader', 'pworker')])

    def test_C149_and_a_gang_of_its_own(self):
        self.scale('pcsg', self.GROUP, 3)
        self.assertEqual(self.names('pg'), [f'podgang.scheduler.grove.io/{name}' for name in (f'{SET}-0', f'{self.GROUP}-0', f'{self.GROUP}-1')])

    def test_C151_groups_print_their_group(self):
        self.assertRegex(self.run_once('get', 'pcsg,pclq'), rf'(?m)^podcliquescalinggroup\.grove\.io/{self.GROUP} ')

    def test_C008_C070_C184_a_group_scales_and_its_status_says_so(self):
        self.scale('pcsg', self.GROUP, 3)
        self.assertEqual(self.get('pcsg', self.GROUP)['status']['availableReplicas'], 3)
        scale = self.groved.ask('GET', f'/apis/grove.io/v1alpha1/namespaces/demo/podcliquescalinggroups/{self.GROUP}/scale')[2]
        selected = self.get('pods', '-l', scale['status']['selector'])['items']
        self.assertEqual(scale['status']['replicas'], 3)
        self.assertTrue(selected and all('-prefill-' in p['metadata']['name'] for p in selected))

    def test_C039_C069_an_autoscaler_with_the_values_of_the_set(self):
        hpa = self.get('hpa', self.GROUP)
        self.assertEqual(hpa['spec']['scaleTargetRef'], {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueScalingGroup', 'name': self.GROUP})
        self.assertEqual(hpa['spec']['maxReplicas'], 4)
        target = hpa['spec']['metrics'][0]['resource']['target']
        self.assertEqual((hpa['spec']['metrics'][0]['resource']['name'], target), ('cpu', {'type': 'Utilization', 'averageUtilization': 80}))
        self.assertRegex(self.run_once('get', 'hpa'), rf'(?m)^{self.GROUP} +PodCliqueScalingGroup/{self.GROUP} ')

    def test_C023_C138_a_clique_outside_groups_grows_alone_a_group_by_whole_copies(self):
        self.scale('pclq', f'{SET}-0-router', 3)
        self.assertEqual(len(self.pods(f'{SET}-0-router')), 3)
        for replicas in (3, 4, 2):
            self.scale('pcsg', self.GROUP, replicas)
            copies = {re.search(r'-prefill-(\d+)-', name)[1] for name in self.names('pclq') if '-prefill-' in name}
            self.assertEqual(copies, {str(i) for i in range(replicas)})
            self.assertEqual(len([p for p in self.names('pod') if '-prefill-' in p]), 5 * replicas)

    def test_C146_never_below_one_whole_group(self):
        self.scale('pcsg', self.GROUP, 0)
        self.assertEqual([len(self.pods(f'{self.GROUP}-0-{c}')) for c in ('pleader', 'pworker')], [1, 4])
        self.assertIn(f'podgang.scheduler.grove.io/{SET}-0', self.names('pg'))

    def test_C162_what_happens_is_seen_in_one_place(self):
        text = self.run_once('describe', 'pcs', SET)
        for reason in ('PodCliqueCreateOrUpdateSuccessful', 'PodCliqueScalingGroupCreateSuccessful', 'PodGangCreateOrUpdateSuccessful'):
            self.assertIn(reason, text)
        self.assertRegex(text, re.compile(r'^  Available Replicas: +1$', re.M))


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    options, rest = parser.parse_known_args()
    PROGRAM = options.groved
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
