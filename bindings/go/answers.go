// SPDX-License-Identifier: Apache-2.0

package grove

/*
#include <grove/grove.h>
*/
import "C"

import (
	"runtime"
	"time"
)

// Whole questions: plain data or a Document in, a Document out. docs/schemas says what the answers hold.

// Place decides where gangs go, each committed before the next; grove/answer.h shows a request.
func Place(request interface{}) (*Document, error) {
	d, err := From(request)
	if err != nil {
		return nil, err
	}
	return answered(d, func(p **C.grove_doc, e *C.grove_error) C.grove_status {
		return C.grove_place(d.env.p, d.p, p, e)
	})
}

// Diff says which children are created, deleted and changed when a set changes; both are defaulted first.
func Diff(old, changed interface{}, options ...ValidateOption) (*Document, error) {
	v := gather(options)
	before, err := Default(old, options...)
	if err != nil {
		return nil, err
	}
	after, err := Default(changed, options...)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(after)
	defer runtime.KeepAlive(v)
	return answered(before, func(p **C.grove_doc, e *C.grove_error) C.grove_status {
		return C.grove_diff(before.env.p, before.p, after.p, v.config.pointer(), p, e)
	})
}

// Explain says why an object of a snapshot, a List, is not where it should be. config may be nil.
func Explain(config *Config, snapshot interface{}, kind, namespace, name string, now time.Time) (*Document, error) {
	d, err := From(snapshot)
	if err != nil {
		return nil, err
	}
	var s scratch
	defer s.free()
	defer runtime.KeepAlive(config)
	return answered(d, func(p **C.grove_doc, e *C.grove_error) C.grove_status {
		return C.grove_explain(d.env.p, d.p, config.pointer(), kindNumber(kind), s.optional(namespace), s.text(name),
			C.int64_t(now.UnixNano()), p, e)
	})
}

// Simulation says how Simulate runs; its zero value is a cluster without nodes, until nothing happens any more.
type Simulation struct {
	Nodes   string        // as for Sim.AddNodes
	For     time.Duration // virtual time
	Seed    uint64
	Instant bool // pods are Ready as soon as they are bound
	Config  *Config
}

// Simulate applies objects to an empty cluster with Grove and says what is there after virtual time ran.
func Simulate(objects interface{}, how Simulation) (*Document, error) {
	d, err := From(objects)
	if err != nil {
		return nil, err
	}
	var s scratch
	defer s.free()
	var o C.grove_simulate_options
	o.size = C.uint32_t(C.sizeof_grove_simulate_options)
	o.nodes = s.optional(how.Nodes)
	o.for_ns = C.int64_t(how.For)
	o.seed = C.uint64_t(how.Seed)
	if how.Instant {
		o.flags = C.GROVE_SIMULATE_INSTANT
	}
	defer runtime.KeepAlive(how)
	return answered(d, func(p **C.grove_doc, e *C.grove_error) C.grove_status {
		return C.grove_simulate(d.env.p, d.p, how.Config.pointer(), &o, p, e)
	})
}

func answered(d *Document, ask func(p **C.grove_doc, e *C.grove_error) C.grove_status) (*Document, error) {
	var p *C.grove_doc
	err := call(func(e *C.grove_error) C.grove_status { return ask(&p, e) })
	runtime.KeepAlive(d)
	if err != nil {
		return nil, err
	}
	return ownDocument(p, d.env), nil
}
