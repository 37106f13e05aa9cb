#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole states: `grovectl sim` against what the real Grove came to rest at with every pod Ready.

usage: ready.py --grovectl PROGRAM [-v] [CASE...]
       ready.py --record CASE...      take expected-ready.json of the cases over into tests/golden/children

A case is a folder with input.yaml, config.yaml and expected-ready.json: by default those below `shared` beside the repository, and
without it the ones below tests/golden/children. Compared are the specs of all objects, the status of Grove's own kinds, the codes
of their errors, and the reasons of the events of Grove's controllers. Two sorts of cases differ by design (docs/differences.md), and are checked to differ in nothing else:

- cliques whose names are suffixes of one another: all children equal what `grovectl render --exact-templates` makes, those of
  cliques with no part in it equal the recording, and all is up and ready;
- pods that a server refuses: only what refused_explained() names.

The last line is `N passed, N failed`, cases that differ by design counted as passed.
"""
import argparse
import collections
import gzip
import json
import os
import sys

import children
import planner
import whole


PACKED = "expected-ready.json.gz"
GATE = "spec.schedulingGates"


def recorded_events(case):
    path = os.path.join(case, "events.json")
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [[e["kind"], e["name"], e["reason"]] for e in json.load(f) if e["reporter"].endswith("-controller")]


def load(case):
    """(objects in normal form, events of Grove's controllers as [kind, name, reason]); (None, None) when no ready state was recorded."""
    plain, packed = os.path.join(case, "expected-ready.json"), os.path.join(case, PACKED)
    if os.path.exists(plain):
        with open(plain) as f:
            objects = whole.normal(json.load(f)["items"])
        return objects, recorded_events(case)
    if os.path.exists(packed):
        with gzip.open(packed, "rt") as f:
            recording = json.load(f)
        return recording["objects"], recording["events"]
    return None, None


def of_kind(state, kind):
    return {k: o for k, o in state.items() if k.startswith(kind + "/")}


def template_cliques(state):
    return {c["name"] for o in of_kind(state, "PodCliqueSet").values() for c in o["spec"]["template"]["cliques"]}


# ---- cliques whose names end one another ---------------------------------------------------------------------------------------

def trapped(state):
    """Names of cliques that are made from a wrong template, or are the one that is taken."""
    names = template_cliques(state)
    return {n for a in names for b in names if a != b and a.endswith(b) for n in (a, b)}


def without_gates(state):
    """Specs alone: what is rendered stands before any release."""
    out = json.loads(json.dumps(state))
    for o in out.values():
        o.pop("status", None)
        if o["kind"] == "Pod":
            o["spec"].pop("schedulingGates", None)
    return out


def unhealthy(state):
    """With the right templates every such set comes up whole; Grove's status cannot be compared with, as its pods are others."""
    for key, o in state.items():
        counters = {"PodClique": ("replicas", "readyReplicas", "scheduledReplicas", "updatedReplicas"), "PodCliqueSet": ("availableReplicas", "updatedReplicas"),
                    "PodCliqueScalingGroup": ("replicas", "availableReplicas", "scheduledReplicas", "updatedReplicas")}.get(o["kind"], ())
        for n in counters:
            if o["status"].get(n, 0) != o["spec"]["replicas"]:
                yield "%s: status.%s is %s of %d" % (key, n, o["status"].get(n, 0), o["spec"]["replicas"])
        if any(c["type"] == "MinAvailableBreached" and c["status"] != "False" for c in (o.get("status") or {}).get("conditions", [])):
            yield key + ": in breach"


def check_trapped(grovectl, case, want, got):
    """Differences that the wrong templates do not explain."""
    exact, refusal = children.render(grovectl, os.path.join(case, "input.yaml"), children.config_of(case), ["--exact-templates"])
    if exact is None:
        return [refusal]
    exact = {k: o for k, o in exact.items() if o["kind"] in {o["kind"] for o in got.values()}}
    lines = ["not as rendered: " + line for line in children.compare(without_gates(got), without_gates(exact))]
    lines += unhealthy(got)
    names, mine, theirs = trapped(want), {}, {}
    for source, picked in ((without_gates(want), theirs), (without_gates(got), mine)):
        for key, o in source.items():
            clique = key.split("/")[1] if o["kind"] == "PodClique" else o["metadata"].get("labels", {}).get("grove.io/podclique")
            if clique and not any(clique.endswith("-" + n) for n in names):
                o["metadata"]["labels"].pop(children.HASH_LABEL, None)  # numbered over all objects
                for c in o["spec"].get("initContainers", []) if o["kind"] == "Pod" else ():  # pods wait for the number of the wrong template
                    c["args"] = [a for a in c.get("args", []) if not any("-%s:" % n in a for n in names)]
                picked[key] = o
    return lines + children.compare(theirs, mine)


# ---- pods that a server refuses ------------------------------------------------------------------------------------------------

def gated(state):
    return {k for k, o in of_kind(state, "Pod").items() if o["spec"].get("schedulingGates")}


def refused_explained(want, got):
    """Patterns of the differences that docs/differences.md lists for refused pods, for this very state."""
    explained = set()
    refused = [k for k, o in of_kind(want, "PodClique").items() if o["status"].get("lastErrors") == ["ERR_CREATE_POD"]]
    for key in refused:  # Grove gives up before it writes conditions
        explained.add(key + ": status.conditions: not recorded")
    for key in gated(want):  # Grove does not come back to count them
        clique = "PodClique/" + want[key]["metadata"]["labels"]["grove.io/podclique"]
        explained |= {clique + ": status.%s: not recorded" % n for n in ("replicas", "updatedReplicas")}
    for key in gated(got) - gated(want):  # Grove starts members of a gang that is not complete
        labels = got[key]["metadata"]["labels"]
        gang = want["PodGang/" + labels["grove.io/podgang"]]
        pending = any(c["type"] == "Initialized" and c["status"] == "False" for c in gang["status"].get("conditions", []))
        if pending and labels.get("grove.io/podcliquescalinggroup"):
            explained.add(key + ": " + GATE + ": not recorded")
            for owner in ("PodClique/" + labels["grove.io/podclique"], "PodCliqueScalingGroup/" + labels["grove.io/podcliquescalinggroup"]):
                explained |= {"%s: status.%s" % (owner, n) for n in
                              ("conditions[", "readyReplicas: missing", "scheduledReplicas: missing", "availableReplicas: missing",
                               "updatedReplicas: missing")}
    if refused:  # a group whose replica has no pods of one member is short of it, at once
        groups = {want[k]["metadata"]["labels"].get("grove.io/podcliquescalinggroup") for k in refused} - {None}
        explained |= {"PodCliqueScalingGroup/%s: status.conditions[" % g for g in groups}
    return tuple(explained)


# ---- cases -----------------------------------------------------------------------------------------------------------------------

def missing_events(recorded, final):
    """Reasons that Grove gives an object and we do not; we may give more."""
    mine = {(e["involvedObject"]["kind"], e["involvedObject"]["name"], e["reason"]) for e in final["events"]}
    return ["%s/%s: no event %s" % tuple(e) for e in recorded if tuple(e) not in mine]


def check(sim, case, want, events):
    """(verdict, lines): equal, by design (every line is explained), or failed."""
    final, complaint = sim.run(os.path.join(case, "input.yaml"), "--config", children.config_of(case), pods=of_kind(want, "Pod").values())
    if final is None:
        return "failed", [complaint]
    got = whole.normal(final["items"], {o["kind"] for o in want.values()} | set(whole.KINDS) - {"HorizontalPodAutoscaler"})
    lines, silent = children.compare(want, got), missing_events(events, final)
    if silent or not lines:
        return ("failed", silent + lines) if silent else ("equal", [])
    if trapped(want):
        rest = check_trapped(sim.grovectl, case, want, got)
    else:
        explained = refused_explained(want, got)
        rest = [line for line in lines if not explained or not line.startswith(explained)]
    return ("failed", rest) if rest else ("by design", lines)


def record(cases):
    for case in cases:
        (want, events), folder = load(case), os.path.join(children.GOLDEN, os.path.basename(case.rstrip("/")))
        if want is None or not os.path.isdir(folder):
            continue
        text = json.dumps({"objects": want, "events": events}, sort_keys=True, separators=(",", ":"))
        with open(os.path.join(folder, PACKED), "wb") as f:
            f.write(gzip.compress(text.encode(), mtime=0))
    return 0


def default_cases():
    folders = [os.path.join(planner.SHARED, *rest) for rest in (("children",), ("upstream", "children"))]
    folders = [f for f in folders if os.path.isdir(f)]
    if not folders:
        print("no recordings beside the repository: only the copies in tests/golden/children are compared with")
    return [os.path.join(f, c) for f in folders or [children.GOLDEN] for c in sorted(os.listdir(f))]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("cases", nargs="*")
    ap.add_argument("--grovectl")
    ap.add_argument("--record", action="store_true")
    ap.add_argument("-v", "--verbose", action="store_true")
    args = ap.parse_args()
    if args.record:
        return record(args.cases)
    sim = whole.Simulator(args.grovectl)
    count = collections.Counter()
    for case in args.cases or default_cases():
        want, events = load(case)
        if want is None:
            continue
        verdict, lines = check(sim, case, want, events)
        count[verdict] += 1
        if lines:
            print("%s: %s, %d differences" % (os.path.basename(case.rstrip("/")), verdict, len(lines)))
            for line in lines if args.verbose else lines[:8] if verdict == "failed" else ():
                print("    " + line)
    print("%d equal, %d different by design" % (count["equal"], count["by design"]))
    print("%d passed, %d failed" % (count["equal"] + count["by design"], count["failed"]))
    return 1 if count["failed"] or not count["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
