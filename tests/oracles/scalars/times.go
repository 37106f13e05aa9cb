// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type timeVector struct {
	Text    string `json:"text"`
	Ns      string `json:"ns,omitempty"` // decimal, since the epoch; may exceed int64
	Seconds string `json:"seconds,omitempty"`
	Micro   string `json:"micro,omitempty"`
	Error   bool   `json:"error,omitempty"`
}

func times(folder string) {
	f := create(folder, "times.jsonl")
	defer f.close()
	put := func(text string) {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			f.put(timeVector{Text: text, Error: true})
			return
		}
		ns := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e9))
		ns.Add(ns, big.NewInt(int64(t.Nanosecond())))
		v := timeVector{Text: text, Ns: ns.String()}
		if ns.IsInt64() {
			v.Seconds = t.UTC().Format(time.RFC3339)
			v.Micro = t.UTC().Format(metav1.RFC3339Micro)
		}
		f.put(v)
	}
	dates := []string{"2026-11-29", "1970-01-01", "1969-12-31", "2000-02-29", "1900-02-28", "1900-02-29", "2024-02-29", "2023-02-29", "2026-02-30",
		"2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "1678-01-01", "1677-09-21", "2262-04-11", "2262-04-12", "0000-01-01", "9999-12-31",
		"26-11-29", "2026-1-1", "02026-11-29"}
	clocks := []string{"T20:19:59", "T00:00:00", "T23:59:59", "T24:00:00", "T23:60:00", "T23:59:60", "t20:19:59", " 20:19:59", "", "T20:19", "T20:19:59.1",
		"T20:19:59.123456", "T20:19:59.123456789", "T20:19:59.1234567894", "T20:19:59.", "T20:19:59,5", "T00:12:43.145224192", "T00:12:43.145224191",
		"T23:47:16.854775807", "T23:47:16.854775808", "T20:19:5"}
	zones := []string{"Z", "z", "", "+00:00", "-00:00", "+01:00", "-08:30", "+23:59", "+24:00", "-12:60", "+1:00", "+0100", " Z", "Z "}
	for _, d := range dates {
		for _, c := range clocks {
			for _, z := range zones {
				if z == "Z" || c == "T20:19:59" || (d == "2026-11-29" && len(c) < 13) {
					put(d + c + z)
				}
			}
		}
	}
	r := rand.New(rand.NewSource(seed))
	for i := 0; i < 400; i++ {
		ns := int64(r.Uint64())
		put(time.Unix(0, ns).UTC().Format(time.RFC3339Nano))
		put(time.Unix(0, ns).In(time.FixedZone("", (r.Intn(1440)-720)*60)).Format(time.RFC3339Nano))
	}
	for _, ns := range []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, -1000, -999, 999999999, -1000000000, -1000000001} {
		put(time.Unix(0, ns).UTC().Format(time.RFC3339Nano))
	}
	for year := 1678; year < 2262; year += 7 { // leap days and month ends
		put(fmt.Sprintf("%04d-02-28T23:59:59Z", year))
		put(fmt.Sprintf("%04d-03-01T00:00:00Z", year))
		put(fmt.Sprintf("%04d-12-31T12:00:00Z", year))
	}
}
