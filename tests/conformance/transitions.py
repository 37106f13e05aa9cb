#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transitions: `grovectl sim` led through what was done to the real Grove, compared after every step.

usage: transitions.py --grovectl PROGRAM [-v] [--keep FILE] [FOLDER...]

A folder holds input.yaml and steps/NN-name.json, each with the state after the step and the life of the pods during it. What was done
in a step is read off the recording: the change of the set's spec, of a scale, the pods that were deleted or made not ready. All steps
become one scenario file (docs/reference/scenario.md); it takes a snapshot after each. Compared are the objects with their status, and
the life of every pod: which phases in which order. In steps that replace pods, also the order of the units (replicas of a scaling group,
else cliques) and that no unit begins before the one before it is Ready again. `--keep` writes the last scenario to a file.

The last line is `N passed, N failed`, a step being a case; without `shared`
beside the repository the copies in tests/golden/transitions are taken, and that is said.
"""
import argparse
import gzip
import json
import os
import re
import shutil
import sys

import children
import planner
import whole

RECORDED_KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod")
SELECTOR = "grove.io/podclique=%s,grove.io/podclique-pod-index=%s"
SETTLE = "60s"


# ---- what was done ---------------------------------------------------------------------------------------------------------------

def by_kind(items, kind):
    return {o["metadata"]["name"]: o for o in items if o["kind"] == kind}


def pod_selector(recorded_name):
    """Recorded names are <clique>-r<index>[.<incarnation>] in timelines and <clique>-<index> in notes."""
    clique, index = re.fullmatch(r"(.+)-r?(\d+)(?:\.\d+)?", recorded_name).groups()
    return {"kind": "Pod", "selector": SELECTOR % (clique, index)}


def changes(before, step):
    """Actions of the scenario that lead from the state before to the one of the step."""
    after = step["state"]["items"]
    sets, was = by_kind(after, "PodCliqueSet"), by_kind(before, "PodCliqueSet")
    for name in was:
        if name not in sets:
            return [{"delete": {"kind": "PodCliqueSet", "name": name}}]
        if was[name]["spec"] != sets[name]["spec"]:
            return [{"patch": {"kind": "PodCliqueSet", "name": name, "patch": {"spec": sets[name]["spec"]}}}]
    for kind in ("PodCliqueScalingGroup", "PodClique"):
        old = by_kind(before, kind)
        for name, o in by_kind(after, kind).items():
            if name in old and old[name]["spec"]["replicas"] != o["spec"]["replicas"]:
                return [{"scale": {"kind": kind, "name": name, "replicas": o["spec"]["replicas"]}}]
    note = step.get("note")
    if isinstance(note, dict):
        return [{"setReady": dict(pod_selector(p), ready=False)} for p in note.get("notReady", [])]
    if step["action"].startswith("delete-"):
        gone = [e["pod"] for e in step["podTimeline"] if e["state"] == "deleting"]
        return [{"delete": pod_selector(p)} for p in gone]
    return []


def scenario(manifest, steps):
    script, before = [{"apply": manifest}], []
    for name, step in steps:
        script += changes(before, step) if before else []
        waited = re.search(r"after-(\d+s)$", step["action"])
        script.append({"after": waited.group(1) if waited else SETTLE, "snapshot": name})
        before = step["state"]["items"]
    return {"apiVersion": "grovectl/v1", "kind": "Scenario", "spec": {"instant": True, "steps": script}}


# ---- lives of pods -------------------------------------------------------------------------------------------------------------

class Lives:
    """Pods by clique, index and how many of that index there were before; counts on over the steps."""

    def __init__(self):
        self.names, self.count = {}, {}

    def name(self, entry):
        place = (entry["clique"], entry["index"])
        if entry["name"] not in self.names:
            n = self.count[place] = self.count.get(place, 0) + 1
            self.names[entry["name"]] = "%s-r%s%s" % (*place, ".%d" % n if n > 1 else "")
        return self.names[entry["name"]]

    def step(self, entries):
        return [(self.name(e), e["phase"], e["image"]) for e in entries if e["kind"] == "Pod"]


def recorded_lives(step):
    return [(e["pod"], e["state"], e["image"]) for e in step["podTimeline"]]


def sequences(lives):
    """{(pod, image): phases}. Started but not yet ready is left out: the recorded pods had no containers that start."""
    out = {}
    for pod, phase, image in lives:
        out.setdefault((pod, image), []).append(phase)
    for phases in out.values():
        while "bound" in phases and phases[phases.index("bound") + 1:][:1] == ["notready"]:
            del phases[phases.index("bound") + 1]
    return out


def started_over(want, got):
    """Pods that Grove made, terminated for a delay that ran before they were ever Ready, and made again; ours were made once."""
    born = ["gated", "pending", "bound", "ready"]
    again = {(pod + ".2", image) for (pod, image), phases in want.items()
             if phases == born + ["deleting", "gone"] and got.get((pod, image)) == born and want.get((pod + ".2", image)) == born}
    return again | {(pod[:-len(".2")], image) for pod, image in again}


def unit(pod, groups):
    """The scaling group replica that a pod belongs to, else its clique."""
    for group in groups:
        m = re.match(re.escape(group) + r"-\d+", pod)
        if m:
            return m.group(0)
    return re.sub(r"-r\d+(\.\d+)?$", "", pod)


def unit_order(lives, groups):
    order = []
    for pod, phase, _ in lives:
        if phase == "deleting" and unit(pod, groups) not in order:
            order.append(unit(pod, groups))
    return order


def overlaps(lives, groups):
    """Units (without a group: pods) that begin to go while another that has begun is not Ready again."""
    waiting, lines = {}, []
    for pod, phase, _ in lives:
        place, of = re.sub(r"\.\d+$", "", pod), unit(pod, groups)
        of = place if place.startswith(of + "-r") else of
        if phase == "deleting":
            others = {u for u, places in waiting.items() if places and u != of}
            if others:
                lines.append("%s goes while %s is not Ready" % (of, ", ".join(sorted(others))))
            waiting.setdefault(of, set()).add(place)
        elif phase == "ready":
            waiting.get(of, set()).discard(place)
    return lines


def compare_lives(step, mine, groups):
    theirs = recorded_lives(step)
    want, got, lines = sequences(theirs), sequences(mine), []
    by_design = started_over(want, got) if step["action"].startswith("create") else set()
    if by_design:
        print("%d pods were never healthy and are not terminated here: differs by design" % (len(by_design) / 2))
    for key in sorted((set(want) | set(got)) - by_design):
        if want.get(key) != got.get(key):
            lines.append("pod %s (%s): %s, recorded is %s" % (*key, " ".join(got.get(key, ["nothing"])), " ".join(want.get(key, ["nothing"]))))
    if "rolling-update" in step["action"]:
        if unit_order(theirs, groups) != unit_order(mine, groups):
            lines.append("order of units: %s, recorded is %s" % (unit_order(mine, groups), unit_order(theirs, groups)))
        lines += overlaps(mine, groups) if not overlaps(theirs, groups) else ["the recording itself overlaps"]
    return lines


# ---- running -------------------------------------------------------------------------------------------------------------------

def run_folder(sim, folder, keep):
    """(step, lines) of every step of a folder."""
    steps = []
    for file in sorted(os.listdir(os.path.join(folder, "steps"))):
        with (gzip.open if file.endswith(".gz") else open)(os.path.join(folder, "steps", file), "rt") as f:
            steps.append((file.split(".")[0], json.load(f)))
    path = sim.write(scenario(os.path.abspath(os.path.join(folder, "input.yaml")), steps))
    if keep:
        shutil.copy(path, keep)
    final, complaint = sim.run("--scenario", path)
    if final is None:
        return [(steps[0][0], [complaint])]
    lives, at, out = Lives(), 0, []
    for name, step in steps:
        shot = final["snapshots"][name]
        want, got = whole.normal(step["state"]["items"], RECORDED_KINDS), whole.normal(shot["items"], RECORDED_KINDS)
        groups = sorted(by_kind(step["state"]["items"], "PodCliqueScalingGroup"))
        mine = lives.step(final["timeline"][at:shot["timeline"]])
        at = shot["timeline"]
        out.append((name, children.compare(want, got) + compare_lives(step, mine, groups)))
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folders", nargs="*")
    ap.add_argument("--grovectl", required=True)
    ap.add_argument("--keep")
    ap.add_argument("-v", "--verbose", action="store_true")
    args = ap.parse_args()
    recorded = os.path.join(planner.SHARED, "transitions")
    if not args.folders and not os.path.isdir(recorded):
        recorded = os.path.join(children.HERE, "..", "golden", "transitions")
        print("no recordings beside the repository: only the copies in tests/golden/transitions are compared with")
    folders = args.folders or [os.path.join(recorded, f) for f in sorted(os.listdir(recorded))]
    sim = whole.Simulator(args.grovectl)
    passed = failed = 0
    for folder in folders:
        for step, lines in run_folder(sim, folder, args.keep):
            passed += not lines
            failed += bool(lines)
            if lines:
                print("%s/%s: %d differences" % (os.path.basename(folder.rstrip("/")), step, len(lines)))
            for line in lines if args.verbose else lines[:8]:
                print("    " + line)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
