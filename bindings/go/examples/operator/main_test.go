// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"libgrove.io/grove"
)

func TestASetComesUpAndGoes(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newCluster(now)
	e, err := grove.NewEngine(c, grove.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	set := `{"apiVersion":"grove.io/v1alpha1","kind":"PodCliqueSet","metadata":{"name":"small"},"spec":{"replicas":1,
		"template":{"cliques":[{"name":"w","spec":{"roleName":"w","replicas":3,"minAvailable":3,
		"podSpec":{"containers":[{"name":"c","image":"example.com/a:1"}]}}}]}}}`
	stored, err := grove.Default(json.RawMessage(set))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := stored.JSON()
	c.create(grove.Operation{Kind: "PodCliqueSet", Namespace: "default", Body: body})
	if err := converge(c, e, now); err != nil {
		t.Fatal(err)
	}
	if got := c.count("Running"); got != 3 || e.Failures() != 0 {
		t.Fatal(got, e.Failures())
	}
	c.remove(key{"PodCliqueSet", "default", "small"})
	if err := converge(c, e, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, k := range c.keys() {
		if k.kind != "Namespace" {
			t.Error("left behind:", fmt.Sprint(k))
		}
	}
}

func (c *Cluster) count(phase string) int {
	n := 0
	for k, o := range c.objects {
		if k.kind == "Pod" && o["status"].(object)["phase"] == phase {
			n++
		}
	}
	return n
}

type panicking struct{ *Cluster }

func (panicking) Process(time.Time, int, *grove.Sink) (time.Time, error) { panic("out of paper") }

func TestAPanicEndsTheTurn(t *testing.T) {
	e, err := grove.NewEngine(panicking{newCluster(time.Unix(0, 0))}, grove.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Turn(time.Unix(0, 0)); err == nil {
		t.Error("no error")
	}
}

func TestTheConformanceKitPasses(t *testing.T) {
	checks, err := grove.Conformance(newCluster(time.Unix(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, check := range checks {
		switch check.Result {
		case "failed":
			t.Errorf("%s: %s", check.Name, check.Message)
		case "passed":
			passed++
		}
	}
	if passed < 40 {
		t.Errorf("only %d of %d apply", passed, len(checks))
	}
}
