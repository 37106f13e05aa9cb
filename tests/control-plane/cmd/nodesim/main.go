// SPDX-License-Identifier: Apache-2.0

// Nodesim stands for the nodes of a test cluster: it registers Node objects, plays the kubelet for the pods
// that a scheduler binds to them (init containers in order, readiness, deletion) and runs no container.
//
//	nodesim --kubeconfig FILE [--nodes blocks=2,racks=2,nodes=4,gpu=8]
//
// It shares no code with libgrove, so that the two can disagree.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the API server")
	spec := flag.String("nodes", "2x2x4x8", "topology: blocks=,racks=,nodes=,gpu=,cpu=,memory=,pods=, or BxRxNxG")
	workers := flag.Int("workers", 8, "pods looked at side by side")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	topology, err := parseTopology(*spec)
	if err != nil {
		log.Fatalf("nodesim: --nodes: %v", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatalf("nodesim: %v", err)
	}
	config.QPS, config.Burst = 500, 1000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatalf("nodesim: %v", err)
	}
	nodes := topology.nodes()
	if err := register(ctx, client, nodes); err != nil {
		log.Fatalf("nodesim: %v", err)
	}
	log.Printf("nodesim: %d nodes", len(nodes))
	if err := newKubelet(client, nodes).run(ctx, *workers); err != nil {
		log.Fatalf("nodesim: %v", err)
	}
}
