#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""place, fit, whatif and explain on cluster files: answers, exit codes, forms of input, pictures.

Cluster files come in two forms: what `grovectl sim -o json` prints, and what `kubectl get ... -o json`
does. A picture is read back: it is a single SVG without references, and holds as many squares of each
gang's colour as the gang was given devices.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MANIFESTS = os.path.join(ROOT, "examples", "manifests")
failures = []
passed = 0


def check(name, ok, detail=""):
    global passed
    if ok:
        passed += 1
    else:
        failures.append(name)
        print("FAIL %s: %s" % (name, str(detail)[:600]))


class Tool:
    def __init__(self, program):
        self.program = program

    def __call__(self, *args):
        r = subprocess.run([self.program, *args], capture_output=True, text=True, timeout=60)
        return r.returncode, r.stdout, r.stderr


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


# ---- place ----

NODES = "name,zone,rack,gpu,cpu_m,mem_mib,pods\n" + "".join(
    "n%d,z,r%d,4,8000,8000,10\n" % (i, i // 3) for i in range(6)
)


def gang(name, count, gpu, required="rack"):
    group = {"name": "w", "count": count, "min": count, "req": {"gpu": gpu, "cpu_m": 1000, "mem_mib": 1000}}
    return {"name": name, "required": required, "preferred": "", "groups": [], "podgroups": [group]}


def squares(path):
    """Devices drawn, by class of colour; and whether the file stands alone."""
    text = open(path).read()
    svg = text[text.index("<svg") : text.index("</svg>") + 6]
    root = xml.fromstring(svg)
    drawn = collections.Counter()
    for e in root.iter("{http://www.w3.org/2000/svg}path"):
        drawn[e.get("class").split()[-1]] += e.get("d").count("M")
    alone = not re.search(r"href|url\(|@import|src=", text)
    return drawn, alone, text


def test_place(tool, folder):
    gangs = [gang("a", 5, 2), gang("b", 2, 1), gang("<c&\"d\">", 2, 4), gang("big", 4, 4)]
    nodes = write(folder, "nodes.csv", NODES)
    lines = write(folder, "gangs.jsonl", "".join(json.dumps(g) + "\n" for g in gangs))
    for ending in ("svg", "html"):
        picture = os.path.join(folder, "p." + ending)
        code, out, err = tool("place", "--nodes", nodes, "--gangs", lines, "--picture", picture)
        answers = [json.loads(l) for l in out.splitlines()]
        check("place exit " + ending, code == 0, err)
        keys = ["name", "verdict", "placement", "levels", "score", "steps"]
        check("place keys " + ending, all(list(a)[:6] == keys for a in answers), out)
        verdicts = [a["verdict"] for a in answers]
        check("place verdicts " + ending, verdicts == ["placed"] * 3 + ["infeasible"], verdicts)
        drawn, alone, text = squares(picture)
        want = {"g%d" % i: g["podgroups"][0]["count"] * g["podgroups"][0]["req"]["gpu"]
                for i, g in enumerate(gangs) if answers[i]["verdict"] == "placed"}
        want["f"] = 24 - sum(want.values())
        check("place squares " + ending, dict(drawn) == want, (drawn, want))
        check("place stands alone " + ending, alone)
        check("place names escaped " + ending, "&lt;c&amp;&quot;d&quot;&gt;" in text)
        check("place tells what it left out " + ending, "Not placed" in text and "big" in text)
    code, out, _ = tool("place", "--nodes", nodes, "--gangs", lines, "-o", "text")
    check("place text", code == 0 and out.splitlines()[0].startswith("a: placed, score "), out)
    check("place text reason", out.splitlines()[3].startswith("big: infeasible ("), out)
    code, out, err = tool("place", "--nodes", nodes, "--gangs", lines, "--timing")
    check("place timing", all("us" in json.loads(l) for l in out.splitlines()))
    check("place summary", "placed 3" in err and "wall" in err and "CPU" in err, err)
    code, _, _ = tool("place", "--nodes", nodes, "--gangs", lines, "--picture", folder + "/no/where.svg")
    check("place picture cannot be written", code == 2, code)


# ---- clusters ----


def cluster_files(tool, folder):
    """The same cluster as sim prints it and as kubectl would list it, with all that a server writes."""
    names = ["02-cluster-topology", "03-inference-with-topology", "05-disaggregated"]
    files = [os.path.join(MANIFESTS, n + ".yaml") for n in names]
    picture = os.path.join(folder, "sim.svg")
    code, out, err = tool("sim", *files, "--nodes", "2x2x2x8", "-o", "json", "--picture", picture)
    check("sim", code == 0, err)
    state = json.loads(out)
    drawn, alone, _ = squares(picture)
    gpus = sum(
        int(c.get("resources", {}).get("requests", c.get("resources", {}).get("limits", {})).get("nvidia.com/gpu", 0))
        for o in state["items"] if o["kind"] == "Pod" and o["spec"].get("nodeName")
        for c in o["spec"]["containers"])
    check("sim squares", sum(drawn.values()) == 64 and drawn["f"] == 64 - gpus and gpus > 0, (drawn, gpus))
    check("sim stands alone", alone)
    kinds = {"Node", "Pod", "PodGang", "PodClique", "PodCliqueScalingGroup", "PodCliqueSet", "ClusterTopologyBinding"}
    items = [o for o in state["items"] if o["kind"] in kinds]
    for o in items:
        o["metadata"]["managedFields"] = [{"manager": "x", "operation": "Update", "apiVersion": "v1"}]
        o["metadata"]["selfLink"] = "/x"
    listed = {"apiVersion": "v1", "kind": "List", "items": items, "metadata": {"resourceVersion": ""}}
    nodes_pods = dict(listed, items=[o for o in items if o["kind"] in ("Node", "Pod")])
    return (write(folder, "sim.json", out), write(folder, "kubectl.json", json.dumps(listed)),
            write(folder, "nodes-pods.json", json.dumps(nodes_pods)))


def test_fit(tool, folder, files):
    small = os.path.join(MANIFESTS, "07-two-node-instance.yaml")
    text = open(small).read().replace("replicas: 1", "replicas: 12", 1)
    large = write(folder, "large.yaml", text)
    for path in files:
        name = os.path.basename(path)
        picture = os.path.join(folder, "fit.svg")
        code, out, err = tool("fit", small, "--cluster", path, "--picture", picture)
        check("fit small " + name, code == 0 and "llama-70b-0: fits" in out, out + err)
        check("fit picture " + name, "llama-70b-0" in squares(picture)[2])
        code, out, err = tool("fit", large, "--cluster", path, "-o", "json")
        gangs = {g["gang"]: g["fits"] for g in json.loads(out)["gangs"]} if code == 1 else {}
        mine = [fits for gang, fits in gangs.items() if gang.startswith("llama-70b-")]
        check("fit large " + name, len(mine) == 12 and True in mine and False in mine, (code, gangs, err))


def test_whatif(tool, folder, files):
    for path in files:
        name = os.path.basename(path)
        code, out, err = tool("whatif", "--cluster", path, "--lose", "rack=b0-r0", "-o", "json")
        answer = json.loads(out or "{}")
        check("whatif rack " + name, code == 0 and answer["nodesLost"] == 2, out + err)
        check("whatif rack fates " + name, {g["fate"] for g in answer["gangs"]} <= {"stays", "moves"}, out)
        everything = ["--lose", "block=b0", "--lose", "block=b1"]
        code, out, err = tool("whatif", "--cluster", path, *everything, "-o", "json")
        answer = json.loads(out or "{}")
        check("whatif all " + name, code == 1 and {g["fate"] for g in answer["gangs"]} == {"goes"}, out + err)
        check("whatif sets " + name, [s["whole"] for s in answer["sets"]] == [False, False], answer["sets"])
        code, out, err = tool("whatif", "--cluster", path, *everything, "--add", "8xnode-b0-r0-n0", "-o", "json")
        answer = json.loads(out or "{}")
        check("whatif add copies " + name, code == 0 and answer["nodesAdded"] == 8, out + err)
        picture = os.path.join(folder, "whatif.svg")
        code, out, err = tool("whatif", "--cluster", path, *everything, "--add", "1xnode-b0-r0-n0", "--picture", picture)
        goes = [l for l in out.splitlines() if l.startswith("gang ") and "finds no room" in l]
        check("whatif one node " + name, code == 1 and 0 < len(goes) < len(answer["gangs"]), out + err)
        check("whatif picture " + name, "Not placed" in squares(picture)[2])
        for bad in (["--add", "3xnobody"], ["--add", "nonsense"], ["--lose", "rack"]):
            code, _, err = tool("whatif", "--cluster", path, *bad)
            check("whatif %s %s" % (bad, name), code == 2 and err, (code, err))


def test_whatif_notes(tool, folder, path):
    """What the pods of a gang that loses some ask for and placement does not look at is named, as by fit."""
    state = json.load(open(path))
    for o in state["items"]:
        if o["kind"] == "PodClique":
            o["spec"]["podSpec"]["runtimeClassName"] = "gvisor"
    changed = write(folder, "notes.json", json.dumps(state))
    code, out, err = tool("whatif", "--cluster", changed, "--lose", "rack=b0-r0", "-o", "json")
    gangs = json.loads(out or "{}").get("gangs", [])
    said = {g["gang"]: {n["path"] for n in g.get("notSupported", [])} for g in gangs}
    lost = {g["gang"] for g in gangs if g["displaced"] > 0}
    check("whatif notes", lost and all(("runtimeClassName" in str(said[g])) == (g in lost) for g in said), (said, err))
    code, out, err = tool("whatif", "--cluster", changed, "--lose", "rack=b0-r0")
    check("whatif notes text", "Not supported: PodClique" in out, out + err)


def test_explain(tool, files):
    for path in files:
        name = os.path.basename(path)
        code, out, err = tool("explain", "pg/inference-0", "--cluster", path)
        check("explain " + name, code == 0 and out, out + err)
        code, out, err = tool("explain", "pg/nobody", "--cluster", path)
        check("explain nobody " + name, code == 1, out + err)


ROLLING = """
apiVersion: grovectl/v1
kind: Scenario
spec:
  nodes: 1x1x4x4
  steps:
  - rule: {ready: 10s}
  - apply: {SET}
  - after: 1m
    snapshot: rest
    patch: {kind: PodCliqueSet, name: cell, patch: [{op: replace, path: /spec/template/cliques/0/spec/podSpec/containers/0/image, value: "c:2"}]}
  - after: 15s
    snapshot: midway
  - after: 10m
    snapshot: done
    expect: [{kind: Pod, count: 4}]
"""


def rolling_set(strategy):
    pod = {"containers": [{"name": "c", "image": "c:1"}]}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "cell"},
            "spec": {"replicas": 1, "updateStrategy": {"type": strategy}, "template": {"cliques": [
                {"name": "w", "annotations": {"a": "b"}, "spec": {"roleName": "w", "replicas": 4, "minAvailable": 1,
                                                                  "podSpec": pod}}]}}}


