#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groved on a cluster that is not its own: start, lead, hand over, webhooks, shadow mode, end.

usage: test_live.py --groved PROGRAM --grovectl PROGRAM [unittest arguments]

The cluster is an embedded one without an operator in it, served over HTTP by a second groved. What needs a real API
server (RBAC, webhooks that are called, garbage collection) is in tests/live.
"""
import argparse
import base64
import contextlib
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'front'))
from groved import Groved, MERGE  # noqa: E402
from daemon import Daemon, ELECTION  # noqa: E402

PROGRAM = GROVECTL = None
SETS = '/apis/grove.io/v1alpha1/namespaces/default/podcliquesets'
LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
LEASE = 'grove-operator-leader-election'
HOOKS = '/apis/admissionregistration.k8s.io/v1/'


def demo(name='demo', replicas=1, pods=3):
    clique = {'name': 'work', 'spec': {'roleName': 'work', 'replicas': pods, 'minAvailable': pods,
                                       'podSpec': {'containers': [{'name': 'c', 'image': 'example.com/a:1'}]}}}
    return {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': name, 'namespace': 'default'},
            'spec': {'replicas': replicas, 'template': {'cliques': [clique]}}}


def until(what, test, timeout=30):
    """Asks again until the answer is true."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        answer = test()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f'{what}: not in {timeout} s')


