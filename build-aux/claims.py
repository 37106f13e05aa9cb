#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of what public articles say of Grove: each claim's number, the tests that stand behind it, and how it stands.

usage: claims.py --build FOLDER [--no-run] [--check]

A claim's tests are those with its number in their names (tests/claims/test_claims.py, tests/front/test_claims.py) and those
that tests/claims/evidence.json names: tests of the build, or `scenarios:NAME` for tests/scenarios/NAME.yaml. States:

    pass   all of its tests passed
    part   the same, but something is left, which is said
    FAIL   some test failed
    open   nothing is there yet, which is said
    none   nothing that software could keep: why
    -      not run (--no-run), or what it needs is not on this machine

--check: only whether every claim is told of, once, and every test exists; for the suite. Exit status 1: a failure, or an error
of the table. The last line counts.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
FOLDER = os.path.join(ROOT, "tests", "claims")
NAMED = {"claims": os.path.join(FOLDER, "test_claims.py"), "front_claims": os.path.join(ROOT, "tests", "front", "test_claims.py")}


def read_claims():
    with open(os.path.join(FOLDER, "claims.tsv")) as f:
        return dict(line.rstrip("\n").split("\t", 1) for line in f if line.startswith("C"))


def read_named():
    """claim -> [(suite, test)]"""
    found = {}
    for suite, path in NAMED.items():
        with open(path) as f:
            for name in re.findall(r"def (test_C\w+)\(", f.read()):
                for claim in re.findall(r"_(C\d{3}b?)(?=_)", name):
                    found.setdefault(claim, []).append((suite, name))
    return found


def tests_of_build(build):
    out = subprocess.run(["meson", "introspect", build, "--tests"], capture_output=True, text=True, check=True).stdout
    return {t["name"] for t in json.loads(out)}


def table_errors(claims, named, evidence, build):
    known = tests_of_build(build)
    for claim in sorted((set(named) | set(evidence)) - set(claims)):
        yield f"{claim} is no claim"
    for claim in claims:
        e = evidence.get(claim, {})
        if claim not in named and not e:
            yield f"{claim} has no test, and no word why"
        if ("open" in e or "none" in e) and (claim in named or e.get("tests")):
            yield f"{claim} has tests and is said to have none"
        for ref in e.get("tests", []):
            kind, _, name = ref.partition(":")
            path = os.path.join(ROOT, "tests", "scenarios", name + ".yaml")
            if not (os.path.exists(path) if kind == "scenarios" and name else ref in known):
                yield f"{claim}: there is no test {ref}"


def unittest_results(program, path, words):
    """test -> passed; {} when it could not run."""
    if not os.path.exists(program):
        return {}
    done = subprocess.run([sys.executable, path, *words, program, "-v"], capture_output=True, text=True)
    return {m[1]: m[2] for m in re.finditer(r"(?m)^(test_C\w+) .*?\.\.\. (ok|FAIL|ERROR|skipped)", done.stderr)}


def run(claims, named, evidence, build):
    """reference -> True, False or None"""
    grovectl, groved = (os.path.join(build, "tools", t, t) for t in ("grovectl", "groved"))
    results = {}
    for suite, words, program in (("claims", ["--grovectl"], grovectl), ("front_claims", ["--groved"], groved)):
        told = unittest_results(program, NAMED[suite], words)
        for tests in named.values():
            for s, name in tests:
                if s == suite:
                    results[name] = None if told.get(name) in (None, "skipped") else told[name] == "ok"
    refs = {ref for e in evidence.values() for ref in e.get("tests", [])}
    for ref in sorted(r for r in refs if r.startswith("scenarios:")):
        path = os.path.join(ROOT, "tests", "scenarios", ref.split(":")[1] + ".yaml")
        done = subprocess.run([grovectl, "sim", "--check", "--scenario", path, "-o", "json"], capture_output=True, text=True)
        results[ref] = done.returncode == 0
    names = sorted(r for r in refs if not r.startswith("scenarios:"))
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as log:
        base = log.name[:-len(".txt")]
        subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--logbase", os.path.basename(base), *names],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = os.path.join(build, "meson-logs", os.path.basename(base) + ".json")
        for line in open(path) if os.path.exists(path) else ():
            one = json.loads(line)
            results[one["name"].split(" / ")[-1]] = {"OK": True, "SKIP": None}.get(one["result"], False)
        for ending in (".json", ".txt", ".junit.xml"):
            if os.path.exists(path[:-5] + ending):
                os.unlink(path[:-5] + ending)
    return results


def state_of(refs, e, results):
    if "none" in e or "open" in e:
        return "none" if "none" in e else "open"
    if any(results.get(r) is False for r in refs):
        return "FAIL"
    if refs and not any(results.get(r) for r in refs):
        return "-"
    return "part" if "part" in e else "pass"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", default=os.path.join(ROOT, "build"))
    ap.add_argument("--no-run", action="store_true")
    ap.add_argument("--check", action="store_true")
    args = ap.parse_args()
    claims, named = read_claims(), read_named()
    with open(os.path.join(FOLDER, "evidence.json")) as f:
        evidence = json.load(f)
    errors = list(table_errors(claims, named, evidence, args.build))
    for error in errors:
        print("claims:", error, file=sys.stderr)
    if args.check:
        print(f"{len(claims)} claims, {len(errors)} errors")
        return 1 if errors else 0
    results = {} if args.no_run else run(claims, named, evidence, args.build)
    count = dict.fromkeys(("pass", "part", "FAIL", "open", "none", "-"), 0)
    for claim in claims:
        e = evidence.get(claim, {})
        refs = [name for _, name in named.get(claim, [])] + e.get("tests", [])
        state = state_of(refs, e, results)
        count[state] += 1
        why = next((e[k] for k in ("part", "open", "none") if k in e), "")
        print(f"{claim:6}{state:6}{', '.join(refs)}{': ' if refs and why else ''}{why}")
    print("{} pass, {} in part, {} failed, {} open, {} not for software, {} not run".format(*count.values()))
    return 1 if errors or count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
