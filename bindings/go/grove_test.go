// SPDX-License-Identifier: Apache-2.0

package grove

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"
)

func manifest(t *testing.T, pattern string) *Document {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "examples", "manifests", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v %v", pattern, found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	docs, err := ParseStream(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	return docs[0]
}

type tree = map[string]interface{}

func smallSet(name string, replicas int) tree {
	return tree{"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
		"metadata": tree{"name": name, "namespace": "default"},
		"spec": tree{"replicas": 1, "template": tree{"cliques": []tree{{"name": "worker", "spec": tree{
			"roleName": "worker", "replicas": replicas, "minAvailable": replicas, "podSpec": tree{"containers": []tree{{
				"name": "main", "image": "example.com/serve:1"}}}}}}}}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDocumentsKeepNumbersAndPlaces(t *testing.T) {
	d, err := ParseYAML(nil, []byte("a: 9007199254740993\nb:\n  c: 0\n"))
	must(t, err)
	text, err := d.Canonical()
	must(t, err)
	if string(text) != `{"a":9007199254740993,"b":{"c":0}}` {
		t.Error(string(text))
	}
	if line, column := d.Position("/b/c"); line != 3 || column != 6 {
		t.Error(line, column)
	}
	other, err := ParseJSON(nil, text)
	must(t, err)
	h1, _ := d.Hash()
	h2, _ := other.Hash()
	if h1 != h2 || h1 == 0 {
		t.Error(h1, h2)
	}
}

func TestErrorsAreToldApart(t *testing.T) {
	_, err := ParseJSON(nil, []byte("{\"a\":\n }"))
	var e *Error
	if !errors.Is(err, ErrParse) || errors.Is(err, ErrNotFound) || !errors.As(err, &e) || e.Line != 2 || e.Column != 2 {
		t.Errorf("%#v", err)
	}
	env, err := NewEnv(MaxDepth(3))
	must(t, err)
	if _, err := ParseJSON(env, []byte("[[[[[1]]]]]")); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	if _, err := From(make(chan int)); err == nil {
		t.Error("a channel became a document")
	}
	if _, err := ParseJSON(nil, nil); !errors.Is(err, ErrParse) {
		t.Error(err)
	}
}

func TestPatches(t *testing.T) {
	before, after := tree{"a": 1.0, "b": tree{"c": 2.0}}, tree{"b": tree{"d": 3.0}}
	for _, way := range []struct {
		make, apply func(a, b interface{}) (*Document, error)
	}{
		{MakeMergePatch, MergePatch}, {MakeJSONPatch, JSONPatch}} {
		patch, err := way.make(before, after)
		must(t, err)
		result, err := way.apply(before, patch)
		must(t, err)
		var got tree
		must(t, result.Decode(&got))
		if !reflect.DeepEqual(got, after) {
			t.Error(got)
		}
	}
	if _, err := JSONPatch(before, []tree{{"op": "test", "path": "/a", "value": 9}}); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
}

func TestVerdicts(t *testing.T) {
	verdict, err := Validate(smallSet("a", 2))
	must(t, err)
	if !verdict.Allowed || len(verdict.Errors) != 0 {
		t.Error(verdict)
	}
	old, changed := smallSet("a", 2), smallSet("a", 2)
	changed["spec"].(tree)["template"].(tree)["cliques"].([]tree)[0]["name"] = "other"
	verdict, err = Validate(changed, WithOld(old))
	must(t, err)
	if verdict.Allowed || verdict.Stage != "webhook" || verdict.Errors[0].Path == "" {
		t.Errorf("%+v", verdict)
	}
	topology := manifest(t, "03-*")
	verdict, err = Validate(topology)
	must(t, err)
	if verdict.Allowed {
		t.Error("a binding that is not there was found")
	}
	config, err := NewConfig(manifest(t, "02-*"))
	must(t, err)
	verdict, err = Validate(topology, WithConfig(config))
	must(t, err)
	if !verdict.Allowed {
		t.Errorf("%+v", verdict)
	}
}

func TestPlanIsPure(t *testing.T) {
	stored, err := Default(smallSet("small", 2))
	must(t, err)
	stored, err = MergePatch(stored, tree{"metadata": tree{"uid": "u", "resourceVersion": "1", "generation": 1,
		"creationTimestamp": "2026-01-01T00:00:00Z"}})
	must(t, err)
	store, err := NewStore()
	must(t, err)
	must(t, store.Put(stored))
	if ns, name, ok := store.NextDirty(); ns != "default" || name != "small" || !ok {
		t.Error(ns, name, ok)
	}
	planner, err := NewPlanner(nil)
	must(t, err)
	now := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	first, err := planner.Plan(store, "default", "small", now)
	must(t, err)
	again, err := planner.Plan(store, "default", "small", now)
	must(t, err)
	if len(first.Actions) < 5 || !reflect.DeepEqual(first.Actions, again.Actions) {
		t.Error(len(first.Actions))
	}
}

func rack(t *testing.T, options ...SchedulerOption) *Scheduler {
	t.Helper()
	s, err := NewScheduler(options...)
	must(t, err)
	t.Cleanup(s.Close)
	must(t, s.AddTopology("default", "zone", "rack"))
	for _, n := range []string{"r0n0", "r0n1", "r1n0", "r1n1"} {
		must(t, s.AddNode(Node{Name: n, Labels: map[string]string{"zone": "z", "rack": n[:2]},
			Capacity: map[string]int64{"gpu": 8}}))
	}
	return s
}

func workers(n uint32) Gang {
	return Gang{Name: "g", Required: "rack", PodGroups: []PodGroup{{Name: "w", Requests: map[string]int64{"gpu": 8},
		Min: n, Count: n}}}
}

func TestScheduling(t *testing.T) {
	s := rack(t)
	before := s.StateHash()
	must(t, s.WhatIf(func() error {
		d, err := s.Place(workers(2))
		must(t, err)
		if d.Verdict != "placed" || !reflect.DeepEqual(d.Nodes["w"], []string{"r0n0", "r0n1"}) {
			t.Errorf("%+v", d)
		}
		_, err = s.Commit()
		return err
	}))
	d, err := s.Place(workers(3))
	must(t, err)
	if d.Verdict != "infeasible" || d.Reason != "COUNT" || d.Explanation == nil {
		t.Errorf("%+v", d)
	}
	if _, err := s.Commit(); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if s.StateHash() != before {
		t.Error("what-if left something behind")
	}
}

func TestCallbacks(t *testing.T) {
	s := rack(t, WithOrder(func(c Candidate) int64 { return -int64(c.Domain) }))
	d, err := s.Place(workers(2))
	must(t, err)
	if d.Nodes["w"][0][:2] != "r1" {
		t.Errorf("%+v", d.Nodes)
	}
	s = rack(t, WithVeto(func(_ uint32, node string) bool { return node[:2] == "r0" }))
	d, err = s.Place(workers(2))
	must(t, err)
	if d.Nodes["w"][0][:2] != "r1" {
		t.Errorf("%+v", d.Nodes)
	}
	s = rack(t, WithVeto(func(uint32, string) bool { panic("out of paper") }))
	if _, err = s.Place(workers(2)); err == nil || err.Error() != "grove: a callback panicked: out of paper" {
		t.Error(err)
	}
}

func TestEmbeddedCluster(t *testing.T) {
	sim, err := NewSim("1x2x2x8", 1)
	must(t, err)
	defer sim.Close()
	engine, err := NewEngine(sim, EngineOptions{})
	must(t, err)
	defer engine.Close()
	stored, err := Default(smallSet("small", 2))
	must(t, err)
	must(t, sim.Apply(stored))
	must(t, Run(engine, sim, sim.Now().Add(time.Minute)))
	var pods struct {
		Items []struct{ Status struct{ Phase string } }
	}
	count := func() int {
		list, err := sim.List("Pod", "default")
		must(t, err)
		must(t, list.Decode(&pods))
		return len(pods.Items)
	}
	if count() != 2 || pods.Items[0].Status.Phase != "Running" {
		t.Errorf("%+v", pods)
	}
	must(t, sim.Scale("PodClique", "default", "small-0-worker", 4))
	must(t, Run(engine, sim, sim.Now().Add(time.Minute)))
	if count() != 4 || !engine.Idle() || engine.Failures() != 0 {
		t.Error(count(), engine.Idle(), engine.Failures())
	}
}

func TestGoroutinesGetTheSameAnswers(t *testing.T) {
	config, err := NewConfig(manifest(t, "02-*"))
	must(t, err)
	document := manifest(t, "03-*")
	list, err := Render(document, WithConfig(config))
	must(t, err)
	want, err := list.Hash()
	must(t, err)
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for k := 0; k < 5; k++ {
				list, err := Render(document, WithConfig(config))
				if err != nil {
					t.Error(err)
					return
				}
				if got, _ := list.Hash(); got != want {
					t.Error("another answer")
				}
			}
		}()
	}
	group.Wait()
}

