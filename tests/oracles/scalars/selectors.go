// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"math/rand"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Either the string form or the object form; matches holds one letter (y, n) per label set.
type selectorVector struct {
	Text    *string         `json:"text,omitempty"`
	Object  json.RawMessage `json:"object,omitempty"`
	Format  *string         `json:"format,omitempty"`
	Matches string          `json:"matches,omitempty"`
	Error   string          `json:"error,omitempty"`
}

var labelSets = []labels.Set{
	{}, {"a": "b"}, {"a": "c"}, {"a": ""}, {"a": "b", "c": "d"}, {"b": "x"}, {"b": "y", "a": "z"}, {"in": "notin"}, {"notin": "in"},
	{"n": "5"}, {"n": "10"}, {"n": "-3"}, {"n": "x"}, {"grove.io/podgang": "g"}, {"a": "x", "b": "x", "c": "x", "d": "x"},
}

func judge(sel labels.Selector) string {
	var out strings.Builder
	for _, set := range labelSets {
		if sel.Matches(set) {
			out.WriteByte('y')
		} else {
			out.WriteByte('n')
		}
	}
	return out.String()
}

func selectors(folder string) {
	f := create(folder, "selectors.jsonl")
	defer f.close()
	f.put(map[string]any{"labels": labelSets})
	put := func(text string) {
		sel, err := labels.Parse(text)
		if err != nil {
			f.put(selectorVector{Text: &text, Error: err.Error()})
			return
		}
		format := sel.String()
		f.put(selectorVector{Text: &text, Format: &format, Matches: judge(sel)})
	}
	long, longest := strings.Repeat("x", 64), strings.Repeat("x", 63)
	for _, text := range []string{"", " ", ",", "a", "!a", "! a", "a,", ",a", "a,b", "a,,b", "a b", "a=b", "a==b", "a===b", "a!=b", "a = b", "a =b", "a= b", "a=", "a==", "a!=",
		"a=,b", "a=b,c=d", "a=b c=d", "a=b,", "=b", "==b", "!=b", "a!", "!a=b", "!a in (b)", "!!a", "a!b", "a in (b)", "a in (b,c)", "a in(b)", "a in ( b , c )", "a in ()", "a in (,)",
		"a in (b,)", "a in (,b)", "a in (b,,c)", "a in (,,)", "a in (", "a in b", "a in", "a in )", "a in (b", "a in (b c)", "a in ((b))", "a in (b)c", "a in (b),c", "a in (b) c", "a in (b=c)",
		"a notin (b)", "a notin (b,c)", "a notin ()", "a notin", "a not in (b)", "a IN (b)", "in", "notin", "in in (in)", "in in (notin,in)", "notin notin (in)", "in=notin", "notin=in", "in,notin",
		"a=in", "a=notin", "a in (in)", "!in", "n>3", "n>5", "n<7", "n > 3", "n>=3", "n<=3", "n>", "n<", "n>x", "n>-5", "n>1.5", "n>9223372036854775807", "n>9223372036854775808", "n>3,n<7", "n<>3", "n=>3", "n in (5,10)",
		"a in (b),b in (x),c in (x)", "c=d,a=b", "b,a,c", "a=c,a=b", "a,a", "a=b,!c,b notin (x,y),c in (d)", "grove.io/podgang=g", "grove.io/podgang", "/a", "a/", "a/b/c", "A/b", "a.b/C", "-a", "a-", "a-b",
		"_a", ".a", "a_b.c-d", "a=-b", "a=b-", "a=b_c", "a=b/c", "a=b c", "a=\"b\"", "a='b'", "a=b=c", "a=b!=c", "é=b", "a=é", long, longest, longest + "=" + longest, "a=" + long, long + "=a",
		strings.Repeat("a.", 126) + "a/b", strings.Repeat("a.", 127) + "a/b", "a..b/c", "a-.b/c", "a.-b/c", "1=2", "0", "a\t=\tb", "a\n=\nb", "a\r=b", "a\v=b", "a;b", "a=b;c=d", "x in (a),y notin (b),z", "x in (foo,,baz),y,z notin ()",
		"(a)", "(", ")", "a(", "a)", "a,(", ">", "<3", "a<", "a=(b)", "a=!b", "a=<b", "a in (<)", "a in (!b)", "a=b,,c=d", "a=b, ,c", "a=b,c=d,e=f,g=h,i=j,k=l,m=n,o=p"} {
		put(text)
	}
	pieces := []string{"a", "b", "c", "in", "notin", "=", "==", "!=", "!", "(", ")", ",", ",", " ", " in (", "n>", "5", "<", "a=b", "a in (b,c)", "!b"}
	r := rand.New(rand.NewSource(seed))
	for i := 0; i < 1500; i++ {
		var text strings.Builder
		for n := 1 + r.Intn(7); n > 0; n-- {
			text.WriteString(pieces[r.Intn(len(pieces))])
		}
		put(text.String())
	}
	objects(f)
}

