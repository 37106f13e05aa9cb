#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the programs emit is what docs/schemas say: each schema meets documents that were really written.

    test_schemas.py --grovectl PROGRAM [--groved PROGRAM] [--live]

Through the Python binding (LIBGROVE, PYTHONPATH) it also asks the library itself. --live: groved manages clusters too.

Schemas let documents grow; here they are read strictly, so that a member nobody described is found.
"""
import argparse
import copy
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import warnings

warnings.simplefilter('ignore', DeprecationWarning)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'front'), os.path.join(ROOT, 'tests', 'groved')]
import jsonschema  # noqa: E402
import grove  # noqa: E402
from daemon import Daemon  # noqa: E402
from groved import Groved  # noqa: E402

FOLDER = os.path.join(ROOT, 'docs', 'schemas')
MANIFESTS = os.path.join(ROOT, 'examples', 'manifests')
BASE = 'https://libgrove.io/schemas/v1alpha1/'
options = None
used = set()


def strict(schema):
    """The same schema without room for members that it does not name."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: strict(value) for key, value in schema.items()}
    if 'properties' in result and 'additionalProperties' not in result and isinstance(result['properties'], dict):
        result['additionalProperties'] = False
    return result


def complaints(name, document):
    schema = STORE[BASE + name + '.json']
    resolver = jsonschema.RefResolver(BASE + name + '.json', schema, store=STORE)
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    return [f'{"/".join(str(part) for part in e.absolute_path)}: {e.message[:300]}' for e in validator.iter_errors(document)]


def manifest(number):
    return glob.glob(os.path.join(MANIFESTS, f'{number:02}-*.yaml'))[0]


