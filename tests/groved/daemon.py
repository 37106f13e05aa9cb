# SPDX-License-Identifier: Apache-2.0
"""Starts groved against a cluster for a test, waits for what its log says, asks its ports and its control socket."""
import json
import os
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

CONFIG = {'apiVersion': 'operator.config.grove.io/v1alpha1', 'kind': 'OperatorConfiguration', 'logFormat': 'json',
          'topologyAwareScheduling': {'enabled': True},
          'scheduler': {'profiles': [{'name': 'default-scheduler'}, {'name': 'kai-scheduler'}]}}
ELECTION = {'enabled': True, 'leaseDuration': '3s', 'renewDeadline': '2s', 'retryPeriod': '500ms'}


class Daemon:
    """A groved on a real or embedded cluster; a context manager."""

    def __init__(self, program, kubeconfig, *args, config=None, env=None):
        self.folder = tempfile.TemporaryDirectory()
        self.program = program
        self.socket = os.path.join(self.folder.name, 'socket')
        path = os.path.join(self.folder.name, 'config.yaml')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({**CONFIG, **(config or {})}, f)
        words = [program, '--backend', 'k8s', '--kubeconfig', kubeconfig, '--config', path, '--control', self.socket,
                 '--probes', '127.0.0.1:0', '--metrics', '127.0.0.1:0', '--webhooks', '127.0.0.1:0', *args]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})})
        self.lines = []
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            try:
                record = json.loads(line)
            except ValueError:
                record = {'msg': line.rstrip('\n')}
            with self.news:
                self.lines.append(record)
                self.news.notify_all()
        with self.news:
            self.lines.append({'msg': '(end of the log)'})
            self.news.notify_all()

    def wait_for(self, message, timeout=30, **fields):
        """The first record with this message and these fields; it may be past."""
        def found():
            return next((r for r in self.lines if r['msg'] == message and all(r.get(k) == v for k, v in fields.items())), None)
        with self.news:
            if not self.news.wait_for(lambda: found() or self.lines and self.lines[-1]['msg'] == '(end of the log)', timeout):
                raise AssertionError(f'no record "{message}" in time: {self.lines[-5:]}')
            record = found()
        if not record:
            raise AssertionError(f'groved ended without "{message}": {self.lines}')
        return record

    def address(self, what):
        return self.wait_for('listening', **{'for': what})['address']

    def get(self, what, path):
        """Status and text of a request to a port of it."""
        try:
            with urllib.request.urlopen(f'http://{self.address(what)}{path}', timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metrics(self):
        """Every sample by its name with labels."""
        samples = {}
        for line in self.get('metrics', '/metrics')[1].splitlines():
            if not line.startswith('#'):
                name, value = line.rsplit(' ', 1)
                samples[name] = float(value)
        return samples

    def writes(self):
        """How many writes the server accepted so far."""
        return sum(v for k, v in self.metrics().items() if k.startswith('grove_writes_total'))

    def ctl(self, *words):
        done = subprocess.run([self.program, 'ctl', '--control', self.socket, *words], capture_output=True, text=True, timeout=20)
        return done.returncode, done.stdout

    def stop(self):
        """Ends it as a kubelet would; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.end()

    def kill(self):
        self.process.kill()
        return self.end()

    def end(self, timeout=30):
        code = self.process.wait(timeout=timeout)
        self.reader.join(timeout=10)
        self.output = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        self.folder.cleanup()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.end()
