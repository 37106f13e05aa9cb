#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Children of recorded sets: `grovectl render` against what the real Grove made of the same manifest.

usage: children.py --grovectl PROGRAM [CASE...]      compare (default: every case below tests/golden/children)
       children.py --record SOURCE...                take recordings (folders with input.yaml, config.yaml, expected.json) over

A case is a folder with input.yaml and expected.json.gz, the recorded objects in normal form; config.yaml stands beside the
cases, and in a case that needs another one. The last line is `N passed, N failed`; exit status 1 when something failed.

Normal form: what only a server can give is gone (uid, times, status), pods are named by their index, hashes are numbered in
the order of the objects, so that only which objects share one counts.
"""
import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "children")

HASH_LABEL = "grove.io/pod-template-hash"
SERVER_METADATA = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink")
# Fields that a server or its admission plugins add; ours may leave them out. None stands for any value.
ADDED = {
    ("Pod", "spec.dnsPolicy"): "ClusterFirst",
    ("Pod", "spec.enableServiceLinks"): True,
    ("Pod", "spec.preemptionPolicy"): "PreemptLowerPriority",
    ("Pod", "spec.priority"): None,
    ("Pod", "spec.restartPolicy"): "Always",
    ("Pod", "spec.securityContext"): {},
    ("Pod", "spec.serviceAccount"): "default",
    ("Pod", "spec.serviceAccountName"): "default",
    ("Pod", "spec.terminationGracePeriodSeconds"): 30,
    ("Service", "spec.clusterIPs"): ["None"],
    ("Service", "spec.internalTrafficPolicy"): "Cluster",
    ("Service", "spec.ipFamilies"): ["IPv4"],
    ("Service", "spec.ipFamilyPolicy"): "SingleStack",
    ("Service", "spec.sessionAffinity"): "None",
    ("Service", "spec.type"): "ClusterIP",
    ("HorizontalPodAutoscaler", "spec.behavior"): None,
    ("Secret", "data"): None,
    ("PodCliqueSet", "metadata.finalizers"): None,
}
CONTAINER_DEFAULTS = {"imagePullPolicy": ("Always", "IfNotPresent"), "terminationMessagePath": ("/dev/termination-log",),
                      "terminationMessagePolicy": ("File",), "resources": ({},), "volumeMounts": ([],)}


# ---- normal form -------------------------------------------------------------------------------------------------------------

def replaced(value, names):
    """The same value with whole strings exchanged."""
    if isinstance(value, dict):
        return {k: replaced(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [replaced(v, names) for v in value]
    return names.get(value, value) if isinstance(value, str) else value


def pod_names(items):
    """Pod name -> its PodClique's prefix and its index."""
    names = {}
    for o in items:
        if o["kind"] == "Pod":
            prefix = o["metadata"].get("generateName") or re.sub("[a-z0-9]{5}$", "", o["metadata"]["name"])
            names[o["metadata"]["name"]] = "%sr%s" % (prefix, o["metadata"]["labels"]["grove.io/podclique-pod-index"])
    return names


def normal_container(c):
    c["volumeMounts"] = [m for m in c.get("volumeMounts", []) if not m["name"].startswith("kube-api-access")]
    if c["name"] == "grove-initc":
        c["image"] = "<initc>"
    for e in c.get("env", []):
        e.get("valueFrom", {}).get("fieldRef", {}).pop("apiVersion", None)
    for p in c.get("ports", []):
        if p.get("protocol") == "TCP":
            del p["protocol"]
    resources = c.get("resources", {})
    for kind in {"requests", "limits"} & set(resources):
        resources[kind] = {k: str(v) for k, v in resources[kind].items()}
    # a server copies limits into missing requests
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    requests = {k: v for k, v in requests.items() if limits.get(k) != v}
    resources.pop("requests", None)
    if requests:
        resources["requests"] = requests
    for key, values in CONTAINER_DEFAULTS.items():
        if key in c and c[key] in values:
            del c[key]


def normal_pod(spec):
    spec["volumes"] = [v for v in spec.get("volumes", []) if not v["name"].startswith("kube-api-access")]
    spec["tolerations"] = [t for t in spec.get("tolerations", []) if not (
        t.get("tolerationSeconds") == 300 and t.get("key", "").startswith("node.kubernetes.io/"))]
    for c in spec.get("containers", []) + spec.get("initContainers", []):
        normal_container(c)
    for key in ("volumes", "tolerations", "initContainers", "schedulingGates"):
        if spec.get(key) == []:
            del spec[key]
    if spec.get("schedulerName") == "default-scheduler":
        del spec["schedulerName"]
    spec.pop("nodeName", None)


def normal(items):
    """{"Kind/name": object} in normal form; the argument is left alone."""
    items = replaced(json.loads(json.dumps(items)), pod_names(items))
    out = {}
    for o in items:
        meta = o["metadata"]
        ns = meta.get("namespace")
        o.pop("status", None)
        for key in SERVER_METADATA:
            meta.pop(key, None)
        for ref in meta.get("ownerReferences", []):
            ref.pop("uid", None)
        for key in ("labels", "annotations"):
            if meta.get(key) == {}:
                del meta[key]
        if o["kind"] == "Pod":
            normal_pod(o["spec"])
        if o["kind"] == "PodGang":
            for g in o["spec"]["podgroups"]:
                g.get("podReferences", []).sort(key=lambda r: r["name"])
        if ns and ns != "<ns>":
            text = json.dumps(o).replace('"namespace": "%s"' % ns, '"namespace": "<ns>"')
            o = json.loads(text.replace(".%s.svc" % ns, ".<ns>.svc"))
        out["%s/%s" % (o["kind"], meta["name"])] = o
    number = {}
    for key in sorted(out):
        labels = out[key]["metadata"].get("labels", {})
        if HASH_LABEL in labels:
            labels[HASH_LABEL] = "<hash %d>" % number.setdefault(labels[HASH_LABEL], len(number))
    return out


