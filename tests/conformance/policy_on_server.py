#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The policies of deploy/webhook-free on a real kube-apiserver against the rules they stand for.

usage: policy_on_server.py --grovectl PROGRAM [--kubeconfig FILE] [--count N]

Takes recorded manifests that pass the schema, in the form in which they would be stored, and sends them to a server that has
the resource definitions and the policies but no webhook of Grove. It must refuse those and only those that break a rule
which the policies claim to cover, naming a code that `grovectl validate` finds too. Needs `./dev control-plane up` and the
folder `shared` beside the repository; exit 77 without. The last line is `N passed, N failed`.
"""
import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import yaml

from schema_on_server import PLURAL, ROOT, Server

SHARED = ROOT.parent / "shared" / "conformance"
LIVE = SHARED / "live-config.json"


def run_cases(grovectl, cases):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for i, case in enumerate(cases):
            f.write(json.dumps({"name": str(i), **case}) + "\n")
        f.flush()
        run = subprocess.run([grovectl, "validate", "--cases", f.name, "--config", LIVE], capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def stored(grovectl, objects):
    """The objects as a cluster with Grove's defaulting webhook would hand them to its validators."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, f)
        f.flush()
        run = subprocess.run([grovectl, "default", f.name, "-o", "json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["items"]


def recorded(grovectl, count):
    cases = []
    for name in ("admission.jsonl", "mutants.jsonl.gz"):
        with (gzip.open if name.endswith(".gz") else open)(SHARED / name, "rt") as f:
            cases += [json.loads(line) for line in f]
    cases = [c for c in cases if c["stage"] in (None, "webhook") and c.get("errors") is not None]
    creates = [c for c in cases if not c.get("old")]
    updates = [c for c in cases if c.get("old")]
    step = max(1, len(creates) // count)
    chosen = [{"op": "CREATE", "input": c["input"]} for c in creates[::step]]
    chosen += [{"op": "UPDATE", "input": c["input"], "old": c["old"]} for c in updates[::max(1, 2 * len(updates) // count)]]
    flat = stored(grovectl, [part for c in chosen for part in (c["input"], c.get("old", c["input"]))])
    for i, case in enumerate(chosen):
        case["input"] = flat[2 * i]
        if "old" in case:
            case["old"] = flat[2 * i + 1]
    return chosen


def prepare(server):
    """Definitions and policies, and the codes that the policies claim."""
    codes = set()
    resources = {"CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/",
                 "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/",
                 "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/"}
    for path in sorted((ROOT / "deploy/crds/upstream").glob("*.yaml")) + [ROOT / "deploy/webhook-free/policy.yaml"]:
        for obj in yaml.safe_load_all(path.read_text()):
            status, answer = server.call("PATCH", f"{resources[obj['kind']]}{obj['metadata']['name']}?fieldManager=test&force=true",
                                         obj, "application/apply-patch+yaml")
            if status >= 300:
                sys.exit(f"{path.name}: {answer.get('message')}")
            for rule in obj["spec"].get("validations", ()):
                codes.add(rule["message"][:7])
    return codes


def url(obj, suffix=""):
    where = "" if obj["kind"] == "ClusterTopologyBinding" else "/namespaces/default"
    return f"/apis/grove.io/v1alpha1{where}/{PLURAL[obj['kind']]}{suffix}"


def sendable(obj):
    """A copy that can be deleted again at once: nothing holds it, nobody owns it."""
    obj = json.loads(json.dumps(obj))
    obj["metadata"]["namespace"] = "default"
    for key in ("finalizers", "ownerReferences"):
        obj["metadata"].pop(key, None)
    return obj


def send(server, case):
    obj = sendable(case["input"])
    if "old" not in case:
        return server.call("POST", url(obj) + "?dryRun=All", obj)
    old = sendable(case["old"])
    status, kept = server.call("POST", url(old), old)
    if status >= 300:
        return None, None
    obj["metadata"]["resourceVersion"] = kept["metadata"]["resourceVersion"]
    answer = server.call("PUT", url(obj, "/" + kept["metadata"]["name"]) + "?dryRun=All", obj)
    server.call("DELETE", url(old, "/" + kept["metadata"]["name"]), {})
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grovectl", required=True)
    parser.add_argument("--kubeconfig", default=str(pathlib.Path.home() / ".cache/libgrove/control-plane/run/admin.kubeconfig"))
    parser.add_argument("--count", type=int, default=600)
    args = parser.parse_args()
    try:
        server = Server(args.kubeconfig)
        covered = prepare(server)
        cases = recorded(args.grovectl, args.count)
    except OSError as error:
        print(f"policy_on_server: skipped: {error}", file=sys.stderr)
        return 77
    probe = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "probe"},
             "spec": {"levels": [{"domain": "a", "key": "a"}, {"domain": "a", "key": "b"}]}}
    while server.call("POST", url(probe) + "?dryRun=All", probe)[0] < 300:
        time.sleep(1)  # a server takes a moment before a new policy binds; there is nothing else to wait for
    passed, found, reached = 0, [], set()
    for case, ours in zip(cases, run_cases(args.grovectl, cases), strict=True):
        status, answer = send(server, case)
        if status is None or ours["stage"] == "schema":
            continue
        broken = {e["code"] for e in ours["errors"]}
        named = set(re.findall(r"GRV\d{4}", answer.get("message", ""))) if status >= 300 else set()
        reached |= named
        if status >= 300 and not named:
            found.append(f"{status} {answer.get('message', '')[:300]}")
        elif bool(named) != bool(broken & covered) or not named <= broken:
            found.append(f"server {sorted(named)}, ours {sorted(broken)}: {json.dumps(case)[:1500]}")
        else:
            passed += 1
    for text in found[:12]:
        print(text)
    print(f"rules seen to refuse: {' '.join(sorted(reached))}")
    print(f"{passed} passed, {len(found)} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