func TestWholeQuestions(t *testing.T) {
	podgroups := []interface{}{map[string]interface{}{"name": "w", "requests": map[string]interface{}{"gpu": 8}}}
	placed, err := Place(map[string]interface{}{
		"nodes": []interface{}{map[string]interface{}{"name": "n", "capacity": map[string]interface{}{"gpu": 8}}},
		"gangs": []interface{}{map[string]interface{}{"name": "a", "podgroups": podgroups},
			map[string]interface{}{"name": "b", "podgroups": podgroups}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var placements struct {
		Gangs []struct{ Verdict string }
	}
	if err = placed.Decode(&placements); err != nil || len(placements.Gangs) != 2 ||
		placements.Gangs[0].Verdict != "placed" || placements.Gangs[1].Verdict != "infeasible" {
		t.Fatalf("%v %v", placements, err)
	}
	set := map[string]interface{}{"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
		"metadata": map[string]interface{}{"name": "a", "namespace": "default"},
		"spec": map[string]interface{}{"replicas": 1, "template": map[string]interface{}{"cliques": []interface{}{
			map[string]interface{}{"name": "w", "spec": map[string]interface{}{"roleName": "w", "replicas": 1,
				"podSpec": map[string]interface{}{"containers": []interface{}{
					map[string]interface{}{"name": "c", "image": "i"}}}}}}}}}
	same, err := Diff(set, set)
	var difference struct{ Created, Changed, Deleted []interface{} }
	if err == nil {
		err = same.Decode(&difference)
	}
	if err != nil || len(difference.Created)+len(difference.Changed)+len(difference.Deleted) != 0 {
		t.Fatalf("%v %v", difference, err)
	}
	state, err := Simulate(set, Simulation{Nodes: "nodes=1", Instant: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Explain(nil, state, "PodCliqueSet", "", "a", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err = Explain(nil, state, "PodCliqueSet", "", "b", time.Unix(0, 0)); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	if _, err = Place(map[string]interface{}{}); err == nil {
		t.Fatal("a request without gangs was understood")
	}
}

func TestQuantities(t *testing.T) {
	a, err := ParseQuantity("1500m")
	must(t, err)
	b, err := ParseQuantity("0.5")
	must(t, err)
	sum, err := a.Add(b)
	must(t, err)
	if sum.String() != "2" || a.Cmp(b) <= 0 {
		t.Error(sum.String())
	}
	if _, err := ParseQuantity("1.5.2"); err == nil {
		t.Error("no error")
	}
}
