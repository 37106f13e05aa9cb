# SPDX-License-Identifier: Apache-2.0
"""What the stages share: sets to create, and how to wait for them."""
import yaml

from cluster import MERGE, until

GROVE = '/apis/grove.io/v1alpha1'
ELECTION = {'leaderElection': {'enabled': True}}
KINDS = ('apis/grove.io/v1alpha1', 'podcliquesets podcliques podcliquescalinggroups'), \
    ('apis/scheduler.grove.io/v1alpha1', 'podgangs'), ('apis/scheduling.run.ai/v2alpha2', 'podgroups'), \
    ('api/v1', 'pods services serviceaccounts secrets'), ('apis/rbac.authorization.k8s.io/v1', 'roles rolebindings'), \
    ('apis/autoscaling/v2', 'horizontalpodautoscalers'), ('apis/apps/v1', 'controllerrevisions'), \
    ('apis/resource.k8s.io/v1', 'resourceclaims')


def clique(name, pods, minimum=None):
    return {'name': name, 'spec': {'roleName': name, 'replicas': pods, 'minAvailable': minimum or pods,
                                   'podSpec': {'terminationGracePeriodSeconds': 1,
                                               'containers': [{'name': 'c', 'image': 'example.com/a:1'}]}}}


def a_set(ns, name='demo', replicas=1, cliques=None, groups=None):
    template = {'cliques': cliques or [clique('work', 3)]}
    if groups:
        template['podCliqueScalingGroups'] = groups
    return {'apiVersion': 'grove.io/v1alpha1', 'kind': 'PodCliqueSet', 'metadata': {'name': name, 'namespace': ns},
            'spec': {'replicas': replicas, 'template': template}}


def in_namespace(case, namespace):
    """The set of a recorded case, moved to a namespace of its own."""
    with open(case / 'input.yaml', encoding='utf-8') as text:
        pcs = next(o for o in yaml.safe_load_all(text) if o and o['kind'] == 'PodCliqueSet')
    pcs['metadata']['namespace'] = namespace
    return pcs


class Stage:
    def __init__(self, cluster, kubeconfig):
        self.c = cluster
        self.kubeconfig = kubeconfig

    def daemon(self, *args, **more):
        return self.c.daemon(self.kubeconfig, *args, **more)

    def create(self, obj):
        status, answer = self.c.call('POST', f"{GROVE}/namespaces/{obj['metadata']['namespace']}/podcliquesets", obj)
        assert status == 201, answer

    def available(self, ns, name='demo'):
        return self.c.get(f'{GROVE}/namespaces/{ns}/podcliquesets/{name}').get('status', {}).get('availableReplicas', 0)

    def pods(self, ns):
        return self.c.items(f'/api/v1/namespaces/{ns}/pods')

    def remove(self, ns, timeout=120):
        """Deletes the sets of a namespace and waits until every child is gone."""
        self.c.call('DELETE', f'{GROVE}/namespaces/{ns}/podcliquesets')
        until('all is gone', lambda: not any(self.c.items(f'{GROVE}/namespaces/{ns}/{kind}') for kind in (
            'podcliquesets', 'podcliques', 'podcliquescalinggroups')) and not self.pods(ns), timeout)

    def drop(self, ns):
        self.c.call('DELETE', f'/api/v1/namespaces/{ns}')
