// SPDX-License-Identifier: Apache-2.0

// Command quantity asks k8s.io/apimachinery what texts mean as quantities and writes one line per text,
// tab-separated: the text, then "error", or the text it is written back as, the canonical text, its
// format, and its value in thousandths and in units.
//
//	go run . > ../../golden/quantity/vectors.tsv
//
// Left out is where libgrove differs on purpose: values beyond 127 bits of nano-units, exponents that
// do not fit 32 bits, decimal values of 10^21 and more (Go loses the suffix). Thousandths and units are
// "-" where they do not fit 64 bits (Go returns something wrapped) and for negative values that Go
// rounds one way or the other depending on how they were written.
package main

import (
	"bufio"
	"fmt"
	"math/big"
	"math/rand"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

var fixed = []string{
	"", "+", "-", ".", "+.", "-.m", "1.", ".5", "1.Ki", ".5Ki", "0.0001Ki", "e5", "1e", "1E", "1e5", "1E5", "1e+5",
	"1E-5", "1e-9", "1e-10", "1e-20", "0.1n", "-0.1n", "1.1n", "12345678901234567890", "9223372036854775807",
	"9223372036854775808", "9Ei", "8Ei", "7Ei", "-8Ei", "1e20", "1024", "1023Ki", "1024Ki", "1025Ki", "1536Mi",
	"1.5Gi", "0.5Gi", "512", "512Ki", "0Ki", "1Ki", "0.9Ki", "1000m", "1500m", "1000k", "100000", "0.25", "250m", "2",
	"1e3", "1.5e3", "1e3Ki", "1k i", " 1", "1 ", "00012", "-1", "+1", "--1", "1n", "1u", "1m", "1000u", "1000n", "999n",
	"1Mi", "1mi", "1K", "1ki", "1P", "1Pi", "1E1E", "0.00000000001", "3.0000000001", "3.0000000001Ki", "1.0000000001Gi",
	"9223372036854775807Ki", "1e18446744073709551616", "0m", "0e5", "1e0", "1000e0", "1e1", "12e1", "1e-1", "1.e3", "1i",
	"1in", "1e+", "1e--5", "1e5m", "1_000", "1Ti", "1.2345678901234567Ei", "170141183460469231731.687303715",
	"0.001Ki", "0.0009765625Ki", "0.5m", "1024Ei", "1023", "-1023Ki", "-1024", "-2Ki", "10000000000000000000000Ki",
	"1.0", "1.50", "-500m", "-1500m", "1.250", "1.2500", "-1.250", "+1.250", "01.250", "1.000", "10.00", "1.5Ki",
	"100Ki", "8Ki", "9Ki", "2048", "1000", "1e6", "1.000001e6", "1000000e-6", "5e0", "05", "-0", "0.", "0.0Ki", "00",
	"1234567890123456789", "123456789012345678", "1.23456789012345678", "999999999999999999m", "9999999999999999990m",
	"123456789012345678u", "1\u0000", "1m\n", "٣", "1,5", "0x10", "1e5.5", "1.5.5", "Ki", "e", "E", "m", "1EE", "1e+-5",
	"1e05", "1e-05", "99999999999999n", "999999999999999Ki", "99999999999Mi", "3Ki", "16Ki", "1.125Ki",
}

var suffixes = []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
	"e3", "e-3", "E2", "e1", "e-7", "e+6", "e9"}

func digits(r *rand.Rand, most int) string {
	n := r.Intn(most + 1)
	var b strings.Builder
	for i := 0; i < n; i++ {
		if r.Intn(3) == 0 {
			b.WriteByte('0')
		} else {
			b.WriteByte(byte('0' + r.Intn(10)))
		}
	}
	return b.String()
}

func random(r *rand.Rand) string {
	text := []string{"", "", "", "-", "+"}[r.Intn(5)] + digits(r, 1+r.Intn(20))
	if r.Intn(2) == 0 {
		text += "." + digits(r, 1+r.Intn(14))
	}
	return text + suffixes[r.Intn(len(suffixes))]
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	r := rand.New(rand.NewSource(20261129))
	texts := append([]string{}, fixed...)
	for len(texts) < 1500 {
		texts = append(texts, random(r))
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(21), nil)
	for _, text := range texts {
		if strings.ContainsAny(text, "\t\n\x00") {
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			fmt.Fprintf(out, "%s\terror\n", text)
			continue
		}
		value := new(big.Int).Div(q.AsDec().UnscaledBig(), big.NewInt(1))
		scale := int64(q.AsDec().Scale())
		if scale < 0 {
			value.Mul(value, new(big.Int).Exp(big.NewInt(10), big.NewInt(-scale), nil))
		} else {
			value.Quo(value, new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil))
		}
		if new(big.Int).Abs(value).Cmp(limit) >= 0 {
			continue
		}
		fresh, _ := resource.ParseQuantity(text) // AsDec changed the inside of q
		number, suffix := fresh.CanonicalizeBytes(nil)
		milli, units := "-", "-"
		if value.Sign() >= 0 && !strings.HasPrefix(text, "-") {
			if new(big.Int).Add(value, big.NewInt(1)).IsInt64() {
				units = fmt.Sprint(fresh.Value())
			}
			if new(big.Int).Mul(new(big.Int).Add(value, big.NewInt(1)), big.NewInt(1000)).IsInt64() {
				milli = fmt.Sprint(fresh.MilliValue())
			}
		}
		fmt.Fprintf(out, "%s\t%s\t%s%s\t%s\t%s\t%s\n", text, fresh.String(), number, suffix, fresh.Format, milli, units)
	}
}
