#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sets: `grovectl render` against a second description of the same rules, kept beside the project and written apart.

usage: random_children.py --grovectl PROGRAM [--shared DIR] [--seeds FIRST:COUNT]

Needs ../shared/oracle; says so where it is not there, with exit status 77. Every fourth seed turns Auto-MNNVL on. Every third one
gets faults that admission would not let pass (it is rendered as a cluster might hold it) and another configuration. The last
line is `N passed, N failed`.
"""
import argparse
import contextlib
import importlib.util
import io
import json
import os
import random
import sys
import tempfile

import children

LEVELS = [("zone", "kubernetes.io/zone"), ("block", "kubernetes.io/block"), ("rack", "kubernetes.io/rack"),
          ("host", "kubernetes.io/hostname")]
PRIORITY = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gang-high"}, "value": 1000}


def configuration(topology, mnnvl, profiles, default, levels):
    """The operator's configuration and what stands beside it."""
    operator = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration",
                "scheduler": {"profiles": [{"name": p} for p in profiles], "defaultProfileName": default},
                "topologyAwareScheduling": {"enabled": topology}, "network": {"autoMNNVLEnabled": mnnvl}}
    binding = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "grove-topology"},
               "spec": {"levels": [{"domain": d, "key": k} for d, k in levels]}}
    return [operator, PRIORITY] + ([binding] if levels else [])


# ---- faults ------------------------------------------------------------------------------------------------------------------

def drop_claim_template(r, pcs, clique):
    pcs["spec"]["template"].get("resourceClaimTemplates", [None])[:1] = []


def mount_nothing(r, pcs, clique):
    clique["spec"]["podSpec"]["containers"][0].setdefault("volumeMounts", []).append({"name": "gone", "mountPath": "/gone"})


def drop_queues(r, pcs, clique):
    for c in pcs["spec"]["template"]["cliques"]:
        c.get("labels", {}).pop("kai.scheduler/queue", None)


def queue_of_the_set(r, pcs, clique):
    pcs["metadata"].setdefault("annotations", {})["kai.scheduler/queue"] = r.choice(["test", "other"])


def unknown_scheduler(r, pcs, clique):
    pcs["spec"]["template"]["cliques"][-1]["spec"]["podSpec"]["schedulerName"] = "nobody"


def probe_of_init_container(r, pcs, clique):
    clique["spec"]["podSpec"].setdefault("initContainers", []).append(
        {"name": "probed", "image": "i", "readinessProbe": {"exec": {"command": ["x"]}}})


def refused_autoscaler(r, pcs, clique):
    scaled = [g for g in pcs["spec"]["template"].get("podCliqueScalingGroups", []) if "scaleConfig" in g]
    for group in scaled[-1:]:
        group["scaleConfig"].update(minReplicas=5, maxReplicas=3)


def other_replicas(r, pcs, clique):
    pcs["spec"]["replicas"] = r.choice([0, 3])


def own_mnnvl_claim(r, pcs, clique):
    clique["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl-claim", "resourceClaimName": "mine"}]


def stripped_annotation(r, pcs, clique):
    clique.setdefault("annotations", {})["grove.io/topology-name"] = "x"


def older_constraint(r, pcs, clique):
    pcs["spec"]["template"]["topologyConstraint"] = {"packDomain": "rack"}


FAULTS = [drop_claim_template, mount_nothing, drop_queues, queue_of_the_set, unknown_scheduler, probe_of_init_container,
          refused_autoscaler, other_replicas, own_mnnvl_claim, stripped_annotation, older_constraint]


def spoil(seed, pcs, mnnvl):
    """Plants faults in the set; returns a configuration for it."""
    r = random.Random("fault %d" % seed)
    for fault in r.sample(FAULTS, r.randint(0, 2)):
        fault(r, pcs, r.choice(pcs["spec"]["template"]["cliques"]))
    profiles = ["kai-scheduler"] + r.sample(["default-scheduler", "lpx-scheduler"], r.randint(0, 2))
    # a gang of an unknown scheduler falls back to the default one, which the model does not follow: keep that one apart
    unknown = any(c["spec"]["podSpec"].get("schedulerName") == "nobody" for c in pcs["spec"]["template"]["cliques"])
    default = "default-scheduler" if unknown or "default-scheduler" in profiles else r.choice(profiles)
    levels = [level for level in LEVELS if r.random() < .8]
    return configuration(r.random() < .8, mnnvl, sorted({*profiles, "default-scheduler"}), default, levels)


# ---- comparison --------------------------------------------------------------------------------------------------------------


def load(folder, name):
    spec = importlib.util.spec_from_file_location("oracle_" + name, os.path.join(folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wanted(model, stored, others):
    """The model's children of a stored set in normal form."""
    with contextlib.redirect_stderr(io.StringIO()):  # it says there what could not be made
        items = model.Grove(stored, others[0], others).run()
    return children.normal([json.loads(json.dumps(model.served(o), default=str)) for o in items])


def differences(model, sets, grovectl, seed, folder):
    mnnvl, spoilt = seed % 4 == 3, seed % 3 == 2
    objects = sets.random_set(seed, mnnvl)
    config = configuration(True, mnnvl, ["default-scheduler", "kai-scheduler"], "default-scheduler", LEVELS)
    if spoilt:
        config = spoil(seed, objects[-1], mnnvl)
    stored = json.loads(json.dumps(model.defaulted(objects[-1], "default"), default=str))
    files = {}
    for name, content in (("input", objects[:-1] + [stored if spoilt else objects[-1]]), ("config", config)):
        files[name] = os.path.join(folder, name + ".json")
        with open(files[name], "w") as f:
            json.dump(content, f, default=str)
    got, refusal = children.render(grovectl, files["input"], files["config"], ["--stored"] if spoilt else [])
    return [refusal] if got is None else children.compare(wanted(model, stored, config + objects[:-1]), got)


def run(grovectl, oracle, first, count):
    model, sets = load(oracle, "children"), load(oracle, "random_set")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            lines = differences(model, sets, grovectl, seed, folder)
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
