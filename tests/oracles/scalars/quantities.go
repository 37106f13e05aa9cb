// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/big"
	"math/rand"
	"strconv"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

type quantityVector struct {
	Text   string `json:"text"`
	Format string `json:"format,omitempty"` // canonical text
	Family string `json:"family,omitempty"`
	Nano   string `json:"nano,omitempty"` // exact count of nano-units, any size
	Error  bool   `json:"error,omitempty"`
}

type pairVector struct {
	A   string `json:"a"`
	B   string `json:"b"`
	Cmp int    `json:"cmp"`
	Sum string `json:"sum"`
	Sub string `json:"sub"`
}

func nano(q resource.Quantity) string {
	d := new(inf.Dec).Set(q.AsDec())
	scaled := new(big.Int).Set(d.UnscaledBig())
	ten := big.NewInt(10)
	for s := int64(d.Scale()); s < 9; s++ {
		scaled.Mul(scaled, ten)
	}
	for s := int64(d.Scale()); s > 9; s-- {
		scaled.Quo(scaled, ten) // exact: parsing kept nine digits
	}
	return scaled.String()
}

func quantities(folder string) {
	f := create(folder, "quantities.jsonl")
	defer f.close()
	var good []string
	put := func(text string) {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			f.put(quantityVector{Text: text, Error: true})
			return
		}
		good = append(good, text)
		// Not q.String(): that may give back the text that was parsed.
		number, suffix := q.CanonicalizeBytes(make([]byte, 0, 64))
		f.put(quantityVector{Text: text, Format: string(number) + string(suffix), Family: string(q.Format), Nano: nano(q.DeepCopy())})
	}
	numbers := []string{"0", "1", "7", "10", "12", "100", "999", "1000", "1023", "1024", "1025", "1500", "2048", "1048576", "1000000", "0.1", "0.5", "1.5", "1.25", "0.001", "0.0001",
		"1.23456789", "0.123456789", "0.1234567891", "1.9999999999", ".5", "5.", "00", "007", "0.10", "1.0", "1.50", "0.0", "000.000", "12.345", "3.14159265358979", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "4611686018427387904", "92233720368547758.07", "1000000000000000000000", "123456789012345678901234567890", "0.000000001", "0.0000000001", "8191.999", "1.0000000000000000001"}
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "e3", "e-3", "e+3", "E3", "E-3", "e1", "e2", "e9", "e-9", "e-10", "e18", "e27", "E+06"}
	for _, sign := range []string{"", "-", "+"} {
		for _, n := range numbers {
			for _, s := range suffixes {
				if sign == "" || len(n) < 8 {
					put(sign + n + s)
				}
			}
		}
	}
	for _, text := range []string{"", " ", "-", "+", ".", "-.", "m", "Ki", "e3", "E", ".m", "1 ", " 1", "1 Gi", "1i", "1K", "1ki", "1KI", "1mi", "1gi", "1Mib", "1MB", "1b", "1B", "1 m", "1mm", "1kk", "1e", "1E", "1ee3", "1e3m", "1e3Ki", "1Kie3",
		"1e1.5", "1e+", "1e-", "1E+", "1e+-3", "--1", "+-1", "1-", "1+", "1..5", "1.5.5", "1,5", "1_000", "0x10", "0b1", "1e99", "1e-99", "1e400", "0e99", "NaN", "Inf", "inf", "∞", "１", "1µ", "1μ",
		"500%", "1/2", "1\x00", "1\n", "\t1", "1n1", "1Ei1", "12E", "1.5E", "-1.5Ei", "0Ki", "0m", "0n", "-0", "-0m", "-0.0Ki", "1.1Ki", "1.5Ki", "0.5Ki", "0.1Ki", "0.0001Ki", "1023Ki", "1024Ki", "1025Ki", "1536Mi", "1024Mi", "8Ei", "16Ei",
		"7.9Ei", "-8Ei", "-9Ei", "9223372036854775807Ki", "9.3E", "10E", "-10E", "1000E", "100000E", "100e", "1E1", "1E18", "1E19"} {
		put(text)
	}
	r := rand.New(rand.NewSource(seed))
	for i := 0; i < 900; i++ {
		digits := strconv.FormatInt(r.Int63()>>uint(r.Intn(60)), 10)
		if cut := r.Intn(len(digits) + 1); r.Intn(2) == 0 {
			digits = digits[:cut] + "." + digits[cut:]
		}
		if r.Intn(4) == 0 {
			digits += strings.Repeat("0", r.Intn(6))
		}
		put([]string{"", "-", "+"}[r.Intn(3)] + digits + suffixes[r.Intn(len(suffixes))])
	}
	pairs(folder, r, good)
}

// Sums, differences and order of pairs.
func pairs(folder string, r *rand.Rand, good []string) {
	f := create(folder, "quantity_pairs.jsonl")
	defer f.close()
	for i := 0; i < 1200; i++ {
		a, b := good[r.Intn(len(good))], good[r.Intn(len(good))]
		if i%10 == 0 {
			b = a
		}
		qa, qb := resource.MustParse(a), resource.MustParse(b)
		sum, sub := qa.DeepCopy(), qa.DeepCopy()
		sum.Add(qb)
		sub.Sub(qb)
		f.put(pairVector{A: a, B: b, Cmp: qa.Cmp(qb), Sum: sum.String(), Sub: sub.String()})
	}
}
