#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Taking over a cluster that the real Grove ran: nothing restarts.

usage: adoption.py --grovectl PROGRAM --drive PROGRAM

Each recorded settled state (children/CASE/expected-ready.json, each step of the transitions) is loaded as it stands, hashes of the
other operator and all, and planned to rest: no pod may be written, deleted or made. Then the image of one clique is changed: only
pods of that clique (of its whole scaling group replica, where it is a member) may be renewed. Sets whose cliques' names are suffixes
of one another are made wrongly by Grove and may roll; incomplete states (pods that a server refused) are left out. Without recordings beside the repository
everything is skipped, and said so. The last line is `N passed, N failed, N skipped`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import children
import planner

TIME = "2026-11-29T10:00:00Z"
ORDER = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod")


def restored(value):
    """Places of the recordings' normal form filled again."""
    if isinstance(value, dict):
        return {k: restored(v) for k, v in value.items()}
    if isinstance(value, list):
        return [restored(v) for v in value]
    return {"<time>": TIME, "<ns>": "t", "<text>": "as recorded"}.get(value, value)


def state(items):
    """The recorded objects with the uids, owners and versions that a server would show, the set first; None when incomplete."""
    items = [restored(o) for o in json.loads(json.dumps(items)) if o["kind"] in ORDER]
    items.sort(key=lambda o: ORDER.index(o["kind"]))
    uid = {}
    for n, o in enumerate(items):
        uid[o["kind"], o["metadata"]["name"]] = o["metadata"]["uid"] = "rec-%d" % n
    wanted = {}
    for n, o in enumerate(items):
        meta = o["metadata"]
        meta.update(namespace="t", resourceVersion=str(1000 + n), creationTimestamp=TIME)
        meta.setdefault("generation", (o.get("status") or {}).get("observedGeneration", 1))
        for ref in meta.get("ownerReferences", []):
            if (ref["kind"], ref["name"]) not in uid:
                return None
            ref["uid"] = uid[ref["kind"], ref["name"]]
        if o["kind"] == "PodClique":
            wanted[meta["name"]] = o["spec"]["replicas"]
        if o["kind"] == "Pod":
            wanted[meta["labels"]["grove.io/podclique"]] -= 1
            o["status"] = {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}],
                           "containerStatuses": [{"name": c["name"], "started": True, "ready": True} for c in o["spec"]["containers"]]}
    return None if any(wanted.values()) or items[0]["kind"] != "PodCliqueSet" else items


def drive(program, items, config, commands=()):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"apiVersion": "v1", "kind": "List", "items": items}, f)
        f.flush()
        run = subprocess.run([program, f.name, config or os.devnull, *commands], capture_output=True, text=True)
    return json.loads(run.stdout)["items"] if run.returncode == 0 else None


def pods(items):
    return {o["metadata"]["uid"]: o for o in items if o["kind"] == "Pod"}


def written(before, after):
    """Pods that were made, removed or written."""
    a, b = pods(before), pods(after)
    return sorted(o["metadata"]["name"] for u, o in list(a.items()) + list(b.items())
                  if u not in a or u not in b or a[u]["metadata"]["resourceVersion"] != b[u]["metadata"]["resourceVersion"])


def change_image(items):
    """A new image for the first clique: (command, cliques whose pods may go)."""
    template = json.loads(json.dumps(items[0]["spec"]["template"]))
    clique = template["cliques"][0]
    clique["spec"]["podSpec"]["containers"][0]["image"] = "example.com/changed:1"
    touched = {clique["name"]}
    for group in template.get("podCliqueScalingGroups", []):
        if clique["name"] in group["cliqueNames"]:
            touched |= set(group["cliqueNames"])
    return "patch:" + json.dumps({"spec": {"template": {"cliques": template["cliques"]}}}), touched


def clique_of(pod):
    labels = pod["metadata"]["labels"]
    name, group = labels["grove.io/podclique"], labels.get("grove.io/podcliquescalinggroup")
    head = "%s-%s-" % (group, labels["grove.io/podcliquescalinggroup-replica-index"]) if group else \
        "%s-%s-" % (labels["app.kubernetes.io/part-of"], labels["grove.io/podcliqueset-replica-index"])
    return name[len(head):]


def check(program, items, config):
    settled = drive(program, items, config)
    if settled is None:
        return ["the driver failed"]
    lines = written(items, settled)
    if lines:
        return ["pods touched by the take-over: " + ", ".join(lines[:6])]
    if items[0]["spec"].get("updateStrategy", {}).get("type") == "OnDelete" or not pods(items):
        return []
    command, touched = change_image(items)
    after = drive(program, items, config, [command])
    if after is None:
        return ["the driver failed after the change"]
    gone = [o for u, o in pods(items).items() if u not in pods(after)]
    wrong = sorted(o["metadata"]["name"] for o in gone if clique_of(o) not in touched)
    old = sorted(o["metadata"]["name"] for o in pods(after).values()
                 if clique_of(o) == items[0]["spec"]["template"]["cliques"][0]["name"]
                 and o["spec"]["containers"][0]["image"] != "example.com/changed:1")
    return (["pods renewed without cause: " + ", ".join(wrong[:6])] if wrong else []) + \
        (["pods left old: " + ", ".join(old[:6])] if old else [])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--grovectl")
    ap.add_argument("--drive", required=True)
    args = ap.parse_args()
    if not os.path.isdir(planner.SHARED):
        print("no recordings beside the repository: everything is skipped")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    todo = []
    for folder in (os.path.join(planner.SHARED, "children"), os.path.join(planner.SHARED, "upstream", "children")):
        for case in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            ready = os.path.join(folder, case, "expected-ready.json")
            if os.path.exists(ready):
                with open(ready) as f:
                    todo.append((case, json.load(f)["items"], os.path.join(folder, case, "config.yaml")))
    for name in ("delay-30s", "delay-10s", "ondelete"):
        folder = os.path.join(planner.SHARED, "transitions", name, "steps")
        for step in sorted(os.listdir(folder)):
            if "below-min" not in step:  # those are not settled: a breach is running out
                with open(os.path.join(folder, step)) as f:
                    todo.append(("%s/%s" % (name, step), json.load(f)["state"]["items"], None))
    passed = failed = skipped = 0
    for name, recorded, config in todo:
        items = state(recorded) if recorded else None
        if items is None or planner.is_suffix_trap(recorded):
            skipped += 1
            continue
        lines = check(args.drive, items, config)
        passed += not lines
        failed += bool(lines)
        for line in lines:
            print("%s: %s" % (name, line))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
