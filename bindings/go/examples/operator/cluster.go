// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	"libgrove.io/grove"
)

type key struct{ kind, namespace, name string }

type object = map[string]interface{}

type event struct {
	token      uint64
	kind, what string
	object     object
	version    string
}

// Cluster implements grove.Backend.
type Cluster struct {
	objects    map[key]object
	version    int
	now        time.Time
	operations []grove.Operation
	done       map[uint64]answer // carried out, not yet taken by the sink
	watches    map[uint64]grove.Watch
	events     []event
}

type answer struct {
	failed  error
	http    int
	reason  string
	message string
	object  object
}

func newCluster(now time.Time) *Cluster {
	c := &Cluster{objects: map[key]object{}, done: map[uint64]answer{}, watches: map[uint64]grove.Watch{}, now: now}
	c.store("ADDED", key{"Namespace", "", "default"}, object{"metadata": object{"name": "default"}})
	return c
}

func (c *Cluster) Capabilities() uint32 { return grove.CapStatus | grove.CapDeterministic }

func (c *Cluster) Submit(op grove.Operation) error {
	if op.Token == 0 || op.Verb == "?" {
		return grove.ErrInvalid
	}
	c.operations = append(c.operations, op)
	return nil
}

func (c *Cluster) Cancel(token uint64) error {
	for _, op := range c.operations {
		if op.Token == token {
			c.done[token] = answer{failed: grove.ErrCancelled}
			return nil
		}
	}
	if _, known := c.watches[token]; !known {
		return grove.ErrNotFound
	}
	delete(c.watches, token)
	return nil
}

func (c *Cluster) Watch(w grove.Watch) error {
	c.watches[w.Token] = w
	for _, k := range c.keys() {
		if c.sees(w, k) {
			c.events = append(c.events, event{w.Token, w.Kind, "ADDED", c.objects[k], versionOf(c.objects[k])})
		}
	}
	c.events = append(c.events, event{w.Token, w.Kind, "SYNCED", nil, strconv.Itoa(c.version)})
	return nil
}

func (c *Cluster) Process(now time.Time, budget int, sink *grove.Sink) (time.Time, error) {
	c.now = now
	left := budget
	if left == 0 {
		left = math.MaxInt
	}
	for ; left > 0 && len(c.operations) > 0; left-- {
		op := c.operations[0]
		a, known := c.done[op.Token]
		if !known {
			a = c.carryOut(op)
			c.done[op.Token] = a
		}
		if err := c.reply(op, a, sink); err != nil {
			return now, err
		}
		delete(c.done, op.Token)
		c.operations = c.operations[1:]
	}
	for ; left > 0 && len(c.events) > 0; left-- {
		e := c.events[0]
		var o interface{}
		if e.object != nil {
			o = e.object
		}
		if err := sink.Event(e.token, e.kind, e.what, o, e.version); err != nil {
			return now, err
		}
		c.events = c.events[1:]
	}
	if len(c.operations) > 0 || len(c.events) > 0 {
		return now, nil
	}
	return grove.Never, nil
}

func (c *Cluster) reply(op grove.Operation, a answer, sink *grove.Sink) error {
	switch {
	case !op.WantsReply:
		return nil
	case a.failed != nil:
		return sink.Fail(op.Token, a.failed, a.http, a.reason, a.message)
	case a.object == nil:
		return sink.Complete(op.Token, a.http, nil)
	}
	return sink.Complete(op.Token, a.http, a.object)
}

func (c *Cluster) carryOut(op grove.Operation) answer {
	k := key{op.Kind, op.Namespace, op.Name}
	stored, found := c.objects[k]
	switch {
	case op.Verb == "CREATE":
		return c.create(op)
	case op.Verb == "EVENT": // nobody reads them here
		return answer{http: http.StatusCreated}
	case !found:
		return notFound(op.Name)
	}
	m := stored["metadata"].(object)
	if (op.UID != "" && op.UID != m["uid"]) || (op.ResourceVersion != "" && op.ResourceVersion != m["resourceVersion"]) {
		return conflict("another uid or version")
	}
	switch op.Verb {
	case "GET":
		return answer{http: http.StatusOK, object: stored}
	case "PATCH":
		return c.patch(op, k, stored)
	case "DELETE":
		return answer{http: http.StatusOK, object: c.remove(k)}
	case "BIND":
		return c.bind(op, k, stored)
	}
	return answer{failed: grove.ErrUnsupported, http: http.StatusMethodNotAllowed, message: op.Verb}
}

