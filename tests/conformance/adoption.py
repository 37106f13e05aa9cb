#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Taking over a cluster that the real Grove ran: nothing restarts.

usage: adoption.py --grovectl PROGRAM --drive PROGRAM

Each recorded state (children/CASE/expected-ready.json, each step of the transitions, breaches that are running out among them) is
loaded as it stands, hashes of the other operator and all, and planned to rest:

- no pod may be written, deleted or made, and no object deleted;
- handing back: every hash that the other operator compares with (label of PodCliques and pods, current hashes in status) is the
  recorded one, on what stood there and on what is made in a further set replica;
- then, while nobody ran, the image of one clique is changed: only pods of that clique (of its whole scaling group replica, where it is a member) may be
  renewed, no other pod is written, and hashes of the other cliques stay.

Sets whose cliques' names are suffixes of one another are made wrongly by Grove and may roll; incomplete states (pods that a server
refused) are left out. Without recordings beside the repository everything is skipped, and said so. The last line is `N passed, N
failed, N skipped`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import children
import planner

TIME = "2027-01-15T07:59:57Z"  # shortly before the driver's clock starts: breaches have not run out
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
            if not any(c["type"] == "Ready" for c in o.get("status", {}).get("conditions", [])):
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
    return name_in_template({"metadata": {"labels": pod["metadata"]["labels"], "name": pod["metadata"]["labels"]["grove.io/podclique"]}})


def name_in_template(clique):
    labels, name = clique["metadata"]["labels"], clique["metadata"]["name"]
    group = labels.get("grove.io/podcliquescalinggroup")
    head = "%s-%s-" % (group, labels["grove.io/podcliquescalinggroup-replica-index"]) if group else \
        "%s-%s-" % (labels["app.kubernetes.io/part-of"], labels["grove.io/podcliqueset-replica-index"])
    return name[len(head):]


STATUS_HASHES = ("currentGenerationHash", "currentPodTemplateHash", "currentPodCliqueSetGenerationHash")


def hashes(items):
    """{(kind, name): what the other operator compares with}, without what it has not written yet."""
    out = {}
    for o in items:
        label = o["metadata"].get("labels", {}).get("grove.io/pod-template-hash")
        found = {k: v for k in STATUS_HASHES for v in [(o.get("status") or {}).get(k)] if v}
        if label:
            found["label"] = label
        out[o["kind"], o["metadata"]["name"]] = found
    return out


def hand_back(before, after):
    """Objects whose hashes are not those that stood there."""
    a, b = hashes(before), hashes(after)
    return ["%s/%s" % key for key in a if any(b.get(key, {}).get(k) != v for k, v in a[key].items())]


def unknown_hashes(before, after):
    """Objects that carry a hash which nothing carried before."""
    known = {v for found in hashes(before).values() for v in found.values()}
    return ["%s/%s" % key for key, found in hashes(after).items() if not set(found.values()) <= known]


def check(program, items, config):
    settled = drive(program, items, config, ["hold"])
    if settled is None:
        return ["the driver failed"]
    lines = written(items, settled)
    if lines:
        return ["pods touched by the take-over: " + ", ".join(lines[:6])]
    gone = {o["metadata"]["uid"] for o in items} - {o["metadata"]["uid"] for o in settled}
    if gone:
        return ["objects deleted by the take-over: %d" % len(gone)]
    if not pods(items):
        return []  # nothing shows what the recorded hash stands for, and nothing can roll
    lines = hand_back(items, settled)
    if lines:
        return ["hashes changed: " + ", ".join(lines[:6])]
    if all(f for key, f in hashes(items).items() if key[0] in ("PodCliqueSet", "PodClique")):
        wider = drive(program, items, config, ["hold", "run", "scale:pcs:%s:%d" % (items[0]["metadata"]["name"], items[0]["spec"]["replicas"] + 1)])
        lines = ["the driver failed to scale out"] if wider is None else unknown_hashes(items, wider)
        if lines:
            return ["hashes that the other operator does not know, on what is new: " + ", ".join(lines[:6])]
    if items[0]["spec"].get("updateStrategy", {}).get("type") == "OnDelete":
        return []
    command, touched = change_image(items)
    after = drive(program, items, config, [command])
    if after is None:
        return ["the driver failed after the change"]
    gone = [o for u, o in pods(items).items() if u not in pods(after)]
    wrong = sorted(o["metadata"]["name"] for o in gone if clique_of(o) not in touched)
    others = [[o for o in state if o["kind"] == "Pod" and clique_of(o) not in touched] for state in (items, after)]
    if written(*others):  # what would have been written anyway, as where a lost pod is being replaced, is no part of the change
        wrong = sorted(set(wrong) | set(written(*others)) - set(written(items, drive(program, items, config) or [])))
    old = sorted(o["metadata"]["name"] for o in pods(after).values()
                 if clique_of(o) == items[0]["spec"]["template"]["cliques"][0]["name"]
                 and o["spec"]["containers"][0]["image"] != "example.com/changed:1")
    kept = [o for o in items if o["kind"] == "PodClique" and name_in_template(o) not in touched]
    lines = hand_back([{**o, "status": {}} for o in kept], after)
    return (["hashes of other cliques changed: " + ", ".join(lines[:6])] if lines else []) + (["pods renewed without cause: " + ", ".join(wrong[:6])] if wrong else []) + \
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
