// SPDX-License-Identifier: Apache-2.0

// Command yaml asks sigs.k8s.io/yaml what each YAML text of ours means and writes one JSON line per
// text: {"yaml": text, "json": value} or {"yaml": text, "error": words}, with "strict": true where
// duplicate keys were to be refused.
//
//	go run . > ../../golden/yaml/vectors.jsonl
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

type vector struct {
	YAML   string          `json:"yaml"`
	Strict bool            `json:"strict,omitempty"`
	JSON   json.RawMessage `json:"json,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func judge(text string, strict bool) (v vector) {
	v = vector{YAML: text, Strict: strict}
	convert := yaml.YAMLToJSON
	if strict {
		convert = yaml.YAMLToJSONStrict
	}
	defer func() {
		if r := recover(); r != nil {
			v.JSON, v.Error = nil, fmt.Sprint(r)
		}
	}()
	out, err := convert([]byte(text))
	if err != nil {
		v.Error = err.Error()
		return v
	}
	v.JSON = out
	return v
}

func main() {
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	seen := map[string]bool{}
	put := func(text string, strict bool) {
		id := fmt.Sprint(strict, text)
		if seen[id] {
			return
		}
		seen[id] = true
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(judge(text, strict)); err != nil {
			panic(err)
		}
		w.Write(line.Bytes())
	}
	for _, s := range scalars() {
		for _, c := range contexts {
			put(fmt.Sprintf(c, s), false)
		}
	}
	for _, tag := range tags {
		for _, s := range tagged {
			put("k: "+tag+" "+s+"\n", false)
		}
	}
	for _, tag := range foreignTags {
		for _, s := range foreign {
			put("k: "+tag+" "+s+"\n", false)
		}
	}
	for _, t := range structures {
		put(t, false)
	}
	for _, t := range strict {
		put(t, true)
		put(t, false)
	}
}
