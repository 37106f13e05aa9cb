#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs labelled instances into the compact lines of tests/golden/sched/labelled.jsonl.

usage: pack.py PER_FAMILY < labelled.jsonl > labelled.jsonl

A line is [id, feasible, required, nodes, podgroups, groups]: levels 0 zone .. 3 host, -1 none; a node
[zone, block, rack, pods, gpu, cpu, mem] with numbers for domains, CPU in thousands, memory in GiB; a podgroup
[count, gpu, cpu, mem, required]; a group [[podgroups], required]. Half of each family is feasible where there
are enough of both.
"""
import collections
import json
import sys

LEVEL = {"": -1, "zone": 0, "block": 1, "rack": 2, "host": 3}


def pack(inst):
    number = [{}, {}, {}]
    rows = []
    for n in inst["nodes"]:
        path = [number[k].setdefault(tuple(n[1:2 + k]), len(number[k])) for k in range(3)]
        assert n[5] % 1000 == 0 and n[6] % 1024 == 0
        rows.append(path + [n[7], n[4], n[5] // 1000, n[6] // 1024])
    g = inst["gang"]
    index = {p["name"]: i for i, p in enumerate(g["podgroups"])}
    pgs = []
    for p in g["podgroups"]:
        assert p["req"]["cpu_m"] % 1000 == 0 and p["req"]["mem_mib"] % 1024 == 0
        pgs.append([p["count"], p["req"]["gpu"], p["req"]["cpu_m"] // 1000, p["req"]["mem_mib"] // 1024,
                    LEVEL[p["required"]]])
    groups = [[[index[x] for x in q["podgroups"]], LEVEL[q["required"]]] for q in g["groups"]]
    return [inst["id"], int(inst["feasible"]), LEVEL[g["required"]], rows, pgs, groups]


def main():
    per = int(sys.argv[1])
    kept = collections.defaultdict(lambda: ([], []))
    for line in sys.stdin:
        inst = json.loads(line)
        kept[inst["family"]][bool(inst["feasible"])].append(inst)
    for no, yes in kept.values():
        n_yes = min(len(yes), max(per // 2, per - len(no)))
        for inst in yes[:n_yes] + no[:per - n_yes]:
            print(json.dumps(pack(inst), separators=(",", ":")))


main()
