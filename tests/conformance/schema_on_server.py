#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schema layer against a real kube-apiserver that serves our resource definitions.

usage: schema_on_server.py --grovectl PROGRAM [--kubeconfig FILE] [--seed N] [--count N]

Applies deploy/crds/upstream, makes random mutants of valid objects of all kinds, and sends each with dryRun=All and strict
field validation; `grovectl validate --schema-only` judges the same objects (the server has no webhooks of Grove). Verdict,
stage, types and paths must agree. Needs `./dev control-plane up`. The last line is `N passed, N failed`; exit 77 where no
server answers.
"""
import argparse
import copy
import http.client
import json
import pathlib
import random
import ssl
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLURAL = {"PodCliqueSet": "podcliquesets", "PodClique": "podcliques", "PodCliqueScalingGroup": "podcliquescalinggroups",
          "ClusterTopologyBinding": "clustertopologybindings", "PodGang": "podgangs"}
REASON = {"FieldValueRequired": "Required", "FieldValueInvalid": "Invalid", "FieldValueNotSupported": "NotSupported",
          "FieldValueDuplicate": "Duplicate", "FieldValueForbidden": "Forbidden", "FieldValueTooLong": "TooLong",
          "FieldValueTooMany": "TooMany", "FieldValueTypeInvalid": "TypeInvalid", "FieldValueNotFound": "NotFound"}
POD = {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "nodeSelector": {"a": "b"},
       "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 3}],
       "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "w", "configMap": {"items": [{"key": "k", "path": "p"}]}}],
       "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "ScheduleAnyway"}],
       "containers": [{"name": "main", "image": "example.com/a:1", "args": ["x"], "stdin": False,
                       "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                       "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 80, "protocol": "UDP"}],
                       "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": 1}},
                       "livenessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 5},
                       "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}
CLIQUE = {"roleName": "r", "replicas": 2, "minAvailable": 1, "podSpec": POD,
          "autoScalingConfig": {"minReplicas": 1, "maxReplicas": 3, "metrics": [
              {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]}}
SPECS = {
    "PodClique": CLIQUE,
    "PodCliqueScalingGroup": {"replicas": 2, "minAvailable": 1, "cliqueNames": ["a", "b"]},
    "ClusterTopologyBinding": {
        "levels": [{"domain": "zone", "key": "topology.kubernetes.io/zone"}, {"domain": "rack", "key": "example.com/rack"}],
        "schedulerTopologyBindings": [{"schedulerName": "kai-scheduler", "topologyReference": "t"}]},
    "PodGang": {"podgroups": [{"name": "g", "minReplicas": 1, "podReferences": [{"namespace": "n", "name": "p"}],
                               "topologyConstraint": {"packConstraint": {"required": "a", "preferred": "b"}}}],
                "topologyConstraintGroupConfigs": [{"name": "c", "podGroupNames": ["g"]}], "priorityClassName": "p"},
    "PodCliqueSet": {"replicas": 1, "updateStrategy": {"type": "OnDelete"}, "template": {
        "cliqueStartupType": "CliqueStartupTypeInOrder", "terminationDelay": "4h0m0s",
        "headlessServiceConfig": {"publishNotReadyAddresses": True},
        "topologyConstraint": {"topologyName": "t", "pack": {"required": "zone", "preferred": "rack"}},
        "cliques": [{"name": "a", "labels": {"x": "y"}, "spec": CLIQUE, "topologyConstraint": {"packDomain": "rack"}},
                    {"name": "b", "spec": {"roleName": "s", "replicas": 1, "minAvailable": 1, "podSpec": {
                        "restartPolicy": "Always", "terminationGracePeriodSeconds": 3, "containers": []}}}],
        "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1,
                                    "topologyConstraint": {"pack": {"preferred": "rack"}},
                                    "resourceSharing": [{"name": "c", "scope": "PerReplica", "filter": {"childCliqueNames": ["b"]}}]}],
        "resourceClaimTemplates": [{"name": "c", "templateSpec": {"spec": {"devices": {"requests": [
            {"name": "r", "exactly": {"deviceClassName": "d", "count": 1}}],
            "config": [{"opaque": {"driver": "e.com", "parameters": {"free": [1, None]}}}]}}}}]}}}
VALUES = (None, "", " ", "text", "A_b", "-a", "a.b", "a" * 64, "a" * 254, "rack", "Zone", 0, 1, -1, 2.0, 1.5, 2 ** 31, 2 ** 63, 1e20,
          True, [], {}, ["x"], [None], {"a": "b"}, "1", "500m", "1Gi", "x1", " 1", "1e3", "OnDelete", "2026-01-31T12:00:00Z")


class Server:
    def __init__(self, kubeconfig):
        config = yaml.safe_load(open(kubeconfig))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.context.load_cert_chain(user["client-certificate"], user["client-key"])
        self.host = cluster["server"].split("//")[1]
        self.connection = http.client.HTTPSConnection(self.host, context=self.context)

    def call(self, method, path, body, kind="application/json"):
        data = body if isinstance(body, str) else json.dumps(body)
        self.connection.request(method, path, data if method != "GET" else None, {"Content-Type": kind, "Accept": "application/json"})
        response = self.connection.getresponse()
        return response.status, json.loads(response.read() or b"{}")

    def create(self, obj):
        group = obj["apiVersion"].split("/")[0]
        where = "" if obj["kind"] == "ClusterTopologyBinding" else "/namespaces/default"
        return self.call("POST", f"/apis/{group}/v1alpha1{where}/{PLURAL[obj['kind']]}?dryRun=All&fieldValidation=Strict", obj)


def positions(value, trail=()):
    yield trail
    for step, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from positions(part, trail + (step,))


def mutate(rng, obj):
    places = [t for t in positions(obj) if len(t) > 1 and t[0] in ("metadata", "spec")]
    *trail, last = rng.choice(places)
    parent = obj
    for step in trail:
        parent = parent[step]
    how = rng.choice(("delete", "value", "value", "value", "repeat", "unknown"))
    if how == "delete":
        del parent[last]
    elif how == "value":
        parent[last] = copy.deepcopy(rng.choice(VALUES))
    elif how == "repeat" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[last]))
    elif how == "unknown" and isinstance(parent, dict) and rng.random() < 0.3:
        parent["unknown"] = 1


def base(kind):
    group = "scheduler.grove.io" if kind == "PodGang" else "grove.io"
    meta = {"name": "demo", "labels": {"app": "x"}, "annotations": {"a.b/c": "d"}, "finalizers": ["a.b/c"], "ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": True}]}
    return {"apiVersion": group + "/v1alpha1", "kind": kind, "metadata": meta, "spec": copy.deepcopy(SPECS[kind])}


def recorded(status, answer):
    """The server's verdict as (stage, set of (type, path)); paths of decode errors are not compared."""
    if status < 300:
        return "", set()
    if status in (400, 500):
        return "decode", set()
    causes = (answer.get("details") or {}).get("causes") or []
    found = {(REASON.get(c.get("reason"), c.get("reason")), c.get("field", "").lstrip(".")) for c in causes}
    return "schema", {(kind, path) for kind, path in found if path != "<nil>"}