def test_rollout(tool, folder):
    """The same words for each strategy; the changed manifest where there is no cluster to change."""
    for strategy in ("Coherent", "RollingRecreate"):
        text = ROLLING.replace("{SET}", json.dumps(rolling_set(strategy)))
        scenario = write(folder, strategy + ".yaml", text)
        code, out, err = tool("sim", "--scenario", scenario, "-o", "json")
        check("rollout: %s runs" % strategy, code == 0, err)
        shots = json.loads(out)["snapshots"]
        path = {name: write(folder, name + ".json", json.dumps({"apiVersion": "v1", "kind": "List", "items": s["items"]}))
                for name, s in shots.items()}
        code, out, err = tool("rollout", "status", "cell", "--cluster", path["midway"])
        check("rollout: %s midway" % strategy, code == 1 and "0 of 1 set replicas" in out and
              "PodClique cell-0-w: 2 of 4 pods updated" in out, (code, out, err))
        check("rollout: pairs are told", ("Progressing: replica 0" in out) == (strategy == "Coherent"), out)
        code, out, err = tool("rollout", "status", "pcs/cell", "--cluster", path["done"])
        check("rollout: %s done" % strategy, code == 0 and "through, 1 of 1" in out, (code, out, err))
        code, out, err = tool("rollout", "pause", "cell", "--cluster", path["done"])
        check("rollout: pause " + strategy, (code == 0 and "paused: true" in out) if strategy == "Coherent"
              else (code == 1 and "cannot be paused" in err), (code, out, err))
        code, out, err = tool("rollout", "restart", "cell", "--cluster", path["done"])
        check("rollout: restart " + strategy, code == 0 and "libgrove.io/restartedAt" in out and "a: b" in out, (code, out, err))
    code, out, err = tool("rollout", "resume", "cell", "--cluster", write(folder, "cell.json", json.dumps(rolling_set("Coherent"))))
    check("rollout: resume a manifest", code == 0 and "paused: false" in out, (code, out, err))
    for bad in (["status"], ["undone", "cell", "--cluster", scenario], ["status", "cell"], ["status", "cell", "--cluster"],
                ["status", "cell", "more", "--cluster", scenario], ["status", "cell", "--what", "x"]):
        code, out, err = tool("rollout", *bad)
        check("rollout: wrong usage %s" % bad, code == 2 and "usage" in err, (code, out, err))
    code, out, err = tool("rollout", "status", "nobody", "--cluster", path["done"])
    check("rollout: no such set", code == 1 and "no PodCliqueSet nobody" in err, (code, out, err))


