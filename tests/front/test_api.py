#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTTP front of the embedded cluster, asked by a plain HTTP client.

usage: test_api.py --groved PROGRAM [unittest arguments]

Virtual time: whatever a request sets going has happened when the next one asks.
"""
import argparse
import glob
import json
import os
import sys
import unittest

import yaml

from groved import MERGE, TABLE, Groved

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, '..', 'golden', 'front')
CORE = '/api/v1/namespaces/streams'
GROVE = '/apis/grove.io/v1alpha1/namespaces/streams'
STRATEGIC = 'application/strategic-merge-patch+json'
PROGRAM = None


def clique(name, replicas):
    container = {'name': 'c', 'image': 'example.com/a:1', 'resources': {'requests': {'cpu': '10m'}}}
    return {'name': name, 'spec': {'roleName': name, 'replicas': replicas, 'podSpec': {'containers': [container]}}}


def small(name='small', replicas=1):
    return {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': name},
            'spec': {'replicas': replicas, 'template': {'cliques': [clique('w', 2), clique('l', 1), clique('m', 2)], 'podCliqueScalingGroups': [
                {'name': 'g', 'cliqueNames': ['l', 'm'], 'replicas': 1, 'minAvailable': 1}]}}}


def config_map(name, **data):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name}, 'data': data}


class Case(unittest.TestCase):
    def setUp(self):
        self.groved = Groved(PROGRAM, '--virtual-time')
        self.addCleanup(self.groved.stop)
        self.ask('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'streams'}}, want=201)

    def ask(self, method, path, body=None, want=200, **more):
        status, headers, data = self.groved.ask(method, path, body, **more)
        self.assertEqual(status, want, f'{method} {path}: {data}')
        self.headers = headers
        return data

    def pods(self, query=''):
        return self.ask('GET', f'{CORE}/pods{query}')['items']


class Discovery(Case):
    def test_both_forms_name_the_same_resources(self):
        accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
        aggregated = set()
        for root in ('/api', '/apis'):
            answer = self.ask('GET', root, accept=accept)
            self.assertEqual(self.headers['Content-Type'], 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')
            for group in answer['items']:
                for version in group['versions']:
                    for r in version['resources']:
                        place = (group['metadata'].get('name', ''), version['version'])
                        aggregated.add((*place, r['resource']))
                        aggregated.update((*place, f"{r['resource']}/{s['subresource']}") for s in r.get('subresources', ()))
        legacy = {('', 'v1', r['name']) for r in self.ask('GET', '/api/v1')['resources']}
        for group in self.ask('GET', '/apis')['groups']:
            for version in group['versions']:
                listed = self.ask('GET', f"/apis/{version['groupVersion']}")
                legacy.update((group['name'], version['version'], r['name']) for r in listed['resources'])
        self.assertEqual(aggregated, legacy)
        self.assertIn(('grove.io', 'v1alpha1', 'podcliquesets/scale'), legacy)
        self.assertIn(('', 'v1', 'pods/eviction'), legacy)

    def test_a_form_that_is_not_served_alone_is_406(self):
        self.ask('GET', '/apis', want=406, accept='application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList')

    def test_health_and_version(self):
        for path in ('/healthz', '/readyz', '/livez'):
            self.assertEqual(self.ask('GET', path), 'ok')
        self.assertEqual(self.ask('GET', '/version')['minor'], '34')

    def test_openapi_names_the_parameter_that_apply_looks_for(self):
        paths = self.ask('GET', '/openapi/v3')['paths']
        document = self.ask('GET', paths['apis/grove.io/v1alpha1']['serverRelativeURL'])
        write = document['paths']['/apis/grove.io/v1alpha1/namespaces/{namespace}/podcliquesets/{name}']['patch']
        self.assertIn('fieldValidation', [p['name'] for p in write['parameters']])
        self.assertEqual(write['x-kubernetes-group-version-kind']['kind'], 'PodCliqueSet')

    def test_openapi_has_a_schema_of_each_kind(self):
        paths = self.ask('GET', '/openapi/v3')['paths']
        versions = ['api/v1'] + [f"apis/{v['groupVersion']}" for g in self.ask('GET', '/apis')['groups'] for v in g['versions']]
        told = {}
        for version in versions:
            if version in paths:
                schemas = self.ask('GET', paths[version]['serverRelativeURL'])['components']['schemas'].values()
                told.update({(g['group'], g['version'], g['kind']): s for s in schemas for g in s['x-kubernetes-group-version-kind']})
            stored = [r for r in self.ask('GET', f'/{version}')['resources'] if 'watch' in r['verbs'] and '/' not in r['name']]
            group, _, number = version.partition('/')[2].rpartition('/')
            for resource in stored:
                with self.subTest(version, kind=resource['kind']):
                    schema = told[(group, number, resource['kind'])]
                    self.assertEqual(schema['type'], 'object')
                    self.assertIn('description', schema)
                    self.assertIn('metadata', schema['properties'])
        self.assertGreater(len(told), 25)


class Objects(Case):
    def test_a_set_becomes_pods_and_goes_away(self):
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        self.assertEqual(len(self.pods()), 5)
        self.assertEqual({p['status']['phase'] for p in self.pods()}, {'Running'})
        gone = self.ask('DELETE', f'{GROVE}/podcliquesets/small', {'propagationPolicy': 'Background'})
        self.assertTrue(gone['metadata']['uid'])
        self.ask('GET', f'{GROVE}/podcliquesets/small', want=404)
        self.assertEqual(self.pods(), [])

    def test_scale_of_each_kind(self):
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        self.assertEqual(self.ask('GET', f'{GROVE}/podcliquesets/small/scale')['spec']['replicas'], 1)
        self.ask('PATCH', f'{GROVE}/podcliquesets/small/scale', {'spec': {'replicas': 2}}, content_type=MERGE)
        self.assertEqual(len(self.pods()), 10)
        scale = self.ask('GET', f'{GROVE}/podcliquescalinggroups/small-0-g/scale')
        scale['spec']['replicas'] = 2
        self.ask('PUT', f'{GROVE}/podcliquescalinggroups/small-0-g/scale', scale)
        self.assertEqual(len(self.pods()), 13)
        self.ask('PATCH', '/api/v1/nodes/node-b0-r0-n0/scale', {'spec': {'replicas': 2}}, content_type=MERGE, want=404)

    def test_pages_show_the_state_of_the_first(self):
        for i in range(5):
            self.ask('POST', f'{CORE}/configmaps', config_map(f'c{i}'), want=201)
        page = self.ask('GET', f'{CORE}/configmaps?limit=2')
        self.assertEqual(page['metadata']['remainingItemCount'], 3)
        self.ask('DELETE', f'{CORE}/configmaps/c4')
        names = []
        while True:
            names += [o['metadata']['name'] for o in page['items']]
            position = page['metadata'].get('continue')
            if not position:
                break
            page = self.ask('GET', f'{CORE}/configmaps?limit=2&continue={position}')
        self.assertEqual(names, ['c0', 'c1', 'c2', 'c3', 'c4'])
        self.assertEqual(len(self.ask('GET', f'{CORE}/configmaps?limit=2&resourceVersion=0')['items']), 4)

    def test_selectors(self):
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        self.assertEqual(len(self.pods('?labelSelector=grove.io%2Fpodclique%3Dsmall-0-w')), 2)
        node = self.pods()[0]['spec']['nodeName']
        there = self.pods(f'?fieldSelector=spec.nodeName%3D{node}%2Cstatus.phase!%3DFailed')
        self.assertEqual(there, [p for p in self.pods() if p['spec']['nodeName'] == node])

    def test_dry_run_changes_nothing(self):
        made = self.ask('POST', f'{CORE}/configmaps?dryRun=All', config_map('x'), want=201)
        self.assertEqual(made['metadata']['name'], 'x')
        self.ask('GET', f'{CORE}/configmaps/x', want=404)

    def test_server_side_apply_conflicts_and_is_forced(self):
        path, kind = f'{CORE}/configmaps/x', 'application/apply-patch+yaml'
        self.ask('PATCH', f'{path}?fieldManager=one', json.dumps(config_map('x', a='1')), content_type=kind, want=201)
        self.ask('PATCH', f'{path}?fieldManager=two&force=false', json.dumps(config_map('x', a='2')), content_type=kind, want=409)
        forced = self.ask('PATCH', f'{path}?fieldManager=two&force=true', json.dumps(config_map('x', a='2')), content_type=kind)
        self.assertEqual(forced['data'], {'a': '2'})

    def test_strategic_patch_on_built_in_kinds_only(self):
        self.ask('PATCH', '/api/v1/nodes/node-b0-r0-n0', {'spec': {'unschedulable': True}}, content_type=STRATEGIC)
        self.assertTrue(self.ask('GET', '/api/v1/nodes/node-b0-r0-n0')['spec']['unschedulable'])
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        self.ask('PATCH', f'{GROVE}/podcliquesets/small', {}, content_type=STRATEGIC, want=415)

    def test_eviction_deletes_the_pod(self):
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        name = self.pods()[0]['metadata']['name']
        body = {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': name}}
        self.assertEqual(self.ask('POST', f'{CORE}/pods/{name}/eviction', body, want=201)['status'], 'Success')
        self.ask('GET', f'{CORE}/pods/{name}', want=404)

    def test_a_collection_is_deleted_by_selector(self):
        for name in ('a', 'b'):
            self.ask('POST', f'{CORE}/configmaps', dict(config_map(name), metadata={'name': name, 'labels': {'n': name}}), want=201)
        self.ask('DELETE', f'{CORE}/configmaps?labelSelector=n%3Da')
        self.assertEqual([o['metadata']['name'] for o in self.ask('GET', f'{CORE}/configmaps')['items']], ['b'])

    def test_what_the_webhook_refuses(self):
        bad = small()
        bad['spec']['template']['podCliqueScalingGroups'][0]['minAvailable'] = 9
        answer = self.ask('POST', f'{GROVE}/podcliquesets', bad, want=403)
        self.assertRegex(answer['message'], r'^admission webhook "pcs.validating.webhooks.grove.io" denied the request: '
                         r'spec.template.podCliqueScalingGroups\[0\].minAvailable: Invalid value: ')
        self.assertEqual((answer['reason'], answer['code']), ('Forbidden', 403))


class Forms(Case):
    def test_table_of_a_list_and_of_one(self):
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        for path in (f'{GROVE}/podcliquesets', f'{GROVE}/podcliquesets/small'):
            table = self.ask('GET', path, accept=TABLE)
            self.assertEqual(table['kind'], 'Table')
            row = dict(zip([c['name'] for c in table['columnDefinitions']], table['rows'][0]['cells']))
            self.assertEqual((row['Name'], row['Replicas'], row['Available'], row['PCLQs-Total']), ('small', 1, 1, None))
            self.assertEqual(table['rows'][0]['object']['kind'], 'PartialObjectMetadata')

    def test_columns_are_those_of_a_real_server(self):
        with open(os.path.join(GOLDEN, 'columns.json'), encoding='utf-8') as f:
            golden = json.load(f)
        for path, columns in golden.items():
            table = self.ask('GET', path, accept=TABLE)
            have = [[c['name'], c['type'], c['priority']] for c in table['columnDefinitions']]
            with self.subTest(path):
                self.assertEqual(have, columns)

    def test_columns_are_those_of_the_resource_definitions(self):
        """The same table is in what is installed on a cluster, whose server adds the name itself."""
        with open(os.path.join(GOLDEN, 'columns.json'), encoding='utf-8') as f:
            golden = json.load(f)
        files = glob.glob(os.path.join(HERE, '..', '..', 'deploy', 'crds', '*', '*.yaml'))
        seen = set()
        for name in files:
            with open(name, encoding='utf-8') as f:
                definition = yaml.safe_load(f)
            spec = definition['spec']
            version = spec['versions'][0]
            path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
            have = [[c['name'], c['type'], c.get('priority', 0)] for c in version['additionalPrinterColumns']]
            table = self.ask('GET', path, accept=TABLE)
            with self.subTest(name):
                self.assertEqual([[c['name'], c['type'], c['priority']] for c in table['columnDefinitions']][1:], have)
                self.assertEqual(golden.get(path, [None, *have])[1:], have)  # recorded for all that a set brings
            seen.add(path)
        self.assertEqual({path for path in golden if 'grove.io' in path} - seen, set())

    def test_metadata_only_and_whole_objects(self):
        accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
        answer = self.ask('GET', '/api/v1/nodes', accept=accept)
        self.assertEqual(answer['kind'], 'PartialObjectMetadataList')
        self.assertNotIn('status', answer['items'][0])
        table = self.ask('GET', '/api/v1/nodes?includeObject=Object', accept=TABLE)
        self.assertIn('status', table['rows'][0]['object'])

    def test_lists_of_built_in_kinds_have_bare_items(self):
        answer = self.ask('GET', '/api/v1/nodes')
        self.assertEqual(list(answer), ['kind', 'apiVersion', 'metadata', 'items'])
        self.assertNotIn('kind', answer['items'][0])


class Watches(Case):
    def test_from_the_start_and_on(self):
        self.ask('POST', f'{CORE}/configmaps', config_map('a'), want=201)
        events = self.groved.watch(f'{CORE}/configmaps?watch=true')
        first = next(events)
        self.assertEqual((first['type'], first['object']['metadata']['name']), ('ADDED', 'a'))
        self.ask('PATCH', f'{CORE}/configmaps/a', {'data': {'k': 'v'}}, content_type=MERGE)
        self.assertEqual(next(events)['type'], 'MODIFIED')
        self.ask('DELETE', f'{CORE}/configmaps/a')
        last = next(events)
        self.assertEqual(last['type'], 'DELETED')
        self.assertGreater(int(last['object']['metadata']['resourceVersion']), int(first['object']['metadata']['resourceVersion']))

    def test_from_a_version_on(self):
        version = self.ask('GET', f'{CORE}/configmaps')['metadata']['resourceVersion']
        self.ask('POST', f'{CORE}/configmaps', config_map('a'), want=201)
        events = self.groved.watch(f'{CORE}/configmaps?watch=1&resourceVersion={version}&timeoutSeconds=1')
        self.assertEqual([e['type'] for e in events], ['ADDED'])

    def test_the_first_list_ends_with_a_bookmark(self):
        events = self.groved.watch('/api/v1/nodes?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
        types = [next(events)['type'] for _ in range(16)]
        self.assertEqual(set(types), {'ADDED'})
        mark = next(events)
        self.assertEqual((mark['type'], mark['object']['metadata']['annotations']), ('BOOKMARK', {'k8s.io/initial-events-end': 'true'}))
        self.ask('GET', '/api/v1/nodes?watch=1&sendInitialEvents=true', want=422)

    def test_a_table_tells_its_columns_once(self):
        events = self.groved.watch('/api/v1/nodes?watch=1', accept=TABLE)
        first, second = next(events)['object'], next(events)['object']
        self.assertEqual((first['kind'], second['kind']), ('Table', 'Table'))
        self.assertTrue(first['columnDefinitions'])
        self.assertIsNone(second['columnDefinitions'])

    def test_too_old_is_an_error_event(self):
        for i in range(8300):  # more than the history keeps
            if i == 0:
                self.ask('POST', f'{CORE}/configmaps', config_map('a'), want=201)
                connection = self.groved.open()
            connection.request('PATCH', f'{CORE}/configmaps/a', body=json.dumps({'data': {'k': str(i)}}),
                               headers={'Content-Type': MERGE})
            connection.getresponse().read()
        events = list(self.groved.watch(f'{CORE}/configmaps?watch=1&resourceVersion=1'))
        self.assertEqual([(e['type'], e['object']['code'], e['object']['reason']) for e in events], [('ERROR', 410, 'Expired')])

    def test_stopping_ends_watches_in_order(self):
        events = self.groved.watch('/api/v1/nodes?watch=1')
        next(events)
        self.groved.process.terminate()
        self.assertEqual({e['type'] for e in events}, {'ADDED'})
        self.assertEqual(self.groved.process.wait(timeout=20), 0)


class Errors(Case):
    """What a real server answered, word for word where the words are settled."""

    def test_recorded_errors(self):
        self.ask('POST', f'{CORE}/configmaps', config_map('have', a='1'), want=201)
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        pod = self.pods()[0]['metadata']['name']
        version = self.ask('GET', f'{CORE}/pods')['metadata']['resourceVersion']
        with open(os.path.join(GOLDEN, 'errors.jsonl'), encoding='utf-8') as f:
            cases = [json.loads(line) for line in f]
        for case in cases:
            path = case['path'].replace('{pod}', pod).replace('{version}', version)
            with self.subTest(case['name']):
                headers = case.get('headers', {})
                status, _, data = self.groved.ask(case['method'], path, case.get('body'), headers.get('Content-Type', 'application/json'),
                                                  headers.get('Accept', 'application/json'),
                                                  {k: v for k, v in headers.items() if k.startswith('Impersonate')})
                self.assertEqual(status, case['status'], data)
                want = case['response']
                if isinstance(want, str):
                    self.assertEqual(data, want)
                    continue
                for key in case['compare']:
                    self.assertEqual(data.get(key), json.loads(json.dumps(want.get(key)).replace('{pod}', pod)), key)


class Access(Case):
    """Who may do what: the administrator everything, an impersonated user nothing."""

    REVIEW = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

    def as_user(self, method, path, body=None, user='nobody', group=None):
        headers = {'Impersonate-User': user, **({'Impersonate-Group': group} if group else {})}
        status, _, data = self.groved.ask(method, path, body, headers=headers)
        return status, data

    def test_reviews(self):
        body = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview',
                'spec': {'resourceAttributes': {'namespace': 'streams', 'verb': 'create', 'resource': 'pods'}}}
        self.assertIs(self.ask('POST', self.REVIEW, body, want=201)['status']['allowed'], True)
        self.assertIs(self.as_user('POST', self.REVIEW, body)[1]['status']['allowed'], False)
        self.assertIs(self.as_user('POST', self.REVIEW, body, group='system:masters')[1]['status']['allowed'], True)
        rules = self.ask('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {}, want=201)['status']
        self.assertEqual(rules['resourceRules'], [{'verbs': ['*'], 'apiGroups': ['*'], 'resources': ['*']}])
        who = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
        self.assertEqual(self.ask('POST', who, {}, want=201)['status']['userInfo'], {'username': 'admin', 'groups': ['system:masters', 'system:authenticated']})
        self.assertEqual(self.as_user('POST', who, {})[1]['status']['userInfo']['username'], 'nobody')

    def test_refusals_as_a_server_words_them(self):
        cases = [('GET', f'{CORE}/pods', None, 'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "streams"'),
                 ('GET', f'{CORE}/pods?watch=1', None, 'pods is forbidden: User "nobody" cannot watch resource "pods" in API group "" in the namespace "streams"'),
                 ('GET', '/api/v1/nodes', None, 'nodes is forbidden: User "nobody" cannot list resource "nodes" in API group "" at the cluster scope'),
                 ('PATCH', f'{GROVE}/podcliquesets/small/scale', {}, 'podcliquesets.grove.io "small" is forbidden: User "nobody" cannot patch resource '
                  '"podcliquesets/scale" in API group "grove.io" in the namespace "streams"')]
        for method, path, body, message in cases:
            with self.subTest(path):
                status, data = self.as_user(method, path, body)
                self.assertEqual((status, data['reason'], data['message']), (403, 'Forbidden', message))
        self.assertEqual(self.as_user('GET', f'{CORE}/pods', group='system:masters')[0], 200)


class Words(Case):
    """What kubectl prints comes out of these."""

    def test_each_cause_of_an_invalid_object_is_told(self):
        bad = small()
        bad['spec']['template']['cliqueStartupType'] = 'Sometimes'
        bad['spec']['replicas'] = -1
        details = self.ask('POST', f'{GROVE}/podcliquesets', bad, want=422)['details']
        self.assertEqual((details['name'], details['group'], details['kind']), ('small', 'grove.io', 'PodCliqueSet'))
        found = {c['field']: c['reason'] for c in details['causes']}
        self.assertEqual(found['spec.template.cliqueStartupType'], 'FieldValueNotSupported')
        self.assertEqual(found['spec.replicas'], 'FieldValueInvalid')

    def test_a_patch_is_judged_as_the_object_it_makes(self):
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        path = f'{GROVE}/podcliquesets/small'
        patch = {'spec': {'template': {'cliquez': []}}}
        data = self.ask('PATCH', f'{path}?fieldValidation=Strict', patch, want=400, content_type=MERGE)
        self.assertIn('strict decoding error: unknown field "spec.template.cliquez"', data['message'])
        self.ask('PATCH', f'{path}?fieldValidation=Warn', patch, content_type=MERGE)
        self.assertIn('unknown field', self.headers['Warning'])
        self.ask('PATCH', f'{path}?fieldValidation=Strict', {'metadata': {'labels': {'a': 'b'}}}, content_type=MERGE)
        self.assertIn('restartPolicy', self.headers['Warning'])

    def test_a_failed_json_patch_says_no_more_than_that(self):
        self.ask('POST', f'{CORE}/configmaps', config_map('a', k='1'), want=201)
        data = self.ask('PATCH', f'{CORE}/configmaps/a', [{'op': 'test', 'path': '/data/k', 'value': '2'}], want=422, content_type='application/json-patch+json')
        self.assertEqual((data['reason'], data['details']), ('Invalid', {}))

    def test_containers_are_simulated(self):
        self.ask('POST', f'{GROVE}/podcliquesets', small(), want=201)
        pod = self.pods()[0]['metadata']['name']
        for sub in ('log', 'exec', 'attach', 'portforward'):
            self.assertIn('simulated', self.ask('GET', f'{CORE}/pods/{pod}/{sub}', want=501)['message'])


class Versions(Case):
    """Which state a list shows."""

    def setUp(self):
        super().setUp()
        for name in ('a', 'b', 'c'):
            self.ask('POST', f'{CORE}/configmaps', config_map(name, k='1'), want=201)
        self.then = self.ask('GET', f'{CORE}/configmaps')['metadata']['resourceVersion']
        self.ask('DELETE', f'{CORE}/configmaps/b')
        self.ask('POST', f'{CORE}/configmaps', config_map('d', k='1'), want=201)

    def names(self, query):
        data = self.ask('GET', f'{CORE}/configmaps?{query}')
        return [i['metadata']['name'] for i in data['items']], data['metadata']

    def test_exactly_then_at_least_then_and_now(self):
        exact, meta = self.names(f'resourceVersion={self.then}&resourceVersionMatch=Exact')
        self.assertEqual((exact, meta['resourceVersion']), (['a', 'b', 'c'], self.then))
        for query in (f'resourceVersion={self.then}&resourceVersionMatch=NotOlderThan', f'resourceVersion={self.then}', 'resourceVersion=0', ''):
            self.assertEqual(self.names(query)[0], ['a', 'c', 'd'], query)

    def test_exactly_then_in_pages(self):
        first, meta = self.names(f'resourceVersion={self.then}&resourceVersionMatch=Exact&limit=2')
        rest, end = self.names(f'limit=2&continue={meta["continue"]}')
        self.assertEqual((first + rest, end['resourceVersion']), (['a', 'b', 'c'], self.then))

    def test_the_future_is_refused(self):
        for query in ('resourceVersion=99999999', 'resourceVersion=99999999&resourceVersionMatch=NotOlderThan',
                      'resourceVersion=99999999&resourceVersionMatch=Exact'):
            data = self.ask('GET', f'{CORE}/configmaps?{query}', want=504)
            self.assertEqual((data['reason'], data['details']['causes'][0]['reason']), ('Timeout', 'ResourceVersionTooLarge'))


class Ownership(Case):
    """managedFields, and server-side apply by them."""

    APPLY = 'application/apply-patch+yaml'
    PATH = f'{CORE}/configmaps/m'

    def apply(self, manager, data, want=200, path=None, **query):
        body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'm'}, 'data': data} if path is None else data
        more = ''.join(f'&{key}={value}' for key, value in query.items())
        return self.ask('PATCH', f'{path or self.PATH}?fieldManager={manager}{more}', body, want=want, content_type=self.APPLY)

    def entries(self, thing):
        return {(e['manager'], e['operation'], e.get('subresource')): e['fieldsV1'] for e in thing['metadata'].get('managedFields', [])}

    def test_a_created_set_is_owned_as_on_a_real_server(self):
        with open(os.path.join(GOLDEN, 'set.yaml'), encoding='utf-8') as f:
            text = f.read()
        with open(os.path.join(GOLDEN, 'managed.json'), encoding='utf-8') as f:
            want = json.load(f)
        del want['f:metadata']  # the annotation that kubectl adds
        made = self.ask('POST', f'{GROVE}/podcliquesets?fieldManager=kubectl-client-side-apply', text, want=201, content_type='application/yaml')
        self.assertEqual(self.entries(made), {('kubectl-client-side-apply', 'Update', None): want})
        later = self.entries(self.ask('GET', f'{GROVE}/podcliquesets/inference-disaggregated'))
        self.assertIn('f:replicas', later[('libgrove', 'Update', 'status')]['f:status'])
        self.assertEqual(list(later[('libgrove', 'Update', None)]['f:metadata']), ['f:finalizers'])

    def test_updates_move_what_they_change(self):
        self.ask('POST', f'{CORE}/configmaps?fieldManager=a', config_map('m', x='1', y='1'), want=201)
        self.ask('PATCH', f'{self.PATH}?fieldManager=b', {'data': {'y': '2', 'z': '2'}}, content_type=MERGE)
        self.assertEqual(self.entries(self.ask('GET', self.PATH)),
                         {('a', 'Update', None): {'f:data': {'.': {}, 'f:x': {}}}, ('b', 'Update', None): {'f:data': {'f:y': {}, 'f:z': {}}}})
        gone = self.ask('PATCH', f'{self.PATH}?fieldManager=c', {'data': {'y': None, 'z': None}}, content_type=MERGE)
        self.assertEqual(list(self.entries(gone)), [('a', 'Update', None)])

    def test_conflicts_name_everybody_and_every_field(self):
        self.apply('a', {'x': '1', 'y': '1'}, want=201)
        same = self.apply('b', {'x': '1'})
        self.assertEqual(list(self.entries(same)), [('a', 'Apply', None), ('b', 'Apply', None)])
        one = self.apply('c', {'y': '2'}, want=409)
        self.assertEqual(one['message'], 'Apply failed with 1 conflict: conflict with "a": .data.y')
        self.assertEqual(one['details']['causes'], [{'reason': 'FieldManagerConflict', 'message': 'conflict with "a"', 'field': '.data.y'}])
        self.ask('PATCH', f'{self.PATH}?fieldManager=u', {'data': {'z': '1'}}, content_type=MERGE)
        many = self.apply('c', {'x': '2', 'z': '2'}, want=409)
        self.assertEqual(many['message'], 'Apply failed with 3 conflicts: conflicts with "a":\n- .data.x\nconflicts with "b":\n- .data.x\n'
                         'conflicts with "u" using v1:\n- .data.z')
        taken = self.apply('c', {'x': '2', 'z': '2'}, force='true')
        self.assertEqual(taken['data'], {'x': '2', 'y': '1', 'z': '2'})
        self.assertEqual(self.entries(taken), {('a', 'Apply', None): {'f:data': {'f:y': {}}}, ('c', 'Apply', None): {'f:data': {'f:x': {}, 'f:z': {}}}})

    def test_what_is_not_applied_any_more_goes_unless_others_hold_it(self):
        self.apply('a', {'x': '1', 'y': '1', 'z': '1'}, want=201)
        self.apply('b', {'y': '1'})
        self.ask('PATCH', f'{self.PATH}?fieldManager=u', {'data': {'w': '1'}}, content_type=MERGE)
        self.assertEqual(self.apply('a', {'z': '1'})['data'], {'w': '1', 'y': '1', 'z': '1'})

    def test_elements_of_keyed_lists_have_owners_of_their_own(self):
        self.ask('POST', f'{GROVE}/podcliquesets?fieldManager=a', small(), want=201)
        path = f'{GROVE}/podcliquesets/small'
        part = {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': 'small'},
                'spec': {'template': {'cliques': [{'name': 'w', 'labels': {'tier': 'front'}}]}}}
        grown = self.apply('b', part, path=path)
        self.assertEqual([c['name'] for c in grown['spec']['template']['cliques']], ['w', 'l', 'm'])
        self.assertEqual(grown['spec']['template']['cliques'][0]['labels'], {'tier': 'front'})
        self.assertEqual(self.entries(grown)[('b', 'Apply', None)], {'f:spec': {'f:template': {'f:cliques': {'k:{"name":"w"}': {
            '.': {}, 'f:labels': {'f:tier': {}}, 'f:name': {}}}}}})
        part['spec']['template']['cliques'] = [{'name': 'w', 'spec': {'replicas': 3}}]
        refused = self.apply('b', part, path=path, want=409)
        self.assertIn('.spec.template.cliques[name="w"].spec.replicas', refused['message'])
        del part['spec']
        left = self.apply('b', part, path=path)
        self.assertEqual([c['name'] for c in left['spec']['template']['cliques']], ['w', 'l', 'm'])
        self.assertNotIn('labels', left['spec']['template']['cliques'][0])

    def test_applying_the_same_again_writes_nothing(self):
        first = self.apply('a', {'x': '1'}, want=201)
        self.assertEqual(self.apply('a', {'x': '1'}), first)
        self.apply('a', {'x': '2'}, dryRun='All')
        self.assertEqual(self.ask('GET', self.PATH), first)

    def test_a_client_may_rewrite_the_entries(self):
        made = self.ask('POST', f'{CORE}/configmaps?fieldManager=a', config_map('m', x='1'), want=201)
        entry = {**made['metadata']['managedFields'][0], 'manager': 'z', 'operation': 'Apply'}
        patch = [{'op': 'replace', 'path': '/metadata/managedFields', 'value': [entry]},
                 {'op': 'replace', 'path': '/metadata/resourceVersion', 'value': made['metadata']['resourceVersion']}]
        moved = self.ask('PATCH', self.PATH, patch, content_type='application/json-patch+json')
        self.assertEqual(list(self.entries(moved)), [('z', 'Apply', None)])
        self.assertNotIn('x', self.apply('z', {'y': '1'})['data'])

    def test_a_manager_has_to_be_named_for_apply_only(self):
        self.ask('PATCH', self.PATH, {}, want=422, content_type=self.APPLY)
        made = self.ask('POST', f'{CORE}/configmaps', config_map('n', x='1'), want=201, headers={'User-Agent': 'curl/7.88'})
        self.assertEqual(list(self.entries(made)), [('curl', 'Update', None)])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    options, rest = parser.parse_known_args()
    PROGRAM = options.groved
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