def judged(grovectl, objects):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as cases:
        for i, obj in enumerate(objects):
            cases.write(json.dumps({"name": str(i), "op": "CREATE", "input": obj}) + "\n")
        cases.flush()
        run = subprocess.run([grovectl, "validate", "--schema-only", "--cases", cases.name], capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def unbind_policies(server):
    """The schema alone is asked here; policy_on_server.py may have left policies behind."""
    for kind in ("podcliquesets", "clustertopologybindings"):
        server.call("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/"
                    f"{kind}.policy.libgrove.io", {})
    twice = base("ClusterTopologyBinding")
    twice["spec"]["levels"] = [{"domain": "a", "key": "a"}] * 2
    while server.create(twice)[0] >= 300:
        time.sleep(1)  # a server takes a moment to let a policy go; there is nothing else to wait for


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grovectl", required=True)
    parser.add_argument("--kubeconfig", default=str(pathlib.Path.home() / ".cache/libgrove/control-plane/run/admin.kubeconfig"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    args = parser.parse_args()
    try:
        server = Server(args.kubeconfig)
        for path in sorted((ROOT / "deploy/crds").glob("*/*.yaml")):  # the extended set comes first, and is only tried
            crd = yaml.safe_load(path.read_text())
            dry = "&dryRun=All" if path.parent.name == "extended" else ""
            status, answer = server.call("PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                                         f"{crd['metadata']['name']}?fieldManager=test&force=true{dry}", crd, "application/apply-patch+yaml")
            if status >= 300:
                print(f"{path.parent.name}/{path.name}: {answer.get('message')}")
                return 1
    except OSError as error:
        print(f"schema_on_server: skipped: no server: {error}", file=sys.stderr)
        return 77
    unbind_policies(server)
    rng = random.Random(args.seed)
    objects = [base(kind) for kind in SPECS]
    while len(objects) < args.count:
        obj = base(rng.choice(list(SPECS)))
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            mutate(rng, obj)
        objects.append(obj)
    failed = 0
    for obj, ours in zip(objects, judged(args.grovectl, objects), strict=True):
        stage, errors = recorded(*server.create(obj))
        have = {(e["type"], e["path"]) for e in ours["errors"]} if ours["stage"] == "schema" else set()
        if (ours["stage"] or "", have) != (stage, errors):
            failed += 1
            if failed <= 20:
                print(json.dumps(obj)[:2000])
                print(f"   ours {ours['stage'] or 'allowed'} {sorted(have - errors)} {ours['errors'][:1] if ours['stage'] == 'decode' else ''}")
                print(f"   server {stage or 'allowed'} {sorted(errors - have)}")
    print(f"{len(objects) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
