# SPDX-License-Identifier: Apache-2.0
"""The operators' page as a newcomer follows it, from a cluster without anything of Grove; then grovectl on what runs."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

import yaml

from cluster import OWN, ROOT, until
from stage import Stage

PAGE = ROOT / 'docs/reference/operator.md'
DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podcliquesets.grove.io'
SAMPLE = ('default', 'inference')


class Operating(Stage):
    def shell(self, line, code=0, **more):
        """A line of the page, with the programs of this build and the test's kubectl on the PATH."""
        env = {**os.environ, 'KUBECONFIG': self.c.admin, 'PATH': f'{self.folder}:{os.environ["PATH"]}'}
        done = subprocess.run(['bash', '-c', line], cwd=ROOT, env=env, capture_output=True, text=True, timeout=180, **more)
        assert code is None or done.returncode == code, f'{line}: exit {done.returncode}\n{done.stdout}{done.stderr}'
        return done.stdout + done.stderr

    def programs(self):
        groved = pathlib.Path(self.c.groved)
        grovectl = groved.parent.parent / 'grovectl' / 'grovectl'
        for name, program in (('groved', groved), ('grovectl', grovectl), ('kubectl', f'{self.c.programs}/kubectl'), ('kubectl-grove', grovectl)):
            os.symlink(program, f'{self.folder}/{name}')

    def commands(self):
        """The five commands, as they stand on the page."""
        block = PAGE.read_text().split('## Five commands')[1].split('\n## ')[0]
        lines = [line.strip().split('  #')[0] for line in block.splitlines() if line.startswith('    ')]
        assert len(lines) == 5, lines
        return lines

    def uninstall(self):
        done = subprocess.run([self.c.groved, 'uninstall', '--kubeconfig', self.c.admin], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        self.c.kubectl('delete', '--ignore-not-found', '-f', 'deploy/manifests/groved.yaml')
        self.c.kubectl('delete', 'namespace', OWN, '--ignore-not-found', '--wait')
        until('the definitions are gone', lambda: self.c.call('GET', DEFINITION)[0] == 404)

    def wait_for_sample(self):
        until('the sample runs', lambda: self.available(*SAMPLE) == 1, 90)

    def verbs(self, manifest):
        """grovectl on the cluster as it is, found as kubectl finds it."""
        assert 'inference' in self.shell('grovectl tree --kubeconfig "$KUBECONFIG"')
        assert 'inference' in self.shell('kubectl grove tree --kubeconfig "$KUBECONFIG"')
        self.shell('grovectl status --kubeconfig "$KUBECONFIG"')
        self.shell(f'grovectl explain pcs/{SAMPLE[1]} -n {SAMPLE[0]} --kubeconfig "$KUBECONFIG"')
        assert 'fits' in self.shell(f'grovectl fit {manifest} --kubeconfig "$KUBECONFIG"')
        doctor = self.shell('grovectl doctor --kubeconfig "$KUBECONFIG"')
        assert not re.search(r'^bad ', doctor, re.M), doctor
        whatif = json.loads(self.shell('grovectl whatif --lose node=node-b0-r0-n0 -o json --kubeconfig "$KUBECONFIG"', code=None))
        assert whatif['nodesLost'] == 1, whatif

    def follow(self):
        """The five commands, and what stands beside them on the page."""
        install, namespace, apply, rollout, sample = self.commands()
        told = self.shell('grovectl doctor --kubeconfig "$KUBECONFIG"', code=1)
        assert re.search(r'^bad .*podcliquesets.*groved install-crds', told, re.M), told
        for line in (install, namespace, apply, rollout):
            self.shell(line)
        # the fake nodes' containers do nothing: the daemon runs here, with the Deployment's account and configuration
        config = next(o for o in yaml.safe_load_all((ROOT / 'deploy/manifests/groved.yaml').read_text()) if o and o['kind'] == 'ConfigMap')
        with self.c.daemon(self.c.as_groved(), config=yaml.safe_load(config['data']['config.yaml'])) as d:
            d.wait_for('leading', 30)
            assert 'inference' in self.shell(sample)
            self.wait_for_sample()
            self.verbs('examples/manifests/01-router-and-serving-cell.yaml')
            self.remove(SAMPLE[0])
            assert d.stop() == 0

    def run(self):
        with tempfile.TemporaryDirectory() as self.folder:
            self.programs()
            try:
                with self.daemon('--no-webhooks', '--force-takeover') as d:  # who lets sets go
                    d.wait_for('leading')
                    self.uninstall()
                self.follow()
                self.uninstall()
            finally:
                self.c.install()  # for the stages that come after
        return 'from nothing to a running sample by the five commands, looked at by every verb of grovectl, and back to nothing'
