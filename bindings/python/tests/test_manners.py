# SPDX-License-Identifier: Apache-2.0
"""Memory and threads. GROVE_PYTHON_CALLS: calls of the leak test [5000; the gate runs 100000]."""
import gc
import os
import threading
import unittest

import grove
import support

CALLS = int(os.environ.get('GROVE_PYTHON_CALLS', '5000'))


def resident_kib():
    with open('/proc/self/status', encoding='ascii') as status:
        return next(int(line.split()[1]) for line in status if line.startswith('VmRSS'))


def one_round(item):
    grove.validate(item)
    grove.default(item)
    doc = grove.Document.from_python(item)
    doc.hash()
    try:
        grove.Document.from_json('{')
    except grove.ParseError:
        pass
    grove.Store(doc)
    grove.Quantity('12Gi')


class Manners(unittest.TestCase):
    def test_nothing_leaks(self):
        item = support.small_set()
        for _ in range(CALLS // 20):
            one_round(item)
        gc.collect()
        before = resident_kib()
        for _ in range(CALLS // 6):  # six calls a round
            one_round(item)
        gc.collect()
        self.assertLess(resident_kib() - before, 2048)

    def test_threads_get_the_same_answers(self):
        items = [support.small_set(f'set-{i}', replicas=1 + i % 3) for i in range(12)]
        config = grove.Config(support.manifest('cluster-topology'))
        expected = [grove.render(item, config=config) for item in items]
        wrong = []

        def work():
            for _ in range(5):
                for item, want in zip(items, expected):
                    if grove.render(item, config=config) != want:
                        wrong.append(item)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_long_calls_let_others_run(self):
        """While one thread parses a large document, another one counts."""
        text = '[' + ','.join(['{"a":[1,2,3],"b":"ccccccccccccccccccc"}'] * 200000) + ']'
        parsing, counted = threading.Event(), []

        def parse():
            parsing.set()
            grove.Document.from_json(text).close()
            parsing.clear()

        thread = threading.Thread(target=parse)
        thread.start()
        while thread.is_alive():
            if parsing.is_set():
                counted.append(1)
        thread.join()
        self.assertGreater(len(counted), 100)

    def test_log_records_arrive(self):
        records = []
        env = grove.Environment(log=lambda *record: records.append(record), log_level=5)
        with grove.SimulatedCluster(nodes='1x1x1x8', env=env) as sim, grove.Engine(env=env) as engine:
            sim.apply(grove.default(support.small_set()))
            grove.run(engine, sim, until_ns=sim.now_ns + 30 * grove.SECOND)
        self.assertTrue(all(1 <= level <= 5 and component for level, component, _, _ in records))


if __name__ == '__main__':
    unittest.main(verbosity=2)
