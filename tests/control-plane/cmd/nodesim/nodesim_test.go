// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNodesOfShortSpec(t *testing.T) {
	topology, err := parseTopology("2x3x4x8")
	if err != nil {
		t.Fatal(err)
	}
	nodes := topology.nodes()
	if len(nodes) != 24 || nodes[23].Name != "node-b1-r2-n3" {
		t.Fatalf("%d nodes, the last %s", len(nodes), nodes[len(nodes)-1].Name)
	}
	if rack := nodes[23].Labels["topology.kubernetes.io/rack"]; rack != "b1-r2" {
		t.Errorf("rack %q", rack)
	}
	if gpu := nodes[0].Status.Allocatable["nvidia.com/gpu"]; gpu.Value() != 8 {
		t.Errorf("gpu %s", gpu.String())
	}
}

func TestSpecsThatAreRefused(t *testing.T) {
	for _, spec := range []string{"racks", "racks=x", "shelves=2", "gpu=lots"} {
		if _, err := parseTopology(spec); err == nil {
			t.Errorf("%q was taken", spec)
		}
	}
}

func TestParents(t *testing.T) {
	got := parents([]string{"--podcliques=a:1", "--verbose", "--podcliques=b:2,c:3", "--podcliques=d"})
	want := []parent{{"a", 1}, {"b", 2}, {"c", 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func pod(annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u", Annotations: annotations},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main"}}},
	}
}

func kubeletAt(now *time.Time) *kubelet {
	k := newKubelet(nil, nil)
	k.now = func() time.Time { return *now }
	return k
}

func TestReadyAfterItsTime(t *testing.T) {
	now := time.Unix(1000, 0)
	k, p := kubeletAt(&now), pod(map[string]string{annotationReadyAfter: "2s"})
	status, again := k.status(p)
	if status.Phase != corev1.PodRunning || status.ContainerStatuses[0].Ready || again != 2*time.Second {
		t.Fatalf("%s, again after %v", status.Phase, again)
	}
	now = now.Add(2 * time.Second)
	p.Status = status
	status, _ = k.status(p)
	if !status.ContainerStatuses[0].Ready {
		t.Error("not Ready after its time")
	}
}

func TestOrderContainerWaits(t *testing.T) {
	now := time.Unix(1000, 0)
	k, p := kubeletAt(&now), pod(nil)
	p.Spec.InitContainers = []corev1.Container{{Name: orderContainer, Args: []string{"--podcliques=a:1"}}}
	status, again := k.status(p)
	if status.Phase != corev1.PodPending || status.InitContainerStatuses[0].State.Running == nil || again != lookAgain {
		t.Errorf("%s, again after %v", status.Phase, again)
	}
}

func TestRefusalsOfANode(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{annotationRefuse: "cpu"}}}
	p := pod(nil)
	if refuses(node, p) {
		t.Error("refuses a pod that asks for nothing")
	}
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	if !refuses(node, p) || refuses(&corev1.Node{}, p) {
		t.Error("not by what the node says")
	}
	if status := refusal(p, "cpu"); status.Phase != corev1.PodFailed || status.Reason != "OutOfcpu" {
		t.Errorf("%s, %s", status.Phase, status.Reason)
	}
}

func TestExitCodes(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		policy corev1.RestartPolicy
		code   string
		phase  corev1.PodPhase
	}{
		{corev1.RestartPolicyNever, "0", corev1.PodSucceeded},
		{corev1.RestartPolicyNever, "3", corev1.PodFailed},
		{corev1.RestartPolicyOnFailure, "0", corev1.PodSucceeded},
		{corev1.RestartPolicyOnFailure, "3", corev1.PodRunning},
		{corev1.RestartPolicyAlways, "0", corev1.PodRunning},
	} {
		p := pod(map[string]string{annotationExit: c.code})
		p.Spec.RestartPolicy = c.policy
		status, _ := kubeletAt(&now).status(p)
		if status.Phase != c.phase {
			t.Errorf("%s exit %s: %s", c.policy, c.code, status.Phase)
		}
	}
}