def text_of(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def files_under(folder, pattern):
    return sorted(glob.glob(os.path.join(ROOT, 'tests', 'golden', folder, '**', pattern), recursive=True))


SCHEMAS = {os.path.basename(path)[:-5]: json.loads(text_of(path))
           for path in glob.glob(os.path.join(FOLDER, '*.json'))}
STORE = {BASE + name + '.json': strict(schema) for name, schema in SCHEMAS.items()}


class Case(unittest.TestCase):
    def holds(self, name, document):
        used.add(name)
        self.assertEqual(complaints(name, document), [], name)

    def refuses(self, name, document):
        self.assertNotEqual(complaints(name, document), [], name)

    def grovectl(self, *words, status=(0,), text=None):
        result = subprocess.run([options.grovectl, *words], capture_output=True, text=True, input=text)
        self.assertIn(result.returncode, status, result.stderr)
        return result.stdout

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def file(self, name, text):
        path = os.path.join(self.scratch, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path


class Schemas(unittest.TestCase):
    def test_each_is_a_schema(self):
        for name, schema in SCHEMAS.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            self.assertEqual(schema['$id'], BASE + name + '.json')

    def test_the_index_lists_them(self):
        with open(os.path.join(FOLDER, 'README.md'), encoding='utf-8') as f:
            self.assertEqual(sorted(re.findall(r'\]\((\S+)\.json\)', f.read())), sorted(SCHEMAS))


class Admission(Case):
    def test_verdicts(self):
        bad = self.file('bad.yaml', text_of(manifest(4)).replace('replicas: 1', 'replicas: x'))
        document = json.loads(self.grovectl('validate', manifest(4), bad, '--names', '--lint', '-o', 'json', status=(1,)))
        self.assertEqual([one['stage'] for one in document['results']], [None, 'decode'])
        self.holds('validation', document)
        self.holds('name-list', document['results'][0]['names'])
        wrong = copy.deepcopy(document)
        del wrong['results'][0]['allowed']
        self.refuses('validation', wrong)
        self.holds('sarif', json.loads(self.grovectl('validate', bad, '-o', 'sarif', status=(1,))))

    def test_cases(self):
        stored = json.loads(self.grovectl('default', manifest(4), '-o', 'json'))
        cases = [{'name': 'good', 'op': 'create', 'input': stored}, {'name': 'bad', 'op': 'create', 'input': {**stored, 'spec': {}}}]
        path = self.file('cases.jsonl', ''.join(json.dumps(case) + '\n' for case in cases))
        lines = self.grovectl('validate', '--cases', path).splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.holds('validation-case', json.loads(line))


class Cluster(Case):
    def test_lists(self):
        self.holds('list', json.loads(self.grovectl('render', manifest(4))))
        two = self.file('two.yaml', text_of(manifest(4)) + '\n---\n' + text_of(manifest(2)))
        self.holds('list', json.loads(self.grovectl('default', two, '-o', 'json')))

    def test_simulation_and_what_follows(self):
        state = self.grovectl('sim', manifest(4), '--nodes', '1x1x2x8', '-o', 'json')
        document = json.loads(state)
        self.holds('simulation', document)
        self.assertTrue(document['events'] and document['timeline'])
        for event in document['events']:
            self.holds('event', event)
        wrong = copy.deepcopy(document['events'][0])
        wrong['type'] = 'Loud'
        self.refuses('event', wrong)
        path = self.file('state.json', state)
        node = next(o['spec']['nodeName'] for o in document['items'] if o['kind'] == 'Pod')
        self.holds('what-if', json.loads(self.grovectl('whatif', '--cluster', path, '--lose', f'node={node}', '-o', 'json', status=(0, 1))))
        fit = json.loads(self.grovectl('fit', manifest(4), '--cluster', path, '-o', 'json', status=(0, 1)))
        self.assertTrue(fit['gangs'])
        self.holds('fit', fit)

    def test_rollout(self):
        scenario = text_of(os.path.join(ROOT, 'tests', 'scenarios', 'ext-coherent.yaml'))
        config = self.file('extensions.yaml', text_of(os.path.join(ROOT, 'tests', 'scenarios', 'extensions.yaml')))
        path = self.file('cut.yaml', scenario[:scenario.index('  - after: 5m')].replace('config: extensions.yaml', f'config: {config}'))
        state = self.file('midway.json', self.grovectl('sim', '--scenario', path, '-o', 'json', status=(0, 1)))
        document = json.loads(self.grovectl('rollout', 'status', 'cell', '--cluster', state, '-o', 'json', status=(1,)))
        self.holds('rollout-status', document)
        self.assertEqual((document['through'], document['held']['reason'], len(document['roles'])), (False, 'Progressing', 2))

    def test_explanation(self):
        hungry = text_of(manifest(4))
        state = self.file('full.json', self.grovectl('sim', self.file('set.yaml', hungry), '--nodes', 'nodes=1,cpu=0,gpu=0,pods=1', '-o', 'json'))
        pods = [o for o in json.loads(text_of(state))['items'] if o['kind'] == 'PodCliqueSet']
        document = json.loads(self.grovectl('explain', f'pcs/{pods[0]["metadata"]["name"]}', '--cluster', state, '-o', 'json'))
        self.assertTrue(document['waits'], document)
        self.holds('explanation', document)


class Placement(Case):
    NODES = 'name,zone,rack,gpu,cpu_m,mem_mib,pods\n' + ''.join(f'n{i},z0,r{i // 2},8,64000,65536,110\n' for i in range(4))

    def gang(self, name, gpu, count=2, **more):
        group = {'name': 'w', 'count': count, 'min': count, 'req': {'gpu': gpu, 'cpu_m': 100, 'mem_mib': 64}, 'required': '', 'preferred': ''}
        return json.dumps({'name': name, 'required': '', 'preferred': '', 'groups': [], 'podgroups': [group], **more}) + '\n'

    def placed(self, gangs, *words):
        nodes, gangs = self.file('nodes.csv', self.NODES), self.file('gangs.jsonl', gangs)
        lines = [json.loads(line) for line in self.grovectl('place', '--nodes', nodes, '--gangs', gangs, *words).splitlines()]
        for line in lines:
            self.holds('placement', line)
        return lines

    def test_gangs(self):
        lines = self.placed(self.gang('a', 8) + self.gang('b', 9), '--timing')
        self.assertEqual([line['verdict'] for line in lines], ['placed', 'infeasible'])

    def test_batch_with_victims(self):
        lines = self.placed(''.join(self.gang(f'low{i}', 8, 1, priority=1) for i in range(4)) + self.gang('high', 8, 1, priority=9),
                            '--batch', '1', '--preempt')
        self.assertTrue(any('victims' in line for line in lines), lines)

    def test_batches_on_record(self):
        """Their own test compares them with what is written."""
        for path in files_under('sched/batch', 'expected.jsonl'):
            for line in text_of(path).splitlines():
                self.holds('placement', json.loads(line))

    def test_instances(self):
        lines = text_of(files_under('sched', 'labelled.jsonl')[0]).splitlines()[:20]
        out = self.grovectl('place', '--instances', self.file('some.jsonl', '\n'.join(lines) + '\n')).splitlines()
        self.assertTrue(out)
        for line in out:
            self.holds('placement-instance', json.loads(line))

    def test_explanations(self):
        s = grove.Scheduler()
        s.topology('default', ['rack'])
        for i in range(4):
            s.add_node(f'n{i}', {'rack': f'r{i // 2}'}, {'pods': 100, 'gpu': 8})
        whole = s.pod_class({'gpu': 8})
        low = s.place(grove.Gang('low', [grove.PodGroup('w', whole, 1)]))
        s.commit(low)
        asked = [grove.Gang('fits', [grove.PodGroup('w', whole, 2)], required='rack'),
                 grove.Gang('rack', [grove.PodGroup('w', whole, 3)], required='rack'),
                 grove.Gang('high', [grove.PodGroup('w', whole, 4)], priority=9)]
        documents = [s.place(gang).explanation for gang in asked]
        self.assertEqual([d['verdict'] for d in documents], ['placed', 'infeasible', 'infeasible'])
        self.assertEqual([[list(help)[0] for help in d['would_help']] for d in documents], [[], ['relax'], ['preempt']])
        for document in documents:
            self.holds('placement-explanation', document)


class Library(Case):
    """What only the library itself writes."""

    def test_plans(self):
        stored = json.loads(self.grovectl('default', manifest(4), '-o', 'json'))
        stored['metadata'].update({'namespace': 'default', 'uid': 'u1', 'resourceVersion': '1', 'creationTimestamp': '2026-01-01T00:00:00Z'})
        with grove.Store(stored) as store, grove.Planner() as planner:
            first = planner.plan(store, 'default', stored['metadata']['name'], now_ns=1767225600 * 10**9)
        self.assertTrue(first['actions'])
        self.holds('plan', first)
        wrong = copy.deepcopy(first)
        wrong['actions'][0]['verb'] = 'WISH'
        self.refuses('plan', wrong)

    def test_whole_questions(self):
        request = json.loads(text_of(os.path.join(ROOT, 'examples/c/gangs.json')))
        placed = grove.place(request)
        self.assertEqual([gang['verdict'] for gang in placed['gangs']], ['placed', 'infeasible'])
        self.holds('placements', placed)
        old = next(grove.load(text_of(manifest(4)))).to_python()
        new = copy.deepcopy(old)
        new['spec']['replicas'] = 2
        new['spec']['template']['cliques'][0]['spec']['podSpec']['containers'][0]['image'] = 'other'
        for before, after in ((old, new), (new, old)):
            document = grove.diff(before, after)
            self.assertTrue(document['changed'])
            self.holds('diff', document)
        state = grove.simulate(old, nodes='1x1x2x8')
        self.assertTrue(state['quiet'] and state['events'])
        self.holds('simulated', state)
        self.holds('explanation', grove.explain(state, 'PodCliqueSet', old['metadata']['name']))

    def test_admission_reviews(self):
        stored = json.loads(self.grovectl('default', manifest(4), '-o', 'json'))
        paths = {path for path in re.findall(r'/webhooks/[a-z-]+', text_of(os.path.join(ROOT, 'lib/admission/webhook.c')) +
                                             text_of(os.path.join(ROOT, 'lib/admission/review.c')))}
        self.assertTrue(paths)
        answers = []
        for spec in (stored['spec'], {}):
            request = {'uid': 'r1', 'operation': 'CREATE', 'kind': {'group': 'grove.io', 'version': 'v1alpha1', 'kind': 'PodCliqueSet'},
                       'resource': {'group': 'grove.io', 'version': 'v1alpha1', 'resource': 'podcliquesets'}, 'name': 'a',
                       'namespace': 'default', 'userInfo': {'username': 'me'}, 'object': {**stored, 'spec': spec}}
            review = {'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview', 'request': request}
            answers += [grove.admission_review(path, review) for path in sorted(paths)]
        self.assertEqual({answer['response']['allowed'] for answer in answers}, {True, False})
        for answer in answers:
            self.holds('admission-review', answer)


class Served(Case):
    """groved's embedded form: errors of its API, events, admission reviews."""

    def request(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, data=body and body.encode(),
                                         headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            with e:
                return json.load(e)

    def test_errors(self):
        if not options.groved:
            self.skipTest('built without groved')
        daemon = subprocess.Popen([options.groved, '--embedded', '--listen', '127.0.0.1:0', '--virtual-time'],
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        self.addCleanup(daemon.stderr.close)
        self.url = re.search(r'http://\S+', daemon.stderr.readline())[0]
        group = '/apis/grove.io/v1alpha1/namespaces/default/podcliquesets'
        good = self.grovectl('default', manifest(4), '-o', 'json')
        bad = json.dumps({**json.loads(good), 'spec': {}})
        seen = [self.request('GET', '/api/v1/namespaces/default/pods/none'), self.request('POST', group, '{'),
                self.request('POST', group, bad),
                self.request('DELETE', '/api/v1/namespaces/default/pods/none')]
        self.assertGreater(len({one['code'] for one in seen}), 2)
        for one in seen:
            self.holds('status', one)
        self.assertEqual(self.request('POST', group, good)['kind'], 'PodCliqueSet')
        self.holds('status', self.request('POST', group, good))
        events = self.request('GET', '/api/v1/namespaces/default/events')['items']
        self.assertTrue(events)
        for event in events:
            self.holds('event', {'apiVersion': 'v1', 'kind': 'Event', **event})

    def test_daemon(self):
        if not options.live:
            self.skipTest('built without libcurl or OpenSSL')
        recording = os.path.join(self.scratch, 'recording')
        with Groved(options.groved, '--no-operator') as cluster, \
                Daemon(options.groved, cluster.kubeconfig, '--no-webhooks', '--record', recording) as daemon:
            daemon.wait_for('leading')
            stored = json.loads(self.grovectl('default', manifest(4), '-o', 'json'))
            cluster.ask('POST', '/apis/grove.io/v1alpha1/namespaces/default/podcliquesets', stored)
            end = time.monotonic() + 30
            while not daemon.ctl('dump')[1] and time.monotonic() < end:
                time.sleep(0.05)
            self.holds('daemon-stats', json.loads(daemon.ctl('stats')[1]))
            for line in daemon.ctl('dump')[1].splitlines():
                self.holds('daemon-dump', json.loads(line))
            daemon.stop()
        lines = text_of(recording).splitlines()
        self.assertGreater(len(lines), 10)
        for line in lines:
            self.holds('recording', json.loads(line))


class Zz(unittest.TestCase):
    def test_each_schema_met_a_document(self):
        """Runs last."""
        not_built = set() if options.live else {'daemon-stats', 'daemon-dump', 'recording'}
        not_built |= set() if options.groved else {'status'}
        self.assertEqual(set(SCHEMAS) - used, not_built)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--grovectl', required=True)
    parser.add_argument('--groved')
    parser.add_argument('--live', action='store_true')
    options, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest, verbosity=2)