func (c *Cluster) bind(op grove.Operation, k key, stored object) answer {
	bound := clone(stored)
	spec := bound["spec"].(object)
	if size(spec["schedulingGates"]) > 0 || spec["nodeName"] != nil {
		return conflict("the pod is gated or bound already")
	}
	spec["nodeName"] = op.Target
	c.store("MODIFIED", k, bound)
	return answer{http: http.StatusCreated}
}

func (c *Cluster) create(op grove.Operation) answer {
	o := object{}
	kind := strings.SplitN(op.Kind, ".", 2)[0]
	if err := json.Unmarshal(op.Body, &o); err != nil || (o["kind"] != nil && o["kind"] != kind) {
		return refuse(http.StatusBadRequest, "the body is no "+kind)
	}
	m, _ := o["metadata"].(object)
	name, _ := m["name"].(string)
	if prefix, _ := m["generateName"].(string); name == "" && prefix != "" {
		name = fmt.Sprintf("%s%05d", prefix, c.version%100000)
		m["name"] = name
	}
	if name == "" || strings.ToLower(name) != name {
		return refuse(http.StatusUnprocessableEntity, "metadata.name: "+name)
	}
	if _, found := c.objects[key{"Namespace", "", op.Namespace}]; op.Namespace != "" && !found {
		return notFound(op.Namespace)
	}
	k := key{op.Kind, op.Namespace, name}
	if _, taken := c.objects[k]; taken {
		return answer{failed: grove.ErrExists, http: http.StatusConflict, reason: "AlreadyExists", message: name}
	}
	o["apiVersion"], o["kind"] = grove.APIVersion(op.Kind), kind
	if op.Namespace != "" {
		m["namespace"] = op.Namespace
	}
	m["uid"] = fmt.Sprintf("00000000-0000-0000-0000-%012d", c.version+1)
	m["creationTimestamp"], m["generation"] = c.now.UTC().Format(time.RFC3339), 1.0
	delete(o, "status")
	if op.Kind == "Pod" {
		o["status"] = object{"phase": "Pending"}
		if gates, _ := o["spec"].(object)["schedulingGates"].([]interface{}); len(gates) > 0 {
			o["status"].(object)["conditions"] = []object{{"type": "PodScheduled", "status": "False",
				"reason": "SchedulingGated"}}
		}
	}
	return answer{http: http.StatusCreated, object: c.store("ADDED", k, o)}
}

func (c *Cluster) patch(op grove.Operation, k key, stored object) answer {
	apply := grove.MergePatch
	if op.PatchType == "json" {
		apply = grove.JSONPatch
	}
	doc, err := apply(stored, op.Body)
	var after object
	if err == nil {
		err = doc.Decode(&after)
	}
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, err.Error())
	}
	before := clone(stored)
	old, m := before["metadata"].(object), after["metadata"].(object)
	switch {
	case m["name"] != old["name"]:
		return refuse(http.StatusBadRequest, "the name cannot be changed")
	case m["resourceVersion"] != old["resourceVersion"]:
		return conflict("the object has been modified")
	case old["deletionTimestamp"] != nil && size(m["finalizers"]) > size(old["finalizers"]):
		return refuse(http.StatusUnprocessableEntity, "no finalizer can be added to what is being deleted")
	case k.kind == "Pod" && !podMayChange(before["spec"].(object), after["spec"].(object)):
		return refuse(http.StatusUnprocessableEntity, "of a pod's spec only gates can go")
	}
	if op.Subresource == "status" {
		before["status"] = after["status"]
		after = before
	} else if after["status"] = before["status"]; before["status"] == nil {
		delete(after, "status")
	}
	if reflect.DeepEqual(after, clone(stored)) {
		return answer{http: http.StatusOK, object: stored}
	}
	if !reflect.DeepEqual(after["spec"], clone(stored)["spec"]) {
		m["generation"] = m["generation"].(float64) + 1
	}
	if m["deletionTimestamp"] != nil && size(m["finalizers"]) == 0 {
		return answer{http: http.StatusOK, object: c.store("DELETED", k, after)}
	}
	return answer{http: http.StatusOK, object: c.store("MODIFIED", k, after)}
}

