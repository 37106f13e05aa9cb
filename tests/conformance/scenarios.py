#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scenario files, each a test: those of tests/scenarios and examples/scenarios.

usage: scenarios.py --grovectl PROGRAM [FILE...]

Every file runs with the planner's laws checked at each step; it passes when all of its expectations hold and there is at least one.
The last line is `N passed, N failed`.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDERS = ("tests/scenarios", "examples/scenarios")


def is_scenario(path):
    with open(path) as f:
        return re.search(r"^kind: Scenario$", f.read(), re.M) is not None


def run(grovectl, path):
    """Why it failed, or ""."""
    done = subprocess.run([grovectl, "sim", "--check", "--scenario", path, "-o", "json"], capture_output=True, text=True)
    count = re.search(r"^(\d+) expectations, (\d+) failed$", done.stderr, re.M)
    if done.returncode == 0 and count and int(count.group(1)) > 0:
        return ""
    return done.stderr.strip() or "exit status %d and no expectation" % done.returncode


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*")
    ap.add_argument("--grovectl", required=True)
    args = ap.parse_args()
    files = args.files or [f for folder in FOLDERS for f in sorted(glob.glob(os.path.join(ROOT, folder, "*.yaml"))) if is_scenario(f)]
    failed = 0
    for path in files:
        complaint = run(args.grovectl, path)
        if complaint:
            failed += 1
            print("%s failed:\n    %s" % (os.path.relpath(path, ROOT), complaint.replace("\n", "\n    ")))
    print("%d passed, %d failed" % (len(files) - failed, failed))
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