REFUSED = """apiVersion: grovectl/v1
kind: Scenario
spec:
  nodes: blocks=1,racks=1,nodes=1,gpu=1
  steps:
  - apply: {apiVersion: grove.io/v1alpha1, kind: ClusterTopologyBinding, metadata: {name: t}, spec: {levels: [{domain: rack, key: a/r}]}}
  - refused: %s
"""
TWICE = "{kind: ClusterTopologyBinding, name: t, patch: {spec: {levels: [{domain: rack, key: a/r}, {domain: %s, key: a/s}]}}}"


def test_refused_actions(tool, folder):
    """`refused` fails on what is accepted, and on a refusal for another reason; a slip in it is told as one."""
    same, other = TWICE % "rack", TWICE % "host"
    rows = (
        ("holds", "{patch: %s, because: [Duplicate, \"spec.levels[1].domain\"]}" % same, 0, "1 expectations, 0 failed"),
        ("accepted", "{patch: %s, because: Duplicate}" % other, 1, "patch accepted, not refused"),
        ("another reason", "{because: [Duplicate, \"spec.levels[0]\"], patch: %s}" % same, 1, "not spec.levels[0]"),
        ("no reason", "{patch: %s}" % same, 2, "refused needs one action and because"),
        ("empty list", "{patch: %s, because: []}" % same, 2, "refused needs one action and because"),
        ("two actions", "{patch: %s, because: D, restart: engine}" % same, 2, "refused needs one action and because"),
        ("no action", "{because: D}", 2, "refused needs one action and because"),
        ("a reason that is no text", "{patch: %s, because: [[D]]}" % same, 2, "because is a text"),
        ("unknown action", "{jump: high, because: D}", 2, "no action \"jump\""),
        ("nothing matches", "{scale: {kind: PodClique, name: x, replicas: 1}, because: D}", 2, "nothing matches"),
        ("within itself", "{refused: {patch: %s, because: D}, because: D}" % same, 2, "refused needs one action and because"))
    for name, step, status, words in rows:
        code, _, err = tool("sim", "--scenario", write(folder, "refused.yaml", REFUSED % step))
        check("refused: " + name, code == status and words in err, (code, err))


