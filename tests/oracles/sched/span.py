#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fewest racks that each of some feasible instances can be placed on, and the fewest hosts then, by CP-SAT (OR-tools).

usage: span.py PER_FAMILY LIMIT_SECONDS < ../../golden/sched/labels.json > ../../golden/sched/spans.json

Of each family the first PER_FAMILY instances that are feasible by their labels are taken. What CP-SAT could not prove
within the limit stays null.
"""
import json
import sys

from ortools.sat.python import cp_model

import generate
from label import domain, entities


def build(inst):
    """(model, racks used, hosts used) with every rule of the instance."""
    model, nodes, g = cp_model.CpModel(), inst["nodes"], inst["gang"]
    x, need = {}, {p["name"]: p["min"] for p in g["podgroups"]}
    used = [model.NewBoolVar("") for _ in nodes]
    for p in g["podgroups"]:
        wants = (p["req"]["gpu"], p["req"]["cpu_m"], p["req"]["mem_mib"], 1)
        for i, n in enumerate(nodes):
            most = min([p["min"]] + [h // w for w, h in zip(wants, n[4:]) if w])
            x[p["name"], i] = model.NewIntVar(0, most, "")
            model.Add(x[p["name"], i] <= most * used[i])
        model.Add(sum(x[p["name"], i] for i in range(len(nodes))) == p["min"])
    for i, n in enumerate(nodes):
        for k, key in enumerate(("gpu", "cpu_m", "mem_mib")):
            model.Add(sum(p["req"][key] * x[p["name"], i] for p in g["podgroups"]) <= n[4 + k] * used[i])
        model.Add(sum(x[p["name"], i] for p in g["podgroups"]) <= n[7] * used[i])
    for names, level in entities(g):
        inside = {}
        for i, n in enumerate(nodes):
            inside.setdefault(domain(n, level) if level else "", []).append(i)
        chosen = {d: model.NewBoolVar("") for d in inside}
        model.AddExactlyOne(chosen.values())
        for d, ids in inside.items() if level else ():
            for name in names:
                model.Add(sum(x[name, i] for i in ids) == need[name]).OnlyEnforceIf(chosen[d])
    racks = {}
    for i, n in enumerate(nodes):
        rack = racks.setdefault(domain(n, "rack"), model.NewBoolVar(""))
        model.AddImplication(used[i], rack)
    return model, sum(racks.values()), sum(used)


def least(model, what, limit):
    model.Minimize(what)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = 1
    return round(solver.ObjectiveValue()) if solver.Solve(model) == cp_model.OPTIMAL else None


def main():
    per_family, limit, labels = int(sys.argv[1]), float(sys.argv[2]), json.load(sys.stdin)
    out = {"seed": labels["seed"], "families": {}}
    for name, family in labels["families"].items():
        rows = []
        for i in [i for i, f in enumerate(family["feasible"]) if f == "1"][:per_family]:
            model, racks, hosts = build(json.loads(generate.instance(name, labels["seed"], i)))
            fewest = least(model, racks, limit)
            if fewest is not None:
                model.Add(racks == fewest)
            rows.append([i, fewest, least(model, hosts, limit) if fewest is not None else None])
        out["families"][name] = rows
        print(name, len(rows), sum(r[1] is None for r in rows), sum(r[2] is None for r in rows), file=sys.stderr, flush=True)
    rows = ",\n".join('"%s":%s' % (k, json.dumps(v, separators=(",", ":"))) for k, v in out["families"].items())
    print('{"seed":%d,"families":{\n%s\n}}' % (out["seed"], rows))


if __name__ == "__main__":
    main()
