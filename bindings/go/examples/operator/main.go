// SPDX-License-Identifier: Apache-2.0

// Command operator runs PodCliqueSets on a cluster of its own: objects in a map, a small kubelet, libgrove's engine,
// and a clock that the program moves by hand.
//
//	operator set.yaml
package main

import (
	"fmt"
	"os"
	"time"

	"libgrove.io/grove"
)

// converge moves the clock by seconds until nothing changes any more.
func converge(c *Cluster, e *grove.Engine, now time.Time) error {
	for turn := 0; turn < 50; turn++ {
		before := c.version
		if _, err := e.Turn(now); err != nil {
			return err
		}
		c.runPods()
		if c.version == before {
			return nil
		}
		now = now.Add(time.Second)
	}
	return fmt.Errorf("no rest after 50 s")
}

func run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sets, err := grove.ParseStream(nil, text)
	if err != nil {
		return err
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newCluster(start)
	e, err := grove.NewEngine(c, grove.EngineOptions{})
	if err != nil {
		return err
	}
	defer e.Close()
	for _, set := range sets {
		stored, err := grove.Default(set)
		if err != nil {
			return err
		}
		body, err := stored.JSON()
		if err != nil {
			return err
		}
		c.create(grove.Operation{Verb: "CREATE", Kind: "PodCliqueSet", Namespace: "default", Body: body})
	}
	if err := converge(c, e, start); err != nil {
		return err
	}
	for _, k := range c.keys() {
		status, _ := c.objects[k]["status"].(object)
		fmt.Printf("%-24s %-48s %v\n", k.kind, k.name, status["phase"])
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: operator SET.yaml")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
