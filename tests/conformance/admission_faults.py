#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults that users of Grove and its peers have met at admission, each with the right answer.

usage: admission_faults.py --grovectl PROGRAM

A case is (name, object, what else, expected): the codes and paths of errors, or of warnings under --lint. The last line is
`N passed, N failed`.
"""
import argparse
import copy
import json
import subprocess
import sys
import tempfile

CONFIG = [
    {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", "topologyAwareScheduling": {"enabled": True},
     "scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]}},
    {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "fabric"}, "spec": {"levels": [
        {"domain": d, "key": f"example.com/{d}"} for d in ("zone", "block", "rack", "host")]}}]
NO_TOPOLOGY = [{**CONFIG[0], "topologyAwareScheduling": {"enabled": False}}]
T = "spec.template"


def clique(name="a", replicas=1, least=1, **more):
    pod = {"containers": [{"name": "main", "image": "example.com/x:1", **more.pop("container", {})}], **more.pop("pod", {})}
    spec = {"roleName": more.pop("role", name), "replicas": replicas, "minAvailable": least, "podSpec": pod, **more.pop("spec", {})}
    return {"name": name, "spec": spec, **more}


def pcs(*cliques, name="demo", replicas=1, **template):
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": name},
            "spec": {"replicas": replicas, "template": {"cliques": list(cliques), **template}}}


def group(name, *members, replicas=1, least=1, **more):
    return {"name": name, "cliqueNames": list(members), "replicas": replicas, "minAvailable": least, **more}


def pack(required=None, preferred=None, topology="fabric"):
    levels = {"required": required, "preferred": preferred}
    return {"topologyName": topology, "pack": {k: v for k, v in levels.items() if v}}


def changed(obj, path, value):
    obj = copy.deepcopy(obj)
    *way, last = path
    at = obj
    for step in way:
        at = at[step]
    at[last] = value
    return obj


GROUPED = pcs(clique(), podCliqueScalingGroups=[group("g", "a", replicas=3, least=2)])
REPLICAS = ("spec", "template", "podCliqueScalingGroups", 0, "replicas")
IMAGE = ("spec", "template", "cliques", 0, "spec", "podSpec", "containers", 0, "image")
PACKED = pcs(clique(), topologyConstraint=pack("rack"))
BAD_ENV = [{"name": "1BAD"}, {"name": "X", "value": "a"}, {"name": "X", "value": "b"}]
ENV = T + ".cliques[0].spec.podSpec.{}containers[0].env[{}]"

# name, object, old object, configuration, {(code, path)} of errors
VERDICTS = [
    ("VAL-01 a capital letter in a clique's name", pcs(clique("Decode")), None, CONFIG, {("GRV2021", T + ".cliques[0].name")}),
    ("VAL-02 the new object is the one checked: 0", changed(GROUPED, REPLICAS, 0), GROUPED, CONFIG,
     {("GRV2025", T + ".podCliqueScalingGroups[0].replicas"), ("GRV2026", T + ".podCliqueScalingGroups[0].minAvailable")}),
    ("VAL-02 the new object is the one checked: below minAvailable", changed(GROUPED, REPLICAS, 1), GROUPED, CONFIG,
     {("GRV2026", T + ".podCliqueScalingGroups[0].minAvailable")}),
    ("VAL-02 an invalid old object and a valid new one", GROUPED, changed(GROUPED, REPLICAS, 1), CONFIG, set()),
    ("VAL-04 malformed variable", pcs(clique(container={"env": BAD_ENV[:1]})), None, CONFIG,
     {("GRV2037", T + ".cliques[0].spec.podSpec.spec.containers[0].env[0].name")}),
    ("VAL-04 variable given twice", pcs(clique(container={"env": BAD_ENV[1:]})), None, CONFIG, {("GRV1110", ENV.format("", 1))}),
    ("VAL-06 nodeSelector is a legitimate field", pcs(clique(pod={"nodeSelector": {"pool": "gpu"}})), None, CONFIG, set()),
    ("VAL-06 a template's image may change", changed(GROUPED, IMAGE, "example.com/x:2"), GROUPED, CONFIG, set()),
    ("VAL-06 nodeName stays forbidden", pcs(clique(pod={"nodeName": "n"})), None, CONFIG,
     {("GRV2036", T + ".cliques[0].spec.podSpec.spec.nodeName")}),
    ("VAL-07 topology turned off does not lock old objects", changed(PACKED, IMAGE, "example.com/x:2"), PACKED, NO_TOPOLOGY, set()),
    ("VAL-07 it refuses new ones", PACKED, None, NO_TOPOLOGY, {("GRV2080", T + ".topologyConstraint")}),
    ("VAL-08 a scheduler nobody serves", pcs(clique(pod={"schedulerName": "mine"})), None, CONFIG,
     {("GRV2042", T + ".cliques.spec.podSpec.schedulerName"), ("GRV2042", "spec")}),
    ("VAL-14 a minimum is in the unit of its object", pcs(clique("l", 1), clique("w", 3), podCliqueScalingGroups=[
        group("g", "l", "w", replicas=2, least=3)]), None, CONFIG, {("GRV2026", T + ".podCliqueScalingGroups[0].minAvailable")}),
    ("VAL-15 45 characters with a group", pcs(clique("c" * 11), name="s" * 19, podCliqueScalingGroups=[group("g" * 15, "c" * 11)]),
     None, CONFIG, set()),
    ("VAL-15 46 characters with a group", pcs(clique("c" * 11), name="s" * 20, podCliqueScalingGroups=[group("g" * 15, "c" * 11)]),
     None, CONFIG, {("GRV2022", T + ".podCliqueScalingGroups[0].cliqueNames[0].name"),
                    ("GRV2022", T + ".podCliqueScalingGroups[0].name"), ("GRV2022", "metadata.name")}),
    ("VAL-15 46 characters without", pcs(clique("c" * 26), name="s" * 20), None, CONFIG,
     {("GRV2022", T + ".cliques[0].name"), ("GRV2022", "metadata.name")}),
    ("TOP-04 required and preferred may be equal", pcs(clique(), topologyConstraint=pack("rack", "rack")), None, CONFIG, set()),
    ("TOP a level that the binding lacks", pcs(clique(), topologyConstraint=pack("row")), None, CONFIG,
     {("GRV2084", T + ".topologyConstraint.pack.required")}),
    ("TOP a child packed wider than its set", pcs(clique(topologyConstraint=pack("block")), topologyConstraint=pack("rack")), None,
     CONFIG, {("GRV2085", T + ".topologyConstraint")}),
]
NODES = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": n, "labels": {"h": n, "r": "r1"}}} for n in ("a", "b")]
REVERSED = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "t"},
            "spec": {"levels": [{"domain": "host", "key": "h"}, {"domain": "rack", "key": "r"}]}}
# name, object, {(code, path)} that --lint has to find
LINTS = [
    ("NAM-04 an index grows into the limit", pcs(clique("c" * 15, replicas=100), name="s" * 15, replicas=10**6 + 1, podCliqueScalingGroups=[
        group("g" * 15, "c" * 15, scaleConfig={"maxReplicas": 10**6})]), {("GRV3002", T + ".cliques[0].name")}),
    ("NAM-07 a Service name that begins with a digit", pcs(clique(), name="7b-chat"), {("GRV3001", "metadata.name")}),
    ("NAM-07 a host name with a dot", pcs(clique("pre.fill")), {("GRV3001", T + ".cliques[0].name")}),
    ("TOP-18 levels listed the wrong way round", REVERSED, {("GRV3016", "spec.levels[1].key")}),
]


def validate(grovectl, obj, old, config, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as c, tempfile.NamedTemporaryFile("w", suffix=".json") as o:
        json.dump(config, c)
        json.dump(old or {}, o)
        c.flush(), o.flush()
        args = [grovectl, "validate", "-o", "json", "--config", c.name, *options, *(["--old", o.name] if old else []), "-"]
        run = subprocess.run(args, input=json.dumps(obj), capture_output=True, text=True)
    return json.loads(run.stdout)["results"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grovectl", required=True)
    grovectl = parser.parse_args().grovectl
    failed = 0
    for name, obj, old, config, want in VERDICTS:
        got = validate(grovectl, obj, old, config)
        have = {(e["code"], e["path"]) for e in got["errors"]}
        if have != want or got["allowed"] != (not want):
            failed += 1
            print(f"{name}: {sorted(have)}, right is {sorted(want)}")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as nodes:
        json.dump(NODES, nodes)
        nodes.flush()
        for name, obj, want in LINTS:
            got = validate(grovectl, obj, None, CONFIG, "--lint", "--nodes", nodes.name)
            have = {(w["code"], w["path"]) for w in got["warnings"]}
            if not want <= have:
                failed += 1
                print(f"{name}: {sorted(have)}, should hold {sorted(want)}")
    total = len(VERDICTS) + len(LINTS)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
