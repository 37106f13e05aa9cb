// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"log"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Annotations by which a test scripts a pod.
const (
	annotationReadyAfter = "nodesim.libgrove.io/ready-after" // duration from start to Ready [200ms]
	annotationReady      = "nodesim.libgrove.io/ready"       // "false": started, never Ready
	annotationExit       = "nodesim.libgrove.io/exit"        // exit code: the pod ends as soon as it runs
)

// On a Node: its kubelet has none left of this resource, whatever its status says, and refuses pods that ask for it.
const annotationRefuse = "nodesim.libgrove.io/refuse"

const (
	defaultReadyAfter = 200 * time.Millisecond
	endAfter          = 300 * time.Millisecond // from deletion mark to gone
	lookAgain         = 200 * time.Millisecond // a pod whose init container waits for others
)

// kubelet plays the part of all nodes' kubelets.
type kubelet struct {
	client  kubernetes.Interface
	nodes   map[string]bool
	factory informers.SharedInformerFactory
	pods    listers.PodLister
	hosts   listers.NodeLister
	queue   workqueue.TypedRateLimitingInterface[string]
	now     func() time.Time

	lock  sync.Mutex
	since map[types.UID]moments
}

// moments are what a pod's status does not hold to the millisecond.
type moments struct {
	running, deleted time.Time
}

func newKubelet(client kubernetes.Interface, nodes []*corev1.Node) *kubelet {
	k := &kubelet{
		client: client, nodes: map[string]bool{}, now: time.Now, since: map[types.UID]moments{},
		factory: informers.NewSharedInformerFactory(client, 0),
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	for _, node := range nodes {
		k.nodes[node.Name] = true
	}
	k.pods = k.factory.Core().V1().Pods().Lister()
	k.hosts = k.factory.Core().V1().Nodes().Lister()
	return k
}

func (k *kubelet) run(ctx context.Context, workers int) error {
	informer := k.factory.Core().V1().Pods().Informer()
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			k.queue.Add(key)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, DeleteFunc: k.forget, UpdateFunc: func(_, object any) { enqueue(object) },
	})
	if err != nil {
		return err
	}
	nodes := k.factory.Core().V1().Nodes().Informer()
	k.factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, nodes.HasSynced) {
		return fmt.Errorf("the lists of pods and nodes never came")
	}
	for range workers {
		go k.work(ctx)
	}
	<-ctx.Done()
	k.queue.ShutDown()
	return nil
}

func (k *kubelet) forget(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		k.lock.Lock()
		delete(k.since, pod.UID)
		k.lock.Unlock()
	}
}

func (k *kubelet) work(ctx context.Context) {
	for {
		key, closed := k.queue.Get()
		if closed {
			return
		}
		again, err := k.sync(ctx, key)
		switch {
		case err != nil && !errors.IsNotFound(err):
			if !errors.IsConflict(err) {
				log.Printf("nodesim: %s: %v", key, err)
			}
			k.queue.AddRateLimited(key)
		case again > 0:
			k.queue.Forget(key)
			k.queue.AddAfter(key, again)
		default:
			k.queue.Forget(key)
		}
		k.queue.Done(key)
	}
}

