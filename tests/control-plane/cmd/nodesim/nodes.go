// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// topology says which nodes there are; keys and defaults are those of `grovectl sim --nodes`.
type topology struct {
	zones, blocks, racks, perRack int
	gpu, cpu, memory, pods        resource.Quantity
	zoneKey, blockKey, rackKey    string
	gpuKey, prefix                string
}

var short = regexp.MustCompile(`^(\d+)x(\d+)x(\d+)x(\d+)$`)

func parseTopology(spec string) (topology, error) {
	t := topology{
		zones: 1, blocks: 1, racks: 1, perRack: 1,
		gpu: resource.MustParse("8"), cpu: resource.MustParse("64"),
		memory: resource.MustParse("512Gi"), pods: resource.MustParse("110"),
		zoneKey: corev1.LabelTopologyZone, blockKey: "topology.kubernetes.io/block",
		rackKey: "topology.kubernetes.io/rack", gpuKey: "nvidia.com/gpu", prefix: "node",
	}
	if m := short.FindStringSubmatch(spec); m != nil {
		spec = fmt.Sprintf("blocks=%s,racks=%s,nodes=%s,gpu=%s", m[1], m[2], m[3], m[4])
	}
	numbers := map[string]*int{"zones": &t.zones, "blocks": &t.blocks, "racks": &t.racks, "nodes": &t.perRack}
	quantities := map[string]*resource.Quantity{"gpu": &t.gpu, "cpu": &t.cpu, "memory": &t.memory, "pods": &t.pods}
	texts := map[string]*string{"zone-key": &t.zoneKey, "block-key": &t.blockKey, "rack-key": &t.rackKey,
		"gpu-key": &t.gpuKey, "prefix": &t.prefix}
	for _, term := range strings.Split(spec, ",") {
		if term == "" {
			continue
		}
		key, value, found := strings.Cut(term, "=")
		if !found {
			return t, fmt.Errorf("%q is not key=value", term)
		}
		var err error
		if target, ok := numbers[key]; ok {
			*target, err = strconv.Atoi(value)
		} else if target, ok := quantities[key]; ok {
			*target, err = resource.ParseQuantity(value)
		} else if target, ok := texts[key]; ok {
			*target = value
		} else {
			err = fmt.Errorf("no such key")
		}
		if err != nil {
			return t, fmt.Errorf("%q: %w", term, err)
		}
	}
	return t, nil
}

func (t topology) nodes() []*corev1.Node {
	var nodes []*corev1.Node
	for z := range t.zones {
		for b := range t.blocks {
			for r := range t.racks {
				for n := range t.perRack {
					nodes = append(nodes, t.node(z, b, r, n))
				}
			}
		}
	}
	return nodes
}

func (t topology) node(z, b, r, n int) *corev1.Node {
	zone, name := fmt.Sprintf("z%d", z), t.prefix
	if t.zones > 1 {
		name += "-" + zone
	}
	block := fmt.Sprintf("%s-b%d", name, b)
	rack := fmt.Sprintf("%s-r%d", block, r)
	name = fmt.Sprintf("%s-n%d", rack, n)
	has := corev1.ResourceList{corev1.ResourceCPU: t.cpu, corev1.ResourceMemory: t.memory, corev1.ResourcePods: t.pods}
	if !t.gpu.IsZero() {
		has[corev1.ResourceName(t.gpuKey)] = t.gpu
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			t.zoneKey: zone, t.blockKey: strings.TrimPrefix(block, t.prefix+"-"),
			t.rackKey: strings.TrimPrefix(rack, t.prefix+"-"), corev1.LabelHostname: name,
			corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{
			Capacity: has, Allocatable: has,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
				Reason: "KubeletReady", Message: "nodesim plays the kubelet"}},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}},
		},
	}
}

// register makes the nodes, or brings those that are there up to date.
func register(ctx context.Context, client kubernetes.Interface, nodes []*corev1.Node) error {
	for _, want := range nodes {
		_, err := client.CoreV1().Nodes().Create(ctx, want, metav1.CreateOptions{})
		if err != nil && !errors.IsAlreadyExists(err) {
			return err
		}
		// Controllers annotate a new node at once, so the first try may meet a conflict.
		err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			have, err := client.CoreV1().Nodes().Get(ctx, want.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			have.Status = want.Status
			have.Status.Conditions[0].LastHeartbeatTime = metav1.Now()
			have.Status.Conditions[0].LastTransitionTime = have.Status.Conditions[0].LastHeartbeatTime
			_, err = client.CoreV1().Nodes().UpdateStatus(ctx, have, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
