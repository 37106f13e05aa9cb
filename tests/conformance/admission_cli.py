#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command lines of admission: options, exit codes, what goes where.

usage: admission_cli.py --grovectl PROGRAM

The last line is `N passed, N failed`.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
SET = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "chat"}, "spec": {"replicas": 1, "template": {
    "cliques": [
        {"name": "a", "spec": {"roleName": "a", "replicas": 1, "minAvailable": 1, "autoScalingConfig": {"maxReplicas": 3},
                               "podSpec": {"containers": [{"name": "m", "image": "x"}]}}},
        {"name": "b", "spec": {"roleName": "b", "replicas": 1, "podSpec": {"containers": [{"name": "m", "image": "x:1"}]}}}],
    "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["b"], "scaleConfig": {"maxReplicas": 2}}]}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grovectl", required=True)
    grovectl = parser.parse_args().grovectl
    results = []

    def run(*args, given=SET):
        return subprocess.run([grovectl, *args], input=json.dumps(given), capture_output=True, text=True)

    def check(name, holds):
        results.append(bool(holds))
        if not holds:
            print(f"failed: {name}")

    def codes(*args, given=SET):
        answer = json.loads(run("validate", *args, "-o", "json", "-", given=given).stdout)["results"][0]
        return {w["code"] for w in answer["warnings"]} | {e["code"] for e in answer["errors"]}

    def named(given=SET):
        run_ = run("validate", "--names", "-o", "json", "-", given=given)
        return json.loads(run_.stdout)["results"][0]["names"], run_.returncode

    names, code = named()
    have = {(n["kind"], n["name"]) for n in names["names"]}
    check("--names scales cliques to the most", ("Hostname", "chat-0-a-2") in have and ("Hostname", "chat-0-a-3") not in have)
    check("--names scales groups to the most", ("PodClique", "chat-0-g-1-b") in have)
    check("--names that fit", code == 0 and names["overLimit"] == 0 and names["leastMargin"] > 0)
    text = run("validate", "--names", "-").stdout
    check("--names in text", f"{names['count']} names" in text and all(n["name"] in text for n in names["names"]))
    twice = json.loads(json.dumps(SET))
    twice["spec"]["template"]["cliques"][0]["name"] = "g-1-b"
    names, code = named(twice)
    check("--names refuses a name given twice", code == 1 and names["twice"] > 0)
    check("no lint unless asked for", "GRV3012" not in codes())
    check("--lint", "GRV3012" in codes("--lint"))
    check("--no-lint", not {"GRV3012", "GRV3004"} & codes("--lint", "--no-lint", "GRV3012,3004"))
    check("--no-lint takes codes only", run("validate", "--lint", "--no-lint", "image", "-").returncode == 2)
    check("a plain set is admitted", run("validate", "-").returncode == 0)
    check("--strict bears Grove's word on restartPolicy", run("validate", "--strict", "-").returncode == 0)
    no_image = json.loads(json.dumps(SET))
    del no_image["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"]
    check("a pod that cannot be made is a warning", run("validate", "-", given=no_image).returncode == 0
          and "GRV3102" in codes(given=no_image))
    check("--strict refuses it", run("validate", "--strict", "-", given=no_image).returncode == 1)
    wrong = json.loads(json.dumps(SET))
    wrong["spec"]["template"]["cliques"][0]["name"] = "Not_OK"
    check("the webhook's rule refuses", run("validate", "-", given=wrong).returncode == 1)
    check("--schema-only knows no webhook", run("validate", "--schema-only", "-", given=wrong).returncode == 0)
    unknown = {**SET, "spec": {**SET["spec"], "replica": 1}}
    check("unknown fields refuse", run("validate", "-", given=unknown).returncode == 1)
    check("--field-validation Warn warns", run("validate", "--field-validation", "Warn", "-", given=unknown).returncode == 0
          and "GRV1001" in codes("--field-validation", "Warn", given=unknown))
    check("--field-validation Ignore is silent", "GRV1001" not in codes("--field-validation", "Ignore", given=unknown))
    old = str(GOLDEN / "migrate" / "pod-gang-set.yaml")
    older = run("validate", old)
    check("an older kind is refused, with today's name", older.returncode == 1 and "GRV4001" in older.stderr
          and "PodCliqueSet today" in older.stderr)
    check("migrate says what it did", "GRV4001" in run("migrate", old).stderr)
    check("migrate writes today's kind", json.loads(run("migrate", old, "-o", "json").stdout)["kind"] == "PodCliqueSet")
    check("migrate tells what is lost", run("migrate", str(GOLDEN / "migrate" / "no-equivalent.yaml")).returncode == 1)
    for words in ("upstream", "extended"):
        for path in sorted((ROOT / "deploy/crds" / words).glob("*.yaml")):
            check(f"crd prints {path.name}", run("crd", path.name.split(".")[0], "--set", words).stdout == path.read_text())
    extended = json.loads(json.dumps(SET))
    extended["spec"]["template"]["crossGangPack"] = "Require"
    check("fields of libgrove's own are refused", run("validate", "-", "--strict-upstream", given=extended).returncode == 1)
    check("crd prints all", run("crd").stdout.count("kind: CustomResourceDefinition") == 5)
    check("crd of another kind", run("crd", "pods").returncode == 2)
    for verb in ("validate", "default", "migrate", "crd"):
        check(f"{verb} --help", run(verb, "--help").returncode == 0 and "Exit status" in run(verb, "--help").stdout)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
