# SPDX-License-Identifier: Apache-2.0
"""The embedded cluster, backends in Python, the engine on both."""
import sys
import unittest

import grove
import support

sys.path.insert(0, str(support.ROOT / 'examples' / 'python'))
import memory_cluster  # noqa: E402


class Embedded(unittest.TestCase):
    def test_a_set_comes_up_scales_and_goes(self):
        with grove.SimulatedCluster(nodes='1x2x2x8') as sim, grove.Engine() as engine:
            sim.apply(grove.default(support.small_set()))
            grove.run(engine, sim, until_ns=sim.now_ns + 60 * grove.SECOND)
            pods = sim.list('Pod', 'default')
            self.assertEqual([pod['status']['phase'] for pod in pods], ['Running'] * 2)
            self.assertEqual(sim.get('PodCliqueSet', 'default', 'small')['status']['availableReplicas'], 1)
            sim.scale('PodClique', 'default', 'small-0-worker', 4)
            grove.run(engine, sim, until_ns=sim.now_ns + 60 * grove.SECOND)
            self.assertEqual(len(sim.list('Pod', 'default')), 4)
            sim.delete('PodCliqueSet', 'default', 'small')
            grove.run(engine, sim, until_ns=sim.now_ns + 120 * grove.SECOND)
            self.assertEqual(sim.list('Pod', 'default') + sim.list('PodClique', 'default'), [])
            self.assertTrue(engine.idle)

    def test_waiting_is_explained(self):
        with grove.SimulatedCluster(nodes='1x1x1x1') as sim, grove.Engine() as engine:
            too_big = support.small_set()
            too_big['spec']['template']['cliques'][0]['spec']['podSpec']['containers'][0]['resources'] = {
                'requests': {'cpu': '1000'}}
            sim.apply(grove.default(too_big))
            grove.run(engine, sim, until_ns=sim.now_ns + 60 * grove.SECOND)
            self.assertTrue(engine.explain('PodCliqueSet', 'default', 'small', now_ns=sim.now_ns))
            self.assertEqual({pod['status']['phase'] for pod in sim.list('Pod')}, {'Pending'})

    def test_unknown_kinds_and_objects(self):
        with grove.SimulatedCluster() as sim:
            with self.assertRaises(grove.NotFound):
                sim.list('Gizmo')
            with self.assertRaises(grove.NotFound):
                sim.get('Pod', 'default', 'none')


class InPython(unittest.TestCase):
    def test_the_conformance_kit_passes(self):
        checks = grove.conformance(memory_cluster.MemoryCluster())
        self.assertEqual([check for check in checks if check.result == 'failed'], [])
        self.assertGreater(sum(check.result == 'passed' for check in checks), 50)

    def test_a_broken_backend_is_found_out(self):
        class Forgetful(memory_cluster.MemoryCluster):
            def delete(self, operation):
                return self.stored(operation)[1]
        failed = {check.name for check in grove.conformance(Forgetful()) if check.result == 'failed'}
        self.assertIn('delete-removes', failed)

    def test_a_set_comes_up(self):
        cluster, engine = memory_cluster.MemoryCluster(), grove.Engine()
        start = 1_767_225_600 * grove.SECOND
        stored = grove.default(support.manifest('leader-worker'))
        cluster.submit(grove.Operation.make('CREATE', 'PodCliqueSet', 'default', body=stored))
        memory_cluster.converge(cluster, engine, start)
        phases = [obj['status']['phase'] for key, obj in cluster.objects.items() if key[0] == 'Pod']
        self.assertEqual(phases, ['Running'] * 5)
        self.assertEqual(engine.stats()['failures'], 0)

    def test_what_a_backend_raises_ends_the_turn(self):
        class Broken(memory_cluster.MemoryCluster):
            def process(self, now_ns, budget, sink):
                raise RuntimeError('out of paper')
        with self.assertRaisesRegex(grove.InternalError, 'out of paper'):
            grove.Engine().turn(Broken(), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
