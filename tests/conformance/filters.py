#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters, one by one, through grovectl fit: which nodes a pod may go to, and what is said not to be supported.

Each line of tests/golden/filters/cases.jsonl has nodes (`labels`, `taints`, `unschedulable`, `allocatable`), the
cliques of one gang (`pod`: a pod spec), pods that are `bound`, further `objects`, and what is expected: `fits`;
`only`: all pods are on these nodes; `apart`: no two share one; `alone`: nobody shares a node with these cliques;
`notSupported`: the paths that the answer must name, and no others.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "golden", "filters", "cases.jsonl")
DEFAULTS = {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "0"}


def node(n):
    labels = dict({"kubernetes.io/hostname": n["name"]}, **n.get("labels", {}))
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": n["name"], "labels": labels},
            "spec": {"taints": n.get("taints", []), "unschedulable": n.get("unschedulable", False)},
            "status": {"allocatable": dict(DEFAULTS, **n.get("allocatable", {})),
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def bound_pod(i, b):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bound-%d" % i, "namespace": "default"},
            "spec": dict(b["spec"], nodeName=b["node"]), "status": {"phase": "Running"}}


def manifest(case):
    cliques = [{"name": c["name"], "labels": c.get("labels", {}),
                "spec": {"roleName": c["name"], "replicas": c["replicas"], "podSpec": c["pod"]}} for c in case["cliques"]]
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "set", "namespace": "default"},
            "spec": {"replicas": 1, "template": {"cliques": cliques}}}


def problem_of(case, code, out, err):
    want = case["expect"]
    if code not in (0, 1):
        return "exit %d: %s" % (code, err)
    gang = json.loads(out)["gangs"][0]
    placement = gang["placement"]
    said = sorted(n["path"] for n in gang["notSupported"])
    if gang["fits"] != want["fits"] or (code == 0) != want["fits"]:
        return "fits is %s: %s" % (gang["fits"], gang["why"])
    if said != sorted(want["notSupported"]):
        return "not supported: %s" % said
    used = [n for at in placement.values() for n, count in at.items() for _ in range(count)]
    if want["fits"] and len(used) != sum(c["replicas"] for c in case["cliques"]):
        return "placed %s" % placement
    if "only" in want and not set(used) <= set(want["only"]):
        return "on %s" % used
    if want.get("apart") and len(used) != len(set(used)):
        return "together on %s" % used
    for clique in want.get("alone", []):
        mine = placement["set-0-" + clique]
        if any(used.count(n) > mine[n] for n in mine):
            return "%s is not alone: %s" % (clique, placement)
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grovectl", required=True)
    grovectl = os.path.abspath(parser.parse_args().grovectl)
    passed = failed = 0
    with open(CASES) as f:
        cases = [json.loads(line) for line in f]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            items = [node(n) for n in case["nodes"]] + [bound_pod(i, b) for i, b in enumerate(case.get("bound", []))]
            files = {"cluster.json": {"apiVersion": "v1", "kind": "List", "items": items + case.get("objects", [])},
                     "set.json": manifest(case)}
            for name, content in files.items():
                with open(os.path.join(folder, name), "w") as f:
                    json.dump(content, f)
            done = subprocess.run([grovectl, "fit", "set.json", "--cluster", "cluster.json", "-o", "json"], cwd=folder,
                                  capture_output=True, text=True, timeout=60)
            problem = problem_of(case, done.returncode, done.stdout, done.stderr)
            passed += problem == ""
            failed += problem != ""
            if problem:
                print("FAIL %s: %s" % (case["name"], problem))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