# ---- comparison --------------------------------------------------------------------------------------------------------------

def differences(kind, path, want, got):
    if isinstance(want, dict) and isinstance(got, dict):
        for k in sorted(set(want) | set(got)):
            p = "%s.%s" % (path, k) if path else k
            if k not in got:
                added = ADDED.get((kind, p), ADDED)
                if added is not None and added != want[k]:
                    yield "%s: missing, recorded is %s" % (p, json.dumps(want[k])[:160])
            elif k not in want:
                if got[k] not in ({}, [], None, ""):
                    yield "%s: not recorded, ours is %s" % (p, json.dumps(got[k])[:160])
            else:
                yield from differences(kind, p, want[k], got[k])
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield "%s: %d elements, recorded are %d" % (path, len(got), len(want))
        for i, (w, g) in enumerate(zip(want, got)):
            yield from differences(kind, "%s[%d]" % (path, i), w, g)
    elif want != got and str(want) != str(got):
        yield "%s: %s, recorded is %s" % (path, json.dumps(got)[:120], json.dumps(want)[:120])


def compare(want, got):
    """Lines of difference between two normal forms."""
    lines = []
    for key in sorted(set(want) | set(got)):
        if key not in got:
            lines.append("%s: missing" % key)
        elif key not in want:
            lines.append("%s: not recorded" % key)
        else:
            lines += ["%s: %s" % (key, d) for d in differences(key.split("/")[0], "", want[key], got[key])]
    return lines


def render(grovectl, manifest, config, extra=()):
    """The normal form of what grovectl makes of a manifest, or the text of its refusal."""
    run = subprocess.run([grovectl, "render", manifest, "--config", config, "-o", "json", *extra],
                         capture_output=True, text=True)
    if run.returncode != 0:
        return None, "exit status %d: %s" % (run.returncode, run.stderr.strip()[:300])
    return normal(json.loads(run.stdout)["items"]), ""


def config_of(case):
    own = os.path.join(case, "config.yaml")
    return own if os.path.exists(own) else os.path.join(GOLDEN, "config.yaml")


def run_case(grovectl, case):
    with gzip.open(os.path.join(case, "expected.json.gz"), "rt") as f:
        want = json.load(f)
    got, refusal = render(grovectl, os.path.join(case, "input.yaml"), config_of(case))
    if got is None:
        return want, [refusal]
    if os.path.exists(os.path.join(case, "released")):  # scaled pods were recorded after their release
        for o in list(want.values()) + list(got.values()):
            if o["kind"] == "Pod":
                o["spec"].pop("schedulingGates", None)
    return want, compare(want, got)


def run(grovectl, cases):
    failed, kinds = 0, collections.Counter()
    for case in cases:
        want, lines = run_case(grovectl, case)
        kinds.update(key.split("/")[0] for key in want)
        if lines:
            failed += 1
            print("%s: %d differences" % (os.path.basename(case), len(lines)))
            for line in lines[:8]:
                print("    " + line)
    print("objects compared: " + ", ".join("%d %s" % (n, kind) for kind, n in sorted(kinds.items())))
    print("%d passed, %d failed" % (len(cases) - failed, failed))
    return 1 if failed or not cases else 0


# ---- recording ---------------------------------------------------------------------------------------------------------------

def record(sources):
    common = None
    for source in sources:
        expected = os.path.join(source, "expected.json")
        if not os.path.exists(expected):
            continue
        case = os.path.join(GOLDEN, os.path.basename(source.rstrip("/")))
        os.makedirs(case, exist_ok=True)
        with open(os.path.join(source, "config.yaml")) as f:
            config = f.read()
        if common is None:
            common = config
            with open(os.path.join(GOLDEN, "config.yaml"), "w") as f:
                f.write(config)
        copies = ["input.yaml"] + (["config.yaml"] if config != common else [])
        copies += ["released"] if os.path.exists(os.path.join(source, "released")) else []
        for name in copies:
            with open(os.path.join(source, name)) as src, open(os.path.join(case, name), "w") as dst:
                dst.write(src.read())
        with open(expected) as f:
            text = json.dumps(normal(json.load(f)["items"]), sort_keys=True, separators=(",", ":"))
        with open(os.path.join(case, "expected.json.gz"), "wb") as f:
            f.write(gzip.compress(text.encode(), mtime=0))
    return 0


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("cases", nargs="*")
    ap.add_argument("--grovectl")
    ap.add_argument("--record", action="store_true")
    a = ap.parse_args()
    if a.record:
        return record(a.cases)
    if not a.grovectl:
        ap.error("--grovectl")
    cases = a.cases or [os.path.join(GOLDEN, d) for d in sorted(os.listdir(GOLDEN)) if os.path.isdir(os.path.join(GOLDEN, d))]
    return run(a.grovectl, cases)


if __name__ == "__main__":
    sys.exit(main())
