#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grovectl rollout on a cluster that is served over HTTP: paused, started anew, resumed, through, and back again."""
import argparse
import subprocess
import time
import unittest

from groved import Groved

SETS = '/apis/grove.io/v1alpha1/namespaces/default/podcliquesets'
OPTIONS = None


def rolling_set(strategy):
    pod = {'containers': [{'name': 'c', 'image': 'c:1'}]}
    clique = {'name': 'w', 'annotations': {'a': 'b'},
              'spec': {'roleName': 'w', 'replicas': 3, 'minAvailable': 1, 'podSpec': pod}}
    return {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': strategy.lower()},
            'spec': {'replicas': 1, 'updateStrategy': {'type': strategy}, 'template': {'cliques': [clique]}}}


class Rollout(unittest.TestCase):
    def rollout(self, verb, name, *words):
        r = subprocess.run([OPTIONS.grovectl, 'rollout', verb, name, '--kubeconfig', self.groved.kubeconfig, *words],
                           capture_output=True, text=True, timeout=60)
        return r.returncode, r.stdout + r.stderr

    def until_through(self, name):
        for _ in range(600):
            code, text = self.rollout('status', name)
            if code == 0:
                return text
            time.sleep(0.1)
        self.fail(text)

    def make(self, strategy):
        self.assertEqual(self.groved.ask('POST', SETS, rolling_set(strategy))[0], 201)
        self.until_through(strategy.lower())

    def annotations(self, name):
        return self.groved.ask('GET', f'{SETS}/{name}')[2]['spec']['template']['cliques'][0]['annotations']

    def setUp(self):
        self.groved = Groved(OPTIONS.groved)
        self.addCleanup(self.groved.stop)

    def test_coherent(self):
        self.make('Coherent')
        self.assertEqual(self.rollout('pause', 'coherent')[0], 0)
        self.assertEqual(self.rollout('restart', 'coherent')[0], 0)
        self.assertEqual(sorted(self.annotations('coherent')), ['a', 'libgrove.io/restartedAt'])
        for _ in range(10):
            code, text = self.rollout('status', 'coherent')
            self.assertEqual(code, 1, text)
        self.assertIn('0 of 1 set replicas', text)
        self.assertEqual(self.rollout('resume', 'pcs/coherent')[0], 0)
        self.assertIn('through, 1 of 1', self.until_through('coherent'))

    def test_rolling(self):
        self.make('RollingRecreate')
        code, text = self.rollout('pause', 'rollingrecreate')
        self.assertEqual(code, 1)
        self.assertIn('cannot be paused', text)
        self.assertEqual(self.rollout('restart', 'rollingrecreate')[0], 0)
        self.assertEqual(self.rollout('status', 'rollingrecreate')[0], 1)
        self.until_through('rollingrecreate')

    def image(self, name, value=None):
        path = f'{SETS}/{name}'
        if value:
            patch = [{'op': 'replace', 'path': '/spec/template/cliques/0/spec/podSpec/containers/0/image', 'value': value}]
            self.assertEqual(self.groved.ask('PATCH', path, patch, 'application/json-patch+json')[0], 200)
        return self.groved.ask('GET', path)[2]['spec']['template']['cliques'][0]['spec']['podSpec']['containers'][0]['image']

    def test_history(self):
        self.make('Coherent')
        self.assertEqual(self.rollout('undo', 'coherent')[0], 1)  # there is nothing before it
        self.image('coherent', 'c:2')
        self.until_through('coherent')
        code, text = self.rollout('history', 'coherent')
        self.assertEqual((code, [line.split()[0] for line in text.splitlines()]), (0, ['REVISION', '1', '2']), text)
        self.assertTrue(all(line.endswith(' w') for line in text.splitlines()[1:]), text)
        self.assertIn('image: c:1', self.rollout('history', 'coherent', '--revision', '1')[1])
        code, text = self.rollout('diff', 'coherent')
        self.assertEqual((code, text), (1, 'revision 1 -> revision 2\n'
                                           '~ cliques[w].spec.podSpec.containers[c].image: "c:1" -> "c:2"\n'))
        self.assertEqual(self.rollout('diff', 'coherent', '--revision', '2')[0], 0)
        self.assertIn('as in revision 1', self.rollout('undo', 'coherent', '--to-revision', '1')[1])
        self.until_through('coherent')
        self.assertEqual((self.image('coherent'), self.annotations('coherent')), ('c:1', {'a': 'b'}))
        self.assertEqual([line.split()[0] for line in self.rollout('history', 'coherent')[1].splitlines()], ['REVISION', '2', '3'])
        self.assertIn('no revision 1', self.rollout('undo', 'coherent', '--to-revision', '1')[1])
        self.assertEqual(self.rollout('undo', 'coherent', '--revision', '2')[0], 2)

    def test_no_history(self):
        self.make('RollingRecreate')
        for verb in ('history', 'diff', 'undo'):
            code, text = self.rollout(verb, 'rollingrecreate')
            self.assertEqual(code, 1)
            self.assertIn('has no history', text)

    def test_nobody(self):
        self.assertEqual(self.rollout('restart', 'nobody')[0], 1)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--groved', required=True)
    parser.add_argument('--grovectl', required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
