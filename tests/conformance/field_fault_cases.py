# SPDX-License-Identifier: Apache-2.0
"""The cases of field_faults.py: for each number the sets, the events and what is right in the end.

Each is short for an input of the collection: what went wrong there stands beside the number in the commit history and in
the reports of the projects; here stands what has to be true.
"""
import itertools
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TOPOLOGY = os.path.join(ROOT, "tests", "scenarios", "topology.yaml")
KAI = os.path.join(ROOT, "tests", "scenarios", "config.yaml")
GANG = os.path.join(ROOT, "tests", "scenarios", "gang.yaml")
READY = {"path": "status.conditions[Ready].status", "equals": "True"}


def clique(name, replicas=1, least=1, **more):
    container = {"name": "c", "image": name + ":1", "resources": {"limits": {"nvidia.com/gpu": "1"}}, **more.pop("container", {})}
    pod = {"containers": [container], **more.pop("pod", {})}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "minAvailable": least, "podSpec": pod, **more.pop("spec", {})}, **more}


def group(name, members, replicas=1, least=1):
    return {"name": name, "cliqueNames": members, "replicas": replicas, "minAvailable": least}


def pcs(*cliques, groups=(), replicas=1, **template):
    body = {"terminationDelay": "1m", **template, "cliques": list(cliques)}
    if groups:
        body["podCliqueScalingGroups"] = list(groups)
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "m"}, "spec": {"replicas": replicas, "template": body}}


def pod(clique_name, index=None):
    """A selection of the pods of one clique, or of the one with this index."""
    return {"kind": "Pod", "selector": "grove.io/podclique=" + clique_name + ("" if index is None else ",grove.io/podclique-pod-index=%d" % index)}


def ready(clique_name, count):
    return [{**pod(clique_name), "where": READY, "count": count}, {**pod(clique_name), "count": count}]


def available(n=1):
    return [{"kind": "PodCliqueSet", "name": "m", "path": "status.availableReplicas", "equals": n}]


def is_true(kind, name, condition, value):
    return {"kind": kind, "name": name, "path": "status.conditions[%s].status" % condition, "equals": value}


def scale(kind, name, replicas):
    return {"scale": {"kind": kind, "name": name, "replicas": replicas}}


def image(name, value):
    return {"setImage": {"set": "m", "clique": name, "image": value}}


def delete(selection):
    return {"delete": selection}


def patch(kind, name, body):
    return {"patch": {"kind": kind, "name": name, "patch": body}}


def at(kind, name, path, value):
    return {"kind": kind, "name": name, "path": path, "equals": value}


def bound(clique_name, count):
    return {**pod(clique_name), "where": {"path": "spec.nodeName", "exists": True}, "count": count}


def named(name, what, **labels):
    return {**what, "metadata": {"name": name, **({"labels": labels} if labels else {})}}


def packed(domain):
    return {"topologyConstraint": {"topologyName": "grove-topology", "pack": {"required": domain}}}


def kai(what):
    """The set for KAI: its queue, and its scheduler in every clique."""
    for c in what["spec"]["template"]["cliques"]:
        c["spec"]["podSpec"]["schedulerName"] = "kai-scheduler"
    what["metadata"] = {**what["metadata"], "labels": {"kai.scheduler/queue": "test"}}
    return what


def quota(most=None):
    """So many pods at most; without a number the quota ends."""
    return {"quota": {"kind": "Pod", **({} if most is None else {"atMost": most})}}


def lone(name, **labels):
    """A pod that no set made."""
    return {"apply": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}


def node_in(name, rack):
    """A node with one GPU in a rack of the first block."""
    room = {"nvidia.com/gpu": "1", "cpu": "8", "memory": "8Gi", "pods": "10"}
    labels = {"topology.kubernetes.io/zone": "z0", BLOCK: "b0", RACK: rack, "kubernetes.io/hostname": name}
    return {"apply": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
                      "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}}}


def binding(*levels):
    keys = {"zone": "topology.kubernetes.io/zone", "block": BLOCK, "rack": RACK, "host": "kubernetes.io/hostname"}
    return {"apply": {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "grove-topology"},
                      "spec": {"levels": [{"domain": level, "key": keys[level]} for level in levels]}}}


PAIR = pcs(clique("a", 3, 2))
GROUPED = pcs(clique("f"), clique("p"), clique("d"), groups=[group("g", ["p", "d"], 2)])
NEVER = {"rule": {"ready": "never"}}
REST = "20m"
ROUNDS = 9  # law (b): most plans in a row that any of these lives takes with nothing happening in between
RACK = "node.network.kwai.io/rack"
MNNVL = "grove.io/mnnvl-group"
CLAIM = "spec.podSpec.resourceClaims[mnnvl-claim].resourceClaimTemplateName"
BLOCK = "node.network.kwai.io/block"
HOST = "kubernetes.io/hostname"
HELD = {"path": "spec.schedulingGates[grove.io/podgang-pending-creation].name", "exists": True}
NO_HASH = [{"op": "remove", "path": "/metadata/labels/grove.io~1pod-template-hash"}]
NESTED = kai(pcs(clique("p", **packed("host")), clique("d"), groups=[{**group("g", ["p", "d"], 2), **packed("rack")}], **packed("block")))


class Case:
    """events: steps that may be exchanged unless `fixed`; `gap`: time between them; `settled`: they begin at rest;
    `always`: what holds at every instant from the first event on; `config`: of the operator."""

    def __init__(self, what, events, expect, fixed=False, gap="2s", settled=True, before=(), nodes="blocks=1,racks=2,nodes=8,gpu=2", rest=REST,
                 always=(), config=None):
        self.what, self.events, self.expect, self.fixed, self.gap = what, events, expect, fixed, gap
        self.settled, self.before, self.nodes, self.rest = settled, list(before), nodes, rest
        self.always, self.config = list(always), config

    def variants(self):
        """(label, scenario): every order, with a restart at each place and without one."""
        orders = [tuple(range(len(self.events)))] if self.fixed else list(itertools.permutations(range(len(self.events))))
        for order in orders:
            for restart in range(-1, len(order) + 1):
                label = "order %s, %s" % ("".join(map(str, order)), "no restart" if restart < 0 else "restart at %d" % restart)
                yield label, self.scenario(order, restart)

    def scenario(self, order, restart):
        steps = [dict(step) for step in self.before] + [{"apply": self.what}]
        if self.settled:
            steps.append({"after": "2m", "snapshot": "settled"})
        if self.always:
            steps.append({"always": self.always})
        for place, event in enumerate(order):
            if place == restart:
                steps.append({"restart": "engine"})
            gap = self.gap if place else "0s"
            steps.append({**self.events[event], **({} if "after" in self.events[event] else {"after": gap})})
        if restart == len(order):
            steps.append({"after": "1s", "restart": "engine"})
        steps.append({"after": self.rest, "expect": self.expect})
        spec = {"nodes": self.nodes, "steps": steps, "rounds": ROUNDS, **({"config": self.config} if self.config else {})}
        return {"apiVersion": "grovectl/v1", "kind": "Scenario", "spec": spec}


