#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes placement instances of many families, seeded; label.py adds the oracle's answer.

usage: generate.py FAMILY|all COUNT [SEED] > instances.jsonl

A line is {id, family, nodes, gang, feasible, feasible_by}; a node is [name, zone, block, rack, gpu, cpu_m,
mem_mib, pods] with free amounts. Families named planted-* are feasible by construction.
"""
import json
import random
import sys

GIB = 1024


def tree(rng, zones, blocks, racks, hosts, make):
    """Nodes of a regular tree; make(rng, rack index) gives the free amounts of one."""
    out = []
    for z in range(zones):
        for b in range(blocks):
            for r in range(racks):
                n = hosts if isinstance(hosts, int) else rng.randint(*hosts)
                for h in range(n):
                    free = make(rng, (z * blocks + b) * racks + r)
                    out.append(["z%db%dr%dh%d" % (z, b, r, h), "z%d" % z, "z%db%d" % (z, b),
                                "z%db%dr%d" % (z, b, r)] + list(free))
    return out


def pg(name, count, gpu, cpu, mem, required="", preferred=""):
    return {"name": name, "count": count, "min": count, "req": {"gpu": gpu, "cpu_m": cpu, "mem_mib": mem},
            "required": required, "preferred": preferred}


def gang(podgroups, groups=(), required=""):
    return {"name": "g", "required": required, "preferred": "", "groups": list(groups), "podgroups": podgroups}


def group(name, podgroups, required):
    return {"name": name, "podgroups": [p["name"] for p in podgroups], "required": required, "preferred": ""}


def some_pod(rng):
    return rng.choice([(1, 8000, 64 * GIB), (1, 16000, 200 * GIB), (2, 8000, 300 * GIB), (2, 16000, 128 * GIB),
                       (4, 32000, 256 * GIB), (4, 48000, 500 * GIB), (0, 16000, 32 * GIB), (8, 64000, 512 * GIB)])


def filled(rng, gpu, cpu, mem, share):
    """A node on which `share` of the GPUs is taken, CPU and memory with it."""
    used = sum(rng.random() < share for _ in range(gpu))
    return (gpu - used, cpu - used * rng.choice([4000, 8000, 12000]), mem - used * rng.choice([32, 64, 120]) * GIB, 110)


def take(nodes, i, pod):
    n = nodes[i]
    for k in range(3):
        n[4 + k] -= pod[k]
    n[7] -= 1


# ---- families ----

def random_tree(rng):
    ns = tree(rng, 1, 2, 3, 3, lambda r, k: filled(r, 8, 128000, (1 + r.randint(0, 1)) * 1024 * GIB, 0.5))
    groups, pgs = [], []
    for g in range(rng.randint(2, 4)):
        mine = [pg("g%dp%d" % (g, i), rng.randint(1, 4), *some_pod(rng), required=rng.choice(["", "", "", "host"]))
                for i in range(rng.randint(1, 2))]
        pgs += mine
        groups.append(group("g%d" % g, mine, "rack"))
    return ns, gang(pgs, groups, rng.choice(["block", "block", "zone", ""]))


def gb200(rng):
    ns = tree(rng, 1, rng.choice([1, 2]), 2, 18, lambda r, k: filled(r, 4, 144000, 960 * GIB, 0.25))
    pgs = []
    for i in range(rng.randint(3, 6)):
        nodes = rng.randint(2, 9)
        whole = rng.random() < 0.6
        pgs.append(pg("p%d" % i, nodes if whole else nodes * 2, *((4, 100000, 600 * GIB) if whole else (2, 50000, 300 * GIB)),
                      required="rack"))
    return ns, gang(pgs, (), rng.choice(["block", "zone"]))


def gb200_groups(rng):
    ns = tree(rng, 1, 1, 4, 18, lambda r, k: filled(r, 4, 144000, 960 * GIB, rng.choice([0.1, 0.4])))
    pgs, groups = [], []
    for i in range(rng.randint(3, 7)):
        mine = [pg("l%d" % i, 1, 1, 8000, 32 * GIB), pg("w%d" % i, rng.randint(2, 12), 4, 100000, 600 * GIB)]
        pgs += mine
        groups.append(group("g%d" % i, mine, "rack"))
    return ns, gang(pgs, groups, "block")


def host_groups(rng):
    """Groups of several podgroups that must share one host."""
    ns = tree(rng, 1, 1, 3, 4, lambda r, k: filled(r, 8, 128000, 1024 * GIB, 0.4))
    pgs, groups = [], []
    for i in range(rng.randint(3, 7)):
        mine = [pg("g%da" % i, rng.randint(1, 2), *some_pod(rng)), pg("g%db" % i, rng.randint(1, 3), 1, 4000, 50 * GIB)]
        pgs += mine
        groups.append(group("g%d" % i, mine, rng.choice(["host", "host", "rack"])))
    return ns, gang(pgs, groups, rng.choice(["", "block", "rack"]))


def planted_hetero(rng):
    """A hidden solution is laid down; nodes keep exactly what it uses plus a little."""
    racks, hosts = rng.randint(3, 6), rng.randint(3, 6)
    ns = tree(rng, 1, 1, racks, hosts, lambda r, k: (0, 0, 0, 0))
    pgs, groups = [], []
    for i in range(rng.randint(4, 9)):
        r = rng.randrange(racks)
        mine = []
        for k in range(rng.randint(1, 2)):
            pod, n = some_pod(rng), rng.randint(1, 4)
            mine.append(pg("g%dp%d" % (i, k), n, *pod))
            for _ in range(n):
                node = ns[r * hosts + rng.randrange(hosts)]
                for q in range(3):
                    node[4 + q] += pod[q]
                node[7] += 1
        pgs += mine
        groups.append(group("g%d" % i, mine, "rack"))
    for n in ns:
        if rng.random() < 0.2:
            n[4] += rng.randint(0, 2)
            n[5] += rng.choice([0, 8000])
            n[6] += rng.choice([0, 100 * GIB])
        n[7] += 5
    rng.shuffle(pgs)
    rng.shuffle(groups)
    return ns, gang(pgs, groups, rng.choice(["block", ""]))


def planted_homog(rng):
    racks = rng.choice([6, 12, 24])
    sizes = [rng.randint(4, 14) for _ in range(racks)]
    pgs, n = [], 0
    for s in sizes:
        left = s
        while left >= 2:
            take_n = min(left, rng.randint(2, 6))
            if left - take_n == 1:
                take_n = left if left <= 6 else take_n - 1
            if take_n < 2:
                break
            pgs.append(pg("p%02d" % n, take_n, 8, 64000, 512 * GIB, required="rack"))
            n += 1
            left -= take_n
    rng.shuffle(pgs)
    ns = [["r%dn%d" % (r, i), "z0", "b0", "r%d" % r, 8, 128000, 1024 * GIB, 110]
          for r, s in enumerate(sizes) for i in range(s)]
    return ns, gang(pgs)


def planted_odd(rng):
    """Planted like planted-homog, with node sizes of 8 and 4 GPUs and pods of 4 and 8."""
    racks = rng.randint(4, 10)
    ns, pgs, n = [], [], 0
    for r in range(racks):
        whole, half = rng.randint(1, 4), rng.randint(0, 4)
        a = rng.randint(1, whole)
        extra = half + 2 * (whole - a)
        pgs.append(pg("p%02d" % n, a, 8, 64000, 512 * GIB, required="rack"))
        n += 1
        while extra > 0:
            k = rng.randint(1, min(3, extra))
            pgs.append(pg("p%02d" % n, k, 4, 32000, 256 * GIB, required="rack"))
            n += 1
            extra -= k
        for i in range(whole):
            ns.append(["r%dn%d" % (r, i), "z0", "b%d" % (r % 2), "r%d" % r, 8, 128000, 1024 * GIB, 110])
        for i in range(half):
            ns.append(["r%dh%d" % (r, i), "z0", "b%d" % (r % 2), "r%d" % r, 4, 64000, 512 * GIB, 110])
    rng.shuffle(pgs)
    return ns, gang(pgs)


def several_resources(rng):
    """CPU, memory and GPU are each scarce somewhere."""
    kinds = [(8, 32000, 2048 * GIB), (2, 128000, 512 * GIB), (4, 64000, 256 * GIB), (0, 96000, 1024 * GIB)]
    ns = tree(rng, 1, 2, 2, (2, 4), lambda r, k: r.choice(kinds) + (110,))
    pgs, groups = [], []
    for i in range(rng.randint(2, 4)):
        mine = [pg("g%dp%d" % (i, k), rng.randint(1, 4), rng.choice([0, 1, 2]), rng.choice([4000, 16000, 30000]),
                   rng.choice([32, 128, 400]) * GIB) for k in range(rng.randint(1, 3))]
        pgs += mine
        groups.append(group("g%d" % i, mine, rng.choice(["rack", "block"])))
    return ns, gang(pgs, groups, rng.choice(["block", "zone", ""]))


def deep(rng):
    """Constraints on every level: gang in a zone, groups in blocks, podgroups in racks or on hosts."""
    ns = tree(rng, 2, 2, 2, (2, 3), lambda r, k: filled(r, 8, 128000, 1024 * GIB, 0.45))
    pgs, groups = [], []
    for i in range(rng.randint(2, 3)):
        mine = [pg("g%dp%d" % (i, k), rng.randint(1, 4), *some_pod(rng), required=rng.choice(["", "rack", "host"]))
                for k in range(rng.randint(1, 3))]
        pgs += mine
        groups.append(group("g%d" % i, mine, "block"))
    pgs.append(pg("free", rng.randint(1, 4), *some_pod(rng)))
    return ns, gang(pgs, groups, rng.choice(["zone", "zone", ""]))


def nested_groups(rng):
    """Groups inside groups: block > rack > host."""
    ns = tree(rng, 1, 3, 2, 3, lambda r, k: filled(r, 8, 128000, 1024 * GIB, 0.35))
    pgs, groups = [], []
    for i in range(rng.randint(1, 3)):
        outer = []
        for j in range(rng.randint(1, 2)):
            inner = [pg("g%d%dp%d" % (i, j, k), rng.randint(1, 3), *some_pod(rng)) for k in range(rng.randint(1, 2))]
            outer += inner
            groups.append(group("g%dr%d" % (i, j), inner, "rack"))
        loose = [pg("g%dx" % i, rng.randint(1, 3), *some_pod(rng))]
        outer += loose
        groups.append(group("g%d" % i, outer, "block"))
        pgs += outer
    return ns, gang(pgs, groups, rng.choice(["zone", ""]))


def many_types(rng):
    """Ten to fourteen podgroups, nearly all different."""
    ns = tree(rng, 1, 1, 5, 6, lambda r, k: filled(r, 8, 128000, 1024 * GIB, 0.3))
    pgs = [pg("p%02d" % i, rng.randint(1, 4), rng.choice([1, 2, 3, 4]), rng.choice([4000, 8000, 12000, 20000]),
              rng.choice([32, 48, 96, 180]) * GIB, required=rng.choice(["rack", "rack", "host", ""]))
           for i in range(rng.randint(10, 14))]
    return ns, gang(pgs, (), "block")


def identical_groups(rng):
    """Many equal groups; the question is how many fit."""
    ns = tree(rng, 1, 2, 4, 4, lambda r, k: filled(r, 8, 128000, 1024 * GIB, 0.4))
    lead, work, n = some_pod(rng), some_pod(rng), rng.randint(1, 4)
    pgs, groups = [], []
    for i in range(rng.randint(3, 9)):
        mine = [pg("l%d" % i, 1, *lead), pg("w%d" % i, n, *work)]
        pgs += mine
        groups.append(group("g%d" % i, mine, "rack"))
    return ns, gang(pgs, groups, rng.choice(["", "block", "zone"]))


def unconstrained(rng):
    """No constraint at all: vector packing of pods on hosts."""
    ns = tree(rng, 1, 1, 2, 4, lambda r, k: filled(r, 8, 128000, 1024 * GIB, 0.5))
    return ns, gang([pg("p%d" % i, rng.randint(1, 6), *some_pod(rng)) for i in range(rng.randint(2, 5))])


def pod_limit(rng):
    """The number of pods per node is what runs out."""
    ns = tree(rng, 1, 2, 3, 3, lambda r, k: (8, 128000, 1024 * GIB, r.randint(0, 3)))
    pgs = [pg("p%d" % i, rng.randint(1, 5), rng.choice([0, 1, 4]), 4000, 16 * GIB, required=rng.choice(["rack", "host", ""]))
           for i in range(rng.randint(2, 5))]
    return ns, gang(pgs, (), rng.choice(["", "block", "zone"]))


def planted_host(rng):
    """Host-packed podgroups laid on hosts, all hosts full."""
    ns = tree(rng, 1, 2, 2, 4, lambda r, k: (0, 0, 0, 0))
    pgs = []
    for i, node in enumerate(ns):
        for k in range(rng.randint(1, 2)):
            pod, n = some_pod(rng), rng.randint(1, 3)
            pgs.append(pg("p%d_%d" % (i, k), n, *pod, required="host"))
            for q in range(3):
                node[4 + q] += n * pod[q]
            node[7] += n
    rng.shuffle(pgs)
    return ns, gang(pgs, (), "zone")


def plant(rng, ns, within, pods, slack):
    """Lays `pods` of one kind on nodes of `within`, widening those that lack room; now and then a little more."""
    for pod in pods:
        node = ns[rng.choice(within)]
        for q in range(3):
            node[4 + q] += pod[q]
        node[7] += 1
        if rng.random() < slack:
            node[4 + rng.randrange(2)] += rng.choice([0, 1])


def planted_gb200(rng, racks=None):
    """Racks of 18 nodes with 4 GPUs, partly filled, on which a hidden solution lies exactly."""
    racks = racks or rng.choice([2, 3])
    ns = tree(rng, 1, 1, racks, 18, lambda r, k: (0, 0, 0, 0))
    pgs, groups = [], []
    for r in range(racks):
        left = [i for i in range(18 * r, 18 * r + 18) if rng.random() < 0.8]
        rng.shuffle(left)
        while left:
            n = min(len(left), rng.randint(1, 6))
            mine, left = left[:n], left[n:]
            i = len(groups)
            lead, work = (1, 8000, 32 * GIB), rng.choice([(4, 100000, 600 * GIB), (3, 90000, 500 * GIB), (2, 50000, 300 * GIB)])
            parts = [pg("w%d" % i, n, *work)]
            plant(rng, ns, mine, [], 0)
            for m in mine:
                plant(rng, ns, [m], [work], 0.1)
            if work[0] < 4 and rng.random() < 0.6:
                parts.append(pg("l%d" % i, 1, *lead))
                plant(rng, ns, mine, [lead], 0.1)
            pgs += parts
            groups.append(group("g%d" % i, parts, "rack"))
    rng.shuffle(pgs)
    rng.shuffle(groups)
    return ns, gang(pgs, groups, rng.choice(["block", ""]))


def planted_deep(rng):
    """A hidden solution with groups in blocks, groups in racks inside them and podgroups on hosts."""
    ns = tree(rng, 1, 3, 2, 3, lambda r, k: (0, 0, 0, 0))
    pgs, groups = [], []
    for i in range(rng.randint(2, 4)):
        block = rng.randrange(3)
        outer = []
        for j in range(rng.randint(1, 3)):
            rack = block * 2 + rng.randrange(2)
            hosts = list(range(rack * 3, rack * 3 + 3))
            inner = []
            for k in range(rng.randint(1, 2)):
                pod, n, host = some_pod(rng), rng.randint(1, 3), rng.random() < 0.4
                inner.append(pg("g%d_%d_%d" % (i, j, k), n, *pod, required="host" if host else ""))
                plant(rng, ns, [rng.choice(hosts)] if host else hosts, [pod] * n, 0.1)
            outer += inner
            groups.append(group("g%dr%d" % (i, j), inner, "rack"))
        groups.append(group("g%d" % i, outer, "block"))
        pgs += outer
    for n in ns:
        n[7] += rng.randint(0, 2)
    rng.shuffle(pgs)
    return ns, gang(pgs, groups, rng.choice(["zone", ""]))


def segments(rng):
    """One workload cut into equal segments, each in one block or rack, that differ only in their room."""
    ns = tree(rng, 1, rng.randint(2, 4), rng.randint(1, 3), (2, 6), lambda r, k: filled(r, 8, 128000, 1024 * GIB, rng.choice([0.05, 0.2])))
    level, size = rng.choice(["rack", "block"]), rng.randint(2, 5)
    pgs = [pg("s%d" % i, size, rng.choice([8, 4, 4, 2]), 32000, 256 * GIB, required=level) for i in range(rng.randint(2, 6))]
    return ns, gang(pgs, (), rng.choice(["", "zone"]))


def tight_vector(rng):
    """Few large hosts on which CPU and memory have to be balanced nearly exactly."""
    ns = tree(rng, 1, 1, 2, 3, lambda r, k: (8, r.randint(48, 96) * 1000, r.randint(384, 768) * GIB, 110))
    pgs = [pg("p%d" % i, rng.randint(1, 4), rng.choice([0, 1, 2]), rng.choice([14000, 22000, 30000]), rng.choice([40, 120, 200]) * GIB,
              required=rng.choice(["", "rack"])) for i in range(rng.randint(3, 6))]
    return ns, gang(pgs, (), rng.choice(["", "block"]))


def hetero_racks(rng):
    """H100, B200 and GB200 racks side by side; podgroups that only some of them can take."""
    kinds = [(8, 128000, 2048 * GIB), (8, 224000, 1024 * GIB), (4, 144000, 960 * GIB)]
    rack_kind = [rng.choice(kinds) for _ in range(6)]
    ns = tree(rng, 1, 2, 3, (3, 6), lambda r, k: filled(r, *rack_kind[k], 0.3))
    groups, pgs = [], []
    for i in range(rng.randint(2, 4)):
        mine = [pg("g%dp%d" % (i, k), rng.randint(1, 4), rng.choice([1, 2, 4, 4, 8]), rng.choice([30000, 64000]),
                   rng.choice([128, 400, 800]) * GIB) for k in range(rng.randint(1, 2))]
        pgs += mine
        groups.append(group("g%d" % i, mine, rng.choice(["rack", "rack", "block"])))
    return ns, gang(pgs, groups, rng.choice(["", "block", "zone"]))


FAMILIES = {
    "random-tree": random_tree, "gb200": gb200, "gb200-groups": gb200_groups, "host-groups": host_groups,
    "planted-hetero": planted_hetero, "planted-homog": planted_homog, "planted-odd": planted_odd,
    "several-resources": several_resources, "deep": deep, "nested-groups": nested_groups, "many-types": many_types,
    "identical-groups": identical_groups, "unconstrained": unconstrained, "pod-limit": pod_limit,
    "planted-host": planted_host, "planted-gb200": planted_gb200, "planted-deep": planted_deep, "segments": segments,
    "tight-vector": tight_vector, "hetero-racks": hetero_racks,
}

# By name only, not among the labelled ones: with the usual budget about 3 % of these end in "unknown".
HARD = {"planted-gb200-full": lambda rng: planted_gb200(rng, 4)}


def instance(name, seed, i):
    """One instance as the line that stands for it."""
    rng = random.Random("%s/%d/%d" % (name, seed, i))
    nodes, g = (FAMILIES.get(name) or HARD[name])(rng)
    nodes = [n[:4] + [max(0, x) for x in n[4:]] for n in nodes]
    planted = name.startswith("planted")
    return json.dumps({"id": "%s-%d-%04d" % (name, seed, i), "family": name, "nodes": nodes, "gang": g,
                       "feasible": True if planted else None,
                       "feasible_by": "construction" if planted else None}, separators=(",", ":"))


def main():
    names = list(FAMILIES) if sys.argv[1] == "all" else [sys.argv[1]]
    count, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for name in names:
        for i in range(count):
            print(instance(name, seed, i))


if __name__ == "__main__":
    main()
