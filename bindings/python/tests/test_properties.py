# SPDX-License-Identifier: Apache-2.0
"""Laws, on random inputs."""
import json
import sys
import unittest

try:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
except ImportError:
    print('SKIPPED: python3-hypothesis is not installed')
    sys.exit(77)

import grove
import support
from grove import Gang, PodGroup, Scheduler

settings.register_profile('ci', max_examples=60, deadline=None, derandomize=True,
                          suppress_health_check=list(HealthCheck))
settings.load_profile('ci')

TEXT = st.text(st.characters(blacklist_categories=('Cs',)), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-2**63, 2**63 - 1) | TEXT
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=4) | st.dictionaries(TEXT, v, max_size=4), max_leaves=12)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=5)


def without_nulls(value):
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return value


class Laws(unittest.TestCase):
    @given(VALUES)
    def test_json_and_yaml_read_back(self, value):
        doc = grove.Document.from_python(value)
        self.assertEqual(doc.to_python(), value)
        self.assertEqual(json.loads(doc.to_json(pretty=True)), value)
        self.assertEqual(grove.Document.from_yaml(doc.to_yaml()).to_python(), value)

    @given(OBJECTS, OBJECTS)
    def test_json_patch(self, before, after):
        self.assertEqual(grove.json_patch(before, grove.make_json_patch(before, after)), after)

    @given(OBJECTS.map(without_nulls), OBJECTS.map(without_nulls))
    def test_merge_patch(self, before, after):
        self.assertEqual(grove.merge_patch(before, grove.make_merge_patch(before, after)), after)

    @given(OBJECTS)
    def test_hash_is_by_value(self, value):
        turned = dict(reversed(value.items()))
        self.assertEqual(grove.Document.from_python(value).hash(), grove.Document.from_python(turned).hash())

    @given(st.integers(-2**53, 2**53), st.integers(-2**53, 2**53))
    def test_quantities_add(self, a, b):
        self.assertEqual(grove.Quantity(f'{a}m') + grove.Quantity(f'{b}m'), grove.Quantity(f'{a + b}m'))

    @given(st.binary(max_size=60))
    def test_bytes_never_break_the_parser(self, raw):
        for parse in (grove.Document.from_json, grove.Document.from_yaml):
            try:
                parse(raw).close()
            except grove.GroveError:
                pass

    @given(OBJECTS)
    def test_any_object_is_judged(self, spec):
        verdict = grove.validate({**support.small_set(), 'spec': spec})
        self.assertEqual(verdict.allowed, not verdict.errors)

    @given(st.integers(1, 4), st.integers(1, 3))
    def test_rendering_counts(self, replicas, sets):
        pcs = support.small_set(replicas=replicas)
        pcs['spec']['replicas'] = sets
        pods = [item for item in grove.render(pcs)['items'] if item['kind'] == 'Pod']
        self.assertEqual(len(pods), replicas * sets)

    @given(st.lists(st.integers(0, 8), min_size=1, max_size=6), st.integers(1, 8), st.integers(1, 10),
           st.sampled_from([None, 'rack']))
    def test_answers_about_gangs_are_right(self, free, size, count, level):
        s = Scheduler()
        s.topology('default', ['rack'])
        for i, gpus in enumerate(free):
            s.add_node(f'n{i}', {'rack': f'r{i % 2}'}, {'gpu': gpus})
        decision = s.place(Gang('g', [PodGroup('w', s.pod_class({'gpu': size}), count)], required=level))
        domains = [free[0::2], free[1::2]] if level else [free]
        fits = any(sum(gpus // size for gpus in domain) >= count for domain in domains)
        self.assertEqual(decision.verdict, 'placed' if fits else 'infeasible')
        if fits:
            used = decision.nodes['w']
            self.assertTrue(all(used.count(f'n{i}') * size <= gpus for i, gpus in enumerate(free)))
            if level:
                self.assertEqual(len({int(node[1:]) % 2 for node in used}), 1)


if __name__ == '__main__':
    unittest.main(verbosity=2)
