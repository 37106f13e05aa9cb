# SPDX-License-Identifier: Apache-2.0
"""The scheduling engine, and callbacks into Python."""
import unittest

from grove import Gang, Group, PodGroup, Scheduler, Taint, Toleration


def cluster(racks=2, nodes=2, **options):
    s = Scheduler(**options)
    s.topology('default', ['zone', 'rack'])
    for r in range(racks):
        for n in range(nodes):
            s.add_node(f'r{r}n{n}', {'zone': 'z', 'rack': f'r{r}'}, {'cpu': 64000, 'gpu': 8})
    return s


class Scheduling(unittest.TestCase):
    def test_placed_together(self):
        s = cluster()
        worker = s.pod_class({'gpu': 8})
        decision = s.place(Gang('g', [PodGroup('w', worker, 2)], required='rack'))
        self.assertEqual(decision.verdict, 'placed')
        self.assertEqual({node[:2] for node in decision.nodes['w']}, {'r0'})
        gang = s.commit(decision)
        self.assertEqual(s.free('r0n0')['gpu'], 0)
        s.release(gang)
        self.assertEqual(s.free('r0n0')['gpu'], 8)
        s.verify()

    def test_infeasible_comes_with_its_proof(self):
        s = cluster()
        decision = s.place(Gang('g', [PodGroup('w', s.pod_class({'gpu': 8}), 3)], required='rack'))
        self.assertEqual(decision.verdict, 'infeasible')
        self.assertEqual((decision.certificate['have'], decision.certificate['need']), (2, 3))
        self.assertEqual(decision.explanation['would_help'][0]['relax'], 'gang')

    def test_groups_and_minimum(self):
        s = cluster()
        a, b = s.pod_class({'gpu': 8}), s.pod_class({'gpu': 4})
        gang = Gang('g', [PodGroup('a', a, 2), PodGroup('b', b, 9, minimum=2)], [Group('x', ['a'], required='rack')])
        decision = s.place(gang)
        self.assertEqual(decision.verdict, 'placed')
        self.assertEqual(sum(node is not None for node in decision.nodes['b']), 4)

    def test_own_order(self):
        places = {}
        for sign in (1, -1):
            s = cluster(order=lambda candidate: sign * candidate.domain)
            decision = s.place(Gang('g', [PodGroup('w', s.pod_class({'gpu': 8}), 2)], required='rack'))
            places[sign] = {node[:2] for node in decision.nodes['w']}
        self.assertEqual(places, {1: {'r0'}, -1: {'r1'}})

    def test_veto(self):
        s = cluster(veto=lambda pod_class, node: node.startswith('r0'))
        decision = s.place(Gang('g', [PodGroup('w', s.pod_class({'gpu': 8}), 2)], required='rack'))
        self.assertEqual({node[:2] for node in decision.nodes['w']}, {'r1'})

    def test_what_a_callback_raises_comes_through(self):
        def veto(pod_class, node):
            raise KeyError(node)
        s = cluster(veto=veto)
        with self.assertRaises(KeyError):
            s.place(Gang('g', [PodGroup('w', s.pod_class({'gpu': 8}), 1)]))

    def test_what_if(self):
        s = cluster()
        worker, before = s.pod_class({'gpu': 8}), s.state_hash()
        with s.what_if():
            s.commit(s.place(Gang('g', [PodGroup('w', worker, 4)])))
            self.assertNotEqual(s.state_hash(), before)
        self.assertEqual(s.state_hash(), before)

    def test_preemption(self):
        s = cluster(racks=1)
        worker = s.pod_class({'gpu': 8})
        low = s.commit(s.place(Gang('low', [PodGroup('w', worker, 2)])))
        high = Gang('high', [PodGroup('w', worker, 1)], priority=5)
        self.assertEqual(s.place(high).verdict, 'infeasible')
        self.assertEqual(s.place(high, preempt=True).victims, ((low, None),))

    def test_taints(self):
        s = Scheduler()
        s.topology('default', ['rack'])
        s.add_node('n', {'rack': 'r'}, {'gpu': 8}, taints=[Taint('gpu', 'only')])
        self.assertEqual(s.place(Gang('g', [PodGroup('w', s.pod_class({'gpu': 1}), 1)])).verdict, 'infeasible')
        tolerant = s.pod_class({'gpu': 1}, tolerations=[Toleration('gpu')])
        self.assertEqual(s.place(Gang('g', [PodGroup('w', tolerant, 1)])).verdict, 'placed')

    def test_only_the_last_decision_is_committed(self):
        s = cluster()
        worker = s.pod_class({'gpu': 8})
        first = s.place(Gang('a', [PodGroup('w', worker, 1)]))
        s.place(Gang('b', [PodGroup('w', worker, 1)]))
        with self.assertRaises(ValueError):
            s.commit(first)


if __name__ == '__main__':
    unittest.main(verbosity=2)
