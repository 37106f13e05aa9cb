#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a script of faults does to requests, seen at the socket.

usage: test_faults.py --groved PROGRAM [unittest arguments]
"""
import argparse
import base64
import contextlib
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

from groved import JSON, Groved

CORE = '/api/v1/namespaces/default'
MAPS = f'{CORE}/configmaps'
PROGRAM = None


def config_map(name):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name}}


class Case(unittest.TestCase):
    def start(self, *faults, seed=0, **head):
        """A groved with this script; it is JSON, which is YAML."""
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', delete=False) as f:
            json.dump({'seed': seed, 'faults': list(faults), **head}, f)
        self.addCleanup(os.unlink, f.name)
        self.groved = Groved(PROGRAM, '--virtual-time', '--faults', f.name)
        self.addCleanup(self.groved.stop)

    def create(self, name):
        return self.groved.ask('POST', MAPS, config_map(name))

    def names(self):
        return [item['metadata']['name'] for item in self.groved.ask('GET', MAPS)[2]['items']]

    def fails(self, kind, method='GET', path=MAPS, body=None):
        with self.assertRaises(kind):
            self.groved.ask(method, path, body)

    def raw(self, path, timeout=20):
        """A connection on which one GET was sent."""
        connection = socket.create_connection((self.groved.host, self.groved.port), timeout=timeout)
        self.addCleanup(connection.close)
        connection.sendall(f'GET {path} HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
        return connection

    @staticmethod
    def read_all(connection):
        """What comes until the end, a reset or the time-out; and which of them it was."""
        data = b''
        while True:
            try:
                piece = connection.recv(65536)
            except ConnectionResetError:
                return data, 'reset'
            except TimeoutError:
                return data, 'silence'
            if not piece:
                return data, 'end'
            data += piece


class Answers(Case):
    def test_only_what_matches_fails_and_only_as_often_as_asked(self):
        self.start({'do': 'answer', 'code': 503, 'path': '/api/v1/**/configmaps', 'verb': 'list', 'nth': [2, 3]})
        codes = [self.groved.ask('GET', MAPS)[0] for _ in range(4)]
        self.assertEqual(codes, [200, 503, 503, 200])
        self.assertEqual(self.groved.ask('GET', f'{CORE}/pods')[0], 200)
        self.assertEqual(self.groved.ask('GET', f'{MAPS}/x')[0], 404)

    def test_every_from_times_and_the_limit_of_all(self):
        self.start({'do': 'answer', 'code': 500, 'verb': 'list', 'every': 2, 'times': 2}, {'do': 'answer', 'code': 501, 'verb': 'get', 'from': 3}, limit=4)
        self.assertEqual([self.groved.ask('GET', MAPS)[0] for _ in range(7)], [200, 500, 200, 500, 200, 200, 200])
        self.assertEqual([self.groved.ask('GET', f'{MAPS}/x')[0] for _ in range(6)], [404, 404, 501, 501, 404, 404])

    def test_too_many_requests_with_and_without_retry_after(self):
        self.start({'do': 'answer', 'code': 429, 'reason': 'TooManyRequests', 'retryAfter': 7, 'nth': 1}, {'do': 'answer', 'code': 429, 'nth': 2})
        status, headers, body = self.groved.ask('GET', MAPS)
        self.assertEqual((status, headers['Retry-After'], body['details']['retryAfterSeconds']), (429, '7', 7))
        self.assertEqual((body['kind'], body['reason'], body['code']), ('Status', 'TooManyRequests', 429))
        status, headers, body = self.groved.ask('GET', MAPS)
        self.assertEqual((status, headers.get('Retry-After'), body.get('reason')), (429, None, None))

    def test_an_error_before_and_after_the_write_took_effect(self):
        self.start({'do': 'answer', 'code': 500, 'verb': 'create', 'when': 'before', 'nth': 1},
                   {'do': 'answer', 'code': 500, 'verb': 'create', 'when': 'after', 'nth': 2})
        self.assertEqual(self.create('a')[0], 500)
        self.assertNotIn('a', self.names())
        self.assertEqual(self.create('b')[0], 500)
        self.assertIn('b', self.names())

    def test_bodies_of_proxies(self):
        self.start({'do': 'answer', 'code': 502, 'body': 'html', 'nth': 1}, {'do': 'answer', 'code': 200, 'body': 'html', 'nth': 2},
                   {'do': 'answer', 'code': 503, 'body': 'text', 'nth': 3}, {'do': 'answer', 'code': 504, 'body': 'empty', 'nth': 4})
        seen = [self.groved.ask('GET', MAPS) for _ in range(3)]
        self.assertEqual([(s, h['Content-Type']) for s, h, _ in seen],
                         [(502, 'text/html'), (200, 'text/html'), (503, 'text/plain; charset=utf-8')])
        self.assertIn('<html>', seen[0][2])
        self.assertEqual(self.read_all(self.raw(MAPS, timeout=0.3))[0].split(b'\r\n\r\n')[1], b'')

    def test_gone_in_each_form(self):
        watch = f'{MAPS}?watch=1'
        self.start({'do': 'answer', 'code': 410, 'reason': 'Expired', 'body': 'event', 'verb': 'watch', 'nth': 1},
                   {'do': 'answer', 'code': 410, 'reason': 'Gone', 'body': 'event', 'verb': 'watch', 'nth': 2, 'after': 10},
                   {'do': 'answer', 'code': 410, 'reason': 'Expired', 'verb': 'watch', 'nth': 3},
                   {'do': 'answer', 'code': 410, 'reason': 'Expired', 'resumable': True, 'verb': 'list', 'nth': 3})
        self.create('a'), self.create('b')
        event = {'reason': 'Expired', 'code': 410}
        first = list(self.groved.watch(watch))
        self.assertEqual([e['type'] for e in first], ['ERROR'])
        self.assertEqual({k: first[0]['object'][k] for k in event}, event)
        connection = self.raw(watch)
        data, end = self.read_all_chunks(connection)
        self.assertEqual(end, 'whole')
        self.assertEqual(data[:10], b'{"type":"A')
        self.assertEqual(json.loads(data[10:])['object']['reason'], 'Gone')
        status, _, body = self.groved.ask('GET', watch)
        self.assertEqual((status, body['reason']), (410, 'Expired'))
        page = self.groved.ask('GET', f'{MAPS}?limit=1')[2]
        token = page['metadata']['continue']
        self.groved.ask('GET', f'{MAPS}?limit=1')
        status, _, body = self.groved.ask('GET', f'{MAPS}?limit=1&continue={token}')
        self.assertEqual(status, 410)
        rest = self.groved.ask('GET', f'{MAPS}?limit=1&continue={body["metadata"]["continue"]}')[2]
        self.assertEqual([i['metadata']['name'] for i in page['items'] + rest['items']], ['a', 'b'])

    def read_all_chunks(self, connection):
        """The body out of its chunks, until the last of them; and whether that came."""
        stream = connection.makefile('rb')
        while stream.readline().strip():
            pass  # headers
        body = b''
        while line := stream.readline():
            size = int(line, 16)
            piece = stream.read(size + 2)
            if size == 0:
                return body, 'whole'
            body += piece[:size]
        return body, 'cut'


class Connections(Case):
    def test_dropped_before_and_after_the_write(self):
        self.start({'do': 'drop', 'verb': 'create', 'nth': 1}, {'do': 'drop', 'verb': 'create', 'when': 'after', 'how': 'reset', 'nth': 2})
        self.fails(http.client.RemoteDisconnected, 'POST', MAPS, config_map('a'))
        self.assertNotIn('a', self.names())
        self.fails(ConnectionResetError, 'POST', MAPS, config_map('b'))
        self.assertIn('b', self.names())

    def test_a_watch_is_cut_at_any_byte(self):
        points = [0, 1, 9, 40, 200]
        self.start(*[{'do': 'cut', 'after': n, 'verb': 'watch', 'nth': i + 1} for i, n in enumerate(points)])
        self.create('a')
        for n in points:
            with self.subTest(n):
                data, end = self.read_all(self.raw(f'{MAPS}?watch=1'))
                self.assertEqual(end, 'end')
                body = data.split(b'\r\n\r\n', 1)[1]
                self.assertEqual(len(body.split(b'\r\n', 1)[1]) - 2 if n else len(body), n)
                self.assertNotIn(b'\r\n0\r\n', body)

    def test_an_answer_is_cut_below_its_length(self):
        self.start({'do': 'cut', 'after': 20, 'verb': 'list', 'how': 'reset', 'nth': 1}, {'do': 'cut', 'after': 20, 'verb': 'list', 'nth': 2})
        self.create('a')
        self.assertEqual(self.read_all(self.raw(MAPS))[1], 'reset')
        self.fails(http.client.IncompleteRead)
        self.assertEqual(self.names(), ['a'])

    def test_half_open(self):
        self.start({'do': 'hang', 'verb': 'watch', 'after': 0}, {'do': 'hang', 'verb': 'get'}, {'do': 'hang', 'verb': 'list', 'after': 5})
        self.create('a')
        data, end = self.read_all(self.raw(f'{MAPS}?watch=1&timeoutSeconds=1', timeout=1.5))
        self.assertEqual((end, data.endswith(b'\r\n\r\n'), data[:15]), ('silence', True, b'HTTP/1.1 200 OK'))
        self.assertEqual(self.read_all(self.raw(f'{MAPS}/a', timeout=0.3)), (b'', 'silence'))
        data, end = self.read_all(self.raw(MAPS, timeout=0.3))
        self.assertEqual((end, len(data.split(b'\r\n\r\n', 1)[1])), ('silence', 5))

    def test_slow_bytes(self):
        self.start({'do': 'slow', 'bytesPerSecond': 1000, 'verb': 'list'})
        for name in ('a', 'b', 'c'):
            self.create(name)
        connection = self.raw(MAPS)
        pieces, data = 0, b''
        while b'\r\n\r\n' not in data or len(data.split(b'\r\n\r\n', 1)[1]) < self.length_of(data):
            data += connection.recv(65536)
            pieces += 1
        self.assertGreater(pieces, 4)
        self.assertEqual(len(json.loads(data.split(b'\r\n\r\n', 1)[1])['items']), 3)

    @staticmethod
    def length_of(data):
        return int(data.lower().split(b'content-length: ', 1)[1].split(b'\r\n', 1)[0])

    def test_an_answer_that_comes_late(self):
        self.start({'do': 'delay', 'milliseconds': 300, 'verb': 'list'})
        begin = time.monotonic()
        self.assertEqual(self.names(), [])
        self.assertGreaterEqual(time.monotonic() - begin, 0.3)


class Watches(Case):
    def events(self, path, n):
        stream = self.groved.watch(path)
        return [next(stream) for _ in range(n)]

    def test_bookmarks_are_left_out(self):
        start = f'{MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1'
        self.start({'do': 'no-bookmarks', 'nth': 1}, {'do': 'no-bookmarks', 'initial': True, 'nth': 2}, {'do': 'no-bookmarks', 'verb': 'create'})
        seen = [[e['type'] for e in self.groved.watch(start)] for _ in range(3)]
        self.assertEqual([s.count('BOOKMARK') for s in seen], [1, 0, 1])

    def test_events_of_one_kind_come_later_than_those_of_another(self):
        self.start({'do': 'delay', 'milliseconds': 500, 'verb': 'watch', 'path': '**/configmaps'})
        maps, secrets = self.groved.watch(f'{MAPS}?watch=1'), self.groved.watch(f'{CORE}/secrets?watch=1')
        self.create('a')
        self.groved.ask('POST', f'{CORE}/secrets', {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 's'}})
        begin = time.monotonic()
        self.assertEqual(next(secrets)['object']['metadata']['name'], 's')
        early = time.monotonic() - begin
        self.assertEqual(next(maps)['object']['metadata']['name'], 'a')
        self.assertLess(early, time.monotonic() - begin)
        self.assertGreaterEqual(time.monotonic() - begin, 0.3)

    def test_a_stale_list_leads_on_to_what_it_lacks(self):
        self.start({'do': 'stale', 'verb': 'list', 'nth': 3})
        self.assertEqual(self.names(), [])
        self.create('a')
        self.assertEqual(self.names(), ['a'])
        old = self.groved.ask('GET', MAPS)[2]
        self.assertEqual(old['items'], [])
        event = self.events(f'{MAPS}?watch=1&resourceVersion={old["metadata"]["resourceVersion"]}', 1)[0]
        self.assertEqual((event['type'], event['object']['metadata']['name']), ('ADDED', 'a'))
        self.assertEqual(self.names(), ['a'])


class Restarts(Case):
    def come_back(self):
        for _ in range(100):
            try:
                return self.groved.ask('GET', MAPS)
            except OSError:
                time.sleep(0.05)
        self.fail('it did not come back')

    def test_all_connections_end_and_objects_stay(self):
        self.start({'do': 'restart', 'verb': 'create', 'nth': 2, 'when': 'after', 'milliseconds': 200})
        self.create('a')
        version = self.groved.ask('GET', MAPS)[2]['metadata']['resourceVersion']
        watch = self.raw(f'{MAPS}?watch=1')
        self.fails(http.client.RemoteDisconnected, 'POST', MAPS, config_map('b'))
        self.assertEqual(self.read_all(watch)[1], 'end')
        with self.assertRaises(ConnectionRefusedError):
            self.raw(MAPS)
        self.assertEqual([i['metadata']['name'] for i in self.come_back()[2]['items']], ['a', 'b'])
        event = next(self.groved.watch(f'{MAPS}?watch=1&resourceVersion={version}'))
        self.assertEqual(event['object']['metadata']['name'], 'b')

    def test_history_may_be_lost(self):
        self.start({'do': 'restart', 'verb': 'create', 'nth': 4, 'forget': True})
        self.create('0')
        self.create('a')
        page = self.groved.ask('GET', f'{MAPS}?limit=1')[2]['metadata']
        version = page['resourceVersion']
        self.create('aa')
        self.fails(http.client.RemoteDisconnected, 'POST', MAPS, config_map('b'))
        self.come_back()
        self.create('c')
        event = next(self.groved.watch(f'{MAPS}?watch=1&resourceVersion={int(version) - 1}'))
        self.assertEqual((event['type'], event['object']['code']), ('ERROR', 410))
        status, _, gone = self.groved.ask('GET', f'{MAPS}?limit=1&continue={page["continue"]}')
        self.assertEqual((status, gone['reason']), (410, 'Expired'))
        rest = self.groved.ask('GET', f'{MAPS}?continue={gone["metadata"]["continue"]}')[2]
        self.assertEqual([i['metadata']['name'] for i in rest['items']], ['a', 'aa', 'c'])
        exact = self.groved.ask('GET', f'{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact')
        self.assertEqual((exact[0], exact[2]['reason']), (410, 'Expired'))


class Certificates(Case):
    def start_tls(self, *faults):
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', delete=False) as f:
            json.dump({'faults': list(faults)}, f)
        self.addCleanup(os.unlink, f.name)
        self.groved = Groved(PROGRAM, '--virtual-time', '--tls', '--faults', f.name)
        self.addCleanup(self.groved.stop)
        with open(self.groved.kubeconfig, encoding='utf-8') as f:
            text = f.read()
        self.assertIn(f'server: https://{self.groved.host}:{self.groved.port}\n', text)
        self.trust = ssl.create_default_context(cadata=base64.b64decode(re.search('certificate-authority-data: (.*)', text)[1]).decode())

    def get(self):
        """What a client sees that trusts the kubeconfig's authority: the status, or why the certificate is no good."""
        try:
            with contextlib.closing(http.client.HTTPSConnection(self.groved.host, self.groved.port, timeout=20, context=self.trust)) as connection:
                connection.request('GET', MAPS)
                answer = connection.getresponse()
                json.load(answer)
                return answer.status
        except ssl.SSLCertVerificationError as error:
            return error.verify_message

    def peer(self):
        """The certificate of a new connection."""
        with socket.create_connection((self.groved.host, self.groved.port), timeout=20) as plain:
            with self.trust.wrap_socket(plain, server_hostname='localhost') as connection:
                return connection.getpeercert(binary_form=True), connection.version()

    def test_each_kind(self):
        kinds = ['good', 'expired', 'not-yet-valid', 'other-host', 'other-authority', 'renewed']
        self.start_tls(*[{'do': 'certificate', 'certificate': kind, 'verb': 'connect', 'nth': i + 1} for i, kind in enumerate(kinds)])
        seen = [self.get() for _ in kinds]
        self.assertEqual((seen[0], seen[5]), (200, 200))
        for answer, words in zip(seen[1:5], ('expired', 'not yet valid', 'mismatch|not valid for', 'unable to get local issuer')):
            self.assertRegex(str(answer), words)
        self.assertEqual(self.get(), 200)

    def test_a_renewed_one_has_another_key(self):
        self.start_tls({'do': 'certificate', 'certificate': 'renewed', 'verb': 'connect', 'from': 3})
        seen = [self.peer() for _ in range(4)]
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[2], seen[3])
        self.assertNotEqual(seen[1][0], seen[2][0])
        self.assertIn(seen[0][1], ('TLSv1.2', 'TLSv1.3'))

    def test_watches_and_cuts_over_tls(self):
        self.start_tls({'do': 'cut', 'verb': 'watch', 'after': 30, 'nth': 1})
        with contextlib.closing(http.client.HTTPSConnection(self.groved.host, self.groved.port, timeout=20, context=self.trust)) as connection:
            connection.request('POST', MAPS, json.dumps(config_map('a')), {'Content-Type': JSON})
            self.assertEqual(connection.getresponse().read()[:1], b'{')
            connection.request('GET', f'{MAPS}?watch=1')
            with self.assertRaises((http.client.IncompleteRead, ssl.SSLError, ConnectionError)):
                connection.getresponse().read()
        with contextlib.closing(http.client.HTTPSConnection(self.groved.host, self.groved.port, timeout=20, context=self.trust)) as connection:
            connection.request('GET', f'{MAPS}?watch=1')
            self.assertEqual(json.loads(connection.getresponse().readline())['type'], 'ADDED')

    def test_certificates_need_tls(self):
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as f:
            f.write('faults: [{do: certificate, certificate: expired, verb: connect}]')
            f.flush()
            done = subprocess.run([PROGRAM, '--embedded', '--faults', f.name], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('certificates need --tls', done.stderr)


class Scripts(Case):
    def codes(self, seed):
        self.start({'do': 'answer', 'code': 500, 'probability': '1/3'}, seed=seed)
        return [self.groved.ask('GET', MAPS)[0] for _ in range(30)]

    def test_the_seed_decides(self):
        first = self.codes(1)
        self.assertEqual(first, self.codes(1))
        self.assertNotEqual(first, self.codes(2))
        self.assertTrue(2 <= first.count(500) <= 20)

    def test_the_tally_is_told_at_the_end(self):
        self.start({'name': 'busy', 'do': 'answer', 'code': 429, 'nth': 2})
        for _ in range(3):
            self.groved.ask('GET', MAPS)
        self.groved.process.terminate()
        self.assertIn('groved: fault busy: 1 of 3\n', self.groved.process.stderr.read())

    def test_a_wrong_script_is_told_with_its_line(self):
        cases = {'[1]': 'line 1: a script is an object', 'faults:\n- do: [drop]': 'line 2: do is one of', 'faults: 3': "line 1: 'faults' must be a list",
                 'faults:\n- do: nosuch': 'line 2: do is one of drop, answer, cut, hang, slow, delay, no-bookmarks, stale, restart, certificate',
                 'faults:\n- do: cut\n  code: 3': "line 3: cut has no member 'code'",
                 'faults:\n- do: drop\n  verb: read': 'line 3: verb is one of any, get, list, watch',
                 'faults:\n- do: answer': 'line 2: answer needs a code from 200 to 599',
                 'faults:\n- do: drop\n  probability: 0.1': 'line 3: probability is a fraction such as 1/20',
                 'faults: []\nmore: 1': "line 2: a script has seed, limit and faults, not 'more'",
                 'faults:\n- do: cut\n  after: -1': 'line 3: after must be a number from 0'}
        for text, message in cases.items():
            with self.subTest(text), tempfile.NamedTemporaryFile('w', suffix='.yaml') as f:
                f.write(text)
                f.flush()
                done = subprocess.run([PROGRAM, '--embedded', '--faults', f.name], capture_output=True, text=True, timeout=20, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved', required=True)
    options, rest = parser.parse_known_args()
    PROGRAM = options.groved
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