class Live(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.cluster = self.stack.enter_context(Groved(PROGRAM, '--no-operator'))

    def daemon(self, *args, **more):
        return self.stack.enter_context(Daemon(PROGRAM, self.cluster.kubeconfig, *args, **more))

    def items(self, path):
        return self.cluster.ask('GET', path)[2].get('items', [])

    def pods(self):
        return self.items('/api/v1/namespaces/default/pods')

    def available(self, name='demo'):
        return self.cluster.ask('GET', f'{SETS}/{name}')[2].get('status', {}).get('availableReplicas', 0)

    def create(self, obj):
        self.assertEqual(self.cluster.ask('POST', SETS, obj)[0], 201)


class Life(Live):
    def test_a_set_from_creation_to_deletion(self):
        d = self.daemon('--no-webhooks', config={'leaderElection': ELECTION})
        d.wait_for('leading')
        self.create(demo())
        until('the set is available', lambda: self.available() == 1)
        self.cluster.ask('PATCH', f'{SETS}/demo', {'spec': {'replicas': 2}}, content_type=MERGE)
        until('two are available', lambda: self.available() == 2)
        self.assertEqual(len(self.pods()), 6)
        self.cluster.ask('DELETE', f'{SETS}/demo')
        until('all is gone', lambda: not self.pods() and not self.items(SETS) and
              not self.items('/apis/grove.io/v1alpha1/podcliques'))
        self.assertEqual(d.stop(), 0)
        lease = self.cluster.ask('GET', f'{LEASES}/{LEASE}')[2]
        self.assertEqual(lease['spec'].get('holderIdentity', ''), '')

    def test_at_rest_nothing_is_written(self):
        d = self.daemon('--no-webhooks')
        self.create(demo())
        until('the set is available', lambda: self.available() == 1)
        until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
        before = d.writes()
        self.assertEqual(d.ctl('recompute'), (0, 'ok\n'))
        plans = d.metrics()['controller_runtime_reconcile_total{controller="podcliqueset",result="success"}']
        until('it planned again', lambda: d.metrics()[
            'controller_runtime_reconcile_total{controller="podcliqueset",result="success"}'] >= plans)
        self.assertEqual(d.writes(), before)

    def test_events_that_may_not_be_told_are_said_once(self):
        script = os.path.join(self.cluster.folder.name, 'faults.json')
        with open(script, 'w', encoding='utf-8') as f:
            json.dump({'faults': [{'verb': 'create', 'path': '/apis/events.k8s.io/**', 'do': 'answer', 'code': 403, 'reason': 'Forbidden'}]}, f)
        self.cluster = self.stack.enter_context(Groved(PROGRAM, '--no-operator', '--faults', script))
        d = self.daemon('--no-webhooks')
        self.create(demo(pods=3))
        until('the set is available', lambda: self.available() == 1)
        d.wait_for('events cannot be told')
        until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
        self.assertEqual(len([r for r in d.lines if r['msg'] == 'events cannot be told']), 1)
        self.assertFalse([k for k in d.metrics() if 'verb="EVENT"' in k])

    def test_probes_and_metrics(self):
        d = self.daemon('--no-webhooks')
        d.wait_for('ready')
        self.assertEqual(d.get('probes', '/healthz'), (200, 'ok'))
        self.assertEqual(d.get('probes', '/readyz'), (200, 'ok'))
        self.assertIn('[+]caches ok', d.get('probes', '/readyz?verbose')[1])
        self.assertEqual(d.get('probes', '/other')[0], 404)
        samples = d.metrics()
        self.assertEqual(samples['grove_ready'], 1)
        self.assertGreater(samples['process_resident_memory_bytes'], 0)
        self.assertEqual(samples['grove_watches'], samples['grove_watches_synced'])

    def test_metrics_of_gangs(self):
        """A gang that is whole, and one half of which lies bound while its minimum never comes."""
        d = self.daemon('--no-webhooks')
        self.create(demo())
        until('the set is available', lambda: self.available() == 1)
        until('no gang waits', lambda: d.metrics()['grove_gangs_incomplete'] == 0)
        samples = d.metrics()
        self.assertEqual((samples['grove_gate_age_seconds'], samples['grove_incomplete_gang_gpus']), (0, 0))
        for verb in ('CREATE', 'PATCH'):
            self.assertTrue([k for k in samples if k.startswith('rest_client_requests_total') and f'verb="{verb}"' in k])
        large = demo('large', pods=2)
        cliques = large['spec']['template']['cliques']
        cliques[0]['spec']['podSpec']['containers'][0]['resources'] = {'limits': {'nvidia.com/gpu': '4'}}
        cliques.append(json.loads(json.dumps(cliques[0]).replace('work', 'rest').replace('"4"', '"99"')))
        self.create(large)
        until('half of it holds GPUs', lambda: d.metrics()['grove_incomplete_gang_gpus'] == 8)
        until('and goes on to', lambda: d.metrics()['grove_incomplete_gang_gpu_seconds_total'] >= 1)
        samples = d.metrics()
        self.assertGreater(samples['grove_gang_wait_seconds'], 0)
        self.assertEqual(samples['grove_gangs_incomplete'], 1)

    def test_control_socket(self):
        d = self.daemon('--no-webhooks')
        d.wait_for('leading')
        self.create(demo(pods=1))
        until('the set is available', lambda: self.available() == 1)
        self.assertEqual(os.stat(d.socket).st_mode & 0o777, 0o700)
        self.assertEqual(d.ctl('phase'), (0, 'leading\n'))
        self.assertEqual(json.loads(d.ctl('stats')[1])['engine']['sets'], 1)
        self.assertEqual(d.ctl('log-level', 'debug'), (0, 'debug\n'))
        self.assertEqual(d.ctl('log-level', 'loud')[0], 1)
        self.assertEqual(d.ctl('record', 'on')[0], 1)
        self.assertEqual(d.ctl('explain', 'pcs', 'default/demo')[0], 0)
        self.assertEqual(d.ctl('explain', 'pcs', 'default/none')[0], 1)
        self.assertEqual([json.loads(line)['set'] for line in d.ctl('dump')[1].splitlines()], ['default/demo'])
        self.assertEqual(d.stop(), 0)
        self.assertFalse(os.path.exists(d.socket))

    def test_a_recording_begins_with_the_watches(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'recording')
            d = self.daemon('--no-webhooks', '--record', path)
            d.wait_for('leading')
            self.assertEqual(d.ctl('record', 'off')[0], 0)
            self.assertEqual(d.stop(), 0)
            with open(path, encoding='utf-8') as f:
                lines = [json.loads(line) for line in f]
            self.assertGreater(len(lines), 10)

    def test_wrong_configurations_end_it_with_2(self):
        for wrong in ({'logLevel': 'loud'}, {'leaderElection': {'enabled': True, 'leaseDuration': '1s'}},
                      {'server': {'webhooks': {'certProvisionMode': 'magic'}}}):
            with self.subTest(wrong):
                self.assertEqual(self.daemon(config=wrong).end(), 2)
        self.assertEqual(self.daemon('--probes', 'nowhere').end(), 2)

    def test_an_address_in_use_ends_it_with_1(self):
        first = self.daemon('--no-webhooks')
        self.assertEqual(self.daemon('--no-webhooks', '--probes', first.address('probes')).end(), 1)


class TwoOperators(Live):
    def test_a_standby_takes_over_when_the_leader_stops(self):
        first = self.daemon('--no-webhooks', config={'leaderElection': ELECTION})
        first.wait_for('leading')
        second = self.daemon('--no-webhooks', config={'leaderElection': ELECTION})
        second.wait_for('candidate')
        self.assertEqual(second.get('probes', '/readyz')[0], 200)
        self.create(demo())
        until('the set is available', lambda: self.available() == 1)
        self.assertEqual(second.writes(), 0)
        self.assertEqual(first.stop(), 0)
        second.wait_for('leading')
        self.create(demo('later'))
        until('the second works', lambda: self.available('later') == 1)

    def test_a_standby_takes_over_when_the_leader_is_killed(self):
        first = self.daemon('--no-webhooks', config={'leaderElection': ELECTION})
        first.wait_for('leading')
        second = self.daemon('--no-webhooks', config={'leaderElection': ELECTION})
        second.wait_for('candidate')
        self.create(demo())
        until('the set is available', lambda: self.available() == 1)
        pods = {p['metadata']['uid'] for p in self.pods()}
        first.kill()
        second.wait_for('leading')
        self.cluster.ask('PATCH', f'{SETS}/demo', {'spec': {'replicas': 2}}, content_type=MERGE)
        until('the second works', lambda: self.available() == 2)
        self.assertLessEqual(pods, {p['metadata']['uid'] for p in self.pods()})

    def hold_lease(self):
        now = time.strftime('%Y-%m-%dT%H:%M:%S.000000Z', time.gmtime())
        lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': LEASE, 'namespace': 'default'},
                 'spec': {'holderIdentity': 'grove-operator-7f', 'leaseDurationSeconds': 60, 'renewTime': now, 'acquireTime': now}}
        self.assertEqual(self.cluster.ask('POST', LEASES, lease)[0], 201)

    def test_without_election_a_fresh_lease_of_another_stops_it(self):
        self.hold_lease()
        d = self.daemon('--no-webhooks')
        self.assertEqual(d.end(), 3)
        self.assertIn('--force-takeover', d.lines[-2]['msg'])
        self.assertIn('grove-operator-7f', d.lines[-2]['seen'])
        self.daemon('--no-webhooks', '--force-takeover').wait_for('leading')

    def test_with_election_it_waits_behind_that_lease(self):
        self.hold_lease()
        d = self.daemon('--no-webhooks', config={'leaderElection': ELECTION})
        d.wait_for('candidate')
        self.create(demo())
        self.assertEqual(d.writes(), 0)
        self.assertEqual(d.stop(), 0)


