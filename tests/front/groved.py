# SPDX-License-Identifier: Apache-2.0
"""Starts groved on a free port for a test and ends it; requests to it by the standard library."""
import contextlib
import http.client
import json
import os
import re
import subprocess
import tempfile

JSON = 'application/json'
MERGE = 'application/merge-patch+json'
TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'


class Groved:
    """A groved of this test's own; a context manager."""

    def __init__(self, program, *args):
        self.folder = tempfile.TemporaryDirectory()
        self.kubeconfig = os.path.join(self.folder.name, 'kubeconfig')
        self.process = subprocess.Popen(
            [program, '--embedded', '--listen', '127.0.0.1:0', '--kubeconfig-out', self.kubeconfig, *args],
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()  # printed when it serves
        found = re.search(r'listening on https?://([\d.]+):(\d+)', line)
        if not found:
            self.stop()
            raise RuntimeError(f'groved did not start: {line}')
        self.host, self.port = found.group(1), int(found.group(2))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends it as a person would; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(timeout=20)
        self.process.stderr.close()
        self.folder.cleanup()
        return code

    def open(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=20)

    def ask(self, method, path, body=None, content_type=JSON, accept=JSON, headers=None):
        """Status, headers and body (parsed where it is JSON) of one request."""
        connection = self.open()
        headers = {'Accept': accept, **(headers or {})}
        if body is not None:
            headers['Content-Type'] = content_type
            body = body if isinstance(body, str) else json.dumps(body)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            data = answer.read()
        is_json = answer.getheader('Content-Type', '').startswith(JSON)
        seen = {key: ', '.join(answer.headers.get_all(key)) for key in answer.headers}
        return answer.status, seen, json.loads(data) if is_json else data.decode()

    def watch(self, path, accept=JSON):
        """The events of a watch, one by one, until the server ends it."""
        with contextlib.closing(self.open()) as connection:
            connection.request('GET', path, headers={'Accept': accept})
            with connection.getresponse() as answer:
                assert answer.status == 200, answer.read()
                for line in answer:
                    yield json.loads(line)
