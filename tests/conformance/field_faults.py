#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of controllers that users of Grove and its peers have met: each a test that would fail on it.

usage: field_faults.py --grovectl PROGRAM [ID...]

`tests/golden/faults/controllers.json` lists every number of the collection. A number leads to cases below, to test functions of
other suites (file:function), or says why it has no test yet. A case is a scenario: a set, up to four events, and what must
be true at the end. It runs once for every order of the events that may be exchanged, without a restart and with one before,
between and after them, resync off, with the planner's laws checked at every instant; and at every instant no two live pods
of a clique share an index. The last line is `N passed, N failed`, counted by number.
"""
import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIST = os.path.join(ROOT, "tests", "golden", "faults", "controllers.json")
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


PAIR = pcs(clique("a", 3, 2))
GROUPED = pcs(clique("f"), clique("p"), clique("d"), groups=[group("g", ["p", "d"], 2)])
NEVER = {"rule": {"ready": "never"}}
REST = "20m"


class Case:
    """events: steps that may be exchanged unless `fixed`; `gap`: time between them; `settled`: they begin at rest."""

    def __init__(self, what, events, expect, fixed=False, gap="2s", settled=True, before=(), nodes="blocks=1,racks=2,nodes=8,gpu=2", rest=REST):
        self.what, self.events, self.expect, self.fixed, self.gap = what, events, expect, fixed, gap
        self.settled, self.before, self.nodes, self.rest = settled, list(before), nodes, rest

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
        for place, event in enumerate(order):
            if place == restart:
                steps.append({"restart": "engine"})
            steps.append({**self.events[event], **({"after": self.gap} if place else {})})
        if restart == len(order):
            steps.append({"after": "1s", "restart": "engine"})
        steps.append({"after": self.rest, "expect": self.expect})
        return {"apiVersion": "grovectl/v1", "kind": "Scenario", "spec": {"nodes": self.nodes, "steps": steps}}


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
}


def run(grovectl, folder, scenario):
    """What is wrong, or ""."""
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(scenario, f)
    done = subprocess.run([grovectl, "sim", "--check", "--scenario", path, "-o", "json"], capture_output=True, text=True, check=False)
    count = re.search(r"^(\d+) expectations, (\d+) failed$", done.stderr, re.M)
    if done.returncode != 0 or not count or int(count.group(1)) == 0:
        return done.stderr.strip() or "exit status %d" % done.returncode
    live = {}
    for item in json.loads(done.stdout)["items"]:
        if item["kind"] == "Pod" and "deletionTimestamp" not in item["metadata"] and item["status"].get("phase") not in ("Failed", "Succeeded"):
            key = (item["metadata"]["labels"].get("grove.io/podclique"), item["metadata"]["labels"].get("grove.io/podclique-pod-index"))
            if key in live:
                return "two live pods with index %s of %s" % (key[1], key[0])
            live[key] = item
    return ""


def check_case(grovectl, folder, number):
    runs = 0
    for case in CASES[number]:
        for label, scenario in case.variants():
            runs += 1
            complaint = run(grovectl, folder, scenario)
            if complaint:
                return runs, "%s: %s" % (label, complaint)
    return runs, ""


def check_reference(reference):
    """file:function is there, or ""-less complaint."""
    path, _, function = reference.partition(":")
    full = os.path.join(ROOT, path)
    if not os.path.exists(full):
        return "no file " + path
    if function:
        with open(full, encoding="utf-8") as f:
            if not re.search(r"\b%s\b" % re.escape(function), f.read()):
                return "%s has no %s" % (path, function)
    return ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("numbers", nargs="*")
    ap.add_argument("--grovectl", required=True)
    args = ap.parse_args()
    with open(LIST, encoding="utf-8") as f:
        listed = json.load(f)
    failed, passed, runs, unproven = 0, 0, 0, []
    for number in CASES:
        if number not in listed:
            print("FAILED", number, "is not listed in controllers.json")
            failed += 1
    with tempfile.TemporaryDirectory() as folder:
        for number, proofs in listed.items():
            if args.numbers and number not in args.numbers:
                continue
            complaints = [c for c in map(check_reference, proofs.get("tests", [])) if c]
            if number in CASES:
                n, complaint = check_case(args.grovectl, folder, number)
                runs += n
                complaints += [complaint] if complaint else []
            elif not proofs.get("tests"):
                unproven.append("%s (%s)" % (number, proofs.get("open", "no reason given")))
                complaints += [] if proofs.get("open") else ["has no test and says not why"]
                if proofs.get("open"):
                    continue
            failed += bool(complaints)
            passed += not complaints
            for complaint in complaints:
                print("FAILED", number, complaint)
    print("%d numbers, %d with cases here (%d runs), %d without a test: %s" % (len(listed), len(CASES), runs, len(unproven), "; ".join(unproven) or "none"))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