CASES = {
    "REC-01": [Case(pcs(clique("a", 3, 3)), [delete(pod("m-0-a", 0)), delete(pod("m-0-a", 1)), delete(pod("m-0-a", 2))], ready("m-0-a", 3) + available())],
    "REC-02": [Case(PAIR, [{"failNode": pod("m-0-a", 0)}], ready("m-0-a", 3) + available())],
    "REC-08": [Case(GROUPED, [delete({"kind": "PodCliqueSet", "name": "m"})], [
        {"kind": k, "count": 0} for k in ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang", "Pod", "Service", "Role")])],
    "REC-14": [Case(pcs(clique("p"), groups=[group("g", ["p"], 2)]), [delete(pod("m-0-g-0-p")), delete(pod("m-0-g-1-p"))],
                    ready("m-0-g-0-p", 1) + ready("m-0-g-1-p", 1) + available())],
    "REC-15": [Case(pcs(clique("a", 2, 1, pod={"restartPolicy": "Never"})), [{"crash": pod("m-0-a", 0)}, {"crash": pod("m-0-a", 1)}],
                    ready("m-0-a", 2) + available())],
    "NAM-01": [Case({**pcs(clique("abcdefghij", 2)), "metadata": {"name": "m" * 35}}, [
        scale("PodClique", "m" * 35 + "-0-abcdefghij", 3)], [
        {"kind": "Pod", "where": READY, "count": 3}])],
    "POD-07": [Case(pcs(clique("a", 3, 3)), [
        {"rule": {"selector": "grove.io/podclique-pod-index=1", "terminate": "never"}}, delete(pod("m-0-a", 1)), delete(pod("m-0-a", 2))],
        [{**pod("m-0-a"), "where": READY, "count": 3}, {**pod("m-0-a", 1), "atLeast": 1}, {**pod("m-0-a", 2), "count": 1},
         {**pod("m-0-a", 3), "count": 0}], fixed=True, rest="3m")],
    "PGC-03": [Case(pcs(clique("f"), clique("p"), clique("d"), groups=[group("g", ["p", "d"], 5, 2)]), [
        scale("PodCliqueScalingGroup", "m-0-g", 2)], [{"kind": "PodGang", "count": 1}, {"kind": "Pod", "count": 5}] + available())],
    "PGC-09": [Case(pcs(clique("p"), groups=[group("g", ["p"])]), [
        scale("PodCliqueScalingGroup", "m-0-g", 0), scale("PodCliqueScalingGroup", "m-0-g", 1)], ready("m-0-g-0-p", 1) + available(), fixed=True, gap="30s")],
    "PGC-11": [Case(GROUPED, [scale("PodCliqueScalingGroup", "m-0-g", 1), scale("PodCliqueScalingGroup", "m-0-g", 3)],
                    [{"kind": "PodGang", "count": 3}, {"kind": "Pod", "where": READY, "count": 7}], fixed=True, gap="1s"),
               Case(GROUPED, [scale("PodCliqueScalingGroup", "m-0-g", 3), scale("PodCliqueScalingGroup", "m-0-g", 1)],
                    [{"kind": "PodGang", "count": 1}, {"kind": "Pod", "where": READY, "count": 3}], fixed=True, gap="1s")],
    "GAT-02": [Case(pcs(clique("p"), groups=[group("g", ["p"], 3)]), [{"restart": "engine"}],
                    [{"kind": "Pod", "where": {"path": "spec.nodeName", "exists": True}, "count": 3}], before=[NEVER])],
    "GAT-04": [Case(GROUPED, [scale("PodClique", "m-0-g-0-p", 2)],
                    [{**pod("m-0-g-0-p"), "where": {"path": "spec.nodeName", "exists": True}, "count": 2}], rest="10s")],
    "GTR-02": [Case(pcs(clique("a", 2, 2)), [scale("PodClique", "m-0-a", 3)], [{**pod("m-0-a"), "where": {"path": "spec.nodeName", "exists": True}, "count": 0},
               {**pod("m-0-a"), "since": "settled", "kept": 2}], nodes="blocks=1,racks=1,nodes=1,gpu=1", rest="30m")],
    "GTR-08": [Case(pcs(clique("p", 2, 2), clique("d"), groups=[group("g", ["p", "d"])]), [image("p", "p:2"), image("d", "d:2"), image("p", "p:3")],
                    [is_true("PodClique", "m-0-g-0-p", "MinAvailableBreached", "False"), is_true("PodClique", "m-0-g-0-d", "MinAvailableBreached", "False"),
                     is_true("PodCliqueScalingGroup", "m-0-g", "MinAvailableBreached", "False")] + available())],
    "GTR-11": [Case(pcs(clique("a", 2, 2)), [scale("PodClique", "m-0-a", 5), {"after": "1m", "setReady": {**pod("m-0-a"), "ready": False}}],
                    [{"kind": "PodClique", "name": "m-0-a", "path": "spec.replicas", "equals": 5}] + ready("m-0-a", 5) + available(), fixed=True, gap="1m")],
    "UPD-04": [Case(PAIR, [image("a", "a:2"), image("a", "a:3")], [{**pod("m-0-a"), "where": {"path": "spec.containers[0].image", "equals": "a:3"}, "count": 3},
               {"kind": "PodClique", "name": "m-0-a", "path": "status.updatedReplicas", "equals": 3}] + available(), fixed=True)],
    "UPD-06": [Case(PAIR, [image("a", "a:2"), delete(pod("m-0-a", 0)), delete(pod("m-0-a", 1))],
                    [{"kind": "PodClique", "name": "m-0-a", "path": "status.updatedReplicas", "equals": 3},
                     {"kind": "PodCliqueSet", "name": "m", "path": "status.updatedReplicas", "equals": 1}] + ready("m-0-a", 3))],
    "UPD-09": [Case(PAIR, [scale("PodClique", "m-0-a", n) for n in (4, 2, 5)] + [scale("PodClique", "m-0-a", 3)],
                    ready("m-0-a", 3) + [
                        {"kind": "PodCliqueSet", "name": "m", "path": "status.updateProgress.updateStartedAt", "exists": False}], fixed=True)],
    "UPD-14": [Case(pcs(clique("a", 3, 2), terminationDelay="10h"), [{"rule": {"ready": "1s"}}, image("a", "a:2")],
                    [{**pod("m-0-a"), "where": {"path": "spec.containers[0].image", "equals": "a:2"}, "count": 3}], before=[NEVER])],
    "SCL-01": [Case(PAIR, [{"rule": {"terminate": "5m"}}, scale("PodClique", "m-0-a", 2)],
                    [{**pod("m-0-a"), "since": "settled", "kept": 2}] + ready("m-0-a", 2), fixed=True, gap="1s")],
    "SCL-02": [Case(pcs(clique("p", 3, 1), groups=[group("g", ["p"])]), [delete(pod("m-0-g-0-p", 0)), scale("PodClique", "m-0-g-0-p", 1)],
                    ready("m-0-g-0-p", 1) + [{**pod("m-0-g-0-p", 0), "count": 1}])],
    "SCL-04": [Case(pcs(clique("f"), clique("p"), groups=[group("g", ["p"])], replicas=3), [scale("PodCliqueSet", "m", 1)],
                    [{"kind": "PodCliqueScalingGroup", "count": 1}, {"kind": "Pod", "count": 2}, {"kind": "PodGang", "count": 1}] + available())],
    "SCL-09": [Case(pcs(clique("a", 1, 1)), [scale("PodClique", "m-0-a", n) for n in (3, 2, 5, 4)],
                    [{"kind": "PodClique", "name": "m-0-a", "path": "status.replicas", "equals": 4},
                     {"kind": "PodClique", "name": "m-0-a", "path": "status.updatedReplicas", "equals": 4}] + ready("m-0-a", 4), fixed=True)],
    "SCL-10": [Case(GROUPED, [scale("PodCliqueScalingGroup", "m-0-g", 4), delete(pod("m-0-g-0-p")), scale("PodCliqueScalingGroup", "m-0-g", 2)],
                    [{"kind": "PodCliqueScalingGroup", "name": "m-0-g", "path": "status.updatedReplicas", "equals": 2},
                     {"kind": "PodCliqueScalingGroup", "name": "m-0-g", "path": "status.availableReplicas", "equals": 2}] + available(), fixed=True, gap="20s")],
    "STA-01": [Case(PAIR, [scale("PodClique", "m-0-a", 2)], available(0), before=[NEVER])],
    "STA-02": [Case(PAIR, [delete(pod("m-0-a", 0))], [{"kind": "PodGang", "name": "m-0", "path": "status.phase", "equals": "Running"},
                                                   is_true("PodGang", "m-0", "libgrove.io/Scheduled", "True"), is_true("PodGang", "m-0", "libgrove.io/Ready", "True")])],
    "STA-07": [Case(pcs(clique("a", 3, 2)), [{"rule": {"terminate": "never"}}, delete(pod("m-0-a", 0))],
                    [{"kind": "PodGang", "name": "m-0", "path": "status.phase", "equals": "Running"}], fixed=True, rest="5s")],
    "ORD-02": [Case(pcs(clique("a", 3, 2), clique("b", spec={"startsAfter": ["a"]}), cliqueStartupType="CliqueStartupTypeExplicit"),
                    [{"restart": "engine"}], ready("m-0-b", 1), before=[{"rule": {"selector": "grove.io/podclique=m-0-a,grove.io/podclique-pod-index=2", "ready": "never"}}])],
    # ---- reconcile ----
    "REC-17": [Case(GROUPED, [{"delete": {"kind": "PodCliqueSet", "name": "m", "propagation": "Foreground"}}, {"after": "5s", **delete(pod("m-0-f"))}], [
        {"kind": k, "count": 0} for k in ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang", "Pod", "Service", "Role")],
        before=[{"rule": {"terminate": "10s"}}], fixed=True, rest="5m",
        always=[{"kind": "Pod", "atMost": 5}, {"kind": "PodClique", "atMost": 5}, {"kind": "PodGang", "atMost": 2}, {"kind": "Service", "atMost": 1}]),
        Case(GROUPED, [{"delete": {"kind": "PodClique", "name": "m-0-g-1-p", "propagation": "Foreground"}},
                       {"delete": {"kind": "PodCliqueScalingGroup", "name": "m-0-g", "propagation": "Foreground"}}],
             ready("m-0-g-0-p", 1) + ready("m-0-g-1-d", 1) + [{"kind": "Pod", "where": READY, "count": 5}] + available(), before=[{"rule": {"terminate": "10s"}}])],
    "REC-10": [Case(PAIR, [
        lone("x", **{"app.kubernetes.io/managed-by": "grove-operator"}), lone("y", **{"grove.io/podclique": "m-0-a"}), scale("PodClique", "m-0-a", 4)],
        [{"kind": "Pod", "name": "x", "count": 1}, {"kind": "Pod", "name": "y", "count": 1}, at("PodClique", "m-0-a", "status.replicas", 4)] + available())],
    "REC-18": [Case([PAIR, named("n", GROUPED)], [
        patch("PodClique", "n-0-g-0-p", {"spec": {"podSpec": "a text"}}), patch("PodCliqueScalingGroup", "n-0-g", {"spec": {"cliqueNames": "p"}}),
        patch("PodGang", "n-0", {"spec": {"podgroups": "none"}}), scale("PodClique", "m-0-a", 4)],
        ready("m-0-a", 4) + available() + ready("n-0-f", 1) + ready("n-0-g-0-p", 1) + ready("n-0-g-1-p", 1) + [at("PodGang", "n-0", "spec.podgroups[0].minReplicas", 1)])],
    # ---- names ----
    "NAM-02": [Case([PAIR, named("n", pcs(clique("a", 2)))], [
        patch("PodClique", "m-0-a", {"metadata": {"labels": {"grove.io/podcliqueset-replica-index": "zero"}}}),
        {"patch": {**pod("m-0-a", 1), "patch": {"metadata": {"labels": {"grove.io/podclique-pod-index": "zero"}}}}},
        scale("PodClique", "n-0-a", 3)], ready("n-0-a", 3) + [
            at("PodClique", "m-0-a", "metadata.labels[grove.io/podcliqueset-replica-index]", "0"), {**pod("m-0-a", 1), "since": "settled", "kept": 1}])],
    "NAM-06": [Case(pcs(clique("a"), groups=[group("g", ["a"], 2)]), [
        {"apply": named("m-0-g", pcs(clique("b")))}, scale("PodCliqueScalingGroup", "m-0-g", 2), delete(pod("m-0-g-1-a"))],
        [at("PodGang", "m-0-g-0", "metadata.ownerReferences[0].name", "m"), {"kind": "PodGang", "name": "m-0-g-0", "since": "settled", "kept": 1}] +
        ready("m-0-g-0-a", 1) + ready("m-0-g-1-a", 1) + available())],
    # ---- pods ----
    "POD-01": [Case(pcs(clique("l", 1, 1, container={"env": [{"name": "LEADER", "value": "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-l-0.$(GROVE_HEADLESS_SERVICE)"}]},
                               pod={"initContainers": [{"name": "i", "image": "i", "env": [{"name": "MINE", "value": "$(GROVE_PCLQ_NAME)"}]}]}),
                        groups=[group("g", ["l"], 2)]), [delete(pod("m-0-g-0-l")), scale("PodCliqueScalingGroup", "m-0-g", 3)],
                    [{"kind": "Pod", "path": "spec.containers[0].env[%d].name" % i, "equals": name} for i, name in enumerate(
                        ("GROVE_PCS_NAME", "GROVE_PCS_INDEX", "GROVE_PCLQ_NAME", "GROVE_HEADLESS_SERVICE", "GROVE_PCLQ_POD_INDEX",
                         "GROVE_PCSG_NAME", "GROVE_PCSG_TEMPLATE_NUM_PODS", "GROVE_PCSG_INDEX", "LEADER"))] +
                    [{"kind": "Pod", "path": "spec.initContainers[0].env[0].name", "equals": "GROVE_PCS_NAME"},
                     {"kind": "Pod", "path": "spec.initContainers[0].env[8].name", "equals": "MINE"}, {"kind": "Pod", "where": READY, "count": 3}])],
    "POD-03": [Case(pcs(clique("a", 1, 1, pod={"serviceAccountName": "my-sa"}), clique("b", 2, 1, pod={"serviceAccountName": "my-sa"}, spec={"startsAfter": ["a"]}),
                        cliqueStartupType="CliqueStartupTypeExplicit"), [delete(pod("m-0-b", 0)), image("b", "b:2")],
                    [{"kind": "Pod", "path": "spec.serviceAccountName", "equals": "my-sa"}] + ready("m-0-b", 2) + available())],
    "POD-04": [Case({**pcs(clique("a", 2, 1, annotations={"c": "1"})), "metadata": {"name": "m", "annotations": {"q": "team-a"}}}, [
        patch("PodGang", "m-0", {"metadata": {"labels": {"x": "y"}}}), scale("PodClique", "m-0-a", 3), image("a", "a:2")],
        [at("PodGang", "m-0", "metadata.labels[x]", "y"), at("PodGang", "m-0", "metadata.annotations[q]", "team-a"),
         {"kind": "Pod", "path": "metadata.annotations[c]", "equals": "1"}] + ready("m-0-a", 3))],
    "POD-06": [Case(pcs(clique("a"), clique("b", 2, 1, spec={"startsAfter": ["a"]}, pod={"initContainers": [{"name": "fetch", "image": "f"}, {"name": "wait-leader", "image": "w"}]}),
                        cliqueStartupType="CliqueStartupTypeExplicit"), [delete(pod("m-0-b", 0)), image("b", "b:2")],
                    [{**pod("m-0-b"), "path": "spec.initContainers[%d].name" % i, "equals": name} for i, name in enumerate(("fetch", "wait-leader", "grove-initc"))] +
                    ready("m-0-b", 2))],
    # ---- gangs ----
    "PGC-01": [Case(pcs(clique("a", 2, 2), clique("b"), groups=[group("g", ["b"])]), [delete(pod("m-0-g-0-b")), scale("PodCliqueScalingGroup", "m-0-g", 2)],
                    ready("m-0-a", 2) + ready("m-0-g-0-b", 1) + ready("m-0-g-1-b", 1) + [at("PodGang", "m-0", "status.phase", "Running")]),
               Case(pcs(clique("a", 2, 2), clique("b"), groups=[group("g", ["b"])]), [scale("PodClique", "m-0-a", 3)],
                    [{"kind": "Pod", "where": {"path": "spec.nodeName", "exists": True}, "count": 0}], nodes="blocks=1,racks=1,nodes=1,gpu=2")],
    "PGC-05": [Case(pcs(clique("a", 4, 2), clique("b")), [scale("PodClique", "m-0-a", 5), delete(pod("m-0-a", 0))], [bound("m-0-a", 4), bound("m-0-b", 1)], nodes="blocks=1,racks=1,nodes=5,gpu=1"),
               Case(pcs(clique("a", 4, 2), clique("b")), [delete(pod("m-0-a", 1))], [bound("m-0-a", 2), bound("m-0-b", 1)], nodes="blocks=1,racks=1,nodes=3,gpu=1"),
               Case(pcs(clique("a", 4, 2), clique("b")), [delete(pod("m-0-a", 1))], [bound("m-0-a", 0), bound("m-0-b", 0)], nodes="blocks=1,racks=1,nodes=2,gpu=1")],
    "PGC-06": [Case(kai(pcs(clique("p"), clique("d"), groups=[{**group("g", ["p", "d"], 2), **packed("rack")}])),
                    [scale("PodCliqueScalingGroup", "m-0-g", 3), delete(pod("m-0-g-0-p"))],
                    [at("PodGroup", "m-0", "spec.subGroups[m-0-g-0-%s].minMember" % c, 1) for c in "pd"] +
                    [at("PodGroup", "m-0", "spec.subGroups[m-0-g-0-%s].parent" % c, "m-0-g-0") for c in "pd"] +
                    [{"kind": "PodGroup", "name": "m-0", "path": "spec.subGroups[m-0-g-0].minMember", "exists": False},
                     at("PodGroup", "m-0", "spec.subGroups[m-0-g-0].topologyConstraint.requiredTopologyLevel", RACK)] + available(), config=TOPOLOGY)],
    "PGC-08": [Case(pcs(clique("p"), groups=[group("g", ["p"])]), [
        scale("PodCliqueScalingGroup", "m-0-g", 0), {"restart": "engine"}, image("p", "p:2"), scale("PodCliqueScalingGroup", "m-0-g", 1)],
        ready("m-0-g-0-p", 1) + [{**pod("m-0-g-0-p"), "path": "spec.containers[0].image", "equals": "p:2"}] + available(), fixed=True, gap="30s")],
    "GAT-07": [Case([PAIR, named("n", GROUPED)], [
        patch("PodClique", "n-0-g-1-p", {"metadata": {"labels": {"grove.io/podcliquescalinggroup-replica-index": None}}}),
        {"patch": {**pod("n-0-g-1-d"), "patch": {"metadata": {"labels": {"grove.io/podclique-pod-index": None, "grove.io/podcliquescalinggroup-replica-index": "0"}}}}},
        scale("PodClique", "m-0-a", 4)], ready("m-0-a", 4) + available() + ready("n-0-f", 1) + ready("n-0-g-0-d", 1) + ready("n-0-g-1-p", 1) + [
            {"kind": "PodClique", "name": "n-0-g-1-d", "path": "status.lastErrors[0]", "exists": False},
            {**pod("n-0-g-1-d", 0), "path": "metadata.labels[grove.io/podcliquescalinggroup-replica-index]", "equals": "1"},
            {**pod("n-0-g-1-d", 0), "since": "settled", "kept": 1}])],
    "PGC-12": [Case(NESTED, [binding("block", "host"), scale("PodCliqueScalingGroup", "m-0-g", 3), delete(pod("m-0-g-0-p"))], [
        at("PodGang", "m-0", "spec.topologyConstraint.packConstraint.required", BLOCK), at("PodGang", "m-0", "spec.podgroups[m-0-g-0-p].topologyConstraint.packConstraint.required", HOST),
        {"kind": "PodGang", "path": "spec.topologyConstraintGroupConfigs[0].topologyConstraint", "exists": False},
        {"kind": "PodGroup", "name": "m-0", "path": "spec.subGroups[m-0-g-0].topologyConstraint", "exists": False},
        {"kind": "PodGang", "name": "m-0-g-0", "path": "spec.topologyConstraint", "exists": False},
        {"kind": "PodGroup", "name": "m-0-g-0", "path": "spec.topologyConstraint.requiredTopologyLevel", "exists": False}] + available(),
        before=[binding("zone", "block", "rack", "host")]),
        Case(NESTED, [delete({"kind": "ClusterTopologyBinding", "name": "grove-topology"}), scale("PodCliqueScalingGroup", "m-0-g", 3), delete(pod("m-0-g-0-p"))], [
            {"kind": "PodGang", "path": "spec.topologyConstraint", "exists": False}, {"kind": "PodGang", "path": "spec.topologyConstraintGroupConfigs[0].topologyConstraint", "exists": False},
            {"kind": "PodGang", "path": "spec.podgroups[0].topologyConstraint", "exists": False}, {"kind": "PodGroup", "path": "spec.topologyConstraint.requiredTopologyLevel", "exists": False},
            {"kind": "PodGroup", "path": "spec.subGroups[1].topologyConstraint", "exists": False}] + available(), before=[binding("zone", "block", "rack", "host")])],
    "GAT-06": [Case(pcs(clique("a", 8, 6)), [scale("PodClique", "m-0-a", 9), delete(pod("m-0-a", 7))], [{**pod("m-0-a"), "where": HELD, "count": 3}, {**pod("m-0-a"), "count": 9}],
                    config=GANG, nodes="blocks=1,racks=1,nodes=6,gpu=1", rest="3s", settled=False, always=[{"kind": "Pod", "where": {"path": "spec.schedulingGates", "exists": False}, "atMost": 6}])],
    # ---- gang termination ----
    "GTR-01": [Case(pcs(clique("a", 2, 2)), [{"cordon": pod("m-0-a", 0)}, delete(pod("m-0-a", 0))], [{**pod("m-0-a"), "since": "settled", "kept": 0}, bound("m-0-a", 0)],
                    fixed=True, nodes="blocks=1,racks=1,nodes=2,gpu=1", rest="3m"),
               Case(pcs(clique("a", 2, 2)), [{"cordon": pod("m-0-a", 0)}, delete(pod("m-0-a", 0)), {"after": "3m", "uncordon": {"kind": "Node"}}],
                    [{**pod("m-0-a"), "since": "settled", "kept": 0}] + ready("m-0-a", 2) + available(), fixed=True, nodes="blocks=1,racks=1,nodes=2,gpu=1")],
    "GTR-04": [Case(pcs(clique("a", 2, 2)), [{"cordon": pod("m-0-a", 0)}, delete(pod("m-0-a", 0)), {"after": "3m", "snapshot": "recycled"}],
                    [{**pod("m-0-a"), "since": "recycled", "kept": 2}], fixed=True, nodes="blocks=1,racks=1,nodes=2,gpu=1", rest="30m"),
               Case(pcs(clique("p", 2, 2), groups=[group("g", ["p"])]), [{"cordon": pod("m-0-g-0-p", 0)}, delete(pod("m-0-g-0-p", 0)), {"after": "3m", "snapshot": "recycled"}],
                    [{**pod("m-0-g-0-p"), "since": "recycled", "kept": 2}], fixed=True, nodes="blocks=1,racks=1,nodes=2,gpu=1", rest="30m")],
    "GTR-06": [Case(GROUPED, [delete({"kind": "PodClique", "name": "m-0-g-0-d"}), delete({"kind": "PodClique", "name": "m-0-g-1-p"}), delete(pod("m-0-f"))],
                    [{"kind": "Pod", "where": READY, "count": 5}, is_true("PodCliqueScalingGroup", "m-0-g", "MinAvailableBreached", "False")] + available())],
    "GTR-10": [Case(pcs(clique("a", 2, 2)), [NEVER, image("a", "a:2")], [
        {**pod("m-0-a"), "since": "settled", "kept": 1}, is_true("PodClique", "m-0-a", "MinAvailableBreached", "Unknown")], fixed=True, rest="20m")],
    "GTR-12": [Case(pcs(clique("p", 2, 1), groups=[group("g", ["p"], 2)]), [
        patch("PodCliqueScalingGroup", "m-0-g", [{"op": "remove", "path": "/spec/minAvailable"}]),
        patch("PodClique", "m-0-g-0-p", [{"op": "remove", "path": "/spec/minAvailable"}]), delete(pod("m-0-g-0-p", 0))],
        ready("m-0-g-0-p", 2) + ready("m-0-g-1-p", 2) + [at("PodCliqueScalingGroup", "m-0-g", "spec.minAvailable", 1),
                                                      is_true("PodCliqueScalingGroup", "m-0-g", "MinAvailableBreached", "False")] + available())],
    # ---- updates ----
    "UPD-01": [Case(pcs(clique("a", 2, 1)), [{"crash": pod("m-0-a", 0)}, {"after": "1m", "always": [{**pod("m-0-a"), "where": READY, "atLeast": 1}]}, image("a", "a:2")],
                    ready("m-0-a", 2) + [{**pod("m-0-a"), "path": "spec.containers[0].image", "equals": "a:2"}], fixed=True)],
    "UPD-03": [Case(pcs(clique("a", 4, 2)), [image("a", "a:2")], [{**pod("m-0-a"), "where": {"path": "spec.containers[0].image", "equals": "a:2"}, "count": 2},
                    {**pod("m-0-a"), "since": "settled", "kept": 2}], nodes="blocks=1,racks=1,nodes=2,gpu=1", always=[{**pod("m-0-a"), "where": READY, "atLeast": 2}]),
               Case(pcs(clique("p"), groups=[group("g", ["p"], 3, 2)]), [
                   {"setReady": {**pod("m-0-g-2-p"), "ready": False}}, {"after": "5s", **image("p", "p:2")}],
                   [{"kind": "Pod", "path": "spec.containers[0].image", "equals": "p:2"}, {"kind": "Pod", "where": READY, "count": 3}] + available(), fixed=True,
                   always=[{"kind": "Pod", "where": READY, "atLeast": 1}])],
    "UPD-07": [Case(pcs(clique("a", 3, 1), terminationDelay="10h"), [
        {"setReady": {**pod("m-0-a", 0), "ready": False}}, {"failNode": pod("m-0-a", 1)}, image("a", "a:2")],
        [{**pod("m-0-a"), "path": "spec.containers[0].image", "equals": "a:2"}] + ready("m-0-a", 3), fixed=True, gap=gap) for gap in ("2s", "45s", "6m")],
    "UPD-11": [Case(GROUPED, [image("p", "p:2"), delete({"kind": "PodClique", "name": "m-0-g-0-d"}), delete(pod("m-0-g-1-p"))], [
        {**pod("m-0-g-0-p"), "path": "spec.containers[0].image", "equals": "p:2"}, {**pod("m-0-g-1-p"), "path": "spec.containers[0].image", "equals": "p:2"},
        at("PodCliqueScalingGroup", "m-0-g", "status.updatedReplicas", 2), at("PodCliqueSet", "m", "status.updatedReplicas", 1),
        {"kind": "PodCliqueSet", "name": "m", "path": "status.updateProgress.updateEndedAt", "exists": True}] + available()),
        Case(GROUPED, [{"rule": {"selector": "grove.io/podclique=m-0-g-0-p", "ready": "never"}}, image("p", "p:2")], [
            {"kind": "PodCliqueSet", "name": "m", "path": "status.updateProgress.updateEndedAt", "exists": False},
            {**pod("m-0-g-1-p"), "path": "spec.containers[0].image", "equals": "p:1"}], fixed=True)],
    "UPD-12": [Case(pcs(clique("p"), groups=[group("g", ["p"], 3)], replicas=3), [image("p", "p:2"), scale("PodCliqueScalingGroup", "m-0-g", 1), scale("PodCliqueSet", "m", 1)], [
        at("PodCliqueScalingGroup", "m-0-g", "status.updatedReplicas", 1), at("PodCliqueSet", "m", "status.updatedReplicas", 1), {"kind": "Pod", "count": 1}] + available())],
    "UPD-16": [Case(pcs(clique("a", 4, 2)), [image("a", "a:2"), {"restart": "engine"}, {"restart": "engine"}, {"restart": "engine"}],
                    [{**pod("m-0-a"), "path": "spec.containers[0].image", "equals": "a:2"}] + ready("m-0-a", 4), fixed=True, gap="3s",
                    always=[{**pod("m-0-a"), "where": READY, "atLeast": 3}])],
    "UPD-18": [Case(pcs(clique("a", 2, 1), replicas=2), [NEVER, image("a", "a:2"), {"after": "30s", **scale("PodClique", "m-1-a", 4)}, delete(pod("m-1-a", 0))], [
        {**pod("m-1-a"), "path": "spec.containers[0].image", "equals": "a:1"}, {**pod("m-1-a"), "count": 4},
        {**pod("m-0-a"), "where": {"path": "spec.containers[0].image", "equals": "a:2"}, "atLeast": 1}], fixed=True)],
    "UPD-20": [Case(pcs(clique("p", p, least), clique("d", d, 1), clique("w"), groups=[group("g", ["w"], d)]), [image("p", "p:2"), image("d", "d:2"), image("w", "w:2")], [
        {**pod("m-0-p"), "path": "spec.containers[0].image", "equals": "p:2"}, {**pod("m-0-d"), "path": "spec.containers[0].image", "equals": "d:2"},
        {**pod("m-0-g-0-w"), "path": "spec.containers[0].image", "equals": "w:2"},
        {"kind": "PodCliqueSet", "name": "m", "path": "status.updateProgress.updateEndedAt", "exists": True}] + ready("m-0-p", p) + ready("m-0-d", d) + available(), fixed=True)
        for p, d in ((7, 3), (7, 1), (3, 2), (2, 1), (1, 1)) for least in sorted({1, p})],
    "UPD-19": [Case(PAIR, [
        {"patch": {**pod("m-0-a", 0), "patch": NO_HASH}}, patch("PodClique", "m-0-a", NO_HASH), image("a", "a:2"),
        {"patch": {"kind": "PodClique", "name": "m-0-a", "subresource": "status", "patch": {"status": {"currentPodTemplateHash": None, "currentPodCliqueSetGenerationHash": None}}}}],
        [{**pod("m-0-a"), "path": "spec.containers[0].image", "equals": "a:2"}, at("PodClique", "m-0-a", "status.updatedReplicas", 3)] + ready("m-0-a", 3) + available())],
    # ---- scaling ----
    "SCL-06": [Case(GROUPED, [scale("PodCliqueScalingGroup", "m-0-g", 3), scale("PodClique", "m-0-f", 2)], [
        {"kind": "PodCliqueSet", "name": "m", "path": "status.hpaPodSelector", "exists": True}, {"kind": "PodCliqueScalingGroup", "name": "m-0-g", "path": "status.selector", "exists": True},
        {"kind": "PodClique", "name": "m-0-f", "path": "status.hpaPodSelector", "exists": True}, {"kind": "PodClique", "name": "m-0-g-0-p", "path": "status.hpaPodSelector", "exists": False}])],
    "SCL-07": [Case(GROUPED, [patch("PodCliqueSet", "m", [{"op": "replace", "path": "/spec/template/podCliqueScalingGroups/0/replicas", "value": 5}]),
                              scale("PodCliqueScalingGroup", "m-0-g", 4), image("f", "f:2")],
                    [at("PodCliqueScalingGroup", "m-0-g", "spec.replicas", 4), {"kind": "Pod", "where": READY, "count": 9}] + available())],
    # ---- status ----
    "STA-04": [Case(PAIR, [patch("PodCliqueSet", "m", {"spec": {"template": {"terminationDelay": "2m"}}}), scale("PodClique", "m-0-a", 4), image("a", "a:2")], [
        at("PodClique", "m-0-a", "status.updatedReplicas", 4), at("PodClique", "m-0-a", "status.readyReplicas", 4), at("PodCliqueSet", "m", "status.updatedReplicas", 1),
        at("PodGang", "m-0", "status.phase", "Running")] + available())],
    "STA-06": [Case(pcs(clique("a", 5, 1)), [scale("PodClique", "m-0-a", 6), image("a", "a:2"), {"addNodes": "blocks=1,racks=1,nodes=1,gpu=1,prefix=x"}], [
        {"kind": "Pod", "count": 2}, at("PodClique", "m-0-a", "status.replicas", 2), at("PodClique", "m-0-a", "status.readyReplicas", 0),
        at("PodClique", "m-0-a", "status.lastErrors[0].code", "ERR_CREATE_POD")], before=[quota(2)]),
        Case(pcs(clique("a", 2, 1)), [quota(2), scale("PodClique", "m-0-a", 5), {"after": "2m", **quota()}], [
            at("PodClique", "m-0-a", "status.replicas", 5), {"kind": "PodClique", "name": "m-0-a", "path": "status.lastErrors[0]", "exists": False}] + ready("m-0-a", 5) + available(), fixed=True)],
    # ---- startup ----
    "ORD-04": [Case(pcs(clique("a", 2, 1)), [delete({"kind": "Service", "name": "m-0"}), delete(pod("m-0-a", 0))],
                    [at("Service", "m-0", "spec.publishNotReadyAddresses", True)] + available()),
               Case(pcs(clique("a", 2, 1), headlessServiceConfig={"publishNotReadyAddresses": False}), [delete({"kind": "Service", "name": "m-0"}), delete(pod("m-0-a", 0))],
                    [{"kind": "Service", "name": "m-0", "path": "spec.publishNotReadyAddresses", "exists": False}] + available())],
    "ORD-06": [Case(pcs(clique("a"), clique("b", 2, 1, spec={"startsAfter": ["a"]}), cliqueStartupType="CliqueStartupTypeExplicit"),
                    [delete({"kind": "Secret"}), delete({"kind": "ServiceAccount"}), delete(pod("m-0-b", 0))],
                    [{"kind": "Secret", "path": "data.token", "exists": True}, {"kind": "Secret", "count": 1}] + ready("m-0-b", 2) + available())],
    # ---- topology ----
    "TOP-01": [Case(kai(pcs(clique("p"), clique("d"), clique("w"), groups=[{**group("g", ["p", "d"], 4, 2), **packed("rack")}, group("h", ["w"], 2)], **packed("block"))),
                    [scale("PodCliqueScalingGroup", "m-0-g", 3), delete(pod("m-0-g-0-p")), scale("PodCliqueScalingGroup", "m-0-g", 4)], [
        at("PodGang", "m-0", "spec.topologyConstraint.packConstraint.required", BLOCK), at("PodGang", "m-0-g-0", "spec.topologyConstraint.packConstraint.required", RACK),
        at("PodGang", "m-0-g-1", "spec.topologyConstraint.packConstraint.required", RACK), at("PodGang", "m-0-h-0", "spec.topologyConstraint.packConstraint.required", BLOCK),
        at("PodGang", "m-0", "spec.topologyConstraintGroupConfigs[0].topologyConstraint.packConstraint.required", RACK),
        at("PodGang", "m-0", "spec.topologyConstraintGroupConfigs[1].topologyConstraint.packConstraint.required", RACK),
        {"kind": "PodGang", "name": "m-0", "path": "spec.topologyConstraintGroupConfigs[2]", "exists": False},
        {"kind": "PodGang", "name": "m-0-g-0", "path": "spec.topologyConstraintGroupConfigs[0]", "exists": False},
        {"kind": "PodGang", "name": "m-0-h-0", "path": "spec.topologyConstraintGroupConfigs[0]", "exists": False}] + available(), config=TOPOLOGY, fixed=True, gap="10s")],
    "TOP-09": [Case(pcs(clique("a", 2, 1, container={"resources": {"requests": {"memory": "1"}}})), [scale("PodClique", "m-0-a", 4), delete(pod("m-0-a", 0))],
                    ready("m-0-a", 4) + available(), nodes="blocks=1,racks=1,nodes=1,gpu=1,memory=2Ti"),
               Case(PAIR, [{"patch": {"kind": "Node", "subresource": "status", "patch": {"status": {"allocatable": {"nvidia.com/gpu": "1"}}}}}, scale("PodClique", "m-0-a", 5),
                           {"addNodes": "blocks=1,racks=1,nodes=3,gpu=1,prefix=x"}], ready("m-0-a", 5) + available(), nodes="blocks=1,racks=1,nodes=1,gpu=4")],
    "TOP-15": [Case(kai(pcs(clique("l"), clique("w", 2, 2), **packed("rack"))), [scale("PodClique", "m-0-w", 4), {"restart": "engine"}],
                    [{"kind": "Pod", "since": "settled", "kept": 3}, {"kind": "Pod", "together": RACK}] + ready("m-0-w", 4) + ready("m-0-l", 1), config=TOPOLOGY)],
    "TOP-17": [Case(kai(pcs(clique("w", 3, 3), **packed("rack"))), [
        {"restart": "engine"}, {"addNodes": "blocks=1,racks=2,nodes=4,gpu=2,prefix=x"}, {"cordon": pod("m-0-w", 0)}, delete(pod("m-0-w", 0))],
        [{"kind": "Pod", "together": RACK}, {"kind": "Pod", "since": "settled", "kept": 2}] + ready("m-0-w", 3), config=TOPOLOGY, fixed=True,
        nodes="blocks=2,racks=1,nodes=3,gpu=2")],
    "TOP-04": [Case(kai(pcs(clique("w", 3, 3), topologyConstraint={"topologyName": "grove-topology", "pack": {"required": "rack", "preferred": "rack"}})),
                    [{"cordon": pod("m-0-w", 0)}, delete(pod("m-0-w", 0)), scale("PodClique", "m-0-w", 4)],
                    [{"kind": "Pod", "together": RACK}, at("PodGroup", "m-0", "spec.topologyConstraint.preferredTopologyLevel", RACK),
                     at("PodGang", "m-0", "spec.topologyConstraint.packConstraint.preferred", RACK)] + ready("m-0-w", 4) + available(),
                    config=TOPOLOGY, nodes="blocks=2,racks=1,nodes=3,gpu=2")],
    "TOP-07": [Case(kai(pcs(clique("w", 2, 2), **packed("rack"))), [node_in("x1", "b0-new"), node_in("x2", "b0-new"), node_in("x3", "b0-late")],
                    [{"kind": "Pod", "where": {"path": "spec.nodeName", "equals": "x1"}, "count": 1}, {"kind": "Pod", "where": {"path": "spec.nodeName", "equals": "x2"}, "count": 1},
                     {"kind": "Pod", "together": RACK}] + ready("m-0-w", 2), config=TOPOLOGY, nodes="blocks=1,racks=2,nodes=1,gpu=1")],
    "TOP-16": [Case(kai(pcs(clique("p", 2, 2, **packed("host")), clique("d"), groups=[{**group("g", ["p", "d"], 2), **packed("rack")}])),
                    [scale("PodCliqueScalingGroup", "m-0-g", 3), image("d", "d:2"), patch("PodGang", "m-0", {"spec": {"topologyConstraintGroupConfigs": None}})], [
        at("PodGang", "m-0", "spec.topologyConstraintGroupConfigs[0].topologyConstraint.packConstraint.required", RACK), at("PodGang", "m-0-g-1", "spec.topologyConstraint.packConstraint.required", RACK),
        at("PodGang", "m-0", "spec.podgroups[m-0-g-0-p].topologyConstraint.packConstraint.required", HOST),
        at("PodGang", "m-0-g-1", "spec.podgroups[m-0-g-2-p].topologyConstraint.packConstraint.required", HOST),
        at("PodGroup", "m-0", "spec.subGroups[m-0-g-0].topologyConstraint.requiredTopologyLevel", RACK),
        at("PodCliqueSet", "m", "spec.template.podCliqueScalingGroups[g].topologyConstraint.pack.required", "rack"),
        at("PodCliqueSet", "m", "spec.template.cliques[p].topologyConstraint.pack.required", "host")] +
        [{**pod("m-0-g-%d-p" % i), "together": HOST} for i in range(3)] +
        [{"kind": "Pod", "selector": "grove.io/podcliquescalinggroup-replica-index=%d" % i, "together": RACK} for i in range(3)] + available(), config=TOPOLOGY)],
    # ---- placement ----
    "SCH-10": [Case([PAIR, {**pcs(clique("a", 2, 1)), "metadata": {"name": "m", "namespace": "b"}}], [
        patch("PodGang", "m-0", [{"op": "add", "path": "/spec/podgroups/0/podReferences/-", "value": {"namespace": "b", "name": "m-0-a-xxxxx"}}]), scale("PodClique", "m-0-a", 4),
        delete({**pod("m-0-a", 0), "namespace": "b"})],
        ready("m-0-a", 4) + [{**pod("m-0-a"), "namespace": "b", "where": READY, "count": 2}, {**pod("m-0-a"), "namespace": "b", "since": "settled", "kept": 1},
                             {"kind": "PodGang", "name": "m-0", "path": "spec.podgroups[0].podReferences[4]", "exists": False}] + available())],
    "TOP-06": [Case(pcs(clique("a", 5, 2, container={"resources": {}})), [delete(pod("m-0-a", 0)), scale("PodClique", "m-0-a", 6)], [bound("m-0-a", 4), {**pod("m-0-a"), "count": 6}],
                    nodes="blocks=1,racks=1,nodes=2,gpu=1,pods=2"),
               Case(GROUPED, [scale("PodCliqueScalingGroup", "m-0-g", 0), delete(pod("m-0-f"))], ready("m-0-f", 1) + ready("m-0-g-0-p", 1) + [{"kind": "Pod", "count": 3}], rest="3m")],
    "TOP-11": [Case([pcs(clique("a")), named("n", pcs(clique("a")))], [delete({"kind": "PodCliqueSet", "name": "m"})], ready("n-0-a", 1) + [{"kind": "Pod", "count": 1}],
                    nodes="blocks=1,racks=1,nodes=1,gpu=1", always=[{"kind": "Pod", "where": READY, "atMost": 1}]),
               Case([pcs(clique("a")), named("n", pcs(clique("a")))], [scale("PodClique", "n-0-a", 2)], ready("m-0-a", 1) + [bound("n-0-a", 0), {**pod("n-0-a"), "count": 2}],
                    nodes="blocks=1,racks=1,nodes=1,gpu=1")],
    "TOP-13": [Case(GROUPED, [scale("PodCliqueScalingGroup", "m-0-g", 0), {"failNode": pod("m-0-f")}, scale("PodCliqueScalingGroup", "m-0-g", 1)],
                    ready("m-0-f", 1) + ready("m-0-g-0-p", 1) + available(), fixed=True, gap="30s")],
    "DRA-03": [Case({**pcs(clique("a", annotations={MNNVL: "own"}), clique("b", annotations={MNNVL: "none"}), clique("c"), clique("d", annotations={MNNVL: "idle"}, container={"resources": {}})),
                         "metadata": {"name": "m", "annotations": {MNNVL: "train"}}}, [delete(pod("m-0-a")), image("c", "c:2"), scale("PodClique", "m-0-c", 2)],
                    [at("PodClique", "m-0-a", CLAIM, "m-0-own"), at("PodClique", "m-0-c", CLAIM, "m-0-train"), {"kind": "PodClique", "name": "m-0-b", "path": CLAIM, "exists": False},
                     {"kind": "PodClique", "name": "m-0-d", "path": CLAIM, "exists": False}] + available(), config=os.path.join(ROOT, "tests", "scenarios", "mnnvl.yaml"))],
    "DRA-04": [Case(pcs(clique("a", 2, 2), clique("b", 2, 2), resourceSharing=[{"name": "nic", "scope": "AllReplicas"}], resourceClaimTemplates=[{"name": "nic", "templateSpec": {
                        "spec": {"devices": {"requests": [{"name": "dev", "exactly": {"deviceClassName": "rdma"}}]}}}}]),
                    [{"addNodes": "blocks=1,racks=1,nodes=1,gpu=1,prefix=x"}, delete({"kind": "ResourceClaim", "name": "m-all-nic"}), delete(pod("m-0-b", 0)), {"restart": "engine"}],
                    [bound("m-0-a", 2), bound("m-0-b", 2), {"kind": "ResourceClaim", "name": "m-all-nic", "count": 1},
                     {**pod("m-0-b"), "where": {"path": "spec.resourceClaims[0].resourceClaimName", "equals": "m-all-nic"}, "count": 2}] + available(),
                    before=[], nodes="blocks=1,racks=1,nodes=3,gpu=1")],
    "TOP-02": [Case(kai(pcs(clique("w", 2, 2), groups=[group("workers", ["w"], 10, 3)], **packed("block"))), [{"restart": "engine"}, delete(pod("m-0-workers-9-w", 0))], [
        {"kind": "Pod", "where": {"path": "spec.nodeName", "exists": True}, "count": 20}] + [
        is_true("PodGang", "m-0-workers-%d" % i, "libgrove.io/CrossGangPacked", "False") for i in range(7)] + [
        at("PodGang", "m-0-workers-0", "status.conditions[libgrove.io/CrossGangPacked].reason", "GuaranteedPerGang"),
        {"kind": "PodGang", "name": "m-0", "path": "status.conditions[libgrove.io/CrossGangPacked]", "exists": False}],
        config=TOPOLOGY, before=[{"addNodes": "blocks=1,racks=1,nodes=8,gpu=1,prefix=x"}], nodes="blocks=2,racks=1,nodes=10,gpu=1")],
}
