// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"time"
)

type durationVector struct {
	Text   string `json:"text"`
	Ns     string `json:"ns,omitempty"`     // decimal int64
	Format string `json:"format,omitempty"` // Go's text of ns
	Error  bool   `json:"error,omitempty"`
}

func durations(folder string) {
	f := create(folder, "durations.jsonl")
	defer f.close()
	put := func(text string) {
		d, err := time.ParseDuration(text)
		if err != nil {
			f.put(durationVector{Text: text, Error: true})
			return
		}
		f.put(durationVector{Text: text, Ns: strconv.FormatInt(int64(d), 10), Format: d.String()})
	}
	numbers := []string{"0", "1", "9", "10", "59", "60", "90", "0.1", "1.5", "1.", ".5", ".", "0.000000001", "1.0000000001",
		"00012", "3600", "100000", "2562047", "2562048", "9223372036", "9223372036854775807", "9223372036854775808",
		"9223372036854775809", "18446744073709551616", "0.9223372036854775807", "0.9223372036854775808", "0.99999999999999999999",
		"1.7", "33.333333333333333333", "123456789.987654321", "", "1_0", "1e3", "0x1", " 1", "1 "}
	units := []string{"ns", "us", "µs", "μs", "ms", "s", "m", "h", "", "d", "S", "sec", "min", "H", "Ms", "n", "u", " s", "s "}
	for _, sign := range []string{"", "-", "+", "--", "+-"} {
		for _, n := range numbers {
			for _, u := range units {
				put(sign + n + u)
			}
		}
	}
	for _, text := range []string{"", "-", "+", "0", "-0", "+0", "00", "1h30m", "1h30", "1h 30m", "4h0m0s", "1m30s", "1h1h", "30s1h", "1h-30m",
		"1.5h2.5m3.5s", "1h2m3s4ms5us6ns", "-1.5h", "2562047h47m16.854775807s", "2562047h47m16.854775808s", "-2562047h47m16.854775808s",
		"-2562047h47m16.854775809s", "9223372036s854775807ns", "9223372036s854775808ns", "-9223372036s854775808ns", "1h\x00", "1hm", "h", "hh", "1..5s",
		"1.5.s", "é", "1é", "∞", "0.1ns", "0.9ns", "-0.9ns", "0s", "0h0m0s", "5m0.000000001s"} {
		put(text)
	}
	r := rand.New(rand.NewSource(seed))
	for i := 0; i < 600; i++ { // every magnitude, through the format
		ns := r.Int63() >> uint(r.Intn(63))
		if r.Intn(2) == 0 {
			ns = -ns
		}
		put(time.Duration(ns).String())
	}
	for _, ns := range []int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, 1, 999, 1000, 999999, 1000000, 999999999, 1000000000, 59999999999, 60000000000, 3599999999999, 3600000000000} {
		put(time.Duration(ns).String())
		put(fmt.Sprintf("%dns", ns))
	}
}
