// SPDX-License-Identifier: Apache-2.0

// Package grove is libgrove in Go: what a PodCliqueSet means, and where its gangs go.
//
//	verdict, err := grove.Validate(manifest)          // []byte, *Document, or anything that marshals to JSON
//	children, err := grove.Render(manifest)           // *Document; Decode it into what you like
//
// An error means that there is no verdict; a refusal or a gang that does not fit is a result. Errors are *Error and
// answer errors.Is for ErrParse and its kin. Documents, configurations and environments may be used by several
// goroutines; everything else belongs to one at a time. What is not closed is freed with the garbage.
package grove

/*
#cgo pkg-config: libgrove
#include <grove/grove.h>
#include <stdlib.h>

// What Go cannot say: an error that is initialised, pointers made of handles.
static void grove_go_error_init(grove_error *err) {
    err->size = (uint32_t)sizeof *err;
    err->status = 0;
    err->flags = 0;
    err->line = 0;
    err->column = 0;
    err->retry_after_ms = 0;
    err->path[0] = 0;
    err->message[0] = 0;
}
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Version is the version of the loaded library.
func Version() string { return C.GoString(C.grove_version()) }

// Status is the outcome of a call; negative ones are errors.
type Status int32

// Error tells why a call could not judge. Line and Column are 1-based, 0 when unknown.
type Error struct {
	Status       Status
	Message      string
	Path         string // Grove's field path, or a JSON pointer in calls on documents
	Line, Column int
	Retriable    bool
	Uncertain    bool // the operation may have taken effect all the same
	RetryAfter   time.Duration
}

func (e *Error) Error() string {
	text := "grove: "
	if e.Line > 0 {
		text += fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	}
	if e.Path != "" {
		text += e.Path + ": "
	}
	if e.Message == "" {
		return text + C.GoString(C.grove_status_name(C.grove_status(e.Status)))
	}
	return text + e.Message
}

// Is makes errors.Is(err, ErrParse) true for every error of that status.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Message == "" && other.Status == e.Status
}

// What errors.Is compares with.
var (
	ErrNoMemory    error = &Error{Status: C.GROVE_E_NOMEM}
	ErrInvalid     error = &Error{Status: C.GROVE_E_INVALID}
	ErrParse       error = &Error{Status: C.GROVE_E_PARSE}
	ErrLimit       error = &Error{Status: C.GROVE_E_LIMIT}
	ErrRange       error = &Error{Status: C.GROVE_E_RANGE}
	ErrType        error = &Error{Status: C.GROVE_E_TYPE}
	ErrNotFound    error = &Error{Status: C.GROVE_E_NOT_FOUND}
	ErrExists      error = &Error{Status: C.GROVE_E_EXISTS}
	ErrConflict    error = &Error{Status: C.GROVE_E_CONFLICT}
	ErrUnsupported error = &Error{Status: C.GROVE_E_UNSUPPORTED}
	ErrRefused     error = &Error{Status: C.GROVE_E_REFUSED}
	ErrGone        error = &Error{Status: C.GROVE_E_GONE}
	ErrBusy        error = &Error{Status: C.GROVE_E_BUSY}
	ErrUnavailable error = &Error{Status: C.GROVE_E_UNAVAILABLE}
	ErrCancelled   error = &Error{Status: C.GROVE_E_CANCELLED}
	ErrInternal    error = &Error{Status: C.GROVE_E_INTERNAL}
)

func failure(status C.grove_status, e *C.grove_error) error {
	if status >= 0 {
		return nil
	}
	if e == nil || e.status != status {
		return &Error{Status: Status(status)}
	}
	return &Error{
		Status: Status(status), Message: C.GoString(&e.message[0]), Path: C.GoString(&e.path[0]), Line: int(e.line),
		Column: int(e.column), Retriable: e.flags&C.GROVE_ERROR_RETRIABLE != 0,
		Uncertain: e.flags&C.GROVE_ERROR_UNCERTAIN != 0, RetryAfter: time.Duration(e.retry_after_ms) * time.Millisecond,
	}
}

// call runs a function that fills an error.
func call(f func(e *C.grove_error) C.grove_status) error {
	var e C.grove_error
	C.grove_go_error_init(&e)
	return failure(f(&e), &e)
}

// scratch holds C memory for the time of a call.
type scratch []unsafe.Pointer

func (s *scratch) alloc(n uintptr) unsafe.Pointer {
	p := C.calloc(1, C.size_t(n+1))
	if p == nil {
		panic("grove: out of memory")
	}
	*s = append(*s, p)
	return p
}

func (s *scratch) text(text string) *C.char {
	p := C.CString(text)
	*s = append(*s, unsafe.Pointer(p))
	return p
}

func (s *scratch) optional(text string) *C.char {
	if text == "" {
		return nil
	}
	return s.text(text)
}

func (s *scratch) free() {
	for _, p := range *s {
		C.free(p)
	}
}

// Env holds limits for the calls made with it.
type Env struct{ p *C.grove_env }

// EnvOption sets one thing about an environment.
type EnvOption func(*C.grove_limits)

// MaxDepth bounds the nesting of documents.
func MaxDepth(n int) EnvOption { return func(l *C.grove_limits) { l.depth = C.uint32_t(n) } }

// MaxDocumentBytes bounds the text of one document.
func MaxDocumentBytes(n int64) EnvOption {
	return func(l *C.grove_limits) { l.document_bytes = C.uint64_t(n) }
}

// MaxSearchSteps bounds the work for one placement decision.
func MaxSearchSteps(n int64) EnvOption {
	return func(l *C.grove_limits) { l.search_steps = C.uint64_t(n) }
}

// NewEnv makes an environment.
func NewEnv(options ...EnvOption) (*Env, error) {
	var s scratch
	defer s.free()
	limits := (*C.grove_limits)(s.alloc(C.sizeof_grove_limits))
	limits.size = C.sizeof_grove_limits
	for _, option := range options {
		option(limits)
	}
	o := (*C.grove_env_options)(s.alloc(C.sizeof_grove_env_options))
	o.size = C.sizeof_grove_env_options
	o.limits = limits
	env := &Env{}
	if st := C.grove_env_new(o, &env.p); st < 0 {
		return nil, failure(st, nil)
	}
	runtime.SetFinalizer(env, func(e *Env) { C.grove_env_unref(e.p) })
	return env, nil
}

var defaultEnv = struct {
	sync.Once
	env *Env
}{}

// shared is the environment of calls that name none.
func shared() *Env {
	defaultEnv.Do(func() {
		env, err := NewEnv()
		if err != nil {
			panic(err)
		}
		defaultEnv.env = env
	})
	return defaultEnv.env
}

// written is what f appends to a buffer.
func written(env *Env, f func(buf *C.grove_buf, e *C.grove_error) C.grove_status) ([]byte, error) {
	buf := (*C.grove_buf)(C.calloc(1, C.sizeof_grove_buf))
	defer C.free(unsafe.Pointer(buf))
	C.grove_buf_init(buf, env.p)
	defer C.grove_buf_fini(buf)
	if err := call(func(e *C.grove_error) C.grove_status { return f(buf, e) }); err != nil {
		return nil, err
	}
	return C.GoBytes(unsafe.Pointer(buf.data), C.int(buf.len)), nil
}

// Document is an immutable JSON or YAML value that keeps numbers, unknown fields and places.
type Document struct {
	p   *C.grove_doc
	env *Env
}

func ownDocument(p *C.grove_doc, env *Env) *Document {
	d := &Document{p, env}
	runtime.SetFinalizer(d, (*Document).Close)
	return d
}

// Close frees the document at once; else the garbage collector does in time.
func (d *Document) Close() {
	if d.p != nil {
		C.grove_doc_unref(d.p)
		d.p = nil
		runtime.SetFinalizer(d, nil)
	}
}

func bytesOf(text []byte) (*C.char, C.size_t) {
	if len(text) == 0 {
		return emptyText, 0
	}
	return (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text))
}

var emptyText = C.CString("")

// ParseJSON parses one JSON text; env nil is the default one. Duplicate keys are errors.
func ParseJSON(env *Env, text []byte) (*Document, error) { return parse(env, text, false) }

// ParseYAML parses one YAML document, typed as Kubernetes tools type it.
func ParseYAML(env *Env, text []byte) (*Document, error) { return parse(env, text, true) }

func parse(env *Env, text []byte, yaml bool) (*Document, error) {
	if env == nil {
		env = shared()
	}
	var p *C.grove_doc
	err := call(func(e *C.grove_error) C.grove_status {
		bytes, n := bytesOf(text)
		if yaml {
			return C.grove_doc_parse_yaml(env.p, bytes, n, C.GROVE_PARSE_STRICT, &p, e)
		}
		return C.grove_doc_parse_json(env.p, bytes, n, C.GROVE_PARSE_STRICT, &p, e)
	})
	if err != nil {
		return nil, err
	}
	return ownDocument(p, env), nil
}

// ParseStream parses a YAML stream, or one JSON text, into its documents.
func ParseStream(env *Env, text []byte) ([]*Document, error) {
	if env == nil {
		env = shared()
	}
	var s scratch
	defer s.free()
	copied := C.CBytes(text) // it must outlive the stream
	s = append(s, copied)
	var stream *C.grove_stream
	err := call(func(e *C.grove_error) C.grove_status {
		return C.grove_stream_new(env.p, (*C.char)(copied), C.size_t(len(text)), C.GROVE_PARSE_STRICT, &stream, e)
	})
	if err != nil {
		return nil, err
	}
	defer C.grove_stream_free(stream)
	var docs []*Document
	for {
		var p *C.grove_doc
		err := call(func(e *C.grove_error) C.grove_status { return C.grove_stream_next(stream, &p, e) })
		if err != nil || p == nil {
			return docs, err
		}
		docs = append(docs, ownDocument(p, env))
	}
}

// From makes a document of a *Document (itself), of []byte or json.RawMessage (JSON or YAML), or of anything that
// marshals to JSON.
func From(value interface{}) (*Document, error) {
	switch v := value.(type) {
	case *Document:
		return v, nil
	case []byte:
		return ParseYAML(nil, v)
	case json.RawMessage:
		return ParseJSON(nil, v)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return ParseJSON(nil, text)
}

func (d *Document) root() *C.grove_node { return C.grove_doc_root(d.p) }

// JSON is the document as compact JSON; it never fails but for memory.
func (d *Document) JSON() ([]byte, error) { return d.write(0) }

// MarshalJSON makes documents parts of other values.
func (d *Document) MarshalJSON() ([]byte, error) { return d.write(0) }

// Canonical is JSON with sorted keys and numbers by value.
func (d *Document) Canonical() ([]byte, error) { return d.write(C.GROVE_WRITE_CANONICAL) }

func (d *Document) write(flags C.uint32_t) ([]byte, error) {
	defer runtime.KeepAlive(d)
	return written(d.env, func(buf *C.grove_buf, e *C.grove_error) C.grove_status {
		return C.grove_node_write_json(d.root(), flags, buf, e)
	})
}

// YAML is the document in block style.
func (d *Document) YAML() ([]byte, error) {
	defer runtime.KeepAlive(d)
	return written(d.env, func(buf *C.grove_buf, e *C.grove_error) C.grove_status {
		return C.grove_node_write_yaml(d.root(), 0, buf, e)
	})
}

// Decode stores the document in what v points to.
func (d *Document) Decode(v interface{}) error {
	text, err := d.JSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// Hash is 64 bits over the canonical form: equal values, equal hashes, on every machine.
func (d *Document) Hash() (uint64, error) {
	defer runtime.KeepAlive(d)
	var hash C.uint64_t
	err := call(func(e *C.grove_error) C.grove_status { return C.grove_node_hash(d.root(), &hash, e) })
	return uint64(hash), err
}

// Position is the line and column of what a JSON pointer leads to; 0, 0 when there is no such thing.
func (d *Document) Position(pointer string) (line, column int) {
	defer runtime.KeepAlive(d)
	var s scratch
	defer s.free()
	node := C.grove_node_at_path(d.root(), s.text(pointer))
	if node == nil {
		return 0, 0
	}
	var l, c C.uint32_t
	C.grove_node_position(d.p, node, &l, &c)
	return int(l), int(c)
}

type binary func(a *C.grove_doc, an *C.grove_node, b *C.grove_doc, bn *C.grove_node, out **C.grove_doc,
	e *C.grove_error) C.grove_status

func ofTwo(f binary, a, b interface{}) (*Document, error) {
	first, err := From(a)
	if err != nil {
		return nil, err
	}
	second, err := From(b)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(first)
	defer runtime.KeepAlive(second)
	var p *C.grove_doc
	err = call(func(e *C.grove_error) C.grove_status {
		return f(first.p, first.root(), second.p, second.root(), &p, e)
	})
	if err != nil {
		return nil, err
	}
	return ownDocument(p, first.env), nil
}

// MergePatch applies an RFC 7396 patch.
func MergePatch(target, patch interface{}) (*Document, error) {
	return ofTwo(func(a *C.grove_doc, an *C.grove_node, b *C.grove_doc, bn *C.grove_node, out **C.grove_doc,
		e *C.grove_error) C.grove_status {
		return C.grove_merge_patch_apply(a, an, b, bn, out, e)
	}, target, patch)
}

// MakeMergePatch is the smallest RFC 7396 patch from one to the other; ErrUnsupported where there is none.
func MakeMergePatch(before, after interface{}) (*Document, error) {
	return ofTwo(func(a *C.grove_doc, an *C.grove_node, b *C.grove_doc, bn *C.grove_node, out **C.grove_doc,
		e *C.grove_error) C.grove_status {
		return C.grove_merge_patch_make(a, an, b, bn, out, e)
	}, before, after)
}

// JSONPatch applies an RFC 6902 patch, all of it or nothing; ErrConflict when a test fails.
func JSONPatch(target, patch interface{}) (*Document, error) {
	return ofTwo(func(a *C.grove_doc, an *C.grove_node, b *C.grove_doc, bn *C.grove_node, out **C.grove_doc,
		e *C.grove_error) C.grove_status {
		return C.grove_json_patch_apply(a, an, b, bn, out, e)
	}, target, patch)
}

// MakeJSONPatch is the RFC 6902 operations that turn one into the other.
func MakeJSONPatch(before, after interface{}) (*Document, error) {
	return ofTwo(func(a *C.grove_doc, an *C.grove_node, b *C.grove_doc, bn *C.grove_node, out **C.grove_doc,
		e *C.grove_error) C.grove_status {
		return C.grove_json_patch_make(a, an, b, bn, out, e)
	}, before, after)
}