func objects(f *file) {
	for _, text := range []string{`null`, `{}`, `{"matchLabels":null}`, `{"matchLabels":{}}`, `{"matchLabels":{"a":"b"}}`, `{"matchLabels":{"a":"b","c":"d"}}`, `{"matchLabels":{"c":"d","a":"b"}}`, `{"matchLabels":{"a":""}}`,
		`{"matchLabels":{"a":null}}`, `{"matchLabels":{"a":1}}`, `{"matchLabels":{"a":true}}`, `{"matchLabels":{"-a":"b"}}`, `{"matchLabels":{"a":"-b"}}`, `{"matchLabels":{"":"b"}}`, `{"matchLabels":[]}`, `{"matchLabels":"a=b"}`,
		`{"matchExpressions":null}`, `{"matchExpressions":[]}`, `{"matchExpressions":{}}`, `{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}`,
		`{"matchExpressions":[{"key":"a","operator":"In","values":["c","b"]}]}`, `{"matchExpressions":[{"key":"a","operator":"In","values":["b","b"]}]}`, `{"matchExpressions":[{"key":"a","operator":"In","values":[]}]}`,
		`{"matchExpressions":[{"key":"a","operator":"In"}]}`, `{"matchExpressions":[{"key":"a","operator":"In","values":null}]}`, `{"matchExpressions":[{"key":"a","operator":"In","values":[""]}]}`,
		`{"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]}`, `{"matchExpressions":[{"key":"a","operator":"NotIn","values":[]}]}`, `{"matchExpressions":[{"key":"a","operator":"Exists"}]}`,
		`{"matchExpressions":[{"key":"a","operator":"Exists","values":[]}]}`, `{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}`, `{"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]}`,
		`{"matchExpressions":[{"key":"a","operator":"DoesNotExist","values":["b"]}]}`, `{"matchExpressions":[{"key":"a","operator":"in","values":["b"]}]}`, `{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}`,
		`{"matchExpressions":[{"key":"a","operator":"="}]}`, `{"matchExpressions":[{"key":"a"}]}`, `{"matchExpressions":[{"operator":"Exists"}]}`, `{"matchExpressions":[{"key":"","operator":"Exists"}]}`, `{"matchExpressions":[{"key":"a b","operator":"Exists"}]}`,
		`{"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}`, `{"matchExpressions":[{"key":"a","operator":"In","values":[1]}]}`, `{"matchExpressions":[{"key":1,"operator":"Exists"}]}`, `{"matchExpressions":[{"key":"a","operator":"In","values":"b"}]}`,
		`{"matchLabels":{"b":"x"},"matchExpressions":[{"key":"a","operator":"Exists"},{"key":"c","operator":"NotIn","values":["q","p"]}]}`, `{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]}`,
		`{"matchExpressions":[{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists"},{"key":"b","operator":"In","values":["x"]}]}`, `[]`, `"a=b"`, `1`, `{"other":1}`} {
		var sel *metav1.LabelSelector
		if err := json.Unmarshal([]byte(text), &sel); err != nil {
			f.put(selectorVector{Object: json.RawMessage(text), Error: err.Error()})
			continue
		}
		s, err := metav1.LabelSelectorAsSelector(sel)
		if err != nil {
			f.put(selectorVector{Object: json.RawMessage(text), Error: err.Error()})
			continue
		}
		v := selectorVector{Object: json.RawMessage(text), Matches: judge(s)}
		if s != labels.Nothing() {
			format := s.String()
			v.Format = &format
		}
		f.put(v)
	}
}