class Shadow(Live):
    def test_it_tells_what_it_would_do_and_does_nothing(self):
        self.create(demo(pods=1))
        d = self.daemon('--shadow', '--once')
        self.assertEqual(d.end(), 4)
        self.assertIn('would CREATE PodClique default/demo-0-work', d.output)
        self.assertEqual(self.items('/apis/grove.io/v1alpha1/podcliques'), [])
        self.assertNotIn('finalizers', self.items(SETS)[0]['metadata'])

    def test_where_all_is_well_it_has_nothing_to_tell(self):
        self.create(demo(pods=1))
        d = self.daemon('--no-webhooks')
        until('the set is available', lambda: self.available() == 1)
        until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
        self.assertEqual(d.stop(), 0)
        shadow = self.daemon('--shadow', '--once')
        self.assertEqual((shadow.end(), shadow.output), (0, ''))


class Webhooks(Live):
    URL = 'https://127.0.0.1:{port}'

    def start(self, *args, **more):
        d = self.daemon('--webhook-url', 'https://localhost', *args, **more)
        d.wait_for('ready')
        return d

    def registered(self, kind, name):
        return self.cluster.ask('GET', f'{HOOKS}{kind}/{name}')[2]['webhooks'][0]

    def trusted(self):
        hook = self.registered('mutatingwebhookconfigurations', 'podcliqueset-defaulting-webhook')
        return base64.b64decode(hook['clientConfig']['caBundle']).decode()

    def connect(self, d, bundle=None):
        context = ssl.create_default_context(cadata=bundle or self.trusted())
        port = d.address('webhooks').rsplit(':', 1)[1]
        return http.client.HTTPSConnection('localhost', int(port), context=context, timeout=10)

    def review(self, d, path, **request):
        connection = self.connect(d)
        body = json.dumps({'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview', 'request': {'uid': 'u1', **request}})
        connection.request('POST', path + '?timeout=10s', body=body, headers={'Content-Type': 'application/json'})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return json.loads(text)['response'] if answer.status == 200 else answer.status

    def test_defaulting_and_validating(self):
        d = self.start()
        given = demo()
        answer = self.review(d, '/webhooks/default-podcliqueset', operation='CREATE', object=given, namespace='default')
        self.assertTrue(answer['allowed'])
        self.assertEqual(answer['uid'], 'u1')
        self.assertTrue(json.loads(base64.b64decode(answer['patch'])))
        given['spec']['template']['cliques'][0]['spec']['minAvailable'] = 99
        answer = self.review(d, '/webhooks/validate-podcliqueset', operation='CREATE', object=given, namespace='default')
        self.assertFalse(answer['allowed'])
        self.assertIn('minAvailable', answer['status']['message'])
        given['metadata']['deletionTimestamp'] = '2026-01-01T00:00:00Z'
        answer = self.review(d, '/webhooks/validate-podcliqueset', operation='UPDATE', object=given, oldObject=given)
        self.assertTrue(answer['allowed'])
        self.assertEqual(self.review(d, '/webhooks/nothing', operation='CREATE', object=given), 404)
        self.assertEqual(d.metrics()['grove_webhook_refusals_total{webhook="/webhooks/validate-podcliqueset"}'], 1)

    def test_bindings_of_the_cluster_count(self):
        d = self.start()
        binding = {'apiVersion': 'grove.io/v1alpha1', 'kind': 'ClusterTopologyBinding', 'metadata': {'name': 'topo'},
                   'spec': {'levels': [{'domain': 'rack', 'key': 'example.com/rack'}]}}
        given = demo()
        given['spec']['template'].update(cliqueStartupType='CliqueStartupTypeAnyOrder', terminationDelay='4h')
        given['spec']['template']['topologyConstraint'] = {'topologyName': 'topo', 'pack': {'required': 'rack'}}

        def allowed():
            return self.review(d, '/webhooks/validate-podcliqueset', operation='CREATE', object=given)['allowed']
        self.assertFalse(allowed())
        self.assertEqual(self.cluster.ask('POST', '/apis/grove.io/v1alpha1/clustertopologybindings', binding)[0], 201)
        until('the binding is known', allowed)

    def test_the_authorizer(self):
        exempt = 'system:serviceaccount:kube-system:generic-garbage-collector'
        d = self.start(config={'authorizer': {'enabled': True, 'exemptServiceAccountUserNames': [exempt]}},
                       env={'GROVE_OPERATOR_SERVICE_ACCOUNT_NAME': 'operator'})
        self.create(demo(pods=1))
        until('the set is available', lambda: self.available() == 1)
        hook = self.registered('validatingwebhookconfigurations', 'authorizer-webhook')
        self.assertEqual(hook['objectSelector'], {'matchLabels': {'app.kubernetes.io/managed-by': 'grove-operator'}})
        self.assertEqual(len(hook['rules']), 6)

        def ask(user, operation='UPDATE', resource='services', part_of='demo'):
            labels = {'app.kubernetes.io/part-of': part_of} if part_of else {}
            obj = {'metadata': {'name': 'x', 'namespace': 'default', 'labels': labels}}
            request = {'operation': operation, 'userInfo': {'username': user}, 'resource': {'resource': resource}}
            request['object' if operation == 'CREATE' else 'oldObject'] = obj
            return self.review(d, '/webhooks/authorizer-webhook', **request)
        own = 'system:serviceaccount:default:operator'
        for user, more, allowed in (
                ('eve', {}, False), (own, {}, True), (exempt, {}, True), ('eve', {'operation': 'CONNECT'}, True),
                ('eve', {'operation': 'DELETE'}, False), ('eve', {'operation': 'DELETE', 'resource': 'pods'}, True),
                ('eve', {'operation': 'CREATE', 'resource': 'podcliques'}, False), (own, {'operation': 'DELETE'}, True),
                ('eve', {'part_of': 'other'}, True), ('eve', {'part_of': None}, True)):
            with self.subTest(user=user, **more):
                self.assertEqual(ask(user, **more)['allowed'], allowed)
        self.assertTrue(ask('eve', part_of='other')['warnings'])
        for value, allowed in (('True', False), ('true', True)):
            annotations = {'metadata': {'annotations': {'grove.io/disable-managed-resource-protection': value}}}
            self.cluster.ask('PATCH', f'{SETS}/demo', annotations, content_type=MERGE)
            until('the annotation is seen', lambda want=allowed: ask('eve')['allowed'] == want)

    def test_a_scale_below_the_minimum(self):
        d = self.start(config={'guardScale': 'Deny'})
        given = demo(pods=3)
        given['spec']['template']['cliques'][0]['spec']['minAvailable'] = 2
        self.create(given)
        until('the set is available', lambda: self.available() == 1)
        hook = self.registered('validatingwebhookconfigurations', 'scale-validating-webhook')
        self.assertEqual(hook['rules'][0]['resources'], ['podcliques/scale', 'podcliquescalinggroups/scale'])
        self.assertEqual(hook['rules'][0]['operations'], ['UPDATE'])

        def ask(replicas, name='demo-0-work', resource='podcliques'):
            scale = {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': name, 'namespace': 'default'},
                     'spec': {'replicas': replicas}}
            return self.review(d, '/webhooks/validate-scale', operation='UPDATE', object=scale, oldObject=scale, name=name,
                               namespace='default', subResource='scale',
                               resource={'group': 'grove.io', 'version': 'v1alpha1', 'resource': resource})
        refused = ask(1)
        self.assertEqual((refused['allowed'], refused['status']['code']), (False, 403))
        self.assertIn('minAvailable 2', refused['status']['message'])
        for allowed in (ask(2), ask(0, name='another'), ask(0, resource='podcliquescalinggroups')):
            self.assertTrue(allowed['allowed'])
        self.assertEqual(d.metrics()['grove_webhook_refusals_total{webhook="/webhooks/validate-scale"}'], 1)
        clique = '/apis/grove.io/v1alpha1/namespaces/default/podcliques/demo-0-work'
        keep = {'metadata': {'finalizers': ['example.com/kept', *self.cluster.ask('GET', clique)[2]['metadata']['finalizers']]}}
        self.cluster.ask('PATCH', clique, keep, content_type=MERGE)
        self.cluster.ask('DELETE', clique)
        until('what is being deleted is not guarded', lambda: ask(0)['allowed'])

    def test_a_webhook_that_is_not_asked_for_any_more_goes(self):
        asked_for = {'guardScale': 'Deny', 'authorizer': {'enabled': True}}
        self.start(config=asked_for).stop()
        names = ('scale-validating-webhook', 'authorizer-webhook')
        for name in names:
            self.registered('validatingwebhookconfigurations', name)
        self.start()
        for name in names:
            self.assertEqual(self.cluster.ask('GET', f'{HOOKS}validatingwebhookconfigurations/{name}')[0], 404)

    def test_a_new_authority_is_trusted_before_it_is_used(self):
        d = self.start()
        old = self.trusted()
        begun = self.connect(d)
        begun.request('GET', '/nothing')  # a connection of before goes on
        begun.getresponse().read()
        self.assertEqual(d.ctl('rotate-certificates'), (0, 'ok\n'))
        until('the new authority is trusted', lambda: self.trusted() != old)
        until('both are in use', lambda: d.metrics()['certwatcher_read_certificate_total'] == 2)
        self.assertTrue(self.trusted().endswith(old))
        self.assertTrue(self.review(d, '/webhooks/default-podcliqueset', operation='CREATE', object=demo())['allowed'])
        begun.request('GET', '/nothing')
        self.assertEqual(begun.getresponse().status, 404)
        begun.close()
        with self.assertRaises(ssl.SSLError):
            self.connect(d, bundle=old).connect()

    def test_replicas_share_one_certificate(self):
        first = self.start(config={'leaderElection': ELECTION})
        before = self.trusted()
        second = self.start(config={'leaderElection': ELECTION})
        self.assertEqual(self.trusted(), before)
        for d in (first, second):
            self.assertTrue(self.review(d, '/webhooks/default-podcliqueset', operation='CREATE', object=demo())['allowed'])

    def test_certificates_from_files(self):
        d = self.start()
        secret = self.cluster.ask('GET', '/api/v1/namespaces/default/secrets/grove-webhook-server-cert')[2]['data']
        d.stop()
        with tempfile.TemporaryDirectory() as folder:
            for name in ('ca.crt', 'tls.crt', 'tls.key'):
                with open(os.path.join(folder, name), 'wb') as f:
                    f.write(base64.b64decode(secret[name]))
            files = {'server': {'webhooks': {'certProvisionMode': 'manual', 'serverCertDir': folder}}}
            self.cluster.ask('DELETE', '/api/v1/namespaces/default/secrets/grove-webhook-server-cert')
            second = self.start(config=files)
            answer = self.review(second, '/webhooks/default-podcliqueset', operation='CREATE', object=demo())
            self.assertTrue(answer['allowed'])
            self.assertEqual(second.ctl('rotate-certificates')[0], 1)
        self.assertEqual(self.cluster.ask('GET', '/api/v1/namespaces/default/secrets/grove-webhook-server-cert')[0], 404)