// sync brings one pod a step further; a positive duration asks to be called again.
func (k *kubelet) sync(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	pod, err := k.pods.Pods(namespace).Get(name)
	if err != nil || !k.nodes[pod.Spec.NodeName] {
		return 0, err
	}
	if pod.DeletionTimestamp != nil {
		return k.end(ctx, pod)
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return 0, nil
	}
	status, again := k.status(pod)
	if pod.Status.StartTime == nil {
		if node, err := k.hosts.Get(pod.Spec.NodeName); err == nil && refuses(node, pod) {
			status, again = refusal(pod, node.Annotations[annotationRefuse]), 0
		}
	}
	if equality.Semantic.DeepEqual(status, pod.Status) {
		return again, nil
	}
	changed := pod.DeepCopy()
	changed.Status = status
	_, err = k.client.CoreV1().Pods(namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return again, err
}

func (k *kubelet) moment(uid types.UID, set func(*moments)) moments {
	k.lock.Lock()
	defer k.lock.Unlock()
	m := k.since[uid]
	set(&m)
	k.since[uid] = m
	return m
}

// end finishes a deletion as a kubelet does once the containers are gone.
func (k *kubelet) end(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	now := k.now()
	m := k.moment(pod.UID, func(m *moments) {
		if m.deleted.IsZero() {
			m.deleted = now
		}
	})
	wait := endAfter
	if grace := pod.DeletionGracePeriodSeconds; grace != nil && time.Duration(*grace)*time.Second < wait {
		wait = time.Duration(*grace) * time.Second
	}
	if left := wait - now.Sub(m.deleted); left > 0 {
		return left, nil
	}
	none := int64(0)
	return 0, k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &none, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}

// status is what the kubelet would say about the pod now.
func (k *kubelet) status(pod *corev1.Pod) (corev1.PodStatus, time.Duration) {
	status := *pod.Status.DeepCopy()
	now := metav1.NewTime(k.now())
	status.Phase = corev1.PodPending
	status.HostIP = "127.0.0.1"
	status.PodIP = address(pod.UID)
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	if status.StartTime == nil {
		status.StartTime = &now
	}
	condition(&status, corev1.PodReadyToStartContainers, true, "", now)
	blocked := k.initContainers(pod, &status, now)
	condition(&status, corev1.PodInitialized, !blocked, "ContainersNotInitialized", now)
	if blocked {
		status.ContainerStatuses = containers(pod.Spec.Containers, status.ContainerStatuses, waiting("PodInitializing"), false)
		k.readiness(&status, false, now)
		return status, lookAgain
	}
	m := k.moment(pod.UID, func(m *moments) {
		if m.running.IsZero() {
			m.running = now.Time
		}
	})
	if code, ends := pod.Annotations[annotationExit]; ends {
		k.exit(pod, &status, code, now)
		return status, 0
	}
	left := readyAfter(pod) - now.Sub(m.running)
	ready := left <= 0 && pod.Annotations[annotationReady] != "false"
	status.Phase = corev1.PodRunning
	status.ContainerStatuses = containers(pod.Spec.Containers, status.ContainerStatuses, running(metav1.NewTime(m.running)), ready)
	k.readiness(&status, ready, now)
	return status, max(left, 0)
}

func readyAfter(pod *corev1.Pod) time.Duration {
	if text, ok := pod.Annotations[annotationReadyAfter]; ok {
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
		log.Printf("nodesim: %s/%s: %s: %q is no duration", pod.Namespace, pod.Name, annotationReadyAfter, text)
	}
	return defaultReadyAfter
}

func (k *kubelet) readiness(status *corev1.PodStatus, ready bool, now metav1.Time) {
	condition(status, corev1.ContainersReady, ready, "ContainersNotReady", now)
	condition(status, corev1.PodReady, ready, "ContainersNotReady", now)
}

func refuses(node *corev1.Node, pod *corev1.Pod) bool {
	short := corev1.ResourceName(node.Annotations[annotationRefuse])
	for _, c := range pod.Spec.Containers {
		if asked := c.Resources.Requests[short]; !asked.IsZero() {
			return true
		}
	}
	return false
}

// refusal is what a kubelet says about a pod that it does not admit.
func refusal(pod *corev1.Pod, short string) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	now := metav1.Now()
	status.Phase, status.StartTime = corev1.PodFailed, &now
	status.Reason = "OutOf" + short
	status.Message = "Pod was rejected: Node didn't have enough resource: " + short
	return status
}

// exit ends the pod's containers; a pod that restarts them is shown in its back-off.
func (k *kubelet) exit(pod *corev1.Pod, status *corev1.PodStatus, code string, now metav1.Time) {
	ended := terminated(code, now)
	always := pod.Spec.RestartPolicy == corev1.RestartPolicyAlways || pod.Spec.RestartPolicy == ""
	again := always || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && code != "0"
	state := ended
	status.Phase = corev1.PodRunning
	if again {
		state = waiting("CrashLoopBackOff")
	} else if code == "0" {
		status.Phase = corev1.PodSucceeded
	} else {
		status.Phase = corev1.PodFailed
	}
	old := status.ContainerStatuses
	status.ContainerStatuses = containers(pod.Spec.Containers, old, state, false)
	for i := range status.ContainerStatuses {
		if again {
			status.ContainerStatuses[i].RestartCount = 1
			status.ContainerStatuses[i].LastTerminationState = ended
			if i < len(old) && old[i].RestartCount > 0 {
				status.ContainerStatuses[i].LastTerminationState = old[i].LastTerminationState
			}
		}
	}
	k.readiness(status, false, now)
}

// address is a pod's made-up IP, the same for the same pod.
func address(uid types.UID) string {
	h := fnv.New32a()
	h.Write([]byte(uid))
	n := h.Sum32()
	return fmt.Sprintf("10.%d.%d.%d", 128+n>>24&63, n>>16&255, n>>8&255)
}
