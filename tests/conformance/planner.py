#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Status and transitions: what the planner settles on against what the real Grove settled on.

usage: planner.py --grovectl PROGRAM --drive PROGRAM [CASE...]

Each recorded set (children/CASE/expected-ready.json) and each step of a recorded transition is brought to rest on the planner's
table cluster, every pod Ready at once, and its custom resources are compared with status; the pods of a transition by image. The
recordings lie in `shared` beside the repository; without them everything is skipped, and said so. Cases of two sorts differ by
design and are listed as such: cliques whose names are suffixes of one another (docs/differences.md, H-26), and pods that an API
server refuses (there is none here). The last line is `N passed, N failed, N skipped`.
"""
import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile

import children

SHARED = os.path.join(children.HERE, "..", "..", "..", "shared", "conformance")
KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang")
HASHES = ("podCliqueSetGenerationHash", "podTemplateHash")
# Timing of an observation, equality classes that labels show already, and what is better here.
FREE = {"observedGeneration", "currentPodTemplateHash", "currentPodCliqueSetGenerationHash", "currentGenerationHash", "lastErrors"}
FREE_OF = {"PodClique": {"scheduleGatedReplicas"}, "PodGang": {"phase", "placementScore"}}
REFUSED = {"own-031", "own-071", "own-103", "own-107", "own-129"}


def normal_value(value):
    if isinstance(value, dict):
        return {k: "<time>" if k.endswith("At") else "<hash>" if k in HASHES else normal_value(v) for k, v in value.items()}
    return [normal_value(v) for v in value] if isinstance(value, list) else value


def normal_status(o):
    status = {k: v for k, v in (o.get("status") or {}).items() if k not in FREE | FREE_OF.get(o["kind"], set())}
    conditions = [{k: c.get(k) for k in ("type", "status", "reason")} for c in status.pop("conditions", [])
                  if not c["type"].startswith("libgrove.io/")]
    status = {k: v for k, v in normal_value(status).items() if v not in (0, [], {}, None, "")}
    if conditions:
        status["conditions"] = sorted(conditions, key=lambda c: c["type"])
    return status


def normal(items):
    """Custom resources in normal form, status included, and {pod: image}."""
    named = children.replaced(json.loads(json.dumps(items)), children.pod_names(items))
    out = {k: v for k, v in children.normal(items).items() if k.split("/")[0] in KINDS}
    pods = {}
    for o in named:
        key = "%s/%s" % (o["kind"], o["metadata"]["name"])
        if key in out:
            out[key]["status"] = normal_status(o)
            if o["kind"] == "PodCliqueSet":
                out[key]["metadata"].pop("finalizers", None)
        elif o["kind"] == "Pod":
            pods[o["metadata"]["name"]] = [c["image"] for c in o["spec"]["containers"]]
    return out, pods


def is_suffix_trap(items):
    names = [c["name"] for o in items if o["kind"] == "PodCliqueSet" for c in o["spec"]["template"]["cliques"]]
    return any(a != b and a.endswith(b) for a in names for b in names)


class Planner:
    def __init__(self, args):
        self.args = args
        self.passed = self.failed = self.skipped = 0

    def default(self, manifest, config):
        extra = ["--config", config] if config else []
        run = subprocess.run([self.args.grovectl, "default", manifest, *extra, "-o", "json"], capture_output=True, text=True)
        return json.loads(run.stdout)

    def drive(self, pcs, config, commands=()):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(pcs, f)
            f.flush()
            run = subprocess.run([self.args.drive, f.name, config or os.devnull, *commands], capture_output=True, text=True)
        if run.returncode != 0:
            return None
        return json.loads(run.stdout)["items"]

    def check(self, name, want_items, got_items, pods, trap=False):
        if got_items is None:
            lines = ["the driver failed"]
        else:
            (want, want_pods), (got, got_pods) = normal(want_items), normal(got_items)
            lines = children.compare(want, got)
            if pods and want_pods != got_pods:
                odd = sorted(k for k in set(want_pods) | set(got_pods) if want_pods.get(k) != got_pods.get(k))
                lines.append("pods or their images differ: %s" % ", ".join(odd[:5]))
        if lines and trap:
            self.skipped += 1
            print("%s: differs by design" % name)
        elif lines:
            self.failed += 1
            print("%s: %d differences" % (name, len(lines)))
            for line in lines[:8]:
                print("    " + line)
        else:
            self.passed += 1

    def child(self, folder):
        name = os.path.basename(folder)
        ready = os.path.join(folder, "expected-ready.json")
        if not os.path.exists(ready):
            return
        with open(ready) as f:
            want = json.load(f)["items"]
        config = os.path.join(folder, "config.yaml")
        pcs = self.default(os.path.join(folder, "input.yaml"), config)
        self.check(name, want, self.drive(pcs, config), False, name in REFUSED or is_suffix_trap(want))

    def transition(self, folder, script):
        pcs = self.default(os.path.join(folder, "input.yaml"), None)
        template = copy.deepcopy(pcs["spec"]["template"]["cliques"])
        commands = []
        for step in sorted(os.listdir(os.path.join(folder, "steps"))):
            with open(os.path.join(folder, "steps", step)) as f:
                recording = json.load(f)
            for command in script[recording["action"]]:
                if command.startswith("image:"):
                    _, clique, image = command.split(":", 2)
                    for c in template:
                        if c["name"] == clique:
                            c["spec"]["podSpec"]["containers"][0]["image"] = image
                    command = "patch:" + json.dumps({"spec": {"template": {"cliques": template}}})
                commands.append(command)
            self.check("%s/%s" % (os.path.basename(folder), step), recording["state"]["items"],
                       self.drive(pcs, None, commands), True)


def pods(clique, n, command="delete-pod"):
    return ["%s:%s:%d" % (command, clique, i) for i in range(n)]


# What each recorded action is on the table cluster. `hold` keeps pods from getting ready again by themselves.
DELAY = {
    "create-ready": [],
    "pcsg-scale-up-2-to-4": ["scale:pcsg:tr-0-cell:4"],
    "pcsg-scale-down-4-to-3": ["scale:pcsg:tr-0-cell:3"],
    "pclq-scale-up-3-to-5": ["scale:pclq:tr-0-router:5"],
    "pclq-scale-down-5-to-3": ["scale:pclq:tr-0-router:3"],
    "pcs-scale-up-1-to-2": ["scale:pcs:tr:2"],
    "rolling-update-pcsg-clique-image": ["image:decode:decode:v2"],
    "rolling-update-standalone-clique-image": ["image:router:router:v2"],
    "pcs-scale-down-2-to-1": ["scale:pcs:tr:1"],
    "delete-ready-pod-index-1": ["delete-pod:tr-0-router:1"],
    "scaled-pcsg-replica-below-min-after-4s": ["hold", *pods("tr-0-cell-1-decode", 2, "unready"), "wait:4"],
    "scaled-pcsg-replica-after-termination-delay": ["wait:30", "run"],
    "standalone-clique-below-min-after-4s": ["hold", *pods("tr-0-router", 2, "unready"), "wait:4"],
    "standalone-clique-after-termination-delay": ["wait:30", "run"],
    "delete-pcs": ["delete"],
}
ON_DELETE = {
    "create-ready": [],
    "image-change-front-nothing-deleted": ["image:front:front:v2"],
    "delete-front-index-0": ["delete-pod:od-0-front:0"],
    "image-change-wkr": ["image:wkr:wkr:v2"],
    "delete-all-wkr-of-pre-1": pods("od-0-pre-1-wkr", 2),
    "delete-all-front": pods("od-0-front", 2),
    "delete-pcs": ["delete"],
}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--grovectl", required=True)
    ap.add_argument("--drive", required=True)
    ap.add_argument("cases", nargs="*")
    args = ap.parse_args()
    planner = Planner(args)
    recorded = os.path.join(SHARED, "children")
    if not args.cases and not os.path.isdir(recorded):
        print("no recordings beside the repository: everything is skipped")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    whole = not args.cases
    cases = list(args.cases)
    for folder in (recorded, os.path.join(SHARED, "upstream", "children")) if whole else ():
        cases += [os.path.join(folder, c) for c in sorted(os.listdir(folder))]
    for case in cases:
        planner.child(case.rstrip("/"))
    if whole:
        planner.transition(os.path.join(SHARED, "transitions", "delay-30s"), DELAY)
        planner.transition(os.path.join(SHARED, "transitions", "ondelete"), ON_DELETE)
    print("%d passed, %d failed, %d skipped" % (planner.passed, planner.failed, planner.skipped))
    return 1 if planner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
