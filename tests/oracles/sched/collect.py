#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collects labels into tests/golden/sched/labels.json: a digit for each instance, and a hash of the instances.

usage: collect.py SEED COUNT LABELLED... > labels.json

1 feasible, 0 infeasible, ? not decided by the oracle. Instances are made anew from their seed by generate.py.
"""
import hashlib
import json
import sys

import generate


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    known = {}
    for path in sys.argv[3:]:
        with open(path) as f:
            for line in f:
                inst = json.loads(line)
                known[inst["id"]] = inst["feasible"]
    families = {}
    for name in generate.FAMILIES:
        digits, instances = "", hashlib.sha256()
        for i in range(count):
            instances.update((generate.instance(name, seed, i) + "\n").encode())
            answer = known.get("%s-%d-%04d" % (name, seed, i))
            if answer is None and name.startswith("planted"):
                answer = True
            digits += "?" if answer is None else str(int(answer))
        families[name] = {"feasible": digits, "sha256": instances.hexdigest()}
    print(json.dumps({"seed": seed, "families": families}, indent=1))


main()
