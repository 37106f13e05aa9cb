# SPDX-License-Identifier: Apache-2.0
"""Each right of deploy/ taken away in turn: groved says which verb on which resource it misses."""
import copy
import os
import time

import yaml

from cluster import MANIFEST, MERGE, OWN, until
from stage import GROVE, Stage, a_set, clique

ACCOUNT = f'system:serviceaccount:{OWN}:grove-operator'
# What reads and watches together is one right: a server that streams lists asks for watch alone, an older one for list.
TOGETHER = {'list': 'watch', 'watch': 'watch', 'get': None, 'update': 'update', 'create': 'create', 'patch': 'patch', 'delete': 'delete'}
# Used by what a trial cannot bring about: an event that is told again and again.
SELDOM = {'patch events.events.k8s.io'}
# A busy machine may not cost a leader its Lease in the middle; a refused renewal shows after a second all the same.
ELECTION = {'enabled': True, 'leaseDuration': '60s', 'renewDeadline': '40s', 'retryPeriod': '1s'}
LONGEST = 30  # seconds for a step that never comes to its end
APPS = '/apis/apps/v1'
BINDING = '/apis/grove.io/v1alpha1/clustertopologybindings'
LEVELS = [{'domain': 'block', 'key': 'live.libgrove.io/block'}, {'domain': 'rack', 'key': 'live.libgrove.io/rack'}]


class Right:
    """A verb on a resource (list and watch are one), in whichever role."""

    def __init__(self, group, resource, verb, name=''):
        self.group, self.resource, self.verb, self.name = group, resource, verb, name

    def __str__(self):
        return f'{self.verb} {self.resource}{"." if self.group else ""}{self.group}'

    def without(self, obj):
        """The role with everything but this right: its rules are split by resource."""
        obj = copy.deepcopy(obj)
        for rule in obj.pop('rules', []):
            for group in rule['apiGroups']:
                for resource in rule['resources']:
                    verbs = [v for v in rule['verbs'] if (group, resource) != (self.group, self.resource) or TOGETHER[v] != self.verb]
                    if verbs:
                        obj.setdefault('rules', []).append({**rule, 'apiGroups': [group], 'resources': [resource], 'verbs': verbs})
        return obj


def rights_of(objects):
    """Each right once, in the order of the manifest."""
    found = {}
    for rule in (rule for obj in objects for rule in obj.get('rules', [])):
        for group in rule['apiGroups']:
            for resource in rule['resources']:
                for verb in sorted({TOGETHER[v] for v in rule['verbs']} - {None}):
                    right = Right(group, resource, verb, rule.get('resourceNames', [''])[0])
                    found.setdefault(str(right), right)
    return list(found.values())


