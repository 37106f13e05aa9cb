#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every hazard and weak point of docs/design/hazards.md is decided and has a test that exists. usage: test_hazards.py"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALL = {"H-%02d" % n for n in range(1, 63)} | {"W-%02d" % n for n in range(1, 15)}
ELSEWHERE = {"H-36"}


def exists(test):
    path, _, function = test.partition(":")
    full = os.path.join(ROOT, path)
    if not os.path.isfile(full):
        return False
    with open(full) as f:
        text = f.read()
    return not function or re.search(r"\b%s\b" % re.escape(function), text) is not None


def main():
    with open(os.path.join(ROOT, "docs", "design", "hazards.md")) as f:
        rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in f if re.match(r"\| [HW]-", line)]
    problems = ["%s: three columns are needed" % r[0] for r in rows if len(r) != 3 or not all(r)]
    found = [r[0].split()[0] for r in rows]
    problems += ["%s is not decided" % h for h in sorted(ALL - ELSEWHERE - set(found))]
    problems += ["%s stands there twice" % h for h in sorted(set(found)) if found.count(h) > 1]
    problems += ["%s: there is no %s" % (r[0].split()[0], r[2]) for r in rows if len(r) == 3 and not exists(r[2])]
    for line in problems:
        print(line)
    print("%d passed, %d failed" % (len(rows), len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
