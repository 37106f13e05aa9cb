#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Warnings about podSpecs against a real kube-apiserver.

usage: pods_on_server.py --grovectl PROGRAM [--kubeconfig FILE] [--seed N] [--count N]

Makes random mutants of a podSpec that pass the schema of a PodClique, and creates a pod of each with dryRun=All. A warning of
the range GRV31xx must mean that the server refuses the pod; refusals without a warning are counted and told by their path.
Needs `./dev control-plane up`. The last line is `N passed, N failed`; exit 77 where no server answers.
"""
import argparse
import collections
import copy
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from schema_on_server import POD, Server, mutate


def judged(grovectl, specs):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for i, spec in enumerate(specs):
            obj = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": {"name": "demo"},
                   "spec": {"roleName": "r", "replicas": 1, "podSpec": spec}}
            f.write(json.dumps({"name": str(i), "op": "CREATE", "input": obj}) + "\n")
        f.flush()
        run = subprocess.run([grovectl, "validate", "--cases", f.name], capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grovectl", required=True)
    parser.add_argument("--kubeconfig", default=str(pathlib.Path.home() / ".cache/libgrove/control-plane/run/admin.kubeconfig"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    try:
        server = Server(args.kubeconfig)
        server.call("GET", "/version", {})
    except OSError as error:
        print(f"pods_on_server: skipped: no server: {error}", file=sys.stderr)
        return 77
    rng = random.Random(args.seed)
    base = {**copy.deepcopy(POD), "serviceAccountName": "default"}
    base["initContainers"] = [{"name": "wait", "image": "example.com/w:1"}]
    specs = [base]
    while len(specs) < args.count:
        holder = {"spec": copy.deepcopy(base)}
        for _ in range(rng.choice((1, 1, 2))):
            mutate(rng, holder)
        specs.append(holder["spec"])
    false_alarms, missed, passed = [], collections.Counter(), 0
    for spec, ours in zip(specs, judged(args.grovectl, specs), strict=True):
        if not ours["allowed"]:
            continue
        warned = {w["code"] for w in ours["warnings"] if w["code"].startswith("GRV31")}
        status, answer = server.call("POST", "/api/v1/namespaces/default/pods?dryRun=All",
                                     {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "demo"}, "spec": spec})
        if status < 300 and warned:
            false_alarms.append(f"{sorted(warned)} {json.dumps(spec)}")
        elif status >= 300 and not warned:
            fields = [c.get("field", "") for c in (answer.get("details") or {}).get("causes") or []] or [answer.get("message", "")[:90]]
            missed.update(re.sub(r"\[\d+\]", "[]", field) for field in fields)
            passed += 1
        else:
            passed += 1
    for text in false_alarms[:10]:
        print(text)
    for field, n in missed.most_common(25):
        print(f"   refused without a warning, {n} times: {field}")
    print(f"{passed} passed, {len(false_alarms)} failed")
    return 1 if false_alarms else 0


if __name__ == "__main__":
    sys.exit(main())