class Drive:
    """A life that asks for everything that the rights allow; each step begins when the one before it is done, or after a while."""

    def __init__(self, stage, ns):
        self.c, self.stage, self.ns = stage.c, stage, ns

    def sets(self):
        scale = {'minReplicas': 1, 'maxReplicas': 4}
        route, lead, work = clique('route', 2, 1), clique('lead', 1), clique('work', 1)
        route['spec']['autoScalingConfig'] = scale
        group = {'name': 'cell', 'cliqueNames': ['lead', 'work'], 'replicas': 2, 'minAvailable': 1, 'scaleConfig': scale}
        full = a_set(self.ns, replicas=2, cliques=[route, lead, work], groups=[group])
        full['spec']['updateStrategy'] = {'type': 'RollingRecreate', 'revisionHistoryLimit': 1}
        full['spec']['template'].update(
            cliqueStartupType='CliqueStartupTypeInOrder', headlessServiceConfig={'publishNotReadyAddresses': True},
            resourceClaimTemplates=[{'name': 'link', 'templateSpec': {'spec': {'devices': {'requests': [
                {'name': 'one', 'exactly': {'deviceClassName': 'none.example.com'}}]}}}}])
        claimed = a_set(self.ns, 'claimed', replicas=2, cliques=[clique('work', 1)])
        claimed['spec']['template']['resourceClaimTemplates'] = full['spec']['template'].pop('resourceClaimTemplates')
        claimed['spec']['template']['resourceSharing'] = [{'name': 'link', 'scope': 'PerReplica'}]
        packed = clique('work', 1)
        packed['spec']['podSpec']['schedulerName'] = 'kai-scheduler'
        kai = a_set(self.ns, 'kai', cliques=[packed])
        kai['metadata']['labels'] = {'kai.scheduler/queue': 'test'}
        return [full, claimed, kai]

    def binding(self, *levels):
        return {'apiVersion': 'grove.io/v1alpha1', 'kind': 'ClusterTopologyBinding', 'metadata': {'name': self.ns},
                'spec': {'levels': list(levels)}}

    def at(self, plural, name, base=GROVE):
        return f'{base}/namespaces/{self.ns}/{plural}/{name}'

    def change(self, path, body):
        self.c.call('PATCH', path, body, MERGE)

    def begin(self):
        self.c.call('POST', BINDING, self.binding(*LEVELS))
        for obj in self.sets():
            self.stage.create(obj)

    def is_up(self):
        return self.stage.available(self.ns) == 2

    def is_there(self, plural, name, base=GROVE):
        return self.c.call('GET', self.at(plural, name, base))[0] == 200

    def shrink_group(self):
        self.change(self.at('podcliquescalinggroups', 'demo-0-cell') + '/scale', {'spec': {'replicas': 1}})

    def is_shrunk_group(self):
        return not self.is_there('podcliques', 'demo-0-cell-1-lead') and not self.is_there(
            'podgangs', 'demo-0-cell-0', '/apis/scheduler.grove.io/v1alpha1')

    def spoil(self):
        """Somebody changes children, and the set is changed."""
        managed = 'app.kubernetes.io/managed-by%3Dgrove-operator'
        for base, plural in (('/api/v1', 'services'), ('/api/v1', 'serviceaccounts'), ('/api/v1', 'secrets'),
                             ('/apis/rbac.authorization.k8s.io/v1', 'roles'), ('/apis/rbac.authorization.k8s.io/v1', 'rolebindings'),
                             (APPS, 'controllerrevisions'), ('/apis/scheduling.run.ai/v2alpha2', 'podgroups'), ('/apis/resource.k8s.io/v1', 'resourceclaims')):
            for obj in self.c.items(f'{base}/namespaces/{self.ns}/{plural}?labelSelector={managed}'):
                labels = {'app.kubernetes.io/part-of': 'somebody', 'app.kubernetes.io/component': 'else'}
                self.change(self.at(plural, obj['metadata']['name'], base), {'metadata': {'labels': labels}})
        pcs = self.c.get(self.at('podcliquesets', 'demo'))
        for one in pcs['spec']['template']['cliques']:
            one['spec']['podSpec']['containers'][0]['image'] = 'example.com/a:2'
            if 'autoScalingConfig' in one['spec']:
                one['spec']['autoScalingConfig']['maxReplicas'] = 5
        pcs['spec']['template']['headlessServiceConfig'] = {'publishNotReadyAddresses': False}
        self.change(self.at('podcliquesets', 'demo'), {'spec': {'template': pcs['spec']['template']}})
        self.change(f'{BINDING}/{self.ns}', {'spec': {'levels': LEVELS[:1]}})

    def is_rolled(self):
        pods = [p for p in self.stage.pods(self.ns) if p['metadata']['name'].startswith('demo-')]
        return all(p['spec']['containers'][0]['image'] == 'example.com/a:2' for p in pods) and self.is_up()

    def shrink(self):
        """A replica less, no autoscalers any more and no history."""
        pcs = self.c.get(self.at('podcliquesets', 'demo'))
        for one in pcs['spec']['template']['cliques']:
            one['spec'].pop('autoScalingConfig', None)
        template = {'cliques': pcs['spec']['template']['cliques']}
        self.change(self.at('podcliquesets', 'demo'), {'spec': {'replicas': 1, 'template': template,
                                                                'updateStrategy': {'revisionHistoryLimit': 0}}})
        self.change(self.at('podcliquesets', 'claimed'), {'spec': {'replicas': 1}})

    def is_shrunk(self):
        gone = (GROVE, 'podcliquescalinggroups', 'demo-1-cell'), ('/api/v1', 'services', 'demo-1'), \
            ('/apis/autoscaling/v2', 'horizontalpodautoscalers', 'demo-0-route')
        history = self.c.items(f'{APPS}/namespaces/{self.ns}/controllerrevisions')
        return not history and not any(self.is_there(plural, name, base) for base, plural, name in gone)

    def is_gone(self):
        return not self.c.items(f'{GROVE}/namespaces/{self.ns}/podcliquesets')

    def end(self):
        self.c.call('DELETE', f'{GROVE}/namespaces/{self.ns}/podcliquesets')
        self.c.call('DELETE', f'{BINDING}/{self.ns}')

    def force(self):
        """All of it away, whoever may not do his part."""
        self.end()
        for plural in ('podcliquesets', 'podcliquescalinggroups', 'podcliques'):
            for obj in self.c.items(f'{GROVE}/namespaces/{self.ns}/{plural}'):
                self.change(self.at(plural, obj['metadata']['name']), {'metadata': {'finalizers': None}})
        self.c.call('DELETE', f'/api/v1/namespaces/{self.ns}')


