# SPDX-License-Identifier: Apache-2.0
"""Documents, patches, quantities and errors."""
import gc
import unittest

import grove
from grove import Document


class Documents(unittest.TestCase):
    def test_json_keeps_what_floats_lose(self):
        doc = Document.from_json('{"n": 9007199254740993, "z": 0}')
        self.assertEqual(doc.to_python(), {'n': 9007199254740993, 'z': 0})
        self.assertEqual(doc.to_json(canonical=True), '{"n":9007199254740993,"z":0}')

    def test_yaml_is_typed_as_kubernetes_does(self):
        doc = Document.from_yaml('a: on\nb: "on"\nc: 0o14\nd: 1e3\n')
        self.assertEqual(doc.to_python()['a'], True)
        self.assertEqual(doc.to_python()['b'], 'on')
        self.assertEqual(doc, Document.from_yaml(doc.to_yaml()))

    def test_places_are_kept(self):
        doc = Document.from_yaml('spec:\n  replicas: 3\n')
        self.assertEqual(doc.position('/spec/replicas'), (2, 13))
        self.assertEqual(doc.position('/spec/nothing'), (0, 0))

    def test_equality_and_hash_are_by_value(self):
        one, other = Document.from_json('{"a":1,"b":[1.0]}'), Document.from_json('{"b":[1],"a":1}')
        self.assertEqual(one, other)
        self.assertEqual(hash(one), hash(other))
        self.assertNotEqual(one, Document.from_json('{"a":2,"b":[1]}'))

    def test_streams(self):
        docs = list(grove.load('a: 1\n---\n---\nb: 2\n'))
        self.assertEqual([doc.to_python() for doc in docs], [{'a': 1}, {'b': 2}])

    def test_an_abandoned_stream_is_freed(self):
        stream = grove.load('a: 1\n---\nb: 2\n')
        self.assertEqual(next(stream).to_python(), {'a': 1})
        del stream
        gc.collect()

    def test_closed_documents_say_so(self):
        with Document.from_json('{}') as doc:
            pass
        with self.assertRaisesRegex(ValueError, 'closed'):
            doc.to_json()
        doc.close()  # twice is harmless

    def test_unicode_and_nul_survive(self):
        value = {'t': 'ä€😀\n\0x'}
        self.assertEqual(Document.from_python(value).to_python(), value)


class Errors(unittest.TestCase):
    def test_place_and_kind(self):
        with self.assertRaises(grove.ParseError) as caught:
            Document.from_json('{"a":\n }')
        self.assertEqual((caught.exception.line, caught.exception.column), (2, 2))
        self.assertIn('line 2, column 2', str(caught.exception))

    def test_duplicate_keys_only_when_strict(self):
        with self.assertRaises(grove.GroveError):
            Document.from_json('{"a":1,"a":2}')
        self.assertEqual(Document.from_json('{"a":1,"a":2}', strict=False).to_python(), {'a': 2})

    def test_limits_of_an_environment(self):
        with grove.Environment(depth=4) as env:
            with self.assertRaises(grove.LimitError):
                Document.from_json('[[[[[[1]]]]]]', env=env)


class Patches(unittest.TestCase):
    def test_merge(self):
        before, after = {'a': 1, 'b': {'c': 2}}, {'b': {'d': 3}}
        patch = grove.make_merge_patch(before, after)
        self.assertEqual(grove.merge_patch(before, patch), after)

    def test_merge_cannot_say_null(self):
        with self.assertRaises(grove.Unsupported) as caught:
            grove.make_merge_patch({}, {'a': None})
        self.assertEqual(caught.exception.path, '/a')

    def test_json(self):
        before, after = {'a': [1, 2]}, {'a': [2], 'b': None}
        self.assertEqual(grove.json_patch(before, grove.make_json_patch(before, after)), after)
        with self.assertRaises(grove.Conflict):
            grove.json_patch(before, [{'op': 'test', 'path': '/a', 'value': 3}])


class Quantities(unittest.TestCase):
    def test_exact(self):
        self.assertEqual(str(grove.Quantity('1500m') + grove.Quantity('500m')), '2')
        self.assertEqual(grove.Quantity('1Gi').units(), 1 << 30)
        self.assertLess(grove.Quantity('999m'), grove.Quantity(1))
        self.assertEqual(grove.Quantity('1k') * 3, grove.Quantity('3000'))
        with self.assertRaises(grove.GroveError):
            grove.Quantity('1.5.2')


if __name__ == '__main__':
    unittest.main(verbosity=2)
