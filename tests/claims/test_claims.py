#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What articles promise of Grove, claim by claim, offline: the number is in the test's name.

usage: test_claims.py --grovectl PROGRAM [unittest arguments]

claims.tsv has the claims, evidence.py what else stands behind each.
"""
import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
MANIFESTS = os.path.join(ROOT, "examples", "manifests")
GROVECTL = None
GPU = "nvidia.com/gpu"
RACK = "node.network.kwai.io/rack"
LEVELS = [{"domain": "block", "key": "node.network.kwai.io/block"}, {"domain": "rack", "key": RACK},
          {"domain": "host", "key": "kubernetes.io/hostname"}]


def manifest(name):
    return os.path.join(MANIFESTS, next(f for f in sorted(os.listdir(MANIFESTS)) if f.startswith(name)))


def config(scheduler="grove-scheduler", **profile):
    return [{"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration",
             "topologyAwareScheduling": {"enabled": True},
             "scheduler": {"defaultProfileName": scheduler, "profiles": [{"name": scheduler, **profile}]}},
            {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "t"}, "spec": {"levels": LEVELS}}]


def clique(name, replicas=1, gpu=0, **spec):
    resources = {"limits": {GPU: gpu}} if gpu else {}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "podSpec": {
        "containers": [{"name": "c", "image": "x:1", "resources": resources}]}, **spec}}


def make_set(cliques, groups=(), replicas=1, **template):
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
            "metadata": {"name": "s", "labels": {"kai.scheduler/queue": "q"}},
            "spec": {"replicas": replicas, "template": {"cliques": list(cliques), "podCliqueScalingGroups": list(groups), **template}}}


def group(name, members, replicas=1, least=1, **more):
    return {"name": name, "cliqueNames": members, "replicas": replicas, "minAvailable": least, **more}


class Claims(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, value):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as f:
            json.dump(value, f)
        return path

    def call(self, *words, code=0):
        done = subprocess.run([GROVECTL, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def render(self, what, *words, settings=None):
        """kind -> name -> object"""
        path = what if isinstance(what, str) else self.file("set.yaml", what)
        bindings = ("--config", manifest("02")) if isinstance(what, str) else ()
        words = (*words, "--config", self.file("config.yaml", settings)) if settings else (*words, *bindings)
        out = {}
        for o in json.loads(self.call("render", path, "-o", "json", *words).stdout)["items"]:
            out.setdefault(o["kind"], {})[o["metadata"]["name"]] = o
        return out

    def play(self, steps, nodes="blocks=1,racks=2,nodes=2,gpu=8", settings=None):
        """A scenario; all of its expectations hold."""
        path = self.file("scenario.yaml", {"apiVersion": "grovectl/v1", "kind": "Scenario", "spec": {
            "nodes": nodes, "steps": steps, **({"config": "config.yaml"} if settings else {})}})
        if settings:
            self.file("config.yaml", settings)
        done = self.call("sim", "--check", "--scenario", path, "-o", "json")
        self.assertRegex(done.stderr, r"(?m)^[1-9]\d* expectations, 0 failed$")
        return json.loads(done.stdout)

    def refused(self, obj, path, settings=None):
        words = ("--config", self.file("config.yaml", settings)) if settings else ()
        out = json.loads(self.call("validate", "-o", "json", self.file("set.yaml", obj), *words, code=1).stdout)
        self.assertIn(path, [e["path"] for e in out["results"][0]["errors"]])

    # ---- what is made from a manifest ----

    def test_C001_C227_the_same_gangs_whoever_places_them(self):
        made = make_set([clique("w", 2, 1)])
        gangs = []
        for name in ("grove-scheduler", "kai-scheduler", "default-scheduler", "volcano"):
            all_gangs = self.render(made, settings=config(name))["PodGang"]
            gangs.append({k: v["spec"] for k, v in all_gangs.items()})
        for other in gangs[1:]:
            self.assertEqual([[g["name"], g["minReplicas"]] for g in other["s-0"]["podgroups"]],
                             [[g["name"], g["minReplicas"]] for g in gangs[0]["s-0"]["podgroups"]])

    def test_C003_C086_C088_C108_C129_C130_each_role_has_its_own_resources_and_scaling(self):
        out = self.render(manifest("05"))
        self.assertEqual(sorted(out["PodClique"]), [f"inference-disaggregated-0-{r}" for r in ("decode", "prefill", "router")])
        hpas = {k: (v["spec"].get("minReplicas"), v["spec"]["maxReplicas"], v["spec"]["scaleTargetRef"]["kind"],
                    v["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"])
                for k, v in out["HorizontalPodAutoscaler"].items()}
        self.assertEqual(hpas, {"inference-disaggregated-0-prefill": (4, 8, "PodClique", 70),
                                "inference-disaggregated-0-decode": (2, 6, "PodClique", 80)})

    def test_C004_C021_C022_C036_C037_C038_C039_C174_router_and_serving_cells(self):
        out = self.render(manifest("01"))
        self.assertEqual(sorted(out["PodClique"]), ["inference-0-router"] + [
            f"inference-0-serving-cell-{i}-{r}" for i in (0, 1) for r in ("decode", "prefill")])
        self.assertEqual(sorted(out["PodCliqueScalingGroup"]), ["inference-0-serving-cell"])
        gangs = {n: {g["name"]: g["minReplicas"] for g in o["spec"]["podgroups"]} for n, o in out["PodGang"].items()}
        self.assertEqual(gangs, {
            "inference-0": {"inference-0-router": 1, "inference-0-serving-cell-0-prefill": 1, "inference-0-serving-cell-0-decode": 2},
            "inference-0-serving-cell-0": {"inference-0-serving-cell-1-prefill": 1, "inference-0-serving-cell-1-decode": 2}})
        self.assertEqual(len(out["Pod"]), 7)
        gpus = sum(int(c.get("resources", {}).get("limits", {}).get(GPU, 0)) for p in out["Pod"].values() for c in p["spec"]["containers"])
        self.assertEqual(gpus, 8)
        hpa = out["HorizontalPodAutoscaler"]["inference-0-serving-cell"]["spec"]
        self.assertEqual((hpa["minReplicas"], hpa["maxReplicas"], hpa["scaleTargetRef"]["kind"]), (1, 4, "PodCliqueScalingGroup"))
        router = out["PodClique"]["inference-0-router"]["metadata"]["ownerReferences"][0]
        self.assertEqual(router["kind"], "PodCliqueSet")

    def test_C010_C011_C024_C040_C041_C048_C231_constraints_on_every_level_by_domain(self):
        out = self.render(manifest("03"))
        gang = out["PodGang"]["inference-0"]["spec"]
        self.assertEqual(gang["topologyConstraint"]["packConstraint"], {"preferred": RACK})
        self.assertEqual(gang["topologyConstraintGroupConfigs"][0]["topologyConstraint"]["packConstraint"],
                         {"required": "kubernetes.io/hostname"})

    def test_C014_C098_C201_C209_C211_the_pod_spec_passes_through(self):
        spec = clique("w")
        spec["spec"]["podSpec"].update({"nodeSelector": {"hbm": "rich"}, "tolerations": [{"operator": "Exists"}]})
        spec["spec"]["podSpec"]["containers"] += [{"name": "kv", "image": "kv:1", "env": [
            {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]}]
        pod = next(iter(self.render(make_set([spec]))["Pod"].values()))["spec"]
        self.assertEqual(pod["nodeSelector"], {"hbm": "rich"})
        self.assertEqual(pod["tolerations"], [{"operator": "Exists"}])
        self.assertEqual([c["name"] for c in pod["containers"]], ["c", "kv"])
        self.assertEqual([c["image"] for c in pod["containers"]], ["x:1", "kv:1"])
        token = next(e for e in pod["containers"][1]["env"] if e["name"] == "HF_TOKEN")
        self.assertEqual(token["valueFrom"]["secretKeyRef"], {"name": "hf", "key": "token"})

    def test_C015_C016_C017_C018_C089_C118_C167_all_kinds_and_their_owners(self):
        out = self.render(manifest("01"))
        self.assertEqual(set(out), {"PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang", "Pod", "Service", "ServiceAccount", "Role",
                                    "RoleBinding", "Secret", "HorizontalPodAutoscaler"})
        owner = lambda kind, name: out[kind][name]["metadata"]["ownerReferences"][0]["kind"]
        self.assertEqual(owner("PodClique", "inference-0-serving-cell-0-prefill"), "PodCliqueScalingGroup")
        self.assertEqual({owner("Pod", p) for p in out["Pod"]}, {"PodClique"})

    def test_C020_C027_C159_C200_C236_labels_tell_service_instance_and_leader(self):
        out = self.render(manifest("06"))
        for pod in out["Pod"].values():
            labels = pod["metadata"]["labels"]
            self.assertEqual(labels["app.kubernetes.io/part-of"], "inference-disaggregated")
            if "grove.io/podcliquescalinggroup" in labels:
                env = {e["name"] for e in pod["spec"]["containers"][0]["env"]}
                self.assertLessEqual({"GROVE_PCSG_NAME", "GROVE_PCSG_INDEX", "GROVE_HEADLESS_SERVICE"}, env)
                self.assertIn(labels["grove.io/podcliquescalinggroup-replica-index"], "01")

    def test_C052_C087_C127_C128_C160_C170_workers_wait_for_the_leader(self):
        out = self.render(manifest("04"))
        for pod in out["Pod"].values():
            waiters = [c for c in pod["spec"].get("initContainers", []) if c["name"] == "grove-initc"]
            role = pod["metadata"]["labels"]["grove.io/podclique"]
            self.assertEqual([c["args"] for c in waiters],
                             [["--podcliques=leader-worker-demo-0-leader:1"]] if role.endswith("worker") else [])

    def test_C067_C165_C216_C171_any_roles_in_one_set(self):
        roles = ["vision-encoder", "kv-router", "prefill", "decode"]
        out = self.render(make_set([clique(r) for r in roles], [group("three", roles[1:])]))
        self.assertEqual(len(out["PodClique"]), 4)
        self.assertEqual(len(out["PodGang"]["s-0"]["spec"]["podgroups"]), 4)

    def test_C013_C166_C173_C186_C187_C188_C189_every_sample_shape_is_admitted_and_rendered(self):
        for name in ("01", "03", "04", "05", "06", "07"):
            self.assertIn("PodGang", self.render(manifest(name)), name)

    def test_C103_names_of_a_deployment_of_dynamo(self):
        made = make_set([clique("frontend"), clique("vllmprefillworker"), clique("vllmdecodeworker", 2)])
        made["metadata"]["name"] = "dynamo-grove"
        names = sorted(self.render(made)["Pod"])
        self.assertEqual(len(names), 4)
        for name in names:
            self.assertRegex(name, r"^dynamo-grove-0-(frontend|vllmprefillworker|vllmdecodeworker)-[a-z0-9]{5}$")

    def test_C109_args_and_sizes_differ_by_role(self):
        pods = self.render(manifest("05"))["Pod"].values()
        args = {p["metadata"]["labels"]["grove.io/podclique"].rsplit("-", 1)[1]: p["spec"]["containers"][0].get("args") for p in pods}
        self.assertIn("--tensor-parallel-size=2", args["prefill"])
        self.assertIn("--tensor-parallel-size=4", args["decode"])

    def test_C126_C060_C202_life_cycle_and_priority_are_part_of_the_spec(self):
        made = make_set([clique("w")], priorityClassName="high")
        out = json.loads(self.call("default", self.file("set.yaml", made), "-o", "json").stdout)
        self.assertEqual(out["spec"]["template"]["terminationDelay"], "4h0m0s")
        given = json.loads(self.call("default", manifest("05"), "-o", "json").stdout)
        self.assertEqual(given["spec"]["template"]["terminationDelay"], "30s")
        self.assertEqual(self.render(made)["PodGang"]["s-0"]["spec"]["priorityClassName"], "high")

    def test_C145_C147_C149_C090_C217_C218_leaders_with_four_workers(self):
        out = self.render(manifest("06"))
        group_pods = [p for p in out["Pod"].values() if "grove.io/podcliquescalinggroup" in p["metadata"]["labels"]]
        self.assertEqual(len(group_pods), 10)
        self.assertEqual(out["HorizontalPodAutoscaler"]["inference-disaggregated-0-prefill"]["spec"]["minReplicas"], 2)
        self.assertEqual(sorted(out["PodGang"]), ["inference-disaggregated-0", "inference-disaggregated-0-prefill-0"])

    def test_C217_names_with_one_ending_are_not_mixed_up(self):
        made = make_set([clique("worker"), clique("pworker")])
        made["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["containers"][0]["image"] = "p:1"
        images = {n: c["spec"]["podSpec"]["containers"][0]["image"] for n, c in self.render(made, "--exact-templates")["PodClique"].items()}
        self.assertEqual(images, {"s-0-worker": "x:1", "s-0-pworker": "p:1"})

    def test_C180_C226_C229_C230_C232_C118_what_the_gang_becomes_for_kai(self):
        made = make_set([clique("a", 2), clique("b")], [group("g", ["b"], 2)])
        out = self.render(made, settings=config("kai-scheduler"))
        pod_group = out["PodGroup"]["s-0"]["spec"]
        self.assertEqual(pod_group["queue"], "q")
        self.assertTrue(pod_group["subGroups"])
        self.assertEqual(set(out["PodGroup"]), set(out["PodGang"]))

    def test_C221_C222_C030_C059_the_gang_is_an_api_of_its_own_with_minima_and_groups(self):
        made = make_set([clique("w", 2, 1)], [group("g", ["w"], 2, topologyConstraint={
            "topologyName": "t", "pack": {"required": "host"}, "spread": {"domain": "rack"}})])
        out = self.render(made, settings=config())
        self.assertEqual(out["PodGang"]["s-0"]["apiVersion"], "scheduler.grove.io/v1alpha1")
        self.assertTrue(out["PodGang"]["s-0"]["spec"]["topologyConstraintGroupConfigs"])
        self.assertEqual(out["PodGang"]["s-0-g-0"]["metadata"]["annotations"]["libgrove.io/spread"], f"Require {RACK} 1 s-0-g")

    # ---- what is refused ----

    def test_C053_C054_cycles_and_unknown_names_in_the_start_order(self):
        made = make_set([clique("a", startsAfter=["b"]), clique("b", startsAfter=["a"])],
                        cliqueStartupType="CliqueStartupTypeExplicit")
        out = json.loads(self.call("validate", "-o", "json", self.file("s.yaml", made), code=1).stdout)
        self.assertIn("GRV2031", [e["code"] for e in out["results"][0]["errors"]])
        made = make_set([clique("a", startsAfter=["a", "x", "x"])], cliqueStartupType="CliqueStartupTypeExplicit")
        out = json.loads(self.call("validate", "-o", "json", self.file("s.yaml", made), code=1).stdout)
        self.assertLessEqual({"GRV2028", "GRV2029", "GRV2030"}, {e["code"] for e in out["results"][0]["errors"]})

    def test_C051_exactly_three_start_orders(self):
        for word in ("AnyOrder", "InOrder", "Explicit"):
            self.call("validate", self.file("s.yaml", make_set([clique("a")], cliqueStartupType="CliqueStartupType" + word)))
        self.refused(make_set([clique("a")], cliqueStartupType="InOrder"), "spec.template.cliqueStartupType")

    def test_C043_C044_C047_levels_are_ordered_and_any_key_will_do(self):
        self.call("validate", manifest("02"))
        binding = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "x"}, "spec": {
            "levels": [{"domain": "rack", "key": "a.b/c"}, {"domain": "rack", "key": "a.b/d"}]}}
        self.call("validate", self.file("b.yaml", binding), code=1)

    def test_C102_the_older_kind_is_refused_with_todays_name(self):
        made = make_set([clique("a")])
        made["kind"] = "PodGangSet"
        self.assertIn("PodCliqueSet", self.call("validate", self.file("s.yaml", made), code=1).stderr)

    def test_C125_C131_the_older_pack_domain_is_migrated(self):
        made = make_set([clique("a")], topologyConstraint={"topologyName": "t", "packDomain": "rack"})
        out = self.call("migrate", self.file("s.yaml", made), "-o", "json").stdout
        self.assertEqual(json.loads(out)["spec"]["template"]["topologyConstraint"]["pack"], {"required": "rack"})

    def test_C107_a_token_in_the_manifest_is_warned_of(self):
        made = make_set([clique("a")])
        made["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["env"] = [
            {"name": "HF_TOKEN", "value": "hf_abcdefghijklmnopqrstuvwxyzabcdefgh"}]
        self.assertIn("GRV3010", self.call("validate", "--lint", self.file("s.yaml", made)).stderr)

    def test_C119_what_a_scheduler_cannot_do_is_refused_in_words(self):
        made = make_set([clique("a")], topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}})
        self.refused(made, "spec", config("volcano"))

    # ---- what the book says ----

    def page(self, *path):
        with open(os.path.join(ROOT, "docs", *path)) as f:
            return f.read()

    def rows(self, page):
        """first cell -> cells, of all tables of a page"""
        return {cells[0]: cells for cells in ([c.strip() for c in line.strip("|").split("|")]
                                              for line in page.splitlines() if line.startswith("|"))}

    def test_C121_C155_C163_C164_C195_a_page_compares_with_LeaderWorkerSet_and_says_when_to_take_which(self):
        page = self.page("comparison.md")
        self.assertIn("LWS here means LeaderWorkerSet", page)
        rows = self.rows(page)
        lws = rows[""].index("LWS, DisaggregatedSet")
        self.assertIn("none between roles", rows["gang"][lws])
        self.assertIn("leader and workers", rows["describes"][lws])
        self.assertTrue(all(len(cells) == len(rows[""]) for name, cells in rows.items() if name in ("gang", "update", "scaling")))
        self.assertRegex(page, r"(?s)When to take which:.*Deployment.*nothing here is\s+needed.*\*\*LWS\*\* where")

    def test_C237_the_layers_are_told_apart(self):
        rows = self.rows(self.page("comparison.md"))
        for layer, system in (("model and endpoint, from a name to pods that serve it", "KAITO"),
                              ("workload: roles, groups, start, scale, update", "Grove"),
                              ("requests to replicas", "Kthena Router"), ("pods to nodes", "KAI")):
            self.assertIn(system, rows[layer][1])

    # ---- what happens ----

    def test_C002_no_gang_on_the_stock_scheduler_and_it_is_said(self):
        self.play([{"apply": make_set([clique("a")])}, {"after": "1m", "expect": [
            {"kind": "PodGang", "path": "status.conditions[libgrove.io/GangNotEnforced].status", "equals": "True"}]}],
            settings=config("default-scheduler"))

    def test_C005_C007_C031_C111_C113_C158_C175_C177_C178_C179_C206_C220_half_a_service_holds_nothing(self):
        made = make_set([clique("prefill", 2, 8), clique("decode", 2, 8)])
        self.play([{"apply": made}, {"after": "1m", "expect": [
            {"kind": "Pod", "where": {"path": "spec.nodeName", "exists": True}, "count": 0},
            {"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 0}]},
            {"addNodes": "blocks=1,racks=1,nodes=2,gpu=8,prefix=more"}, {"after": "1m", "expect": [
                {"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 1}]}],
            nodes="blocks=1,racks=1,nodes=2,gpu=8", settings=config())

    def test_C006_a_group_replica_without_its_leader_does_not_count(self):
        made = make_set([clique("l", 1, 1), clique("w", 2, 1)], [group("g", ["l", "w"])])
        self.play([{"rule": {"pod": "s-0-g-0-l*", "ready": "never"}, "apply": made}, {"after": "2m", "expect": [
            {"kind": "PodCliqueScalingGroup", "path": "status.availableReplicas", "equals": 0},
            {"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 0}]}], settings=config())

    def test_C012_C025_C077_C065_a_lost_rack_costs_its_share_of_replicas(self):
        made = make_set([clique("w", 2, 8)], replicas=4, topologyConstraint={
            "topologyName": "t", "pack": {"required": "rack"}, "spread": {"domain": "rack"}})
        self.play([{"apply": made}, {"after": "1m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 4}]},
                   {"failNode": {"kind": "Node", "selector": RACK + "=b0-r0"}},
                   {"after": "1m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 2}]}],
                  nodes="blocks=1,racks=2,nodes=4,gpu=8", settings=config())

    def test_C033_C034_C085_C116_C183_one_role_grows_and_the_other_stays(self):
        made = make_set([clique("prefill", 1, 1), clique("decode", 1, 1)])
        self.play([{"apply": made}, {"after": "1m", "snapshot": "one", "scale": {"kind": "PodClique", "name": "s-0-decode", "replicas": 3}},
                   {"after": "1m", "snapshot": "two", "scale": {"kind": "PodClique", "name": "s-0-prefill", "replicas": 2}, "expect": [
                       {"kind": "Pod", "since": "one", "kept": 2},
                       {"kind": "PodClique", "name": "s-0-decode", "path": "status.readyReplicas", "equals": 3}]},
                   {"after": "1m", "expect": [{"kind": "Pod", "since": "two", "kept": 4},
                                              {"kind": "PodClique", "name": "s-0-prefill", "path": "status.readyReplicas", "equals": 2}]}],
                  settings=config())

    def test_C035_C185_C032_C091_a_step_of_a_group_is_one_whole_gang_after_the_base(self):
        made = make_set([clique("l", 1, 4), clique("w", 1, 4)], [group("g", ["l", "w"])])
        self.play([{"apply": made}, {"after": "1m", "scale": {"kind": "PodCliqueScalingGroup", "name": "s-0-g", "replicas": 2}},
                   {"after": "1m", "expect": [{"kind": "PodGang", "count": 2}, {"kind": "PodGang", "name": "s-0-g-0", "path": "status.phase", "equals": "Pending"},
                                              {"kind": "Pod", "selector": "grove.io/podgang=s-0-g-0", "where": {"path": "spec.nodeName", "exists": True}, "count": 0}]},
                   {"addNodes": "blocks=1,racks=1,nodes=1,gpu=8,prefix=more"},
                   {"after": "1m", "expect": [{"kind": "PodGang", "name": "s-0-g-0", "path": "status.phase", "equals": "Running"}]}],
                  nodes="blocks=1,racks=1,nodes=1,gpu=8", settings=config())

    def test_C049_two_set_replicas_may_lie_in_two_racks(self):
        made = make_set([clique("w", 2, 8)], replicas=2, topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}})
        self.play([{"apply": made}, {"after": "1m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 2},
                                                              {"kind": "Pod", "selector": "grove.io/podcliqueset-replica-index=0", "together": RACK},
                                                              {"kind": "Pod", "selector": "grove.io/podcliqueset-replica-index=1", "together": RACK}]}],
                  settings=config())

    def test_C050_preferred_never_blocks(self):
        made = make_set([clique("w", 3, 8)], topologyConstraint={"topologyName": "t", "pack": {"preferred": "rack"}})
        self.play([{"apply": made}, {"after": "1m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 1}]}],
                  settings=config())

    def test_C075_C114_C223_one_nvlink_domain_of_eighteen_hosts(self):
        settings = config()
        made = make_set([clique("prefill", 9, 4), clique("decode", 9, 4)], topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}})
        self.play([{"apply": made}, {"after": "1m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 1},
                                                              {"kind": "Pod", "together": RACK}]}],
                  nodes="blocks=1,racks=2,nodes=18,gpu=4", settings=settings)

    def test_C080_C079_C066_a_replaced_worker_keeps_index_name_and_leader(self):
        made = make_set([clique("l", 1, 1), clique("w", 2, 1)], [group("g", ["l", "w"])])
        before = {"kind": "Pod", "selector": "grove.io/podclique=s-0-g-0-w,grove.io/podclique-pod-index=0"}
        self.play([{"apply": made}, {"after": "1m", "expect": [{**before, "path": "spec.hostname", "equals": "s-0-g-0-w-0"}]},
                   {"delete": before}, {"after": "2m", "expect": [{**before, "path": "spec.hostname", "equals": "s-0-g-0-w-0"},
                                                                 {**before, "path": "spec.subdomain", "equals": "s-0"}]}], settings=config())

    def test_C042_C004_a_router_outside_the_core_unit(self):
        made = make_set([clique("router", coreMember=False), clique("w", 2, 8)],
                        topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}})
        self.play([{"apply": made}, {"after": "1m", "expect": [
            {"kind": "PodGang", "name": "s-0-router", "path": "status.phase", "equals": "Running"},
            {"kind": "PodGang", "name": "s-0", "path": "status.phase", "equals": "Pending"}]},
            {"addNodes": "blocks=1,racks=1,nodes=2,gpu=8,prefix=gpu"},
            {"after": "1m", "expect": [{"kind": "PodGang", "name": "s-0", "path": "status.phase", "equals": "Running"}]}],
            nodes="blocks=1,racks=1,nodes=1,gpu=0", settings=config())

    def test_C049b_C122_C131_scaled_gangs_lie_in_the_rack_of_their_base_gang(self):
        made = make_set([clique("w", 1, 8)], [group("g", ["w"])], crossGangPack="Require",
                        topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}})
        self.play([{"apply": made}, {"after": "1m", "scale": {"kind": "PodCliqueScalingGroup", "name": "s-0-g", "replicas": 3}},
                   {"after": "1m", "expect": [
                       {"kind": "Pod", "where": {"path": "spec.nodeName", "exists": True}, "count": 2},
                       {"kind": "Pod", "where": {"path": "spec.nodeName", "exists": True}, "together": RACK},
                       {"kind": "PodGang", "name": "s-0-g-1", "path": "status.conditions[libgrove.io/Unplaced].reason",
                        "equals": "AnchorDomainFull"}]}], settings=config())

    def test_C092_copies_of_the_whole_set_are_spread(self):
        made = make_set([clique("w", 1, 8)], topologyConstraint={
            "topologyName": "t", "pack": {"required": "rack"}, "spread": {"domain": "rack"}})
        self.play([{"apply": made}, {"after": "1m", "scale": {"kind": "PodCliqueSet", "name": "s", "replicas": 4}},
                   {"after": "1m", "expect": [{"kind": "PodCliqueSet", "path": "status.conditions[libgrove.io/Spread].message",
                                               "equals": "2 in b0-r0, 2 in b0-r1"}]}], settings=config())

    def test_C093_C106_C214_C219_from_the_set_to_running_and_back_after_a_loss(self):
        made = make_set([clique("w", 2, 4)], terminationDelay="1m")
        out = self.play([{"apply": made}, {"after": "1m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 1}]},
                         {"failNode": {"kind": "Pod", "selector": "grove.io/podclique-pod-index=0"}},
                         {"after": "15m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 1}]}],
                        settings=config())
        self.assertTrue(out["timeline"])

    def test_C115_gates_open_only_for_a_complete_gang(self):
        made = make_set([clique("a", 2, 1), clique("b", 1, 1)])
        self.play([{"always": [{"kind": "Pod", "where": [{"path": "spec.schedulingGates[0].name", "exists": True}, {"path": "spec.nodeName", "exists": True}],
                               "count": 0}], "apply": made},
                   {"after": "1m", "expect": [{"kind": "Pod", "where": {"path": "spec.nodeName", "exists": True}, "count": 3}]}], settings=config())

    def test_C082_an_update_takes_one_unit_at_a_time(self):
        made = make_set([clique("w", 3, 1, minAvailable=2)])
        self.play([{"apply": made}, {"after": "1m", "setImage": {"set": "s", "clique": "w", "image": "x:2"}, "always": [
            {"kind": "Pod", "where": {"path": "status.conditions[Ready].status", "equals": "True"}, "atLeast": 2}]},
            {"after": "10m", "expect": [{"kind": "PodCliqueSet", "path": "status.updatedReplicas", "equals": 1}]}], settings=config())

    def test_C055_C063_C182_containers_start_when_the_parents_least_is_ready(self):
        made = make_set([clique("a", 1), clique("b", 1, startsAfter=["a"])], cliqueStartupType="CliqueStartupTypeExplicit")
        self.play([{"rule": {"pod": "s-0-a*", "ready": "30s"}, "apply": made},
                   {"after": "20s", "expect": [{"kind": "PodClique", "name": "s-0-b", "path": "status.readyReplicas", "equals": 0}]},
                   {"after": "2m", "expect": [{"kind": "PodCliqueSet", "path": "status.availableReplicas", "equals": 1}]}], settings=config())

    def test_C142_C072_plan_shows_the_bottleneck(self):
        made = make_set([clique("prefill", 3, minAvailable=1), clique("decode", 2, minAvailable=1)])
        def plan(*scales, code=0, **ratio):
            made["spec"]["template"]["ratios"] = [{"numerator": "decode", "denominator": "prefill", **ratio}]
            words = [w for s in scales for w in ("--scale", s)]
            out = self.call("plan", self.file("set.yaml", made), *words, code=code).stdout
            return {m[1]: (int(m[2]), int(m[3]), m[4]) for m in re.finditer(r"(?m)^s-0-(\w+) +(\d+) +(\d+)(?:  (.*))?$", out)}
        out = plan("prefill=6", min="667m", max=1, mode="Follow")
        self.assertEqual([out[r][:2] for r in ("prefill", "decode")], [(6, 6), (2, 4)])
        self.assertRegex(out["decode"][2], "^Follows: 2 asked for, 4 planned")
        out = plan("prefill=3x", code=1, min="667m", mode="Clamp")
        self.assertEqual([out[r][:2] for r in ("prefill", "decode")], [(9, 3), (2, 2)])
        self.assertRegex(out["prefill"][2], "^Clamped: 9 asked for, 3 planned")
        plan("prefill=9", code=1, min="667m", mode="Warn")
        self.call("plan", self.file("set.yaml", made), "--scale", "nobody=3", code=2)
        self.call("plan", self.file("set.yaml", made), "--scale", "prefill=y", code=2)
        self.call("plan", self.file("set.yaml", made), code=2)

    def test_C190_two_instances_of_two_nodes_each(self):
        self.play([{"apply": os.path.abspath(manifest("07"))}, {"after": "2m", "scale": {
            "kind": "PodCliqueScalingGroup", "name": "llama-70b-0-model", "replicas": 2}},
            {"after": "2m", "expect": [{"kind": "PodGang", "name": "llama-70b-0-model-0", "path": "status.phase", "equals": "Pending"},
                                       {"kind": "Pod", "selector": "grove.io/podgang=llama-70b-0-model-0", "where": {"path": "spec.nodeName", "exists": True}, "count": 0}]},
            {"addNodes": "blocks=1,racks=1,nodes=2,gpu=8,prefix=more"},
            {"after": "2m", "expect": [{"kind": "PodGang", "name": "llama-70b-0-model-0", "path": "status.phase", "equals": "Running"}]}],
            nodes="blocks=1,racks=1,nodes=2,gpu=8")


def main():
    global GROVECTL
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--grovectl", required=True)
    args, rest = ap.parse_known_args()
    GROVECTL = os.path.abspath(args.grovectl)
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
