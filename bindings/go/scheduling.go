// SPDX-License-Identifier: Apache-2.0

package grove

/*
#include <grove/grove.h>
#include <stdlib.h>

extern int64_t groveGoOrder(uintptr_t h, grove_sched_candidate *candidate);
extern int32_t groveGoVeto(uintptr_t h, uint32_t class_id, uint32_t node);

static int64_t go_order(void *ctx, const grove_sched_candidate *c) {
    return groveGoOrder((uintptr_t)ctx, (grove_sched_candidate *)c);
}
static int32_t go_veto(void *ctx, uint32_t class_id, uint32_t node) {
    return groveGoVeto((uintptr_t)ctx, class_id, node);
}
static void grove_go_sched_callbacks(grove_sched_options *o, int with_order, int with_veto, uintptr_t handle) {
    o->order = with_order ? go_order : NULL;
    o->order_ctx = (void *)handle;
    o->veto = with_veto ? go_veto : NULL;
    o->veto_ctx = (void *)handle;
}
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"sort"
	"unsafe"
)

// Candidate is a domain that is about to be tried; Rank is the engine's own key, smaller first.
type Candidate struct {
	Topology uint32
	Level    int32
	Domain   uint32
	Rank     int64
}

// Node is a node; without "pods" in Capacity it takes any number of pods.
type Node struct {
	Name          string
	Labels        map[string]string
	Capacity      map[string]int64
	Unschedulable bool
	Down          bool
}

// PodGroup is Count identical pods, of which Min are placed with the gang or nothing is.
type PodGroup struct {
	Name                string
	Requests            map[string]int64
	Selector            map[string]string
	Min, Count          uint32
	Required, Preferred string // label keys of the topology, or "host"; "": no constraint
}

// Gang is what is placed as one.
type Gang struct {
	Name, Topology      string // Topology "" is "default"
	PodGroups           []PodGroup
	Required, Preferred string
	Priority            int32
}

// Decision is the answer about one gang: "placed", "infeasible" (proven) or "unknown" (the budget ended).
type Decision struct {
	Verdict     string
	Steps       uint64
	Score       int32               // millionths
	Nodes       map[string][]string // podgroup to the node of each pod; "" for a surplus pod without one
	Reason      string              // what the proof is about
	Explanation *Document
}

type callbacks struct {
	sched  *Scheduler
	order  func(Candidate) int64
	veto   func(class uint32, node string) bool
	raised error
}

// Scheduler is a cluster as the scheduler sees it.
type Scheduler struct {
	p          *C.grove_sched
	gang       *C.grove_gang
	decision   *C.grove_decision
	topologies map[string]C.uint32_t
	callbacks  *callbacks
	handle     cgo.Handle
	placed     bool
}

// SchedulerOption sets one thing about a scheduler.
type SchedulerOption func(*callbacks)

// WithOrder gives the key by which candidate domains are tried, smaller first. Answers stay sound and complete.
func WithOrder(order func(Candidate) int64) SchedulerOption {
	return func(c *callbacks) { c.order = order }
}

// WithVeto forbids nodes to classes of pods.
func WithVeto(veto func(class uint32, node string) bool) SchedulerOption {
	return func(c *callbacks) { c.veto = veto }
}

// NewScheduler makes an empty cluster.
func NewScheduler(options ...SchedulerOption) (*Scheduler, error) {
	var m scratch
	defer m.free()
	s := &Scheduler{topologies: map[string]C.uint32_t{}, callbacks: &callbacks{}}
	s.callbacks.sched = s
	for _, option := range options {
		option(s.callbacks)
	}
	s.handle = cgo.NewHandle(s.callbacks)
	o := (*C.grove_sched_options)(m.alloc(C.sizeof_grove_sched_options))
	o.size = C.sizeof_grove_sched_options
	C.grove_go_sched_callbacks(o, flag(s.callbacks.order != nil), flag(s.callbacks.veto != nil), C.uintptr_t(s.handle))
	err := call(func(e *C.grove_error) C.grove_status { return C.grove_sched_new(shared().p, o, &s.p, e) })
	if err == nil {
		err = failure(C.grove_gang_new(s.p, &s.gang), nil)
	}
	if err == nil {
		err = failure(C.grove_decision_new(s.p, &s.decision), nil)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close frees the scheduler.
func (s *Scheduler) Close() {
	if s.p != nil {
		C.grove_decision_free(s.decision)
		C.grove_gang_free(s.gang)
		C.grove_sched_free(s.p)
		s.p = nil
		s.handle.Delete()
	}
}

func flag(on bool) C.int {
	if on {
		return 1
	}
	return 0
}

//export groveGoOrder
func groveGoOrder(h C.uintptr_t, c *C.grove_sched_candidate) (key C.int64_t) {
	it := cgo.Handle(h).Value().(*callbacks)
	key = c.rank
	defer it.caught()
	return C.int64_t(it.order(Candidate{uint32(c.topology), int32(c.level), uint32(c.domain), int64(c.rank)}))
}

//export groveGoVeto
func groveGoVeto(h C.uintptr_t, class, node C.uint32_t) (no C.int32_t) {
	it := cgo.Handle(h).Value().(*callbacks)
	no = 1
	defer it.caught()
	return C.int32_t(flag(it.veto(uint32(class), C.GoString(C.grove_sched_node_name(it.sched.p, node)))))
}

// caught keeps what a callback panicked with, for Place to return: it must not pass through C.
func (c *callbacks) caught() {
	if r := recover(); r != nil && c.raised == nil {
		c.raised = fmt.Errorf("grove: a callback panicked: %v", r)
	}
}

// AddTopology declares a topology: label keys from broad to narrow.
func (s *Scheduler) AddTopology(name string, keys ...string) error {
	var m scratch
	defer m.free()
	array := (*[1 << 16]*C.char)(m.alloc(uintptr(len(keys)) * unsafe.Sizeof((*C.char)(nil))))
	for i, key := range keys {
		array[i] = m.text(key)
	}
	var id C.uint32_t
	err := call(func(e *C.grove_error) C.grove_status {
		return C.grove_sched_topology(s.p, m.text(name), &array[0], C.uint32_t(len(keys)), &id, e)
	})
	s.topologies[name] = id
	return err
}

func (s *Scheduler) amounts(m *scratch, by map[string]int64) (*C.int64_t, C.uint32_t, error) {
	values := map[C.uint32_t]int64{}
	var n C.uint32_t
	for _, name := range sorted(len(by), func(add func(string)) {
		for name := range by {
			add(name)
		}
	}) { // in order, so that resources get the same numbers in each run
		var id C.uint32_t
		if st := C.grove_sched_resource(s.p, m.text(name), &id); st < 0 {
			return nil, 0, failure(st, nil)
		}
		values[id] = by[name]
		if id+1 > n {
			n = id + 1
		}
	}
	array := (*[1 << 16]C.int64_t)(m.alloc(uintptr(n) * C.sizeof_int64_t))
	for id, value := range values {
		array[id] = C.int64_t(value)
	}
	return &array[0], n, nil
}

func sorted(n int, each func(add func(string))) []string {
	names := make([]string, 0, n)
	each(func(name string) { names = append(names, name) })
	sort.Strings(names)
	return names
}

func labels(m *scratch, by map[string]string) (*C.grove_sched_label, C.uint32_t) {
	array := (*[1 << 16]C.grove_sched_label)(m.alloc(uintptr(len(by)) * C.sizeof_grove_sched_label))
	for i, key := range sorted(len(by), func(add func(string)) {
		for key := range by {
			add(key)
		}
	}) {
		array[i].key, array[i].value = m.text(key), m.text(by[key])
	}
	return &array[0], C.uint32_t(len(by))
}

// AddNode adds a node.
func (s *Scheduler) AddNode(n Node) error {
	var m scratch
	defer m.free()
	capacity := map[string]int64{"pods": 1 << 30}
	for name, amount := range n.Capacity {
		capacity[name] = amount
	}
	c := (*C.grove_sched_node)(m.alloc(C.sizeof_grove_sched_node))
	c.size, c.name = C.sizeof_grove_sched_node, m.text(n.Name)
	if n.Unschedulable {
		c.flags |= C.GROVE_NODE_UNSCHEDULABLE
	}
	if n.Down {
		c.flags |= C.GROVE_NODE_DOWN
	}
	c.labels, c.n_labels = labels(&m, n.Labels)
	var err error
	if c.capacity, c.n_capacity, err = s.amounts(&m, capacity); err != nil {
		return err
	}
	var id C.uint32_t
	return call(func(e *C.grove_error) C.grove_status { return C.grove_sched_node_add(s.p, c, &id, e) })
}

// Place finds places for a gang and changes nothing. Commit turns its answer into pods.
func (s *Scheduler) Place(g Gang) (*Decision, error) {
	s.placed = false
	if err := s.describe(g); err != nil {
		return nil, err
	}
	err := call(func(e *C.grove_error) C.grove_status {
		return C.grove_sched_place(s.p, s.gang, nil, s.decision, e)
	})
	if raised := s.callbacks.raised; raised != nil {
		s.callbacks.raised = nil
		return nil, raised
	}
	if err != nil {
		return nil, err
	}
	return s.read(g)
}

func (s *Scheduler) level(m *scratch, topology C.uint32_t, key string) C.grove_level {
	if key == "" {
		return C.GROVE_LEVEL_NONE
	}
	return C.grove_sched_level(s.p, topology, m.text(key))
}

func (s *Scheduler) describe(g Gang) error {
	var m scratch
	defer m.free()
	if g.Topology == "" {
		g.Topology = "default"
	}
	topology, known := s.topologies[g.Topology]
	if !known {
		return &Error{Status: C.GROVE_E_NOT_FOUND, Message: "no topology " + g.Topology}
	}
	st := C.grove_gang_begin(s.gang, topology, m.text(g.Name))
	if st >= 0 {
		st = C.grove_gang_pack(s.gang, s.level(&m, topology, g.Required), s.level(&m, topology, g.Preferred))
	}
	if st >= 0 {
		st = C.grove_gang_priority(s.gang, C.int32_t(g.Priority))
	}
	for _, pg := range g.PodGroups {
		if st < 0 {
			break
		}
		class, err := s.class(&m, pg)
		if err != nil {
			return err
		}
		var id C.uint32_t
		st = C.grove_gang_podgroup(s.gang, m.text(pg.Name), class, C.uint32_t(pg.Min), C.uint32_t(pg.Count),
			s.level(&m, topology, pg.Required), s.level(&m, topology, pg.Preferred), &id)
	}
	return failure(st, nil)
}

func (s *Scheduler) class(m *scratch, pg PodGroup) (C.uint32_t, error) {
	spec := (*C.grove_sched_class_spec)(m.alloc(C.sizeof_grove_sched_class_spec))
	spec.size = C.sizeof_grove_sched_class_spec
	var err error
	if spec.requests, spec.n_requests, err = s.amounts(m, pg.Requests); err != nil {
		return 0, err
	}
	spec.selector, spec.n_selector = labels(m, pg.Selector)
	var id C.uint32_t
	err = call(func(e *C.grove_error) C.grove_status { return C.grove_sched_class(s.p, spec, &id, e) })
	return id, err
}

func (s *Scheduler) read(g Gang) (*Decision, error) {
	verdicts := map[C.grove_verdict]string{C.GROVE_PLACED: "placed", C.GROVE_INFEASIBLE: "infeasible",
		C.GROVE_UNKNOWN: "unknown"}
	d := &Decision{Verdict: verdicts[C.grove_decision_verdict(s.decision)],
		Steps: uint64(C.grove_decision_steps(s.decision)), Nodes: map[string][]string{}}
	if s.placed = d.Verdict == "placed"; s.placed {
		d.Score = int32(C.grove_decision_score(s.decision))
		for i, pg := range g.PodGroups {
			var n C.uint32_t
			ids := C.grove_decision_nodes(s.decision, C.uint32_t(i), &n)
			nodes := make([]string, int(n))
			for k, id := range unsafe.Slice(ids, int(n)) {
				if id != C.GROVE_SCHED_NONE {
					nodes[k] = C.GoString(C.grove_sched_node_name(s.p, id))
				}
			}
			d.Nodes[pg.Name] = nodes
		}
	}
	var certificate C.grove_certificate
	certificate.size = C.sizeof_grove_certificate
	if C.grove_decision_certificate(s.decision, &certificate) >= 0 && certificate.reason != 0 {
		d.Reason = C.GoString(C.grove_reason_name(certificate.reason))
	}
	text, err := written(shared(), func(buf *C.grove_buf, e *C.grove_error) C.grove_status {
		return C.grove_sched_explain(s.p, s.gang, s.decision, C.GROVE_EXPLAIN_JSON, buf, e)
	})
	if err == nil && len(text) > 0 {
		d.Explanation, err = ParseJSON(nil, text)
	}
	return d, err
}

// Commit turns the last decision, which must be "placed", into pods; the number names the gang for Release.
func (s *Scheduler) Commit() (uint32, error) {
	if !s.placed {
		return 0, &Error{Status: C.GROVE_E_INVALID, Message: "the last decision placed nothing"}
	}
	s.placed = false
	var id C.uint32_t
	err := call(func(e *C.grove_error) C.grove_status {
		return C.grove_sched_commit(s.p, s.gang, s.decision, &id, e)
	})
	return uint32(id), err
}

// Release removes the pods of a gang.
func (s *Scheduler) Release(gang uint32) error {
	s.placed = false
	return failure(C.grove_sched_release(s.p, C.uint32_t(gang)), nil)
}

// WhatIf runs f; what it does to pods and gangs is undone afterwards.
func (s *Scheduler) WhatIf(f func() error) error {
	var mark C.uint64_t
	if st := C.grove_sched_mark(s.p, &mark); st < 0 {
		return failure(st, nil)
	}
	err := f()
	s.placed = false
	if st := C.grove_sched_rollback(s.p, mark); st < 0 {
		return failure(st, nil)
	}
	return err
}

// StateHash is a hash over everything that decisions depend on.
func (s *Scheduler) StateHash() uint64 { return uint64(C.grove_sched_hash(s.p)) }
