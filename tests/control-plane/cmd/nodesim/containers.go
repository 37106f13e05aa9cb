// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	orderContainer   = "grove-initc" // waits until other cliques have pods Ready
	orderArgument    = "--podcliques="
	labelOfPodClique = "grove.io/podclique"
)

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func running(since metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since.Rfc3339Copy()}}
}

func terminated(code string, at metav1.Time) corev1.ContainerState {
	n, _ := strconv.Atoi(code)
	reason := "Completed"
	if n != 0 {
		reason = "Error"
	}
	at = at.Rfc3339Copy()
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(n), Reason: reason, StartedAt: at, FinishedAt: at}}
}

// containers gives each container the state; an old status of the same state is kept as it is.
func containers(specs []corev1.Container, old []corev1.ContainerStatus, state corev1.ContainerState, ready bool) []corev1.ContainerStatus {
	var result []corev1.ContainerStatus
	for i, spec := range specs {
		started := state.Running != nil
		status := corev1.ContainerStatus{Name: spec.Name, Image: spec.Image, State: state, Ready: ready, Started: &started}
		if i < len(old) && old[i].Name == spec.Name {
			status.RestartCount = old[i].RestartCount
			if state.Terminated != nil && old[i].State.Terminated != nil {
				status.State = old[i].State
			}
		}
		result = append(result, status)
	}
	return result
}

// initContainers runs them in order; true while one still waits.
func (k *kubelet) initContainers(pod *corev1.Pod, status *corev1.PodStatus, now metav1.Time) bool {
	old := status.InitContainerStatuses
	status.InitContainerStatuses = nil
	blocked := false
	for i, spec := range pod.Spec.InitContainers {
		var before []corev1.ContainerStatus
		done := false
		if i < len(old) {
			before = old[i : i+1]
			done = old[i].State.Terminated != nil
		}
		state := terminated("0", now)
		if blocked {
			state = waiting("PodInitializing")
		} else if !done && spec.Name == orderContainer && !k.parentsReady(pod.Namespace, spec.Args) {
			state = running(*status.StartTime)
			blocked = true
		}
		one := containers([]corev1.Container{spec}, before, state, state.Terminated != nil)
		status.InitContainerStatuses = append(status.InitContainerStatuses, one...)
	}
	return blocked
}

// parent is one clique that has to have so many pods Ready.
type parent struct {
	clique string
	ready  int
}

// parents reads the arguments of the ordering container: --podcliques=NAME:N[,NAME:N].
func parents(args []string) []parent {
	var found []parent
	for _, arg := range args {
		list, ok := strings.CutPrefix(arg, orderArgument)
		if !ok {
			continue
		}
		for _, term := range strings.Split(list, ",") {
			name, count, _ := strings.Cut(term, ":")
			if n, err := strconv.Atoi(count); err == nil {
				found = append(found, parent{name, n})
			}
		}
	}
	return found
}

func (k *kubelet) parentsReady(namespace string, args []string) bool {
	for _, parent := range parents(args) {
		pods, err := k.pods.Pods(namespace).List(labels.SelectorFromSet(labels.Set{labelOfPodClique: parent.clique}))
		if err != nil {
			return false
		}
		ready := 0
		for _, pod := range pods {
			if pod.DeletionTimestamp == nil && isReady(pod) {
				ready++
			}
		}
		if ready < parent.ready {
			return false
		}
	}
	return true
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// condition sets one condition; its time moves only when its status does.
func condition(status *corev1.PodStatus, kind corev1.PodConditionType, holds bool, reason string, now metav1.Time) {
	value := corev1.ConditionFalse
	if holds {
		value, reason = corev1.ConditionTrue, ""
	}
	for i := range status.Conditions {
		c := &status.Conditions[i]
		if c.Type != kind {
			continue
		}
		if c.Status != value {
			c.LastTransitionTime = now.Rfc3339Copy()
		}
		c.Status, c.Reason, c.Message = value, reason, ""
		return
	}
	status.Conditions = append(status.Conditions, corev1.PodCondition{
		Type: kind, Status: value, Reason: reason, LastTransitionTime: now.Rfc3339Copy()})
}