QUOTA = """apiVersion: grovectl/v1
kind: Scenario
spec:
  steps:
  - quota: {kind: Secret, atMost: %s}
  - refused: {apply: &s {apiVersion: v1, kind: Secret, metadata: {name: x}}, because: ["exceeded quota", "limited: count/secrets=0"]}
  - quota: {kind: %s}
  - apply: *s
    expect: [{kind: Secret, name: x, count: 1}]
"""


def test_option_with_sign(tool, folder):
    """--option=value is --option value, for each verb; the value may hold further signs."""
    path = os.path.join(MANIFESTS, "01-router-and-serving-cell.yaml")
    for verb, words in (("render", ("--output", "yaml", path)), ("validate", ("--output", "json", path)), ("sim", ("--nodes", "blocks=1,racks=1,nodes=2", path))):
        joined = ["=".join(words[:2]), *words[2:]]
        check("sign: " + verb, tool(verb, *joined) == tool(verb, *words), joined)
    file = os.path.join(folder, "--output=yaml")
    with open(path) as given, open(file, "w") as odd:
        odd.write(given.read())
    check("sign: a file", tool("render", os.path.join(folder, "--output=yaml"))[0] == 0)


def test_quota(tool, folder):
    """Above it creations are refused in the server's words; without a number it ends."""
    for most, kind, status, words in (("0", "Secret", 0, "2 expectations, 0 failed"), ("1", "Secret", 1, "apply accepted, not refused"),
                                      ("-1", "Secret", 2, "atMost must be a whole number"), ("0", "Sacred", 2, "unknown kind \"Sacred\"")):
        code, _, err = tool("sim", "--scenario", write(folder, "quota.yaml", QUOTA % (most, kind)))
        check("quota: %s %s" % (most, kind), code == status and words in err, (code, err))


