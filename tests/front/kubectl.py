# SPDX-License-Identifier: Apache-2.0
"""Which kubectl tests use, and a test case with a groved that it talks to.

It is $KUBECTL, that of the control-plane fixture, or the one on the PATH; without any everything is skipped.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import unittest

from groved import Groved


def find_kubectl():
    cache = os.path.join(os.environ.get('XDG_CACHE_HOME', os.path.expanduser('~/.cache')), 'libgrove', 'control-plane')
    named = [os.environ.get('KUBECTL'), *sorted(glob.glob(os.path.join(cache, '*', 'kubectl')), reverse=True)]
    return next((k for k in named if k and os.access(k, os.X_OK)), shutil.which('kubectl'))


KUBECTL = find_kubectl()


def minor_version():
    """20 for kubectl 1.20."""
    done = subprocess.run([KUBECTL, 'version', '--client', '-o', 'json'], capture_output=True, text=True, timeout=60, check=True)
    return int(re.match(r'\d+', json.loads(done.stdout)['clientVersion']['minor'])[0])


MINOR = minor_version() if KUBECTL else 0
OLD = MINOR < 27  # knows OpenAPI v2 only, which is not served: no validation, no explain


def not_old(test):
    return unittest.skipIf(OLD, f'kubectl 1.{MINOR} reads OpenAPI v2 only')(test)


@unittest.skipUnless(KUBECTL, 'no kubectl here: apt-get install kubernetes-client, or ./dev control-plane build')
class KubectlCase(unittest.TestCase):
    @classmethod
    def start(cls, program, *args):
        """A groved in virtual time with a namespace demo."""
        cls.groved = Groved(program, '--virtual-time', *args)
        cls.addClassCleanup(cls.groved.stop)
        cls.environment = dict(os.environ, KUBECONFIG=cls.groved.kubeconfig, HOME=cls.groved.folder.name)
        namespace = {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'demo'}}
        cls.groved.ask('POST', '/api/v1/namespaces', namespace)

    @classmethod
    def run_once(cls, *words, namespace='demo', code=0, stdin=None):
        if OLD and words[0] in ('apply', 'create') and '-f' in words:
            words = (*words, '--validate=false')
        done = subprocess.run([KUBECTL, '-n', namespace, *words], env=cls.environment, input=stdin, capture_output=True, text=True, timeout=60)
        if done.returncode != code:
            raise AssertionError(f'kubectl {words}: exit {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stdout if code == 0 else done.stderr
