#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds "feasible" to instances by CP-SAT (OR-tools), where it is not known by construction.

usage: label.py < instances.jsonl > labelled.jsonl
"""
import json
import sys

from ortools.sat.python import cp_model

DEPTH = {"zone": 1, "block": 2, "rack": 3}


def domain(node, level):
    return node[0] if level == "host" else tuple(node[1:1 + DEPTH[level]])


def entities(g):
    yield [p["name"] for p in g["podgroups"]], g["required"]
    for x in g["groups"]:
        yield x["podgroups"], x["required"]
    for p in g["podgroups"]:
        yield [p["name"]], p["required"]


def solve(inst, limit=30.0):
    model, nodes, g = cp_model.CpModel(), inst["nodes"], inst["gang"]
    x, need = {}, {p["name"]: p["min"] for p in g["podgroups"]}
    for p in g["podgroups"]:
        wants = (p["req"]["gpu"], p["req"]["cpu_m"], p["req"]["mem_mib"], 1)
        for i, n in enumerate(nodes):
            x[p["name"], i] = model.NewIntVar(0, min([p["min"]] + [h // w for w, h in zip(wants, n[4:]) if w]), "")
        model.Add(sum(x[p["name"], i] for i in range(len(nodes))) == p["min"])
    for i, n in enumerate(nodes):
        for k, key in enumerate(("gpu", "cpu_m", "mem_mib")):
            model.Add(sum(p["req"][key] * x[p["name"], i] for p in g["podgroups"]) <= n[4 + k])
        model.Add(sum(x[p["name"], i] for p in g["podgroups"]) <= n[7])
    for names, level in entities(g):
        if not level:
            continue
        inside = {}
        for i, n in enumerate(nodes):
            inside.setdefault(domain(n, level), []).append(i)
        chosen = {d: model.NewBoolVar("") for d in inside}
        model.AddExactlyOne(chosen.values())
        for d, ids in inside.items():
            for name in names:
                model.Add(sum(x[name, i] for i in ids) == need[name]).OnlyEnforceIf(chosen[d])
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = 1
    status = solver.Solve(model)
    return {cp_model.OPTIMAL: True, cp_model.FEASIBLE: True, cp_model.INFEASIBLE: False}.get(status)


def main():
    for line in sys.stdin:
        inst = json.loads(line)
        if inst["feasible"] is None:
            inst["feasible"], inst["feasible_by"] = solve(inst), "cp-sat"
        if inst["feasible"] is not None:
            print(json.dumps(inst, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