func podMayChange(before, after object) bool {
	for _, field := range []string{"nodeName", "schedulerName", "containers"} {
		if !reflect.DeepEqual(before[field], after[field]) {
			return false
		}
	}
	return size(after["schedulingGates"]) <= size(before["schedulingGates"])
}

func size(list interface{}) int {
	items, _ := list.([]interface{})
	return len(items)
}

func refuse(code int, message string) answer {
	return answer{failed: grove.ErrRefused, http: code, reason: "Invalid", message: message}
}

func conflict(message string) answer {
	return answer{failed: grove.ErrConflict, http: http.StatusConflict, reason: "Conflict", message: message}
}

func notFound(name string) answer {
	return answer{failed: grove.ErrNotFound, http: http.StatusNotFound, reason: "NotFound", message: name + " not found"}
}

func (c *Cluster) remove(k key) object {
	o := clone(c.objects[k])
	m := o["metadata"].(object)
	switch {
	case size(m["finalizers"]) == 0:
		return c.store("DELETED", k, o)
	case m["deletionTimestamp"] == nil:
		m["deletionTimestamp"] = c.now.UTC().Format(time.RFC3339)
		return c.store("MODIFIED", k, o)
	}
	return c.objects[k]
}

// store keeps an object (or not, any more) and tells the watches; what it owned goes with it.
func (c *Cluster) store(what string, k key, o object) object {
	o = clone(o) // in JSON's types; what was handed out stays as it was
	c.version++
	m := o["metadata"].(object)
	m["resourceVersion"] = strconv.Itoa(c.version)
	if c.objects[k] = o; what == "DELETED" {
		delete(c.objects, k)
	}
	for _, w := range c.watches {
		if w.Kind == k.kind && (w.Namespace == "" || w.Namespace == k.namespace) {
			c.events = append(c.events, event{w.Token, k.kind, what, o, versionOf(o)})
		}
	}
	if what == "DELETED" {
		for _, other := range c.keys() {
			if owned, found := c.objects[other]; found && ownedBy(owned, m["uid"]) {
				c.remove(other)
			}
		}
	}
	return o
}

func ownedBy(o object, uid interface{}) bool {
	owners, _ := o["metadata"].(object)["ownerReferences"].([]interface{})
	for _, owner := range owners {
		if owner.(object)["uid"] == uid {
			return true
		}
	}
	return false
}

func (c *Cluster) sees(w grove.Watch, k key) bool {
	return w.Kind == k.kind && (w.Namespace == "" || w.Namespace == k.namespace)
}

func (c *Cluster) keys() []key {
	all := make([]key, 0, len(c.objects))
	for k := range c.objects {
		all = append(all, k)
	}
	sort.Slice(all, func(i, j int) bool { return fmt.Sprint(all[i]) < fmt.Sprint(all[j]) })
	return all
}

func versionOf(o object) string { return o["metadata"].(object)["resourceVersion"].(string) }

func clone(o object) object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // it came from JSON
	}
	var copied object
	if err := json.Unmarshal(text, &copied); err != nil {
		panic(err)
	}
	return copied
}

// runPods is the kubelet: a pod without a gate has a node and is Ready at once.
func (c *Cluster) runPods() {
	for _, k := range c.keys() {
		o := c.objects[k]
		if k.kind != "Pod" || o["status"].(object)["phase"] == "Running" {
			continue
		}
		if gates, _ := o["spec"].(object)["schedulingGates"].([]interface{}); len(gates) > 0 {
			continue
		}
		running := clone(o)
		running["spec"].(object)["nodeName"] = "one-big-node"
		conditions := []object{}
		for _, kind := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
			conditions = append(conditions, object{"type": kind, "status": "True",
				"lastTransitionTime": c.now.UTC().Format(time.RFC3339)})
		}
		running["status"] = object{"phase": "Running", "conditions": conditions}
		c.store("MODIFIED", k, running)
	}
}
