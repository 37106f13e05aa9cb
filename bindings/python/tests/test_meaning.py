# SPDX-License-Identifier: Apache-2.0
"""Admission, rendering and planning."""
import json
import unittest

import grove
import support


class Admission(unittest.TestCase):
    def test_verdict(self):
        self.assertTrue(grove.validate(support.small_set()))
        bad = support.small_set()
        bad['spec']['template']['cliques'][0]['spec']['minAvailable'] = 9
        verdict = grove.validate(bad)
        self.assertFalse(verdict)
        self.assertEqual(verdict.stage, 'webhook')
        self.assertEqual(verdict.errors[0].path, 'spec.template.cliques[0].spec.minAvailable')

    def test_lines_of_the_source(self):
        text = 'apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: a}\nspec:\n  replicas: x\n'
        found = grove.validate(grove.Document.from_yaml(text)).errors
        self.assertEqual([(f.line, f.path) for f in found if f.path == 'spec.replicas'], [(5, 'spec.replicas')])

    def test_updates(self):
        old, new = support.small_set(), support.small_set()
        new['spec']['template']['cliques'][0]['name'] = 'other'
        self.assertFalse(grove.validate(new, old=old))
        self.assertTrue(grove.validate(new))

    def test_defaults(self):
        self.assertEqual(grove.default(support.small_set())['spec']['template']['terminationDelay'], '4h0m0s')
        with self.assertRaises(grove.Refused):
            grove.default({'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'spec': 'no'})

    def test_webhook(self):
        review = {'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview', 'request': {
            'uid': 'u', 'operation': 'CREATE', 'kind': {'group': 'grove.io', 'version': 'v1alpha1', 'kind': 'PodCliqueSet'},
            'resource': {'group': 'grove.io', 'version': 'v1alpha1', 'resource': 'podcliquesets'},
            'name': 'small', 'namespace': 'default', 'object': grove.default(support.small_set())}}
        answer = grove.admission_review('/webhooks/validate-podcliqueset', review)['response']
        self.assertEqual((answer['uid'], answer['allowed']), ('u', True))

    def test_configuration(self):
        item = support.manifest('inference-with-topology')
        self.assertFalse(grove.validate(item))
        binding = support.manifest('cluster-topology')
        self.assertTrue(grove.validate(item, config=grove.Config(binding)))

    def test_lint_and_crd_and_migrate(self):
        self.assertIsInstance(grove.lint(support.small_set()), tuple)
        self.assertEqual(grove.crd('PodCliqueSet')['spec']['names']['plural'], 'podcliquesets')
        self.assertEqual(grove.migrate(support.small_set())[0], support.small_set())


class Children(unittest.TestCase):
    def test_render(self):
        kinds = [item['kind'] for item in grove.render(support.small_set())['items']]
        self.assertEqual((kinds.count('Pod'), kinds.count('PodClique'), kinds.count('PodGang')), (2, 1, 1))

    def test_names(self):
        self.assertGreater(grove.names(support.small_set())['count'], 5)

    def test_plan_creates_then_rests(self):
        stored = grove.default(support.small_set())
        stored['metadata'].update(uid='u', resourceVersion='1', generation=1, creationTimestamp='2026-01-01T00:00:00Z')
        store = grove.Store(stored)
        self.assertEqual(store.next_dirty(), ('default', 'small'))
        self.assertIsNone(store.next_dirty())
        with grove.Planner() as planner:
            plan = planner.plan(store, 'default', 'small', now_ns=1_767_225_600 * grove.SECOND)
            again = planner.plan(store, 'default', 'small', now_ns=1_767_225_600 * grove.SECOND)
            absent = planner.plan(store, 'default', 'other', now_ns=0)
        self.assertIn(('CREATE', 'PodClique'), [(a['verb'], a['kind']) for a in plan['actions']])
        self.assertEqual(json.dumps(plan), json.dumps(again))
        self.assertEqual(absent['actions'], [])
        self.assertEqual(store.stats()['objects'], 1)


class Answers(unittest.TestCase):
    """Whole questions; what the answers hold in full is compared with docs/schemas."""

    def test_place(self):
        request = {'nodes': [{'name': 'n', 'capacity': {'gpu': 8}}],
                   'gangs': [{'name': name, 'podgroups': [{'name': 'w', 'requests': {'gpu': 8}}]} for name in ('a', 'b')]}
        gangs = grove.place(request)['gangs']
        self.assertEqual([(gang['verdict'], gang['placement']) for gang in gangs], [('placed', {'w': {'n': 1}}), ('infeasible', {})])
        with self.assertRaises(grove.InvalidArgument) as refused:
            grove.place({'gangs': [{'name': 'a', 'podgroups': [{'name': 'w', 'count': -1}]}]})
        self.assertEqual(refused.exception.path, 'gangs[0].podgroups[0]')

    def test_diff_simulate_explain(self):
        new = support.small_set()
        new['spec']['replicas'] = 2
        answer = grove.diff(support.small_set(), new)
        self.assertIn('PodGang', [child['kind'] for child in answer['created']])
        self.assertFalse(answer['deleted'])
        crowded = grove.simulate(support.small_set(), nodes='nodes=1,pods=1', for_ns=5 * grove.SECOND, instant=True)
        self.assertEqual(crowded['ms'], 5000)
        name = support.small_set()['metadata']['name']
        self.assertTrue(grove.explain(crowded, 'PodCliqueSet', name)['waits'])
        with self.assertRaises(grove.NotFound):
            grove.explain(crowded, 'PodCliqueSet', 'none')


if __name__ == '__main__':
    unittest.main(verbosity=2)
