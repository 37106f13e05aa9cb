// SPDX-License-Identifier: Apache-2.0

package grove

/*
#include <grove/grove.h>
#include <grove/sys/backend.h>
#include <grove/sys/conformance.h>
#include <grove/sys/sim.h>
#include <grove/sys/util.h>
#include <stdlib.h>

// Go's exported functions take no const and no callbacks of C's spelling: these stand between. A backend's impl
// and a callback's ctx are the numbers of Go handles, never Go pointers.
extern int32_t groveGoSubmit(uintptr_t h, grove_op *op, grove_error *err);
extern int32_t groveGoCancel(uintptr_t h, uint64_t token, grove_error *err);
extern int32_t groveGoWatch(uintptr_t h, grove_watch *watch, grove_error *err);
extern int32_t groveGoProcess(uintptr_t h, int64_t now, uint32_t budget, grove_sink *sink, int64_t *deadline,
                              grove_error *err);
extern void groveGoDestroy(uintptr_t h);
extern void groveGoCheck(uintptr_t h, char *name, int32_t result, char *message);

static grove_status go_submit(void *impl, const grove_op *op, grove_error *err) {
    return groveGoSubmit((uintptr_t)impl, (grove_op *)op, err);
}
static grove_status go_cancel(void *impl, uint64_t token, grove_error *err) {
    return groveGoCancel((uintptr_t)impl, token, err);
}
static grove_status go_watch(void *impl, const grove_watch *watch, grove_error *err) {
    return groveGoWatch((uintptr_t)impl, (grove_watch *)watch, err);
}
static grove_status go_process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink, int64_t *deadline,
                               grove_error *err) {
    return groveGoProcess((uintptr_t)impl, now, budget, (grove_sink *)sink, deadline, err);
}
static void go_destroy(void *impl) { groveGoDestroy((uintptr_t)impl); }

static const grove_backend_ops go_ops = {(uint32_t)sizeof(grove_backend_ops), 0, go_submit, go_cancel, go_watch,
                                         NULL, go_process, NULL, go_destroy};

static void grove_go_backend(grove_backend *out, uintptr_t handle, uint32_t caps) {
    out->size = (uint32_t)sizeof *out;
    out->caps = caps;
    out->ops = &go_ops;
    out->impl = (void *)handle;
}

static grove_status grove_go_complete(const grove_sink *sink, const grove_completion *c) {
    return sink->completion(sink->ctx, c);
}
static grove_status grove_go_event(const grove_sink *sink, const grove_event *e) {
    return sink->event(sink->ctx, e);
}
static void grove_go_destroy(grove_backend *b) { b->ops->destroy(b->impl); }

static void go_check(void *ctx, const char *name, grove_check_result result, const char *message) {
    groveGoCheck((uintptr_t)ctx, (char *)name, result, (char *)message);
}
static grove_status grove_go_conformance(grove_env *env, const grove_backend *b, uintptr_t handle,
                                         grove_conformance_report *report, grove_error *err) {
    grove_conformance_options o = {(uint32_t)sizeof o, 0, NULL, NULL, 0, 0, NULL, NULL, go_check, (void *)handle};
    return grove_conformance_run(env, b, &o, report, err);
}
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"
)

// What a backend can do.
const (
	CapStatus        uint32 = C.GROVE_CAP_STATUS
	CapScale         uint32 = C.GROVE_CAP_SCALE
	CapSelectors     uint32 = C.GROVE_CAP_SELECTORS
	CapGC            uint32 = C.GROVE_CAP_GC
	CapVirtualTime   uint32 = C.GROVE_CAP_VIRTUAL_TIME
	CapDeterministic uint32 = C.GROVE_CAP_DETERMINISTIC
)

// Never is the deadline of what waits for events only.
var Never = time.Unix(0, math.MaxInt64)

// Operation is one thing that the engine wants done; UID and ResourceVersion are preconditions where they are set.
type Operation struct {
	Token                  uint64
	Verb, Kind             string
	Namespace, Name        string
	Subresource, PatchType string
	Body                   json.RawMessage
	UID, ResourceVersion   string
	Target, Reason         string
	LabelSelector          string
	GraceSeconds, Replicas int64
	WantsReply             bool
}

// Watch is a watch to begin: ADDED for all there is, then SYNCED, then changes.
type Watch struct {
	Token                          uint64
	Kind, Namespace                string
	LabelSelector, ResourceVersion string
}

// Backend is a cluster written in Go. It delivers from Process only; grove/sys/backend.h has the whole contract.
// A cluster that refuses an operation says so by Sink.Fail, not by an error here.
type Backend interface {
	Submit(op Operation) error
	Cancel(token uint64) error
	Watch(w Watch) error
	// Process delivers at most budget items (0: no bound) and says when it wants to be called again.
	Process(now time.Time, budget int, sink *Sink) (time.Time, error)
	Capabilities() uint32
}

// errDelivery is the receiver's own failure: the item is delivered again by the next Process.
type errDelivery struct{ status C.grove_status }

func (e errDelivery) Error() string { return "grove: the receiver could not take an item" }

// Sink receives what Process delivers. An error from it must be returned at once; the same item comes again then.
type Sink struct{ p *C.grove_sink }

// Complete ends an operation with the object that its verb promises, or nil.
func (s *Sink) Complete(token uint64, http int, object interface{}) error {
	return s.complete(token, 0, http, "", "", object)
}

// Fail ends an operation: one of the Err values, Kubernetes' HTTP code and word, and a message.
func (s *Sink) Fail(token uint64, failed error, http int, reason, message string) error {
	var e *Error
	status := Status(C.GROVE_E_INTERNAL)
	if errors.As(failed, &e) {
		status = e.Status
	}
	return s.complete(token, status, http, reason, message, nil)
}

func (s *Sink) complete(token uint64, status Status, http int, reason, message string, object interface{}) error {
	var m scratch
	defer m.free()
	c := (*C.grove_completion)(m.alloc(C.sizeof_grove_completion))
	c.size, c.token, c.status, c.http = C.sizeof_grove_completion, C.uint64_t(token), C.grove_status(status), C.int32_t(http)
	c.reason, c.message = m.text(reason), m.text(message)
	if object != nil {
		d, err := From(object)
		if err != nil {
			return err
		}
		defer runtime.KeepAlive(d)
		c.object_doc, c.object = d.p, d.root()
	}
	return delivered(C.grove_go_complete(s.p, c))
}

// Event tells of a change: ADDED, MODIFIED, DELETED, BOOKMARK, SYNCED or GONE.
func (s *Sink) Event(token uint64, kind, what string, object interface{}, resourceVersion string) error {
	types := map[string]C.grove_event_type{"ADDED": C.GROVE_EVENT_ADDED, "MODIFIED": C.GROVE_EVENT_MODIFIED,
		"DELETED": C.GROVE_EVENT_DELETED, "BOOKMARK": C.GROVE_EVENT_BOOKMARK, "SYNCED": C.GROVE_EVENT_SYNCED,
		"GONE": C.GROVE_EVENT_GONE}
	var m scratch
	defer m.free()
	ev := (*C.grove_event)(m.alloc(C.sizeof_grove_event))
	ev.size, ev.token, ev.kind, ev._type = C.sizeof_grove_event, C.uint64_t(token), kindNumber(kind), types[what]
	ev.resource_version = m.text(resourceVersion)
	if object != nil {
		d, err := From(object)
		if err != nil {
			return err
		}
		defer runtime.KeepAlive(d)
		ev.object_doc, ev.object = d.p, d.root()
	}
	return delivered(C.grove_go_event(s.p, ev))
}

func delivered(status C.grove_status) error {
	if status < 0 {
		return errDelivery{status}
	}
	return nil
}

var kinds = func() map[string]C.grove_kind {
	found := map[string]C.grove_kind{}
	for k := C.grove_kind(1); k < C.GROVE_KIND_COUNT; k++ {
		name := C.GoString(C.grove_kind_name(k))
		if _, taken := found[name]; taken { // the later group's kind is Kind.group
			name += "." + C.GoString(C.grove_kind_group(k))
		}
		found[name] = k
	}
	return found
}()

var kindNames = func() map[C.grove_kind]string {
	names := map[C.grove_kind]string{}
	for name, number := range kinds {
		names[number] = name
	}
	return names
}()

func kindNumber(kind string) C.grove_kind { return kinds[kind] }

// APIVersion is "apps/v1", or "v1" for the core group; "" for a kind that libgrove does not know.
func APIVersion(kind string) string {
	number, known := kinds[kind]
	if !known {
		return ""
	}
	group, version := C.GoString(C.grove_kind_group(number)), C.GoString(C.grove_kind_version(number))
	if group == "" {
		return version
	}
	return group + "/" + version
}

// ---- what C calls ----

func fill(e *C.grove_error, err error) C.int32_t {
	if err == nil {
		return 0
	}
	var d errDelivery
	if errors.As(err, &d) {
		return C.int32_t(d.status)
	}
	status := C.grove_status(C.GROVE_E_INTERNAL)
	var known *Error
	if errors.As(err, &known) {
		status = C.grove_status(known.Status)
	}
	var m scratch
	defer m.free()
	return C.int32_t(C.grove_error_set(e, status, m.text(err.Error())))
}

func guarded(e *C.grove_error, f func() error) (status C.int32_t) {
	defer func() { // a panic must not pass through C
		if r := recover(); r != nil {
			status = fill(e, fmt.Errorf("panic: %v", r))
		}
	}()
	return fill(e, f())
}

func backendOf(h C.uintptr_t) Backend { return cgo.Handle(h).Value().(Backend) }

//export groveGoSubmit
func groveGoSubmit(h C.uintptr_t, op *C.grove_op, e *C.grove_error) C.int32_t {
	return guarded(e, func() error {
		if op.size < C.sizeof_grove_op {
			return ErrInvalid
		}
		o, err := operationOf(op)
		if err != nil {
			return err
		}
		return backendOf(h).Submit(o)
	})
}

//export groveGoCancel
func groveGoCancel(h C.uintptr_t, token C.uint64_t, e *C.grove_error) C.int32_t {
	return guarded(e, func() error { return backendOf(h).Cancel(uint64(token)) })
}

//export groveGoWatch
func groveGoWatch(h C.uintptr_t, w *C.grove_watch, e *C.grove_error) C.int32_t {
	return guarded(e, func() error {
		return backendOf(h).Watch(Watch{Token: uint64(w.token), Kind: kindNames[w.kind], Namespace: C.GoString(w.ns),
			LabelSelector: C.GoString(w.label_selector), ResourceVersion: C.GoString(w.resource_version)})
	})
}

//export groveGoProcess
func groveGoProcess(h C.uintptr_t, now C.int64_t, budget C.uint32_t, sink *C.grove_sink, deadline *C.int64_t,
	e *C.grove_error) C.int32_t {
	return guarded(e, func() error {
		next, err := backendOf(h).Process(time.Unix(0, int64(now)), int(budget), &Sink{sink})
		if err == nil {
			*deadline = C.int64_t(next.UnixNano())
		}
		return err
	})
}

//export groveGoDestroy
func groveGoDestroy(h C.uintptr_t) { cgo.Handle(h).Delete() }

//export groveGoCheck
func groveGoCheck(h C.uintptr_t, name *C.char, result C.int32_t, message *C.char) {
	list := cgo.Handle(h).Value().(*[]Check)
	words := []string{"passed", "failed", "skipped"}
	*list = append(*list, Check{C.GoString(name), words[result], C.GoString(message)})
}

func operationOf(op *C.grove_op) (Operation, error) {
	patches := map[C.grove_patch_type]string{C.GROVE_PATCH_MERGE: "merge", C.GROVE_PATCH_JSON: "json",
		C.GROVE_PATCH_STRATEGIC: "strategic"}
	subs := map[C.grove_subresource]string{C.GROVE_SUBRESOURCE_STATUS: "status", C.GROVE_SUBRESOURCE_SCALE: "scale",
		C.GROVE_SUBRESOURCE_BINDING: "binding", C.GROVE_SUBRESOURCE_EVICTION: "eviction"}
	o := Operation{Token: uint64(op.token), Verb: C.GoString(C.grove_verb_name(op.verb)), Kind: kindNames[op.kind],
		Namespace: C.GoString(op.ns), Name: C.GoString(op.name), Subresource: subs[op.subresource],
		PatchType: patches[op.patch_type], UID: C.GoString(op.uid), ResourceVersion: C.GoString(op.resource_version),
		Target: C.GoString(op.target), Reason: C.GoString(op.reason), LabelSelector: C.GoString(op.label_selector),
		GraceSeconds: int64(op.grace_seconds), Replicas: int64(op.replicas), WantsReply: op.flags&C.GROVE_OP_NO_REPLY == 0}
	if op.body_doc != nil {
		node := op.body
		if node == nil {
			node = C.grove_doc_root(op.body_doc)
		}
		body, err := written(shared(), func(buf *C.grove_buf, e *C.grove_error) C.grove_status {
			return C.grove_node_write_json(node, 0, buf, e)
		})
		if err != nil {
			return o, err
		}
		o.Body = body
	}
	return o, nil
}

// attached is a backend in C's form. Its memory is C's; destroy gives the handle back.
func attach(b Backend) *C.grove_backend {
	p := (*C.grove_backend)(C.calloc(1, C.sizeof_grove_backend))
	C.grove_go_backend(p, C.uintptr_t(cgo.NewHandle(b)), C.uint32_t(b.Capabilities()))
	return p
}

func detach(p *C.grove_backend) {
	C.grove_go_destroy(p)
	C.free(unsafe.Pointer(p))
}

// Check is one check of the conformance kit: "passed", "failed" or "skipped".
type Check struct{ Name, Result, Message string }

// Conformance runs the library's kit of checks on a backend, in virtual time.
func Conformance(b Backend) ([]Check, error) {
	p := attach(b)
	defer detach(p)
	checks := []Check{}
	h := cgo.NewHandle(&checks)
	defer h.Delete()
	var report C.grove_conformance_report
	report.size = C.sizeof_grove_conformance_report
	err := call(func(e *C.grove_error) C.grove_status {
		return C.grove_go_conformance(shared().p, p, C.uintptr_t(h), &report, e)
	})
	return checks, err
}

// Sim is a Kubernetes cluster in memory, in virtual time.
type Sim struct {
	p       *C.grove_sim
	backend *C.grove_backend
}

// NewSim makes a cluster; nodes is "BLOCKSxRACKSxNODESxGPUS", the long form of it, Node objects, or "".
func NewSim(nodes string, seed uint64) (*Sim, error) {
	var m scratch
	defer m.free()
	o := (*C.grove_sim_options)(m.alloc(C.sizeof_grove_sim_options))
	o.size, o.seed = C.sizeof_grove_sim_options, C.uint64_t(seed)
	s := &Sim{}
	err := call(func(e *C.grove_error) C.grove_status { return C.grove_sim_new(shared().p, o, &s.p, e) })
	if err != nil {
		return nil, err
	}
	s.backend = (*C.grove_backend)(C.calloc(1, C.sizeof_grove_backend))
	s.backend.size = C.sizeof_grove_backend
	err = call(func(e *C.grove_error) C.grove_status { return C.grove_sim_backend(s.p, s.backend, e) })
	if err == nil && nodes != "" {
		err = call(func(e *C.grove_error) C.grove_status { return C.grove_sim_add_nodes(s.p, m.text(nodes), e) })
	}
	return s, err
}

// Close frees the cluster; close the engines that ran on it first.
func (s *Sim) Close() {
	if s.p != nil {
		detach(s.backend)
		C.grove_sim_free(s.p)
		s.p = nil
	}
}

// Now is the virtual clock.
func (s *Sim) Now() time.Time { return time.Unix(0, int64(C.grove_sim_now(s.p))) }

// Apply is `kubectl apply`.
func (s *Sim) Apply(object interface{}) error {
	d, err := From(object)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(d)
	return call(func(e *C.grove_error) C.grove_status { return C.grove_sim_apply(s.p, d.p, d.root(), e) })
}

// List is every object of a kind; namespace "" means all.
func (s *Sim) List(kind, namespace string) (*Document, error) {
	var m scratch
	defer m.free()
	var p *C.grove_doc
	err := call(func(e *C.grove_error) C.grove_status {
		return C.grove_sim_list(s.p, kindNumber(kind), m.optional(namespace), nil, &p, e)
	})
	if err != nil {
		return nil, err
	}
	return ownDocument(p, shared()), nil
}

// Scale sets spec.replicas through the scale subresource.
func (s *Sim) Scale(kind, namespace, name string, replicas int64) error {
	var m scratch
	defer m.free()
	return call(func(e *C.grove_error) C.grove_status {
		return C.grove_sim_scale(s.p, kindNumber(kind), m.text(namespace), m.text(name), C.int64_t(replicas), e)
	})
}

// Delete deletes in the background.
func (s *Sim) Delete(kind, namespace, name string) error {
	var m scratch
	defer m.free()
	return call(func(e *C.grove_error) C.grove_status {
		return C.grove_sim_delete(s.p, kindNumber(kind), m.text(namespace), m.text(name), e)
	})
}

// FailNode silences a node.
func (s *Sim) FailNode(node string) error {
	var m scratch
	defer m.free()
	return call(func(e *C.grove_error) C.grove_status { return C.grove_sim_fail_node(s.p, m.text(node), e) })
}

// Engine keeps PodCliqueSets as they should be, on any backend.
type Engine struct {
	p       *C.grove_engine
	backend *C.grove_backend
	owned   bool
}

// EngineOptions says how; the zero value is good.
type EngineOptions struct {
	Config         *Config
	Namespace      string // "": all
	BindSchedulers string // comma-separated schedulerNames whose gangs the engine places and binds
	Seed           uint64
}

// NewEngine makes an engine for a backend of Go's or for a *Sim.
func NewEngine(cluster interface{}, options EngineOptions) (*Engine, error) {
	var m scratch
	defer m.free()
	o := (*C.grove_engine_options)(m.alloc(C.sizeof_grove_engine_options))
	o.size, o.config, o.seed = C.sizeof_grove_engine_options, options.Config.pointer(), C.uint64_t(options.Seed)
	o.ns, o.bind_schedulers = m.optional(options.Namespace), m.optional(options.BindSchedulers)
	e := &Engine{}
	switch c := cluster.(type) {
	case *Sim:
		e.backend = c.backend
	case Backend:
		e.backend, e.owned = attach(c), true
	default:
		return nil, fmt.Errorf("grove: %T is neither a Backend nor a *Sim: %w", cluster, ErrInvalid)
	}
	err := call(func(ge *C.grove_error) C.grove_status { return C.grove_engine_new(shared().p, o, &e.p, ge) })
	runtime.KeepAlive(options.Config)
	return e, err
}

// Close frees the engine.
func (e *Engine) Close() {
	if e.p != nil {
		C.grove_engine_free(e.p)
		e.p = nil
		if e.owned {
			detach(e.backend)
		}
	}
}

// Turn lets engine and backend work until neither has more to do at now; it says when to call again.
func (e *Engine) Turn(now time.Time) (time.Time, error) {
	var deadline C.int64_t
	err := call(func(ge *C.grove_error) C.grove_status {
		return C.grove_runner_turn(e.p, e.backend, C.int64_t(now.UnixNano()), &deadline, ge)
	})
	return time.Unix(0, int64(deadline)), err
}

// Idle says that nothing is to be planned and no operation is without answer.
func (e *Engine) Idle() bool { return C.grove_engine_is_idle(e.p) != 0 }

// Failures counts operations that ended in an error.
func (e *Engine) Failures() uint64 {
	var stats C.grove_engine_stats
	stats.size = C.sizeof_grove_engine_stats
	C.grove_engine_stats_get(e.p, &stats)
	return uint64(stats.failures)
}

// Explain says why an object waits.
func (e *Engine) Explain(kind, namespace, name string, now time.Time) (*Document, error) {
	var m scratch
	defer m.free()
	text, err := written(shared(), func(buf *C.grove_buf, ge *C.grove_error) C.grove_status {
		return C.grove_engine_explain(e.p, kindNumber(kind), m.text(namespace), m.text(name),
			C.int64_t(now.UnixNano()), 1, buf, ge)
	})
	if err != nil {
		return nil, err
	}
	return ParseJSON(nil, text)
}

// Run lets an embedded cluster and its engine live until a point in virtual time.
func Run(e *Engine, s *Sim, until time.Time) error {
	for now := s.Now(); ; {
		next, err := e.Turn(now)
		if err != nil {
			return err
		}
		if due := time.Unix(0, int64(C.grove_sim_deadline(s.p))); due.Before(next) {
			next = due
		}
		if next.After(until) {
			break
		}
		if !next.After(now) {
			next = now.Add(1)
		}
		now = next
	}
	err := call(func(ge *C.grove_error) C.grove_status {
		return C.grove_sim_advance(s.p, C.int64_t(until.UnixNano()), ge)
	})
	if err == nil {
		_, err = e.Turn(until)
	}
	return err
}
