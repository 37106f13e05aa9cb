#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `grovectl validate` prints, for each folder of tests/golden/admission.

A folder holds input.yaml, perhaps args (options, and files of the folder), and expected.txt: standard error and output of
the text form and the exit code. The JSON, SARIF and GitHub forms of the same run have to tell the same findings; SARIF is
held against the structure of version 2.1.0.

usage: validate_golden.py --grovectl PROGRAM [--update]

The last line is `N passed, N failed`.
"""
import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys

CASES = pathlib.Path(__file__).resolve().parent.parent / "golden" / "admission"

# Of the SARIF 2.1.0 schema what a tool like this one can write: per object its members, those that are required first.
# A member is a type, an object's name, or [either of them].
SARIF = {
    "log": ({"version": "2.1.0", "runs": ["run"]}, {"$schema": "uri"}),
    "run": ({"tool": "tool"}, {"results": ["result"]}),
    "tool": ({"driver": "driver"}, {}),
    "driver": ({"name": "text"}, {"version": "text", "informationUri": "uri", "rules": ["rule"]}),
    "rule": ({"id": "text"}, {"name": "text", "shortDescription": "multi", "fullDescription": "multi", "help": "multi", "helpUri": "uri"}),
    "multi": ({"text": "text"}, {"markdown": "text"}),
    "result": ({"message": "message"}, {"ruleId": "text", "ruleIndex": "count", "level": "level", "kind": "text", "locations": ["location"]}),
    "message": ({"text": "text"}, {}),
    "location": ({}, {"physicalLocation": "physical"}),
    "physical": ({"artifactLocation": "artifact"}, {"region": "region"}),
    "artifact": ({}, {"uri": "uri"}),
    "region": ({}, {"startLine": "place", "startColumn": "place", "endLine": "place", "endColumn": "place"}),
}
SCALARS = {
    "text": lambda v: isinstance(v, str) and v != "",
    "uri": lambda v: isinstance(v, str) and re.fullmatch(r"[^\s\\]+", v),
    "level": lambda v: v in ("none", "note", "warning", "error"),
    "place": lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 1,
    "count": lambda v: isinstance(v, int) and v >= -1,
    "2.1.0": lambda v: v == "2.1.0",
}


def sarif_problems(value, shape, at="$"):
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{at}: no list"]
        return [p for i, v in enumerate(value) for p in sarif_problems(v, shape[0], f"{at}[{i}]")]
    if shape in SCALARS:
        return [] if SCALARS[shape](value) else [f"{at}: {value!r} is no {shape}"]
    required, optional = SARIF[shape]
    if not isinstance(value, dict):
        return [f"{at}: no object"]
    found = [f"{at}: {k} is missing" for k in required if k not in value]
    for key, inner in value.items():
        known = required.get(key) or optional.get(key)
        found += sarif_problems(inner, known, f"{at}.{key}") if known else [f"{at}: {key} is not of SARIF"]
    return found


def same_findings(run):
    """Problems of the machine forms, compared with each other."""
    report = json.loads(run("-o", "json").stdout)
    log = json.loads(run("-o", "sarif").stdout)
    lines = run("-o", "github").stdout.splitlines()
    findings = [(f["code"], f["line"], level) for r in report["results"] for level in ("error", "warning") for f in r[level + "s"]]
    problems = sarif_problems(log, "log")
    rules = [r["id"] for r in log["runs"][0]["tool"]["driver"]["rules"]]
    if len(rules) != len(set(rules)):
        problems.append("a rule of SARIF stands twice")
    results = []
    for result in log["runs"][0]["results"]:
        region = result["locations"][0]["physicalLocation"].get("region", {"startLine": 0})
        results.append((result["ruleId"], region["startLine"], result["level"]))
        if result["ruleId"] not in rules:
            problems.append(f"{result['ruleId']} is no rule")
    if sorted(results) != sorted(findings):
        problems.append(f"SARIF tells {results}, JSON {findings}")
    form = re.compile(r"::(error|warning) file=([^,]+),line=(\d+),col=\d+,title=(GRV\d{4})::.+")
    told = [form.fullmatch(line) for line in lines]
    if not all(told) or sorted((m[4], int(m[3]), m[1]) for m in told) != sorted(findings):
        problems.append(f"annotations differ: {lines}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grovectl", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    program = str(pathlib.Path(options.grovectl).resolve())
    passed = failed = 0
    for case in sorted(p for p in CASES.iterdir() if p.is_dir()):
        args = (case / "args").read_text().split() if (case / "args").exists() else []

        def run(*more):
            return subprocess.run([program, "validate", "input.yaml", *args, *more], capture_output=True, text=True, cwd=case)

        text = run()
        got = f"{text.stderr}{text.stdout}exit {text.returncode}\n"
        expected = case / "expected.txt"
        if options.update:
            expected.write_text(got)
        problems = same_findings(run)
        want = expected.read_text() if expected.exists() else ""
        problems += list(difflib.unified_diff(want.splitlines(), got.splitlines(), "expected", "got", lineterm=""))
        passed += not problems
        failed += bool(problems)
        for problem in problems:
            print(f"{case.name}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
