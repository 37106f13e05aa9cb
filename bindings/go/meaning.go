// SPDX-License-Identifier: Apache-2.0

package grove

/*
#include <grove/grove.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"time"
)

// Config is the operator's configuration and the cluster objects that admission and planning look up.
type Config struct {
	p   *C.grove_config
	env *Env
}

// NewConfig makes a configuration of objects: an OperatorConfiguration, ClusterTopologyBindings, PriorityClasses, ...
func NewConfig(objects ...interface{}) (*Config, error) {
	c := &Config{env: shared()}
	if st := C.grove_config_new(c.env.p, &c.p); st < 0 {
		return nil, failure(st, nil)
	}
	runtime.SetFinalizer(c, func(c *Config) { C.grove_config_unref(c.p) })
	for _, object := range objects {
		d, err := From(object)
		if err != nil {
			return nil, err
		}
		err = call(func(e *C.grove_error) C.grove_status { return C.grove_config_add(c.p, d.p, d.root(), e) })
		runtime.KeepAlive(d)
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// ParseConfig makes a configuration of a YAML stream, a List or a JSON array.
func ParseConfig(text []byte) (*Config, error) {
	c, err := NewConfig()
	if err != nil {
		return nil, err
	}
	bytes, n := bytesOf(text)
	return c, call(func(e *C.grove_error) C.grove_status { return C.grove_config_load(c.p, bytes, n, e) })
}

func (c *Config) pointer() *C.grove_config {
	if c == nil {
		return nil
	}
	return c.p
}

// Finding is one finding; Code is explained in the error registry.
type Finding struct {
	Code     string `json:"code"`
	Type     string `json:"type"`
	Path     string `json:"path"`
	Message  string `json:"message"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"-"` // "error", "warning", "note"
}

// Verdict says whether a cluster takes an object, and where it would refuse: "decode", "schema" or "webhook".
type Verdict struct {
	Allowed  bool      `json:"allowed"`
	Stage    string    `json:"stage"`
	HTTPCode int       `json:"-"`
	Errors   []Finding `json:"errors"`
	Warnings []Finding `json:"warnings"`
}

type validation struct {
	options C.grove_validate_options
	config  *Config
	old     interface{}
	ns      string
}

// ValidateOption sets one thing about a validation.
type ValidateOption func(*validation)

// WithConfig judges, defaults or renders under a configuration.
func WithConfig(c *Config) ValidateOption { return func(v *validation) { v.config = c } }

// WithOld makes it an update of the stored object.
func WithOld(old interface{}) ValidateOption { return func(v *validation) { v.old = old } }

// WithNamespace is the namespace of objects that name none.
func WithNamespace(ns string) ValidateOption { return func(v *validation) { v.ns = ns } }

// WithLint runs the lints too.
func WithLint() ValidateOption {
	return func(v *validation) { v.options.flags |= C.GROVE_VALIDATE_LINT }
}

// WithLegacy reads the forms of older releases.
func WithLegacy() ValidateOption {
	return func(v *validation) { v.options.flags |= C.GROVE_VALIDATE_LEGACY }
}

// WithOperation is "create", "update", "status" or "scale"; else it follows from WithOld.
func WithOperation(operation string) ValidateOption {
	words := map[string]C.grove_operation{"create": C.GROVE_OPERATION_CREATE, "update": C.GROVE_OPERATION_UPDATE,
		"status": C.GROVE_OPERATION_STATUS, "scale": C.GROVE_OPERATION_SCALE}
	return func(v *validation) { v.options.operation = words[operation] }
}

// WithFields is what happens to unknown fields: "Strict" (default), "Warn" or "Ignore".
func WithFields(word string) ValidateOption {
	words := map[string]C.grove_field_validation{"Warn": C.GROVE_FIELDS_WARN, "Ignore": C.GROVE_FIELDS_IGNORE}
	return func(v *validation) { v.options.fields = words[word] }
}

func gather(options []ValidateOption) *validation {
	v := &validation{}
	for _, option := range options {
		option(v)
	}
	return v
}

// c copies the options to C memory.
func (v *validation) c(s *scratch) *C.grove_validate_options {
	o := (*C.grove_validate_options)(s.alloc(C.sizeof_grove_validate_options))
	*o = v.options
	o.size = C.sizeof_grove_validate_options
	o.config = v.config.pointer()
	o.namespace_name = s.optional(v.ns)
	return o
}

func findings(diags *C.grove_diags, verdict *Verdict) {
	verdict.Errors, verdict.Warnings = []Finding{}, []Finding{}
	for i := C.uint32_t(0); i < C.grove_diags_count(diags); i++ {
		d := C.grove_diags_at(diags, i)
		f := Finding{Code: fmt.Sprintf("GRV%04d", uint32(d.code)), Type: C.GoString(d._type), Path: C.GoString(d.path),
			Message: C.GoString(d.message), Line: int(d.line), Column: int(d.column), Severity: "warning"}
		switch d.severity {
		case C.GROVE_SEVERITY_ERROR:
			f.Severity = "error"
			verdict.Errors = append(verdict.Errors, f)
			continue
		case C.GROVE_SEVERITY_NOTE:
			f.Severity = "note"
		}
		verdict.Warnings = append(verdict.Warnings, f)
	}
}

// Validate judges an object as a cluster with Grove would.
func Validate(object interface{}, options ...ValidateOption) (Verdict, error) {
	v := gather(options)
	var verdict Verdict
	d, err := From(object)
	if err != nil {
		return verdict, err
	}
	var old *Document
	var oldDoc *C.grove_doc
	var oldNode *C.grove_node
	if v.old != nil {
		if old, err = From(v.old); err != nil {
			return verdict, err
		}
		oldDoc, oldNode = old.p, old.root()
	}
	var s scratch
	defer s.free()
	var diags *C.grove_diags
	if st := C.grove_diags_new(d.env.p, &diags); st < 0 {
		return verdict, failure(st, nil)
	}
	defer C.grove_diags_free(diags)
	var out C.grove_admission_verdict
	out.size = C.sizeof_grove_admission_verdict
	err = call(func(e *C.grove_error) C.grove_status {
		return C.grove_validate(d.env.p, d.p, d.root(), oldDoc, oldNode, v.c(&s), diags, &out, e)
	})
	runtime.KeepAlive(d)
	runtime.KeepAlive(old)
	runtime.KeepAlive(v)
	if err != nil {
		return verdict, err
	}
	verdict.Allowed, verdict.HTTPCode = out.allowed != 0, int(out.http_code)
	verdict.Stage = C.GoString(C.grove_stage_name(out.stage))
	findings(diags, &verdict)
	return verdict, nil
}

// Default is the object as a cluster would store it.
func Default(object interface{}, options ...ValidateOption) (*Document, error) {
	v := gather(options)
	d, err := From(object)
	if err != nil {
		return nil, err
	}
	var s scratch
	defer s.free()
	var p *C.grove_doc
	err = call(func(e *C.grove_error) C.grove_status {
		return C.grove_default(d.env.p, d.p, d.root(), v.c(&s), nil, &p, e)
	})
	runtime.KeepAlive(d)
	runtime.KeepAlive(v)
	if err != nil {
		return nil, err
	}
	return ownDocument(p, d.env), nil
}

// Render is a List of the PodCliqueSet and all its children, as they are before anything is scheduled.
func Render(pcs interface{}, options ...ValidateOption) (*Document, error) {
	v := gather(options)
	stored, err := Default(pcs, options...)
	if err != nil {
		return nil, err
	}
	var s scratch
	defer s.free()
	var p *C.grove_doc
	err = call(func(e *C.grove_error) C.grove_status {
		return C.grove_render(stored.env.p, stored.p, stored.root(), v.config.pointer(), s.optional(v.ns), 0, &p, e)
	})
	runtime.KeepAlive(stored)
	runtime.KeepAlive(v)
	if err != nil {
		return nil, err
	}
	return ownDocument(p, stored.env), nil
}

// Review answers an AdmissionReview at a webhook's URL path; config may be nil.
func Review(config *Config, path string, review []byte) ([]byte, error) {
	var s scratch
	defer s.free()
	bytes, n := bytesOf(review)
	defer runtime.KeepAlive(config)
	return written(shared(), func(buf *C.grove_buf, e *C.grove_error) C.grove_status {
		return C.grove_admission_review(shared().p, config.pointer(), s.text(path), bytes, n, buf, e)
	})
}

// CRD is the CustomResourceDefinition of a kind, as YAML.
func CRD(kind string, extended bool) ([]byte, error) {
	var s scratch
	defer s.free()
	set := C.uint32_t(C.GROVE_CRD_UPSTREAM)
	if extended {
		set = C.GROVE_CRD_EXTENDED
	}
	return written(shared(), func(buf *C.grove_buf, e *C.grove_error) C.grove_status {
		return C.grove_crd_write(shared().p, s.text(kind), set, buf, e)
	})
}

// Store is the observed cluster: feed it every object that a watch delivers and every deletion.
type Store struct{ p *C.grove_store }

// NewStore makes an empty store.
func NewStore() (*Store, error) {
	s := &Store{}
	if st := C.grove_store_new(shared().p, &s.p); st < 0 {
		return nil, failure(st, nil)
	}
	runtime.SetFinalizer(s, func(s *Store) { C.grove_store_free(s.p) })
	return s, nil
}

// Put takes in an object as observed.
func (s *Store) Put(object interface{}) error {
	d, err := From(object)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(d)
	return call(func(e *C.grove_error) C.grove_status { return C.grove_store_put(s.p, d.p, d.root(), e) })
}

// Remove takes in a deletion as observed.
func (s *Store) Remove(object interface{}) error {
	d, err := From(object)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(d)
	return call(func(e *C.grove_error) C.grove_status { return C.grove_store_remove(s.p, d.root(), e) })
}

// NextDirty is the next set that something changed for; ok is false when there is none.
func (s *Store) NextDirty() (namespace, name string, ok bool) {
	var ns, n *C.char
	if C.grove_store_next_dirty(s.p, &ns, &n) == 0 {
		return "", "", false
	}
	return C.GoString(ns), C.GoString(n), true
}

// Planner says what should change for one set.
type Planner struct {
	p      *C.grove_planner
	config *Config
}

// NewPlanner makes a planner; config may be nil.
func NewPlanner(config *Config) (*Planner, error) {
	p := &Planner{config: config}
	if st := C.grove_planner_new(shared().p, &p.p); st < 0 {
		return nil, failure(st, nil)
	}
	runtime.SetFinalizer(p, func(p *Planner) { C.grove_planner_free(p.p) })
	return p, nil
}

// Action is one thing to do; the rest of a plan's document is in Plan.Document.
type Action struct {
	Verb        string      `json:"verb"`
	APIVersion  string      `json:"apiVersion"`
	Kind        string      `json:"kind"`
	Namespace   string      `json:"namespace"`
	Name        string      `json:"name"`
	Subresource string      `json:"subresource"`
	PatchType   string      `json:"patchType"`
	Reason      string      `json:"reason"`
	Message     string      `json:"message"`
	Body        interface{} `json:"body"`
}

// Plan is what should change, and what is waited for.
type Plan struct {
	Actions  []Action  `json:"actions"`
	Document *Document `json:"-"`
}

// Plan plans a set as it is in the store.
func (p *Planner) Plan(store *Store, namespace, name string, now time.Time) (*Plan, error) {
	var s scratch
	defer s.free()
	rq := (*C.grove_plan_request)(s.alloc(C.sizeof_grove_plan_request))
	rq.size = C.sizeof_grove_plan_request
	rq.ns, rq.name = s.text(namespace), s.text(name)
	rq.now_ns = C.int64_t(now.UnixNano())
	rq.config = p.config.pointer()
	var plan *C.grove_plan
	err := call(func(e *C.grove_error) C.grove_status { return C.grove_plan_make(p.p, store.p, rq, &plan, e) })
	runtime.KeepAlive(p)
	runtime.KeepAlive(store)
	if err != nil {
		return nil, err
	}
	defer C.grove_plan_unref(plan)
	text, err := written(shared(), func(buf *C.grove_buf, e *C.grove_error) C.grove_status {
		return C.grove_plan_write_json(plan, 0, buf, e)
	})
	if err != nil {
		return nil, err
	}
	result := &Plan{}
	if result.Document, err = ParseJSON(nil, text); err != nil {
		return nil, err
	}
	return result, result.Document.Decode(result)
}

// Quantity is an exact Kubernetes quantity.
type Quantity struct{ q C.grove_quantity }

// ParseQuantity parses "1500m", "2Gi" and the like.
func ParseQuantity(text string) (Quantity, error) {
	var q Quantity
	bytes, n := bytesOf([]byte(text))
	return q, call(func(e *C.grove_error) C.grove_status { return C.grove_quantity_parse(bytes, n, &q.q, e) })
}

// Add is the sum; ErrRange when it cannot be said.
func (q Quantity) Add(other Quantity) (Quantity, error) {
	var sum Quantity
	return sum, failure(C.grove_quantity_add(&q.q, &other.q, &sum.q), nil)
}

// Cmp is below, equal to or above 0 as q is to other.
func (q Quantity) Cmp(other Quantity) int { return int(C.grove_quantity_compare(&q.q, &other.q)) }

// String is Go's canonical form of the quantity.
func (q Quantity) String() string {
	text, err := written(shared(), func(buf *C.grove_buf, _ *C.grove_error) C.grove_status {
		return C.grove_quantity_format(&q.q, buf)
	})
	if err != nil {
		return err.Error()
	}
	return string(text)
}