class Rights(Stage):
    def objects(self):
        return [o for o in yaml.safe_load_all(MANIFEST.read_text()) if o and o['kind'] in ('Role', 'ClusterRole')]

    def may(self, right):
        resource, _, sub = right.resource.partition('/')
        attributes = {'group': right.group, 'resource': resource, 'subresource': sub, 'verb': right.verb, 'namespace': OWN, 'name': right.name}
        answer = self.c.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
            'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SubjectAccessReview',
            'spec': {'user': ACCOUNT, 'groups': ['system:serviceaccounts', 'system:authenticated'], 'resourceAttributes': attributes}})[1]
        return answer['status']['allowed']

    @staticmethod
    def says(d, right):
        """The record that names what is missing."""
        verb = ('list', 'watch') if right.verb == 'watch' else (right.verb,)
        for record in d.lines:
            text = ' '.join(str(v) for v in record.values())
            named = any(f'cannot {v} resource "{right.resource}" in API group "{right.group}"' in text for v in verb)
            handed_on = 'not currently held' in text and f'Resources:["{right.resource}"]' in text
            owner = right.resource.endswith('/finalizers') and 'set finalizers on' in text
            if record.get('level') in ('warn', 'error') and (named or handed_on or owner):
                return text
        return None

    def trial(self, right, number):
        ns = f'live-rights-{os.getpid()}-{number}'
        self.c.namespace(ns)
        self.c.rights(right.without)
        until(f'{right} is taken', lambda: not self.may(right))
        drive, found = Drive(self, ns), None
        try:
            self.c.call('DELETE', f'/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/grove-operator-leader-election')
            with self.daemon(config={'leaderElection': ELECTION}) as d:
                def is_said(seconds, done):
                    end = time.monotonic() + seconds
                    while time.monotonic() < end and not self.says(d, right) and not done() and d.process.poll() is None:
                        time.sleep(0.1)
                    return self.says(d, right)
                found = is_said(2, lambda: any(r['msg'] == 'leading' for r in d.lines))
                for step, done in ((drive.begin, drive.is_up), (drive.shrink_group, drive.is_shrunk_group), (drive.spoil, drive.is_rolled),
                                   (drive.shrink, drive.is_shrunk), (drive.end, drive.is_gone)):
                    if not found:
                        step()
                        d.ctl('rotate-certificates')
                        found = is_said(LONGEST, done)
                d.stop()
        finally:
            self.c.clean()
            self.c.rights(lambda obj: obj)
            drive.force()
        until(f'{right} is back', lambda: self.may(right))
        return found

    def check_all(self):
        """With all of them nothing is refused."""
        ns = f'live-rights-{os.getpid()}'
        self.c.namespace(ns)
        drive = Drive(self, ns)
        with self.daemon(config={'leaderElection': ELECTION}) as d:
            d.wait_for('leading')
            for step, done in ((drive.begin, drive.is_up), (drive.shrink_group, drive.is_shrunk_group), (drive.spoil, drive.is_rolled),
                               (drive.shrink, drive.is_shrunk), (drive.end, drive.is_gone)):
                step()
                until(step.__name__, lambda done=done: done() or d.process.poll() is not None, 120)
                assert d.process.poll() is None, d.lines[-5:]
            refused = [r['msg'] for r in d.lines if 'is forbidden' in ' '.join(str(v) for v in r.values())]
            d.stop()
        self.c.clean()
        drive.force()
        assert not refused, refused

    def run(self):
        self.c.definitions('extended')  # a history is a field of libgrove's
        try:
            return self.take_each()
        finally:
            self.c.definitions('upstream')

    def take_each(self):
        self.check_all()
        wanted = os.environ.get('GROVE_LIVE_RIGHTS', '')
        all_rights = [r for r in rights_of(self.objects()) if str(r) not in SELDOM]
        chosen = [r for r in all_rights if wanted in str(r)]
        silent = []
        for number, right in enumerate(chosen):
            begun = time.monotonic()
            said = self.trial(right, number)
            print(f'{"named" if said else "SILENT":6} {right} ({time.monotonic() - begun:.1f} s)' + (f': {said[:200]}' if said else ''), flush=True)
            if not said:
                silent.append(str(right))
        assert not silent, silent
        return f'{len(chosen)} of {len(all_rights)} rights taken away in turn, each named'