def pending_set(name, pods):
    """A set that asks for one rack, and its gang with pods that wait."""
    gpu = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    pod = {"containers": [{"name": "c", "image": "example.com/c:1", "resources": gpu}]}
    constraint = {"topologyName": "t", "pack": {"required": "rack"}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": 1, "template": {"topologyConstraint": constraint, "cliques": [
                {"name": "w", "spec": {"roleName": "w", "replicas": pods, "podSpec": pod}}]}}}


def test_together(tool, folder):
    """Gangs of 2, 3, 3 and 4 pods on two racks of six: one after the other the last finds no room, together all do."""
    levels = [{"domain": "rack", "key": "example.com/rack"}, {"domain": "host", "key": "kubernetes.io/hostname"}]
    binding = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "t"},
               "spec": {"levels": levels}}
    sets = [pending_set("s%d" % i, n) for i, n in enumerate((2, 3, 3, 4))]
    files = [write(folder, "binding.json", json.dumps(binding))]
    files += [write(folder, s["metadata"]["name"] + ".json", json.dumps(s)) for s in sets]
    code, out, err = tool("sim", *files, "--nodes", "1x1x1x0", "--until", "30s", "-o", "json")
    check("together: all wait", code in (0, 1) and out, err)
    items = [o for o in json.loads(out)["items"] if o["kind"] != "Node"]
    for i in range(12):
        name = "n%02d" % i
        items.append({"apiVersion": "v1", "kind": "Node",
                      "metadata": {"name": name, "labels": {"example.com/rack": "r%d" % (i // 6), "kubernetes.io/hostname": name}},
                      "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "1"},
                                 "conditions": [{"type": "Ready", "status": "True"}]}})
    path = write(folder, "waiting.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    for i in range(4):
        code, out, err = tool("explain", "pg/s%d-0" % i, "--cluster", path, "-o", "json")
        verdict = json.loads(out or "{}").get("placement", {}).get("verdict") if code == 0 else None
        check("together: s%d is placed" % i, verdict == "placed", out + err)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grovectl", required=True)
    tool = Tool(parser.parse_args().grovectl)
    with tempfile.TemporaryDirectory() as folder:
        test_place(tool, folder)
        sim, kubectl, nodes_pods = cluster_files(tool, folder)
        test_fit(tool, folder, [sim, kubectl, nodes_pods])
        test_whatif(tool, folder, [sim, kubectl])
        test_whatif_notes(tool, folder, sim)
        test_explain(tool, [sim, kubectl])
        test_together(tool, folder)
        test_rollout(tool, folder)
        test_refused_actions(tool, folder)
        test_quota(tool, folder)
        test_option_with_sign(tool, folder)
    print("%d passed, %d failed" % (passed, len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
