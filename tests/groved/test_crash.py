#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groved dies by SIGKILL at more than fifty numbered writes, over HTTP: what it leaves another one completes.

usage: test_crash.py --groved PROGRAM [unittest arguments]

The cluster is an embedded one without an operator in it; tests/live does the same on a real API server.
"""
import argparse
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'front'))
from groved import Groved  # noqa: E402
from crash import Crashes  # noqa: E402
from daemon import Daemon  # noqa: E402

PROGRAM = None


class Mortal(unittest.TestCase):
    def test_every_few_writes_the_last(self):
        with Groved(PROGRAM, '--no-operator') as cluster:
            def ask(method, path, body, kind):
                answer = cluster.ask(method, path, body, content_type=kind or 'application/json')
                return answer[0], answer[2]

            points = Crashes(ask, lambda *words: Daemon(PROGRAM, cluster.kubeconfig, '--no-webhooks', '--force-takeover', *words), 'default').run()
        self.assertGreaterEqual(points, 50)
        print(f'{points} ends by SIGKILL', file=sys.stderr)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    known, rest = parser.parse_known_args()
    PROGRAM = known.groved
    unittest.main(argv=[sys.argv[0], *rest])
