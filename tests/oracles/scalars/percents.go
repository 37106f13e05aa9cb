// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"
)

type percentVector struct {
	Value any    `json:"value"`
	Total int    `json:"total"`
	Up    int64  `json:"up"`
	Down  int64  `json:"down"`
	Error string `json:"error,omitempty"`
}

func percents(folder string) {
	f := create(folder, "percents.jsonl")
	defer f.close()
	totals := []int{0, 1, 2, 3, 5, 7, 10, 33, 99, 100, 101, 1000, 12345}
	for _, text := range []string{"0%", "1%", "10%", "25%", "30%", "33%", "50%", "99%", "100%", "101%", "200%", "-5%", "-50%", "+5%", "007%",
		"", "%", "5", "5%%", "%5", "5 %", " 5%", "5.5%", "x%", "--5%", "+-5%", "0x5%", "5_0%", "99999999999999999999%"} {
		for _, total := range totals {
			v := intstr.FromString(text)
			up, err := intstr.GetScaledValueFromIntOrPercent(&v, total, true)
			down, _ := intstr.GetScaledValueFromIntOrPercent(&v, total, false)
			p := percentVector{Value: text, Total: total, Up: int64(up), Down: int64(down)}
			if err != nil {
				p.Error = err.Error()
			}
			f.put(p)
		}
	}
	for _, n := range []int32{0, 1, -1, 7, math.MaxInt32, math.MinInt32} {
		v := intstr.FromInt32(n)
		up, _ := intstr.GetScaledValueFromIntOrPercent(&v, 10, true)
		f.put(percentVector{Value: n, Total: 10, Up: int64(up), Down: int64(up)})
	}
}
