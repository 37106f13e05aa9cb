// SPDX-License-Identifier: Apache-2.0

// Command scalars asks Go and Kubernetes' own libraries what the scalar texts of manifests mean, and
// writes one file of JSON lines per kind of scalar.
//
//	go run . ../../golden/scalars
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
)

const seed = 20261129

// A file of JSON lines, without doubles.
type file struct {
	out  *os.File
	w    *bufio.Writer
	seen map[string]bool
}

func create(folder, name string) *file {
	out, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		panic(err)
	}
	return &file{out, bufio.NewWriter(out), map[string]bool{}}
}

func (f *file) put(v any) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	if !f.seen[line.String()] {
		f.seen[line.String()] = true
		f.w.Write(line.Bytes())
	}
}

func (f *file) close() {
	if err := f.w.Flush(); err != nil {
		panic(err)
	}
	if err := f.out.Close(); err != nil {
		panic(err)
	}
}

func main() {
	folder := "."
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	durations(folder)
	times(folder)
	percents(folder)
	selectors(folder)
	quantities(folder)
}
