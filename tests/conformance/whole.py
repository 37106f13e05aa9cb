# SPDX-License-Identifier: Apache-2.0
"""Whole states in normal form: all objects that were recorded once pods ran, status included. Used by ready.py and transitions.py."""
import json
import os
import subprocess
import tempfile

import children
import planner

KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "PodGroup", "Pod", "HorizontalPodAutoscaler")
LABELS = {  # every key that the bindings of the recorded configurations name
    "kubernetes.io/zone": "z%d", "kubernetes.io/block": "b%d", "kubernetes.io/rack": "r%d", "example.com/nvl-block": "nb%d",
    "example.com/nvlink-domain": "nd%d"}
ROOM = {"cpu": "4096", "memory": "4Ti", "pods": "1000", "nvidia.com/gpu": "64", "ephemeral-storage": "4Ti"}


def asked_labels(pods):
    """Node labels that selectors and required affinities of the pods ask for (the recorded pods were bound whatever they asked for)."""
    labels = {}
    for pod in pods:
        labels.update(pod["spec"].get("nodeSelector") or {})
        affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
        for term in affinity.get("nodeSelectorTerms", []):
            labels.update({e["key"]: e["values"][0] for e in term.get("matchExpressions", []) if e["operator"] == "In"})
    return labels


def nodes(extra):
    """Two zones of two blocks of two racks of eight large nodes."""
    items = []
    for n in range(64):
        place = {"kubernetes.io/zone": n // 32, "kubernetes.io/block": n // 16, "kubernetes.io/rack": n // 8,
                 "example.com/nvl-block": n // 16, "example.com/nvlink-domain": n // 8}
        labels = {k: v % place[k] for k, v in LABELS.items()}
        labels.update({"kubernetes.io/hostname": "n%02d" % n, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"})
        labels.update(extra)
        items.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%02d" % n, "labels": labels},
                      "status": {"capacity": ROOM, "allocatable": ROOM}})
    return {"apiVersion": "v1", "kind": "List", "items": items}


class Simulator:
    """`grovectl sim` on a cluster with room for everything, pods Ready at once."""

    def __init__(self, grovectl):
        self.grovectl = grovectl
        self.folder = tempfile.TemporaryDirectory()
        self.written = 0

    def write(self, value):
        self.written += 1
        path = os.path.join(self.folder.name, "%d.json" % self.written)
        with open(path, "w") as f:
            json.dump(value, f)
        return path

    def run(self, *args, pods=()):
        """(the final document, "") or (None, the complaint); nodes have the labels that `pods` ask for."""
        run = subprocess.run([self.grovectl, "sim", "--nodes", self.write(nodes(asked_labels(pods))), "--instant", "-o", "json", *args],
                             capture_output=True, text=True)
        if run.returncode != 0:
            return None, "exit status %d: %s" % (run.returncode, run.stderr.strip()[:300])
        return json.loads(run.stdout), ""


def normal(items, kinds=KINDS):
    """{"Kind/name": object} in normal form, with the status of Grove's own kinds."""
    items = [o for o in items if o["kind"] in kinds]
    out = children.normal(items)
    for o in children.replaced(json.loads(json.dumps(items)), children.pod_names(items)):
        if o["kind"] in planner.KINDS:
            status = planner.normal_status(o)
            errors = [e.get("code") for e in (o.get("status") or {}).get("lastErrors") or []]
            if errors:
                status["lastErrors"] = errors
            out["%s/%s" % (o["kind"], o["metadata"]["name"])]["status"] = status
    return out
