#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sets: `grovectl render` against a second description of the same rules, kept beside the project and written apart.

usage: random_children.py --grovectl PROGRAM [--shared DIR] [--seeds FIRST:COUNT]

Needs ../shared/oracle; says so and passes where it is not. Every fourth seed turns Auto-MNNVL on. The last line is
`N passed, N failed`.
"""
import argparse
import importlib.util
import json
import os
import sys
import tempfile

import children

CONFIG = """\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
scheduler:
  defaultProfileName: default-scheduler
  profiles: [{name: default-scheduler}, {name: kai-scheduler}]
topologyAwareScheduling: {enabled: true}
network: {autoMNNVLEnabled: %s}
---
apiVersion: grove.io/v1alpha1
kind: ClusterTopologyBinding
metadata: {name: grove-topology}
spec:
  levels:
  - {domain: zone, key: kubernetes.io/zone}
  - {domain: block, key: kubernetes.io/block}
  - {domain: rack, key: kubernetes.io/rack}
  - {domain: host, key: kubernetes.io/hostname}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gang-high}
value: 1000
"""


def load(folder, name):
    spec = importlib.util.spec_from_file_location("oracle_" + name, os.path.join(folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wanted(model, objects, config):
    """The model's children in normal form."""
    import yaml
    others = [d for d in yaml.safe_load_all(config) if d]
    operator = next(d for d in others if d["kind"] == "OperatorConfiguration")
    pcs = next(o for o in objects if o["kind"] == "PodCliqueSet")
    items = model.Grove(model.defaulted(pcs, "default"), operator, objects + others).run()
    return children.normal([json.loads(json.dumps(model.served(o), default=str)) for o in items])


def run(grovectl, oracle, first, count):
    import yaml
    model, sets = load(oracle, "children"), load(oracle, "random_set")
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        manifest, config_file = os.path.join(tmp, "input.yaml"), os.path.join(tmp, "config.yaml")
        for seed in range(first, first + count):
            mnnvl = seed % 4 == 3
            config = CONFIG % str(mnnvl).lower()
            objects = sets.random_set(seed, mnnvl)
            with open(manifest, "w") as f:
                yaml.dump_all(objects, f, Dumper=model.NoAliases, sort_keys=False)
            with open(config_file, "w") as f:
                f.write(config)
            got, refusal = children.render(grovectl, manifest, config_file)
            lines = [refusal] if got is None else children.compare(wanted(model, objects, config), got)
            if lines:
                failed += 1
                print("seed %d: %d differences" % (seed, len(lines)))
                for line in lines[:5]:
                    print("    " + line)
    print("seeds %d to %d" % (first, first + count - 1))
    print("%d passed, %d failed" % (count - failed, failed))
    return 1 if failed else 0


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--grovectl", required=True)
    ap.add_argument("--shared", default=os.path.join(here, "..", "..", "..", "shared"))
    ap.add_argument("--seeds", default="0:100")
    a = ap.parse_args()
    oracle = os.path.join(a.shared, "oracle")
    if not os.path.exists(os.path.join(oracle, "children.py")):
        print("SKIPPED: no %s, so random sets are compared with nothing" % os.path.normpath(oracle))
        return 77
    first, count = map(int, a.seeds.split(":"))
    return run(a.grovectl, oracle, first, count)


if __name__ == "__main__":
    sys.exit(main())
