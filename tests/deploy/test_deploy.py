#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What deploy/ holds fits together: chart and manifest, rights and configuration, alerts and metrics, images.

usage: test_deploy.py --groved PROGRAM --initc PROGRAM [unittest arguments]
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RENDER = str(ROOT / 'build-aux/render-chart.py')
sys.path[:0] = [str(ROOT / 'tests/front'), str(ROOT / 'tests/groved')]
from daemon import Daemon  # noqa: E402
from groved import Groved  # noqa: E402

PROGRAM = INITC = None


def render(**values):
    words = [word for key, value in values.items() for word in ('--set', f'{key.replace("__", ".")}={value}')]
    done = subprocess.run([sys.executable, RENDER, *words], capture_output=True, text=True, check=True)
    return [o for o in yaml.safe_load_all(done.stdout) if o]


def one(objects, kind, name='grove-operator'):
    return next(o for o in objects if o['kind'] == kind and o['metadata']['name'] == name)


def granted(objects):
    """(group, resource, verb) of all roles, without names."""
    return {(g, r, v) for o in objects if o['kind'] in ('Role', 'ClusterRole') for rule in o['rules']
            for g in rule['apiGroups'] for r in rule['resources'] for v in rule['verbs']}


class Chart(unittest.TestCase):
    def test_the_manifest_is_the_chart_with_its_defaults(self):
        done = subprocess.run([sys.executable, RENDER, '--check'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_optional_appears_when_asked_for(self):
        plain = {o['kind'] for o in render()}
        full = render(serviceMonitor__enabled='true', alerts__enabled='true', dashboard__enabled='true', flowSchema__enabled='true')
        self.assertEqual({o['kind'] for o in full} - plain, {'ServiceMonitor', 'PrometheusRule', 'FlowSchema'})
        self.assertTrue(one(full, 'ConfigMap', 'grove-dashboard')['data']['grove.json'])
        self.assertNotIn('PodDisruptionBudget', {o['kind'] for o in render(replicas='1')})

    def test_rights_follow_the_adapters(self):
        bare = granted(render(adapters__kai='false'))
        for setting, right in (('kai', ('scheduling.run.ai', 'podgroups', 'create')), ('volcano', ('scheduling.volcano.sh', 'podgroups', 'create')),
                               ('binder', ('', 'pods/binding', 'create')), ('binder', ('', 'nodes', 'watch')),
                               ('computeDomains', ('resource.nvidia.com', 'computedomains', 'create'))):
            self.assertNotIn(right, bare)
            self.assertIn(right, granted(render(**{'adapters__kai': 'false', f'adapters__{setting}': 'true'})))

    def test_no_right_is_a_wildcard_and_none_writes_what_is_only_read(self):
        rights = granted(render(adapters__binder='true', adapters__volcano='true', adapters__computeDomains='true'))
        self.assertFalse([r for r in rights if '*' in r])
        self.assertEqual({v for g, r, v in rights if r in ('nodes', 'priorityclasses', 'clustertopologybindings')}, {'get', 'list', 'watch'})
        self.assertFalse([r for r in rights if r[2] in ('escalate', 'bind', 'impersonate', 'deletecollection')])

    def test_without_webhooks_nothing_of_them_is_granted(self):
        objects = render(webhooks__enabled='false')
        self.assertFalse([r for r in granted(objects) if r[0] == 'admissionregistration.k8s.io'])
        self.assertIn('--no-webhooks', one(objects, 'Deployment')['spec']['template']['spec']['containers'][0]['args'])

    def test_one_namespace_is_bound_there_only(self):
        objects = render(watchNamespace='team')
        self.assertEqual(one(objects, 'RoleBinding', 'grove-operator-sets')['metadata']['namespace'], 'team')
        self.assertEqual([o['metadata']['name'] for o in objects if o['kind'] == 'ClusterRoleBinding'], ['grove-operator-cluster'])

    def test_the_pod_is_restricted(self):
        pod = one(render(), 'Deployment')['spec']['template']['spec']
        self.assertTrue(pod['securityContext']['runAsNonRoot'])
        self.assertEqual(pod['containers'][0]['securityContext'], {
            'allowPrivilegeEscalation': False, 'readOnlyRootFilesystem': True, 'capabilities': {'drop': ['ALL']}})


class Together(unittest.TestCase):
    def test_groved_takes_the_configuration_and_has_the_metrics_that_alerts_name(self):
        config = yaml.safe_load(one(render(), 'ConfigMap')['data']['config.yaml'])
        text = (ROOT / 'deploy/chart/files/alerts.yaml').read_text() + (ROOT / 'deploy/chart/files/dashboard.json').read_text()
        named = set(re.findall(r'\b((?:grove|controller_runtime|leader_election|rest_client|process)_[a-z_]+)\b', text))
        # these appear with the first request of their kind
        later = {'rest_client_requests_total', 'rest_client_request_duration_seconds_bucket', 'grove_writes_total'}
        with Groved(PROGRAM, '--no-operator') as cluster, Daemon(PROGRAM, cluster.kubeconfig, '--no-webhooks', config=config) as d:
            d.wait_for('leading')
            told = {re.split('[{ ]', name)[0] for name in d.metrics()}
        self.assertGreater(len(named), 10)
        for needed in ('grove_gate_age_seconds', 'grove_gang_wait_seconds', 'grove_placement_score', 'grove_incomplete_gang_gpu_seconds_total',
                       'controller_runtime_reconcile_time_seconds_bucket', 'rest_client_requests_total'):
            self.assertIn(needed, named)
        self.assertEqual(named - told - later, set())


    def test_groved_starts_with_the_words_of_the_deployment(self):
        objects = render()
        words = one(objects, 'Deployment')['spec']['template']['spec']['containers'][0]['args']
        self.assertGreater(len(words), 2)
        with Groved(PROGRAM, '--no-operator') as cluster, tempfile.TemporaryDirectory() as folder:
            config = yaml.safe_load(one(objects, 'ConfigMap')['data']['config.yaml'])
            config['server'] = {part: {'port': 0, 'bindAddress': '127.0.0.1'} for part in config['server']}  # several run on one machine
            pathlib.Path(folder, 'config.yaml').write_text(yaml.safe_dump(config), encoding='utf-8')
            words = [w.replace('/etc/grove', folder).replace('/run/groved', folder) for w in words]
            with Daemon(PROGRAM, cluster.kubeconfig, '--no-webhooks', *words) as d:
                d.wait_for('leading')
                d.socket = os.path.join(folder, 'socket')
                self.assertEqual(d.ctl('stats')[0], 0)


class Images(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, 'chroot needs root')
    def test_the_programs_run_from_what_the_images_hold(self):
        for program in (PROGRAM, INITC):
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                subprocess.run([str(ROOT / 'deploy/images/collect.sh'), program, folder], check=True)
                done = subprocess.run(['chroot', folder, f'/usr/bin/{os.path.basename(program)}', '--help'], capture_output=True, text=True)
                if 'sanitizer' in done.stderr.lower():
                    self.skipTest('a sanitizer does not run in there')
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn('usage:', done.stdout)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    parser.add_argument('--initc', required=True)
    known, rest = parser.parse_known_args()
    PROGRAM, INITC = known.groved, known.initc
    unittest.main(argv=[sys.argv[0], *rest])
