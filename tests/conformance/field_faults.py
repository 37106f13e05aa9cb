#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of controllers that users of Grove and its peers have met: each a test that would fail on it.

usage: field_faults.py --grovectl PROGRAM [ID...]

`tests/golden/faults/controllers.json` lists every number of the collection. A number leads to cases (field_fault_cases.py), to tests
of other suites (a file of data, or file:function: each has to be there, be run by some suite and judge something), or says why it
has no test yet. A number without cases says why it has none. A case is a scenario: a set, up to four events, and what must be true at the end. It
runs once for every order of the events that may be exchanged, without a restart and with one before, between and after them, resync
off, with the planner's laws checked at every instant; and at no instant two live pods of a clique share an index, or a gang is
bound in part when its first pods are. The last line is `N passed, N failed`, counted by number.
"""
import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

from field_fault_cases import CASES

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
JUDGES = re.compile(r"assert|fail_msg|verdict\(|broken\(")
GONE = ("deleting", "gone", "failed", "succeeded")
BOUND = ("bound", "notready", "ready")
LIST = os.path.join(ROOT, "tests", "golden", "faults", "controllers.json")
def by_instant(timeline):
    """The timeline's entries, all of one instant together: within it things follow one another as they may."""
    for _, entries in itertools.groupby(timeline, key=lambda e: e["ms"]):
        yield list(entries)


def two_of_an_index(timeline):
    """At no instant two live pods of a clique share an index. What is wrong, or ""."""
    live = {}
    for entries in by_instant(timeline):
        for e in entries:
            if e["kind"] == "Pod":
                live[e["namespace"], e["name"]] = e["phase"] not in GONE and (e["namespace"], e["clique"], e["index"])
        held = [place for place in live.values() if place and place[2].isdigit()]
        for place in held:
            if held.count(place) > 1:
                return "at %d ms two live pods with index %s of %s/%s" % (entries[0]["ms"], place[2], place[0], place[1])
    return ""


def bound_in_part(timeline, items):
    """No gang is bound in part when its first pod is: an instant ends with every minimum or with nothing."""
    minima = {(i["metadata"]["namespace"], i["metadata"]["name"]): {g["name"]: g["minReplicas"] for g in i["spec"].get("podgroups", [])}
              for i in items if i["kind"] == "PodGang"}
    bound = {}
    for entries in by_instant(timeline):
        for e in entries:
            if e["kind"] == "Pod":
                bound[e["namespace"], e["name"]] = e["phase"] in BOUND and (e["namespace"], e["clique"])
        for gang, groups in list(minima.items()):
            have = {name: sum(place == (gang[0], name) for place in bound.values()) for name in groups}
            if any(have.values()):
                del minima[gang]
                if any(have[name] < least for name, least in groups.items()):
                    return "at %d ms gang %s is bound in part: %s of %s" % (entries[0]["ms"], gang[1], have, groups)
    return ""


def run(grovectl, folder, scenario):
    """What is wrong, or ""."""
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(scenario, f)
    done = subprocess.run([grovectl, "sim", "--check", "--scenario", path, "-o", "json"], capture_output=True, text=True, check=False)
    count = re.search(r"^(\d+) expectations, (\d+) failed$", done.stderr, re.M)
    if done.returncode != 0 or not count or int(count.group(1)) == 0:
        return done.stderr.strip() or "exit status %d" % done.returncode
    shown = json.loads(done.stdout)
    return two_of_an_index(shown["timeline"]) or bound_in_part(shown["timeline"], shown["items"])


def check_case(grovectl, folder, number):
    runs, apart = 0, int(os.environ.get("GROVE_FAULT_STEP") or 1)  # where it is slow: every n-th order only
    for case in CASES[number]:
        for label, scenario in itertools.islice(case.variants(), 0, None, apart):
            runs += 1
            complaint = run(grovectl, folder, scenario)
            if complaint:
                return runs, "%s: %s" % (label, complaint)
    return runs, ""


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def is_run(full, stem):
    """The file is one of a suite: the build names it, or a test takes every file of its folder."""
    folder = os.path.dirname(full)
    build = os.path.join(folder, "meson.build")
    if os.path.exists(build):
        text = text_of(build)
        return stem in text or re.sub("^test_", "", stem) in re.findall(r"'([a-z0-9_]+)'", text)
    if os.path.basename(folder) == "scenarios":
        return True
    rest = os.path.relpath(folder, ROOT)
    sources = [os.path.join(where, name) for where, _, names in os.walk(os.path.join(ROOT, "tests", "unit")) for name in names if name.endswith(".c")]
    return any('test_each_file("%s"' % rest in text_of(source) for source in sources)


def body_of(text, function):
    """From a function's head to the next one's, or ""."""
    head = re.search(r"^(?:static )?[a-z_ *]+\b%s\([^;]*?\) \{$|^ +def %s\(self" % (re.escape(function), re.escape(function)), text, re.M)
    if not head:
        return ""
    end = re.search(r"^}$|^ +def ", text[head.end():], re.M)
    return text[head.start():head.end() + (end.start() if end else len(text))]


def check_reference(reference):
    """What is wrong with `file` or `file:function`: it has to be there, be run, and judge something; or ""."""
    path, _, function = reference.partition(":")
    full = os.path.normpath(os.path.join(ROOT, path))
    if not os.path.exists(full):
        return "no file " + path
    stem = os.path.splitext(os.path.basename(path))[0]
    if not is_run(full, stem):
        return path + " is run by no suite"
    if not function:
        return "" if path.endswith((".yaml", ".json")) else "%s: which test of it?" % path
    text = text_of(full)
    if path.endswith(".py") and '("%s ' % function in text:
        return ""  # a row of its table
    body = body_of(text, function)
    if not body:
        return "%s has no %s" % (path, function)
    called = [body] + [body_of(text, name) for name in set(re.findall(r"\b([a-z_]+)\(", body)) if name != function]
    if not any(JUDGES.search(part) for part in called):
        return "%s:%s judges nothing" % (path, function)
    if path.endswith(".c") and len(re.findall(r"\b%s\b" % re.escape(function), text)) < 2:
        return "%s:%s is never called" % (path, function)
    return ""


def prove_the_judges():
    """They see what they are for."""
    pods = [{"ms": ms, "kind": "Pod", "namespace": "n", "name": name, "phase": "bound", "clique": "c", "index": "0"} for ms, name in ((1, "a"), (2, "b"))]
    gang = [{"kind": "PodGang", "metadata": {"namespace": "n", "name": "g"}, "spec": {"podgroups": [{"name": "c", "minReplicas": 2}]}}]
    assert two_of_an_index(pods) and not two_of_an_index([pods[0], {**pods[0], "ms": 2, "phase": "deleting"}, pods[1]])
    assert bound_in_part(pods, gang) and not bound_in_part([{**p, "ms": 1} for p in pods], gang)


def main():
    prove_the_judges()
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
            elif not proofs.get("why"):
                complaints.append("stands on tests elsewhere and says not why it has no cases")
            failed += bool(complaints)
            passed += not complaints
            for complaint in complaints:
                print("FAILED", number, complaint)
    print("%d numbers, %d with cases here (%d runs), %d without a test: %s" % (len(listed), len(CASES), runs, len(unproven), "; ".join(unproven) or "none"))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
