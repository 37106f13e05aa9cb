#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands users type, by the real kubectl against the embedded cluster, compared with what it printed against a real server.

usage: test_transcripts.py --groved PROGRAM [--kubectl PROGRAM] [unittest arguments]
       test_transcripts.py --import FOLDER     rewrites the recordings from kubectl/commands of the conformance data

Recordings are of kubectl 1.34 (tests/golden/front/transcripts.jsonl); without --kubectl the one of `./dev control-plane build` is
taken, else the test is skipped. It belongs to `./dev k8s`, which builds that one. Names, ages, versions, counts and the texts of messages differ; what is compared of each command
stands in STEPS.
"""
import argparse
import glob
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from groved import Groved

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, '..', 'golden', 'front')
SET = 'inference-disaggregated'
PROGRAM = KUBECTL = None

# name of the recording -> what is compared besides the exit code:
#   same    standard output and error, with names, ages, times, versions normalized
#   out     standard output only: messages of refusals are our own
#   table   the header, and the names of the rows without their random letters
#   watch   what WATCHES says, while it runs
#   TEXT    a regular expression found in output or error
# A command that is no recording's name is run in between, to bring the cluster where the recorded one was.
STEPS = [
    ('01-create-namespace', 'same'), ('02-apply', 'same'), ('03-apply-unchanged', 'same'),
    *((name, 'table') for name in ('04-get-pcs', '06-get-pcsg', '07-get-pg', '08-get-pod', '09-get-pcs-wide', '10-get-pclq-wide',
                                   '11-get-pod-wide', '12-get-all-kinds')),
    ('13-get-pcs-yaml', r'(?m)^  currentGenerationHash: '), ('14-get-pcs-yaml-managed', r'(?m)^    manager: kubectl-client-side-apply$'), ('15-get-pclq-yaml', r'(?m)^kind: PodClique$'), ('16-get-pg-yaml', r'(?m)^kind: PodGang$'),
    ('17-get-pod-json', r'"kind": "List"'), ('18-get-pod-jsonpath', r'(?m)^\S+-router-\S+\tRunning$'), ('19-get-pod-name', 'same'),
    ('20-get-pod-selector', r'grove\.io/podclique='), ('21-get-pod-custom-columns', 'table'), ('22-get-pod-sort-by', 'table'),
    ('23-get-pod-all-namespaces', r'(?m)^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE$'), ('24-get-pod-chunk', 'table'),
    ('25-get-pcs-empty', 'same'), ('26-get-pcs-missing', 'same'), ('27-get-unknown-kind', 'same'), ('28-get-nodes', 'table'), ('29-get-nodes-wide', 'table'),
    ('30-get-namespaces', r'(?m)^NAME +STATUS +AGE$'), ('31-get-pods-watch', 'watch'), ('32-get-pods-watch-delete', 'watch'),
    ('33-get-pods-watch-only-json', 'watch'), ('34-get-pcs-watch', 'watch'), ('35-describe-pcs', r'(?m)^  Available Replicas: +1$'), ('36-describe-pod', r'(?m)^Controlled By: +PodClique/'),
    ('37-describe-node', r'Non-terminated Pods'), ('38-describe-pods-selector', r'(?m)^QoS Class: +Burstable$'),
    ('39-get-events', r'(?m)^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$'), ('40-events', r'PodCliqueCreateOrUpdateSuccessful'),
    ('41-apply-image-edit', 'same'), ('42-apply-dry-run-server', 'same'), ('43-apply-dry-run-client', 'same'), ('44-diff', r'(?m)^\+ +- image: example.com/router:1$'),
    ('45-apply-server-side', 'same'), ('kubectl apply -n demo -f pcs.yaml', ''), ('46-apply-server-side-conflict', 'same'), ('47-apply-server-side-force', 'same'), ('48-apply-validate-false', 'same'), ('49-create-invalid-webhook', r'denied the request: .*minAvailable: Invalid value: '),
    ('50-create-invalid-schema', r'roleName'), ('51-create-unknown-field', 'same'), ('52-create-unknown-field-warn', 'same'), ('53-create-exists', 'same'),
    ('54-replace', 'same'), ('55-scale-pcs', 'same'), ('56-scale-pcsg', 'same'), ('57-scale-pclq', 'same'), ('58-scale-pclq-wrong-current', 'same'),
    ('59-scale-node', 'same'), ('60-wait-pod-ready', 'same'), ('61-wait-pods-selector', 'same'), (f'kubectl scale pcs {SET} -n demo --replicas=1', ''),
    ('62-wait-jsonpath', 'same'), ('63-wait-timeout', 'same'), ('64-wait-delete', 'watch'), ('65-delete-pod', 'same'), ('66-delete-pod-nowait', 'same'), ('67-delete-pod-force', 'same'),
    ('68-delete-pods-selector', 'same'), ('69-delete-missing', 'same'), ('70-delete-missing-ignore', 'same'), ('71-label', 'same'), ('72-label-conflict', 'same'),
    ('73-label-overwrite', 'same'), ('74-label-remove', 'same'), ('75-annotate-pcs', 'same'), ('76-patch-merge', 'same'), ('77-patch-json', 'same'),
    ('78-patch-json-test-fails', 'same'), ('79-patch-strategic-pod', 'same'), ('80-patch-strategic-pcs', 'same'), ('81-patch-no-change', 'same'),
    ('82-patch-subresource-scale', 'same'), ('83-get-subresource-status', 'table'), ('84-patch-pod-immutable', 'pod updates may not change'),
    ('85-edit', 'same'), ('86-edit-no-change', 'same'), ('87-edit-invalid', r'could not be patched: admission webhook .*minAvailable: Invalid value: '),
    ('89-rollout-restart', r'no kind "PodCliqueSet" is registered'), ('90-rollout-status', r'no kind "PodCliqueSet" is registered'),
    ('91-api-resources', r'(?m)^podcliquesets +pcs +grove\.io/v1alpha1 +true +PodCliqueSet$'), ('92-api-resources-group', 'same'),
    ('93-api-versions', r'(?m)^scheduler\.grove\.io/v1alpha1$'), ('94-explain', r'(?m)^FIELD: template <Object>$'), ('95-explain-pod', r'(?s)FIELD: schedulingGates <.*name\t<string> -required-'), ('96-version', r'Server Version: v1\.34'),
    ('97-cluster-info', 'same'), ('98-raw-readyz', 'same'), ('99-raw-healthz', 'same'), ('100-raw-livez', 'same'), ('101-raw-version', r'"minor": ?"34"'),
    ('102-raw-openapi-v3', r'"apis/grove\.io/v1alpha1"'), ('103-raw-nosuch', 'same'), ('104-can-i', 'same'), ('105-can-i-no', 'same'),
    ('106-can-i-list', r'(?m)^\*\.\* +\[\] +\[\] +\[\*\]$'), ('107-whoami', r'(?m)^Username +admin$'), ('108-logs', 'simulated'), ('109-exec', 'simulated'),
    ('111-cordon', 'same'), ('112-cordon-again', 'same'), ('113-taint', 'same'), ('114-taint-remove', 'same'), ('116-drain', 'drained'), ('117-uncordon', 'uncordoned'),
    ('118-top-pod', 'same'), ('119-top-node', 'same'), ('120-create-pdb', 'same'), ('123-get-pdb', 'table'), ('124-get-hpa', 'table'),
    ('125-get-svc-sa-role', r'(?m)^service/inference-disaggregated-0 +ClusterIP +None +<none> +<none> '), ('kubectl delete pdb router -n demo', ''),
    ('136-delete-pcs-wait', 'same'), ('137-delete-pcs-cascade-foreground', 'same'), ('138-delete-namespace', 'same'),
    ('kubectl create namespace demo', ''), ('164-create-invalid-enum', r'(?s)The PodCliqueSet "bad-four" is invalid: .*spec\.template\.cliqueStartupType: Unsupported value'),
    ('165-apply-missing-namespace', 'same'), ('kubectl apply -n demo -f pcs.yaml', ''), ('166-get-from-file', 'table'), ('167-get-pod-yaml', r'(?m)^kind: Pod$'),
    ('168-set-image-pod', 'same'), ('169-label-all', 'same'), ('170-apply-pod', 'same'), ('171-apply-pod-unchanged', 'same'), ('172-apply-pod-edit', 'same'), ('173-apply-pod-server-side', 'same'),
    ('174-replace-force', 'same'), ('175-run', 'same'), ('176-drain-refused-no-controller', r'cannot delete (cannot delete )?Pods that declare no controller'),
    ('177-uncordon-3', 'uncordoned'), ('178-create-pdb', 'same'), ('179-drain-blocked-by-pdb', "Cannot evict pod as it would violate the pod's disruption budget"),
    ('180-uncordon-4', 'uncordoned'), ('kubectl delete pdb router -n demo', ''), ('190-delete-from-file', 'same'), ('kubectl delete pod bare -n demo --ignore-not-found', ''),
    ('kubectl run bare -n demo --image=example.com/a:1', ''),
    ('191-delete-all-kinds', r'pod "bare" deleted'),
    ('kubectl apply -n demo -f pcs.yaml', ''), ('196-delete-pods-all-nowait', r'pod "\S+" deleted'),
    ('197-scale-many', r'(?m)^podclique\.grove\.io/inference-disaggregated-0-router scaled$'),
    ('198-get-pods-watch-server-closes', r'"type":"ADDED"'),
]

ROUTER = f'{SET}-0-router'
A_POD = f'$(kubectl get pods -n demo -l grove.io/podclique={ROUTER} -o name | head -n 1)'
ROW = rf'{ROUTER}-\S+ +'
# Watches and waits of STEPS: what is there before anything happens (as the recording has it), what is done then, and what has
# to be told of it, in this order. A watch is ended like the recorded one, by SIGINT.
WATCHES = {
    '31-get-pods-watch': (rf'(?m)^NAME +READY +STATUS +RESTARTS +AGE\n(.*\n){{10}}({ROW}.*\n){{2}}', f'kubectl label -n demo {A_POD} watched=yes', rf'\n{ROW}1/1 +Running +0 '),
    '32-get-pods-watch-delete': (
        rf'(?m)^EVENT +NAME +READY +STATUS +RESTARTS +AGE\n(ADDED +.*\n){{10}}(ADDED +{ROW}.*\n){{2}}', f'kubectl delete -n demo {A_POD} --wait=false',
        # whether the replacement comes before or after the old one is gone is a matter of the kubelet's pace
        rf'(?s)(?=.*\nMODIFIED +{ROW}1/1 +Terminating .*\nDELETED +{ROW})(?=.*\nADDED +{ROW}0/1 +(SchedulingGated|Pending) .*\nMODIFIED +{ROW}1/1 +Running )'),
    '33-get-pods-watch-only-json': ('', f'kubectl label --overwrite -n demo {A_POD} watched=$RANDOM',
                                    r'(?s)^\{\n    "apiVersion": "v1",\n    "kind": "Pod",\n    "metadata": \{.*"watched": "'),
    '34-get-pcs-watch': (rf'(?m)^NAME +REPLICAS +AVAILABLE +UPDATED .* AGE\n{SET} +1 +1 +1 +', f'kubectl delete -n demo pods -l grove.io/podclique={ROUTER} --wait=false',
                         rf'(?s)\n{SET} +1 +0 .*\n{SET} +1 +1 '),
    '64-wait-delete': ('', "grep -q watch=true wait.log && kubectl patch pod -n demo $POD --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]' || true",
                       rf'^pod/{ROUTER}-\S+ condition met\n$'),
}

LETTERS = '[bcdfghjklmnpqrstvwxz2456789]{5}'
NODE = r'node-b\d-r\d-h\d'


def manifests(folder):
    """The files that the recorded commands name."""
    with open(os.path.join(GOLDEN, 'set.yaml'), encoding='utf-8') as f:
        base = f.read()

    def named(name):
        return base.replace(f'name: {SET}\n', f'name: {name}\n')
    pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: plain, labels: {a: b}}\nspec:\n  containers:\n  - {name: c, image: "example.com/a:1"}\n'
    budget = ('apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: router}\nspec:\n  minAvailable: %s\n'
              '  selector: {matchLabels: {grove.io/podclique: %s-0-router}}\n')
    texts = {'pcs.yaml': base, 'pcs-2.yaml': base.replace('router:1', 'router:2'), 'pcs-ssa.yaml': named('ssa'),
             'pcs-invalid.yaml': named('bad-one').replace('replicas: 2\n      minAvailable: 1', 'replicas: 2\n      minAvailable: 9'),
             'pcs-unknown-field.yaml': named('bad-two').replace('  template:', '  template:\n    cliquez: []'),
             'pcs-schema.yaml': named('bad-three').replace('roleName: router', 'roleName: 7'),
             'pcs-enum.yaml': named('bad-four').replace('  template:', '  template:\n    cliqueStartupType: Sometimes'),
             'pod.yaml': pod, 'pod-2.yaml': pod.replace('a: b', 'a: c').replace('a:1', 'a:2'), 'pdb.yaml': budget % (2, SET)}
    nodes = [{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': f'node-b{b}-r{r}-h{h}', 'labels': {'kubernetes.io/hostname': f'node-b{b}-r{r}-h{h}'}},
              'status': {'allocatable': {'cpu': '256', 'memory': '2Ti', 'nvidia.com/gpu': '64', 'pods': '5k'}}} for b in (0, 1) for r in (0, 1) for h in range(4)]
    texts['nodes.yaml'] = json.dumps({'apiVersion': 'v1', 'kind': 'List', 'items': nodes})
    texts['pdb-all.yaml'] = budget % ('"100%"', SET)
    for name, text in texts.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text)


def normal(text):
    """Without what differs from run to run."""
    text = re.sub(rf'\b((?:{SET}|ssa)[a-z0-9-]*)-{LETTERS}\b', r'\1-?', text)
    text = re.sub(r'\b\d+[smh](\d+[smh])?\b', 'AGE', text)
    text = re.sub(r'https?://127\.0\.0\.1:\d+', 'SERVER', text)
    text = re.sub(r' from \S+ namespace$', '', text, flags=re.M)  # kubectl before 1.34 does not say so
    text = re.sub(r'(?m)^Warning: short name "pg" .*\n', '', text)  # of another group that the recorded cluster had
    return re.sub(r' +', ' ', text)


def rows(text):
    """Headers, and the names of all rows in order."""
    lines = [line for line in normal(text).splitlines() if line]
    return [line if line.split()[0] in ('NAME', 'NAMESPACE') else line.split()[0] for line in lines]


class Transcripts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if not KUBECTL:
            raise unittest.SkipTest('no kubectl of the fixture here: ./dev control-plane build')
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        manifests(cls.folder)
        cls.groved = Groved(PROGRAM, '--virtual-time', '--nodes', os.path.join(cls.folder, 'nodes.yaml'))
        cls.addClassCleanup(cls.groved.stop)
        os.symlink(os.path.abspath(KUBECTL), os.path.join(cls.folder, 'kubectl'))
        cls.environment = dict(os.environ, KUBECONFIG=cls.groved.kubeconfig, HOME=cls.folder, PATH=f'{cls.folder}:{os.environ["PATH"]}')
        with open(os.path.join(GOLDEN, 'transcripts.jsonl'), encoding='utf-8') as f:
            cls.golden = {case['name']: case for case in map(json.loads, f)}

    def type(self, command):
        done = subprocess.run(['bash', '-c', command], env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def mine(self, command):
        """The recorded command with this cluster's pods, and nodes where something is, in place of the recorded ones."""
        for pod in set(re.findall(rf'\b{SET}-[a-z0-9-]*-{LETTERS}\b', command)):
            stem = pod.rsplit('-', 1)[0]
            names = self.type(f'kubectl get pods -n demo -l grove.io/podclique={stem} -o name')[1].split()
            command = command.replace(pod, names[0].removeprefix('pod/')) if names else command
        if ' drain ' in command:
            pod = 'bare' if command.endswith('drain node-b0-r0-h0') else f'-l grove.io/podclique={SET}-0-router'
            path = '{.spec.nodeName}' if pod == 'bare' else '{.items[0].spec.nodeName}'
            self.drained = self.type(f"kubectl get pod -n demo {pod} -o jsonpath='{path}'")[1]
        if re.search(' (drain|uncordon) ', command):
            command = re.sub(NODE, self.drained, command)
        return command

    def until(self, process, out, pattern, again=None):
        """Reads on until the pattern is there; `again` is done each second until then."""
        end = time.monotonic() + 30
        while not re.search(pattern, ''.join(out)) and time.monotonic() < end:
            if again:
                self.type(again)
            if process.poll() is not None and not select.select([process.stdout], [], [], 0)[0]:
                break
            while select.select([process.stdout], [], [], 1 if again else 0.2)[0]:
                piece = os.read(process.stdout.fileno(), 65536).decode()
                if not piece:
                    break
                out.append(piece)
        self.assertRegex(''.join(out), pattern)

    def watch(self, name, case, command):
        """A command that goes on while something happens."""
        first, action, then = WATCHES[name]
        if name == '64-wait-delete':  # held back by a finalizer until the wait says, at -v=8, that it watches
            pod = re.search(r'pod/(\S+)', command).group(1)
            action = action.replace('$POD', pod)
            self.type(f"kubectl patch pod -n demo {pod} -p '{{\"metadata\":{{\"finalizers\":[\"example.com/hold\"]}}}}'")
            self.type(f'kubectl delete pod -n demo {pod} --wait=false')
            command += ' -v=8 2>wait.log'
        process = subprocess.Popen(['bash', '-c', f'exec {command}'], env=self.environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out = []
            if first:
                self.until(process, out, first)
                self.assertEqual(self.type(action)[0], 0)
            self.until(process, out, then, None if first else action)
            if case['exit'] != 0:
                process.send_signal(signal.SIGINT)
            rest, err = process.communicate(timeout=20)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.assertEqual((process.returncode, err.decode()), (case['exit'], ''), ''.join(out) + rest.decode())

    def check(self, case, how, command, code, out, err):
        self.assertEqual(code, case['exit'], f'{command}\n{out}{err}')
        if how == 'same':
            self.assertEqual((normal(out), normal(err)), (normal(case['stdout']), normal(case['stderr'])), command)
        elif how == 'table':
            self.assertEqual(rows(out), rows(case['stdout']), command)
        else:
            self.assertRegex(out + err, how, command)

    def test_commands_print_what_they_print_on_a_real_cluster(self):
        for name, how in STEPS:
            case = self.golden.get(name)
            with self.subTest(name):
                command = self.mine(case['command'] if case else name)
                if name == '178-create-pdb':
                    command = command.replace('pdb.yaml', 'pdb-all.yaml')
                if how == 'watch':
                    self.watch(name, case, command)
                    continue
                code, out, err = self.type(command)
                if case:
                    self.check(case, how, command, code, out, err)
                else:
                    self.assertEqual(code, 0, out + err)


def import_from(folder):
    """Keeps of each transcript what is compared."""
    names = {name for name, _ in STEPS}
    found = {}
    for path in glob.glob(os.path.join(folder, '*.json')):
        name = os.path.basename(path).removesuffix('.json')
        with open(path, encoding='utf-8') as f:
            case = json.load(f)
        if name in names:
            found[name] = {'name': name, **{key: case[key] for key in ('command', 'exit', 'stdout', 'stderr')}}
            how = dict(STEPS)[name]
            if how not in ('same', 'table'):  # a pattern is looked for in our output only
                found[name]['stdout'] = found[name]['stderr'] = ''
    with open(os.path.join(GOLDEN, 'transcripts.jsonl'), 'w', encoding='utf-8') as f:
        for name, _ in STEPS:
            if name in found:
                f.write(json.dumps(found.pop(name), ensure_ascii=False) + '\n')


def fixture():
    """The kubectl that belongs to the control plane of the tests."""
    found = glob.glob(os.path.expanduser('~/.cache/libgrove/control-plane/*/kubectl'))
    return max(found, key=os.path.getmtime) if found else None


if __name__ == '__main__':
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--groved')
    parser.add_argument('--kubectl', default=fixture())
    parser.add_argument('--import', dest='source')
    options, rest = parser.parse_known_args()
    if options.source:
        import_from(options.source)
        sys.exit(0)
    PROGRAM, KUBECTL = options.groved, options.kubectl
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