class Grovectl(Live):
    """The verbs that look at a running cluster."""

    def run_verb(self, *words):
        done = subprocess.run([GROVECTL, *words, '--kubeconfig', self.cluster.kubeconfig], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_tree_status_explain_and_fit(self):
        self.create(demo(pods=2))
        code, told, _ = self.run_verb('status')
        self.assertEqual((code, told.splitlines()[0]), (1, 'default/demo  0 of 1 available'))
        d = self.daemon('--no-webhooks')
        until('the set is available', lambda: self.available() == 1)
        until('it comes to rest', lambda: d.metrics()['grove_operations_in_flight'] == 0)
        until('the gang runs', lambda: self.run_verb('status')[:2] == (0, 'default/demo  1 of 1 available\n'))
        told = self.run_verb('tree')[1]
        self.assertEqual([line.split()[0] for line in told.splitlines()], ['default/demo', 'clique', 'pod', 'pod', 'gang'])
        self.assertIn('ready on node-', told)
        self.assertEqual(self.run_verb('tree', 'other', '-n', 'default')[1], 'no PodCliqueSets\n')
        self.assertEqual(self.run_verb('explain', 'pcs/demo')[0], 0)
        self.assertEqual(self.run_verb('explain', 'pcs/none')[0], 1)
        manifest = os.path.join(self.cluster.folder.name, 'more.json')
        with open(manifest, 'w', encoding='utf-8') as f:
            json.dump(demo('more'), f)
        self.assertIn('default/more-0: fits', self.run_verb('fit', manifest)[1])
        node = next(p['spec']['nodeName'] for p in self.pods())
        code, told, _ = self.run_verb('whatif', '--lose', f'node={node}')
        self.assertEqual(code, 0, told)
        self.assertIn('1 nodes go, 0 come', told)
        self.assertIn('gang default/demo-0: loses', told)

    def test_doctor(self):
        code, told, _ = self.run_verb('doctor')
        self.assertEqual(code, 1)
        self.assertIn("bad   the operator's Lease", told)
        d = self.daemon('--webhook-url', 'https://localhost', config={'leaderElection': ELECTION})
        d.wait_for('leading')
        code, told, _ = self.run_verb('doctor')
        self.assertEqual(code, 0, told)
        self.assertIn('ok    podcliqueset-defaulting-webhook', told)

    def test_doctor_finds_what_blocks(self):
        d = self.daemon(config={'leaderElection': ELECTION})  # by a Service, which is not there
        d.wait_for('leading')
        doomed = demo('doomed')
        doomed['metadata']['finalizers'] = ['example.com/kept']
        doomed['metadata']['labels'] = {'kai.scheduler/queue': 'q'}
        doomed['spec']['template']['cliques'][0]['spec']['podSpec']['schedulerName'] = 'kai-scheduler'
        self.create(doomed)
        until('its gang waits', lambda: self.items('/apis/scheduler.grove.io/v1alpha1/podgangs'))
        code, told, _ = self.run_verb('doctor')
        self.assertEqual(code, 1)
        self.assertIn('bad   podcliqueset-validating-webhook: its Service does not exist', told)
        self.assertIn('note  podgangs: 1 of 1 wait for nodes', told)

    def test_no_cluster_is_status_2(self):
        done = subprocess.run([GROVECTL, 'doctor', '--kubeconfig', '/nowhere'], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)


class Install(Live):
    def run_verb(self, *words):
        return subprocess.run([PROGRAM, *words, '--kubeconfig', self.cluster.kubeconfig], capture_output=True, text=True, timeout=120)

    def test_definitions_are_applied_and_taken_away(self):
        done = self.run_verb('install-crds')
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {o['metadata']['name'] for o in self.items('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')}
        self.assertIn('podcliquesets.grove.io', names)
        d = self.daemon('--webhook-url', 'https://localhost')
        d.wait_for('leading')
        self.create(demo(pods=1))
        until('the set is available', lambda: self.available() == 1)
        kept = self.run_verb('uninstall', '--keep-workloads')
        self.assertEqual(kept.returncode, 0, kept.stderr)
        self.assertEqual(self.items(HOOKS + 'mutatingwebhookconfigurations'), [])
        self.assertEqual(self.available(), 1)
        done = self.run_verb('uninstall')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.items(SETS), [])
        self.assertEqual(self.items('/apis/apiextensions.k8s.io/v1/customresourcedefinitions'), [])

    def test_wrong_words(self):
        self.assertEqual(self.run_verb('install-crds', '--set', 'other').returncode, 2)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    parser.add_argument('--grovectl', required=True)
    known, rest = parser.parse_known_args()
    PROGRAM, GROVECTL = known.groved, known.grovectl
    unittest.main(argv=[sys.argv[0], *rest])
