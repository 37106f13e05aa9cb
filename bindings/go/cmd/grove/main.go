// SPDX-License-Identifier: Apache-2.0

// Command grove has three verbs of grovectl by way of the Go binding: render, validate, default. The conformance
// suites run it in the place of grovectl.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"libgrove.io/grove"
)

var errRefused = errors.New("refused")

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: grove render|validate|default [FILE] [--config FILE] [--cases FILE] [-n NAMESPACE]")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	err := run(os.Args[1], os.Args[2:], out)
	_ = out.Flush()
	switch {
	case errors.Is(err, errRefused):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(verb string, args []string, out io.Writer) error {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	config, cases := flags.String("config", "", "configuration"), flags.String("cases", "", "one case a line")
	namespace, _ := flags.String("n", "", "namespace"), flags.String("o", "json", "json")
	file := "-"
	if len(args) > 0 && (args[0] == "-" || args[0][0] != '-') {
		file, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	options := []grove.ValidateOption{grove.WithNamespace(*namespace)}
	if *config != "" {
		text, err := os.ReadFile(*config)
		if err != nil {
			return err
		}
		c, err := grove.ParseConfig(text)
		if err != nil {
			return err
		}
		options = append(options, grove.WithConfig(c))
	}
	if *cases != "" {
		return judge(*cases, options, out)
	}
	text, err := read(file)
	if err != nil {
		return err
	}
	docs, err := grove.ParseStream(nil, text)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if err := one(verb, d, options, out); err != nil {
			return err
		}
	}
	return nil
}

func read(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(file)
}

func one(verb string, d *grove.Document, options []grove.ValidateOption, out io.Writer) error {
	result := d
	var err error
	switch verb {
	case "render":
		verdict, invalid := grove.Validate(d, append(options, grove.WithFields("Ignore"))...)
		if invalid != nil {
			return invalid
		}
		if !verdict.Allowed {
			for _, f := range verdict.Errors {
				fmt.Fprintf(os.Stderr, "%s: %s\n", f.Path, f.Message)
			}
			return errRefused
		}
		result, err = grove.Render(d, options...)
	case "default":
		result, err = grove.Default(d, options...)
	case "validate":
		verdict, invalid := grove.Validate(d, options...)
		if invalid == nil {
			invalid = json.NewEncoder(out).Encode(verdict)
		}
		if invalid == nil && !verdict.Allowed {
			return errRefused
		}
		return invalid
	default:
		return fmt.Errorf("no verb %q", verb)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

func judge(file string, options []grove.ValidateOption, out io.Writer) error {
	text, err := read(file)
	if err != nil {
		return err
	}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var c struct {
			Name, Op   string
			Input, Old json.RawMessage
		}
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		chosen := append(options[:len(options):len(options)], grove.WithOperation(c.Op))
		if len(c.Old) > 0 && string(c.Old) != "null" {
			chosen = append(chosen, grove.WithOld(c.Old))
		}
		verdict, err := grove.Validate(c.Input, chosen...)
		if err != nil {
			return err
		}
		err = json.NewEncoder(out).Encode(struct {
			Name string `json:"name"`
			grove.Verdict
		}{c.Name, verdict})
		if err != nil {
			return err
		}
	}
	return nil
}
