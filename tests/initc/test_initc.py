#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grove-initc against an embedded cluster whose pods this test makes Ready itself.

usage: test_initc.py --groved PROGRAM --initc PROGRAM [unittest arguments]
"""
import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'front'))
from groved import Groved, MERGE  # noqa: E402

PROGRAM = INITC = None
PODS = '/api/v1/namespaces/default/pods'


class Waiter:
    """One grove-initc; its log is read line by line, so that a test waits for what it says."""

    def __init__(self, kubeconfig, folder, *args):
        self.process = subprocess.Popen([INITC, '--kubeconfig', kubeconfig, '--pod-info', folder, *args],
                                        stderr=subprocess.PIPE, text=True)
        self.lines = []

    def until(self, text):
        for line in self.process.stderr:
            self.lines.append(line)
            if text in line:
                return
        raise AssertionError(f'it ended without "{text}": {self.lines}')

    def end(self):
        code = self.process.wait(timeout=30)
        self.lines += self.process.stderr.readlines()
        self.process.stderr.close()
        return code


class Usage(unittest.TestCase):
    def run_with(self, *args):
        return subprocess.run([INITC, *args], capture_output=True, text=True, timeout=20)

    def test_nothing_to_wait_for(self):
        for args in ((), ('--podcliques=',), ('-p', '  ')):
            self.assertEqual(self.run_with(*args).returncode, 0)

    def test_wrong_arguments(self):
        for value in ('a', 'a:1:2', ':1', 'a:', 'a:0', 'a:-1', 'a:x', 'a:1x'):
            with self.subTest(value):
                done = self.run_with(f'--podcliques={value}')
                self.assertEqual(done.returncode, 1)
                self.assertIn('--podcliques', done.stderr)
        self.assertEqual(self.run_with('--other').returncode, 1)

    def test_unreadable_files(self):
        done = self.run_with('-p', 'a:1', '--pod-info', '/nowhere')
        self.assertEqual(done.returncode, 1)
        self.assertIn('/nowhere/namespace', done.stderr)


class Waiting(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.cluster = self.stack.enter_context(Groved(PROGRAM, '--no-operator', '--nodes', '1x1x1x0'))
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        for name, text in (('namespace', 'default'), ('podgangname', 'demo-0')):
            with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as f:
                f.write(text)

    def wait(self, *values):
        w = Waiter(self.cluster.kubeconfig, self.folder, *[f'--podcliques={v}' for v in values])
        self.addCleanup(lambda: w.process.poll() is None and (w.process.kill(), w.end()))
        return w

    def pod(self, name, clique, gang='demo-0', finalizers=()):
        """A pod that nothing schedules: it is Ready when the test says so."""
        labels = {'grove.io/podclique': clique, 'grove.io/podgang': gang}
        pod = {'apiVersion': 'v1', 'kind': 'Pod',
               'metadata': {'name': name, 'namespace': 'default', 'labels': labels, 'finalizers': list(finalizers)},
               'spec': {'schedulerName': 'nobody', 'containers': [{'name': 'c', 'image': 'a'}]}}
        self.assertEqual(self.cluster.ask('POST', PODS, pod)[0], 201)

    def ready(self, name, value='True'):
        status = {'status': {'conditions': [{'type': 'Ready', 'status': value}]}}
        self.assertEqual(self.cluster.ask('PATCH', f'{PODS}/{name}/status', status, content_type=MERGE)[0], 200)

    def test_it_ends_when_all_are_ready_at_one_moment(self):
        w = self.wait('demo-0-a:2', 'demo-0-b:1')
        w.until('demo-0-a 0 of 2, demo-0-b 0 of 1')
        for name, clique in (('a1', 'demo-0-a'), ('a2', 'demo-0-a'), ('b1', 'demo-0-b')):
            self.pod(name, clique)
        self.ready('a1')
        w.until('demo-0-a 1 of 2')
        self.ready('a2')
        w.until('demo-0-a 2 of 2')
        self.ready('a1', 'False')
        w.until('demo-0-a 1 of 2')
        self.ready('b1')
        w.until('demo-0-b 1 of 1')
        self.assertIsNone(w.process.poll())
        self.ready('a1')
        self.assertEqual(w.end(), 0)

    def test_what_comes_after_the_end_is_harmless(self):
        for round in range(5):
            w = self.wait('demo-0-a:1')
            w.until('demo-0-a 0 of 1')
            self.pod('a%d' % round, 'demo-0-a')
            self.ready('a%d' % round)
            w.until('demo-0-a 1 of 1')
            self.ready('a%d' % round, 'False')
            self.pod('late%d' % round, 'demo-0-a')
            self.cluster.ask('DELETE', f'{PODS}/late{round}')
            self.assertEqual(w.end(), 0)

    def test_pods_of_others_do_not_count(self):
        self.pod('x', 'demo-0-a-b')  # a clique whose name begins alike
        self.pod('y', 'demo-0-a', gang='demo-1')
        self.ready('x')
        self.ready('y')
        w = self.wait('demo-0-a:1')
        w.until('demo-0-a 0 of 1')
        self.pod('z', 'demo-0-a')
        self.ready('z')
        self.assertEqual(w.end(), 0)

    def test_a_pod_that_is_going_does_not_count(self):
        self.pod('a1', 'demo-0-a', finalizers=['example.com/hold'])
        self.ready('a1')
        self.cluster.ask('DELETE', f'{PODS}/a1')
        w = self.wait('demo-0-a:1')
        w.until('demo-0-a 0 of 1')
        self.pod('a2', 'demo-0-a')
        self.ready('a2')
        self.assertEqual(w.end(), 0)

    def test_it_survives_an_api_server_that_is_away(self):
        address = f'{self.cluster.host}:{self.cluster.port}'
        w = self.wait('demo-0-a:1')
        w.until('demo-0-a 0 of 1')
        self.cluster.process.kill()
        self.cluster.process.wait()
        w.until('warn grove-initc: the watch of pods is tried again: ')
        again = subprocess.Popen([PROGRAM, '--embedded', '--no-operator', '--listen', address, '--nodes', '1x1x1x0'],
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (again.terminate(), again.wait(), again.stderr.close()))
        self.assertIn('listening', again.stderr.readline())
        self.pod('a1', 'demo-0-a')
        self.ready('a1')
        self.assertEqual(w.end(), 0)

    def test_a_signal_ends_it_with_1(self):
        w = self.wait('demo-0-a:1')
        w.until('demo-0-a 0 of 1')
        w.process.terminate()
        self.assertEqual(w.end(), 1)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    parser.add_argument('--initc', required=True)
    known, rest = parser.parse_known_args()
    PROGRAM, INITC = known.groved, known.initc
    unittest.main(argv=[sys.argv[0], *rest])
