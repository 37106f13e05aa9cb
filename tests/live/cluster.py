# SPDX-License-Identifier: Apache-2.0
"""The control plane that runs (./dev control-plane up), and groved on it under the rights that deploy/ gives it."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / 'tests/conformance'), str(ROOT / 'tests/groved')]
from daemon import Daemon  # noqa: E402
from schema_on_server import Server  # noqa: E402

SKIPPED = 77
OWN = 'grove-system'
STUBS = ROOT / 'tests/live/stubs.yaml'
MANIFEST = ROOT / 'deploy/manifests/groved.yaml'
MERGE = 'application/merge-patch+json'
RIGHTS = ('ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding')


def until(what, test, timeout=60, pause=0.2):
    """Asks again until the answer is true; says what it was when it never is."""
    end, answer = time.monotonic() + timeout, None
    while time.monotonic() < end:
        answer = test()
        if answer:
            return answer
        time.sleep(pause)
    raise AssertionError(f'{what}: not in {timeout} s: {answer!r}')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Cluster:
    def __init__(self, groved):
        status = subprocess.run([str(ROOT / 'tests/control-plane/control-plane.sh'), 'status'], capture_output=True, text=True)
        if status.returncode:
            print('live: SKIPPED: no control plane runs (./dev control-plane up)', file=sys.stderr)
            sys.exit(SKIPPED)
        self.groved = groved
        self.admin = re.search(r'^KUBECONFIG=(.*)$', status.stdout, re.M).group(1)
        self.programs = re.search(r'^programs +(.*)$', status.stdout, re.M).group(1)
        self.server = Server(self.admin)
        self.folder = pathlib.Path(self.admin).parent

    def part(self, name):
        """The process id of a part of the control plane."""
        return int((self.folder / f'{name}.pid').read_text())

    # ---- as administrator ----

    def kubectl(self, *words, stdin=None, code=0):
        done = subprocess.run([f'{self.programs}/kubectl', '--kubeconfig', self.admin, f'--cache-dir={self.folder}/kube-cache', *words],
                              input=stdin, capture_output=True, text=True, timeout=180)
        if code is not None and done.returncode != code:
            raise AssertionError(f'kubectl {" ".join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stdout if done.returncode == 0 else done.stderr

    def call(self, method, path, body=None, kind='application/json'):
        for _ in range(3):
            try:
                return self.server.call(method, path, {} if body is None else body, kind)
            except (OSError, ValueError) as error:  # an idle connection was closed
                last = error
                self.server = Server(self.admin)
        raise last

    def get(self, path):
        return self.call('GET', path)[1]

    def items(self, path):
        return self.get(path).get('items', [])

    def namespace(self, name):
        self.call('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': name}})
        until(f'{name} has its account', lambda: self.call('GET', f'/api/v1/namespaces/{name}/serviceaccounts/default')[0] == 200)

    # ---- groved ----

    def install(self):
        """Everything that groved needs, from nothing: what the operators' page tells to do."""
        self.definitions('upstream')
        self.kubectl('apply', '--server-side', '--force-conflicts', '-f', str(STUBS))
        self.kubectl('wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all')
        self.namespace(OWN)
        self.rights()
        return self.as_groved()

    def definitions(self, which):
        """Grove's own kinds, or those with libgrove's fields (extended)."""
        done = subprocess.run([self.groved, 'install-crds', '--set', which, '--kubeconfig', self.admin],
                              capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise AssertionError(done.stderr)

    def rights(self, change=lambda obj: obj, *settings):
        """Applies the rights of the manifest, or of the chart with these settings, each object as `change` gives it back."""
        words = [word for setting in settings for word in ('--set', setting)]
        text = subprocess.run([ROOT / 'build-aux/render-chart.py', *words], capture_output=True, text=True, check=True).stdout \
            if settings else MANIFEST.read_text()
        objects = [o for o in yaml.safe_load_all(text) if o and o['kind'] in RIGHTS]
        text = yaml.safe_dump_all([change(o) for o in objects])
        self.kubectl('apply', '--server-side', '--force-conflicts', '-f', '-', stdin=text)

    def as_groved(self):
        """A kubeconfig of groved's ServiceAccount: its token and nothing else."""
        token = self.kubectl('-n', OWN, 'create', 'token', 'grove-operator', '--duration=4h').strip()
        config = yaml.safe_load(pathlib.Path(self.admin).read_text())
        config['users'] = [{'name': 'groved', 'user': {'token': token}}]
        config['contexts'] = [{'name': 'groved', 'context': {'cluster': config['clusters'][0]['name'], 'user': 'groved',
                                                             'namespace': OWN}}]
        config['current-context'] = 'groved'
        path = self.folder / 'groved.kubeconfig'
        path.write_text(yaml.safe_dump(config))
        return str(path)

    def daemon(self, kubeconfig, *args, **more):
        port = free_port()
        return Daemon(self.groved, kubeconfig, '--webhook-url', f'https://127.0.0.1:{port}', '--webhooks', f'127.0.0.1:{port}',
                      *args, **more)

    def clean(self):
        """Sets and namespaces of earlier runs, and the webhooks that would stand in the way."""
        base = '/apis/admissionregistration.k8s.io/v1'
        for kind, name in (('mutatingwebhookconfigurations', 'podcliqueset-defaulting-webhook'),
                           ('validatingwebhookconfigurations', 'podcliqueset-validating-webhook'),
                           ('validatingwebhookconfigurations', 'clustertopology-validating-webhook'),
                           ('validatingwebhookconfigurations', 'authorizer-webhook'),
                           ('validatingwebhookconfigurations', 'scale-validating-webhook')):
            self.call('DELETE', f'{base}/{kind}/{name}')


class Binder(threading.Thread):
    """Binds every pod that may be bound, in turn, whatever it asks for: as the recordings were made."""

    def __init__(self, cluster, prefix):
        super().__init__(daemon=True)
        self.server = Server(cluster.admin)
        self.prefix = prefix
        self.ended = threading.Event()

    def run(self):
        nodes = [n['metadata']['name'] for n in self.server.call('GET', '/api/v1/nodes', {})[1]['items']]
        turn = 0
        while not self.ended.wait(0.2):
            pods = self.server.call('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3D', {})[1].get('items', [])
            for pod in pods:
                ns, name = pod['metadata']['namespace'], pod['metadata']['name']
                if ns.startswith(self.prefix) and not pod['spec'].get('schedulingGates') and 'deletionTimestamp' not in pod['metadata']:
                    turn += 1
                    self.server.call('POST', f'/api/v1/namespaces/{ns}/pods/{name}/binding', {
                        'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': name},
                        'target': {'apiVersion': 'v1', 'kind': 'Node', 'name': nodes[turn % len(nodes)]}})

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def memory(pid):
    """Peak and anonymous resident memory in MB."""
    text = pathlib.Path(f'/proc/{pid}/status').read_text()
    field = {k: int(v) / 1024 for k, v in re.findall(r'^(\w+):\s+(\d+) kB$', text, re.M)}
    return field['VmHWM'], field['RssAnon']


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
