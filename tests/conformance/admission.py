#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Admission against what a live cluster with Grove answered, and against a second description of its rules.

usage: admission.py --grovectl PROGRAM [--mutants N] [--seed N]

With the folder `shared` beside the repository: every recorded verdict and every recorded default must come out the same
(allowed, stage, set of error types and paths; the object as stored), and so must those of N fresh random mutants by the
readable model there. Without it nothing can be compared: exit 77 with a word. The last line is `N passed, N failed`.
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "shared"
RECORDED = ["admission.jsonl", "mutants.jsonl.gz", "upstream/admission.jsonl"]
DEFAULTED = ["defaulting.jsonl", "upstream/defaulting.jsonl"]
SERVER_METADATA = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")


def lines_of(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as f:
        return [json.loads(line) for line in f]


def judged(grovectl, cases):
    """The verdicts of `validate --cases`."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for case in cases:
            f.write(json.dumps({k: case[k] for k in ("name", "op", "input", "old") if k in case}) + "\n")
        f.flush()
        run = subprocess.run([grovectl, "validate", "--cases", f.name, "--config", SHARED / "conformance/live-config.json"],
                             capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def pairs(errors):
    return sorted({(e["type"], e["path"]) for e in errors})


def difference(case, got):
    if got["allowed"] != case["allowed"]:
        return f"allowed {got['allowed']}, recorded {case['allowed']} {case['errors']}; ours {got['errors'][:2]}"
    if case["allowed"]:
        return None
    if got["stage"] != case["stage"]:
        return f"stage {got['stage']}, recorded {case['stage']}"
    if case["errors"] is not None and pairs(case["errors"]) != pairs(got["errors"]):
        return f"errors {pairs(got['errors'])}, recorded {pairs(case['errors'])}"
    return None


def compare_verdicts(grovectl, title, cases):
    got = judged(grovectl, cases)
    found = [] if len(got) == len(cases) else [f"{len(got)} answers for {len(cases)} cases"]
    for case, answer in zip(cases, got):
        text = difference(case, answer)
        if text:
            found.append(f"{case['name']}: {text}")
    return report(title, len(cases), found)


def report(title, count, found):
    for text in found[:10]:
        print(f"{title}: {text}")
    failed = min(len(found), count)
    print(f"{title}: {count - failed} of {count}")
    return count - failed, failed


def without_server_metadata(obj):
    obj = json.loads(json.dumps(obj))
    for key in SERVER_METADATA:
        obj["metadata"].pop(key, None)
    obj.pop("status", None)
    return obj


def compare_defaults(grovectl, title, cases):
    """A recording of the webhook function alone (a Go unit test) leaves out what the API server does; it is passed over."""
    cases = [c for c in cases if not c["source"].startswith("go-unit")]
    found = []
    for case in cases:
        want = without_server_metadata(case["output"])
        source = dict(case["input"])
        source["metadata"] = {**source.get("metadata", {}), "namespace": want["metadata"].get("namespace", "default")}
        run = subprocess.run([grovectl, "default", "-", "-o", "json"], input=json.dumps(source), capture_output=True, text=True)
        got = without_server_metadata(json.loads(run.stdout)) if run.returncode == 0 else None
        if got != want:
            found.append(f"{case['name']}: {run.stderr.strip() or 'the stored object differs'}")
    return report(title, len(cases), found)


def compare_mutants(grovectl, seed, count):
    oracle = SHARED / "oracle" / "admission.py"
    run = subprocess.run([sys.executable, oracle, "--mutate", str(seed), str(count), "--inputs",
                          SHARED / "conformance/admission.jsonl", "--config", SHARED / "conformance/live-config.json"],
                         capture_output=True, text=True, check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    cases = []
    for i, line in enumerate(run.stdout.splitlines()):
        made = json.loads(line)
        old = {"old": made["old"]} if made.get("old") else {}
        cases.append({"name": f"mutant {seed}/{i}", "op": "UPDATE" if old else "CREATE", "input": made["input"], **old, **made["verdict"]})
    return compare_verdicts(grovectl, f"{count} fresh mutants, seed {seed}", cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grovectl", required=True)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20260831)
    args = parser.parse_args()
    if not (SHARED / "conformance").is_dir():
        print("admission: skipped: the recordings (../shared) are not there", file=sys.stderr)
        return 77
    totals = [compare_verdicts(args.grovectl, name, lines_of(SHARED / "conformance" / name)) for name in RECORDED]
    totals += [compare_defaults(args.grovectl, name, lines_of(SHARED / "conformance" / name)) for name in DEFAULTED]
    if args.mutants:
        totals.append(compare_mutants(args.grovectl, args.seed, args.mutants))
    passed, failed = sum(p for p, _ in totals), sum(f for _, f in totals)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
