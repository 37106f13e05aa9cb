#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CGI program answers as a webhook must: web_validator_test.py PROGRAM."""
import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop()


def ask(path, body):
    done = subprocess.run([PROGRAM], input=body, capture_output=True, env={'PATH_INFO': path}, check=True)
    head, _, text = done.stdout.partition(b'\r\n\r\n')
    return head.decode().splitlines()[0], text


def review(spec):
    return json.dumps({'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview', 'request': {
        'uid': 'u', 'operation': 'CREATE', 'name': 'a', 'namespace': 'default',
        'kind': {'group': 'grove.io', 'version': 'v1alpha1', 'kind': 'PodCliqueSet'},
        'resource': {'group': 'grove.io', 'version': 'v1alpha1', 'resource': 'podcliquesets'},
        'object': {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': 'a'},
                   'spec': spec}}}).encode()


class WebValidator(unittest.TestCase):
    def test_refused_with_the_path(self):
        status, text = ask('/webhooks/validate-podcliqueset', review({'replicas': 1, 'template': {'cliques': []}}))
        response = json.loads(text)['response']
        self.assertEqual((status, response['uid'], response['allowed']), ('Status: 200 OK', 'u', False))
        self.assertIn('spec.template.cliques', response['status']['message'])

    def test_no_review(self):
        self.assertEqual(ask('/webhooks/validate-podcliqueset', b'{}')[0], 'Status: 400 Bad Request')


if __name__ == '__main__':
    unittest.main(verbosity=2)
