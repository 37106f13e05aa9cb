// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// Whole texts: nesting, block scalars, anchors, merge keys, document marks, comments, odd white space.
var structures = []string{
	// documents
	"", " ", "\n", "\n\n", "# only a comment\n", "---\n", "---", "--- \n", "---\n...\n", "...\n", "--- a\n", "--- |\n a\n",
	"---\na: 1\n", "---\na: 1\n...\n", "---\na: 1\n---\n", "a: 1\n...\n# c\n", "---\n# c\n---\n", "--- {a: 1}\n",
	"%YAML 1.1\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n", "%YAML 2.0\n---\na: 1\n", "%YAML 1.1\na: 1\n", "%FOO bar\n---\na: 1\n",
	"%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n", "%TAG ! tag:yaml.org,2002:\n---\na: !int '1'\n",
	"\ufeffa: 1\n", "\ufeff---\na: 1\n", "a: \ufeff1\n", "\ufeff", "a: 1\n\ufeffb: 2\n",
	"a: 1\r\nb: 2\r\n", "a: |\r\n  x\r\n  y\r\nb: >\r\n  x\r\n  y\r\n", "a: 1\rb: 2\r", "a:\r\n- 1\r\n- 2\r\n", "a: \"x\r\n  y\"\r\n",
	"a: x\u0085b: y\n", "a: \"x\u2028y\"\n", "a: x\u2028  y\n",
	// mappings and sequences
	"a: 1\nb: 2\n", "a:\n  b:\n    c: 1\n", "a:\n- 1\n- 2\n", "a:\n  - 1\n  - 2\n", "- 1\n- 2\n", "- - 1\n  - 2\n- - 3\n",
	"- a: 1\n  b: 2\n- c: 3\n", "-\n  a: 1\n-\n  - 2\n", "a:\n  - b: 1\n    c:\n    - d\n    - e\n  - f\n", "a:\nb:\n", "a:\n  \nb: 1\n",
	"-\n-\n- \n", "a: \n  - \n  - ~\n", "? a\n: b\n", "? a\n", "? a\n? b\n", "? - a\n: b\n", "? {a: 1}\n: b\n", "? [a]\n: b\n", "? |\n  a\n: b\n",
	"? a\n:\n  - 1\n  - 2\n", ": a\n", "a: 1\n b: 2\n", "a: 1\n  b: 2\n", "  a: 1\n  b: 2\n", "  a: 1\nb: 2\n", " - 1\n - 2\n", " - 1\n- 2\n",
	"a: b: c\n", "a: - b\n", "a: 'b' c\n", "a: 'b'c: d\n", "a: [1, 2\n", "a: [1, 2]]\n", "a: {b: 1\n", "a: {b: 1}}\n", "a: 'b\n", "a: \"b\n",
	"a: [\n1,\n2\n]\n", "a: [\n  1,\n  2\n  ]\n", "a: {\n  b: 1,\n  c: 2\n}\n", "a: [1, # c\n  2]\n", "a: [1 , 2 ]\n", "{\n\"a\": 1,\n\t\"b\": 2\n}\n",
	"{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":\"e\"}", "[1,2,3]", "[1,\n2]\n", "{\"a\":\n1}", "{\"a\"\n: 1}", "a\n: 1\n", "\"a\": 1\n'b': 2\n",
	"a:1\n", "a:1\nb: 2\n", "a :1\n", "a : 1\n", "a  :  1\n", "a:\t1\n", "a: 1\t\n", "a:\n\tb: 1\n", "a:\n  b: 1\n\tc: 2\n", "\ta: 1\n", "a: 1\n\t\nb: 2\n",
	"a:\n  - 1\n\t- 2\n", "a:\t\n  b: 1\n", "-\t1\n", "-\ta: 1\n", "- a\n-\tb\n", "a: [\t1,\t2 ]\n", "\t\n", "a: 1 \t# c\n", "?\ta\n",
	"a: 1\n# c\nb: 2\n", "a: 1 # c\n  # d\nb: 2\n", "a: # c\n  b: 1\n", "a: #c\n", "a:#c\n", "a: b#c\n", "- # c\n  a: 1\n", "#c\na: 1", "a: 1 #", "a: x # y # z\n",
	"a: 'x' # c\n", "a: [1]# c\n", "a: 'x'# c\n", "a: \"x\"#c\n",
	"a: b\n  c\n", "a: b\n\n  c\n", "a: b\nc\n", "a: b\n c: d\n", "a: b\n  # c\n  d\n", "a\nb\n", "a\nb: 1\n", "- a\n  b\n- c\n", "a: b\n  - c\n",
	"a: 'b\n  c'\n", "a: 'b\n\n  c'\n", "a: \"b\n\n  c\"\n", "a: \"b\\\n  c\"\n", "a: \"b \\\n  c\"\n", "a: 'b\nc'\n", "a: \"\n  b\n  \"\n", "a: \" b \"\n", "a: ' b '\n",
	"a: \"\\t\\\"\\\\\\/\\b\\f\\n\\r\"\n", "a: \"\\u00e9\\u263a\"\n", "a: \"\\ud83d\\ude00\"\n", "a: \"\\U0001f600\"\n", "a: \"\\x00\"\n", "a: 'it''s'\n", "a: \"\t\"\n", "a: '\t'\n",
	// block scalars
	"a: |\n  x\n  y\n", "a: |-\n  x\n  y\n", "a: |+\n  x\n  y\n\n", "a: >\n  x\n  y\n", "a: >-\n  x\n  y\n", "a: >+\n  x\n\n\n", "a: |\n  x\n\n  y\n\nb: 1\n",
	"a: |+\n  x\n\nb: 1\n", "a: |2\n    x\n   y\n", "a: |2-\n    x\n", "a: |-2\n    x\n", "a: |0\n  x\n", "a: |9\n  x\n", "a: |10\n  x\n", "a: |\n", "a: |-\n", "a: |+\n", "a: |+\n\n\n", "a: >\n\n",
	"a: |\nb: 1\n", "a: | # c\n  x\n", "a: |# c\n  x\n", "a: |x\n  y\n", "a: |\n  x # y\n  # z\n", "a: |\n  x\n # c\nb: 1\n", "a: |\n x\n  y\n", "a: |\n  x\n y\n", "a: |\n    x\n  y\n",
	"a: >\n  x\n    y\n  z\n", "a: >\n  x\n\n  y\n", "a: >\n  x\n\n    y\n\n  z\n", "a: >\n    x\n  y\n", "a: |\n\n  x\n", "a: |\n\n\n  x\n\n", "a: |\n   \n  x\n", "a: |\n  \tx\n", "a: |\n\tx\n",
	"- |\n  x\n- >\n  y\n", "- |\n x\n-\n  y\n", "|\n  x\n", ">-\nx\ny\n", "|\nx\n", "- a: |\n    x\n  b: 1\n", "a: |\n  x", "a: |-\n  x", "a: >\n  x", "a: |+\n  x", "a: |\n  yes\n", "a: >-\n  1\n", "a: |\n  {{ x }}\n",
	"a: |\n  #!/bin/sh\n  echo \"$X\"\n  if true; then\n    exit 1\n  fi\n", "a: |\n  x  \n  y\t\n", "a: >\n  x  \n  y\n", "a: |\n  é☺\n", "a: |\n  x\n...\n", "a: |\n  x\n---\n",
	// anchors, aliases, merge keys
	"a: &x 1\nb: *x\n", "a: &x {c: 1}\nb: *x\n", "a: &x [1, 2]\nb: *x\nc: *x\n", "a: *x\n", "a: &x *x\n", "&a a: *a\n", "a: &x\nb: *x\n", "a: &x 1\nb: &x 2\nc: *x\n", "&x a: &x b\nc: *x\n",
	"a: &x\n  b: 1\nc: *x\n", "a: &x\n  - 1\nc: *x\n", "a: &x [*x]\n", "a: &x {b: *x}\n", "&x [a, *x]\n", "a: &x yes\nb: *x\n", "a: &x 'yes'\nb: *x\n", "a: &x b\n*x : c\n", "a: &x [b]\n*x : c\n", "a: &x {b: 1}\n*x : c\n",
	"a: &x !!str 1\nb: *x\n", "a: !!str &x 1\nb: *x\n", "a: &x-1_y 1\nb: *x-1_y\n", "a: &x. 1\n", "a: & 1\n", "a: * 1\n", "a: &x &y 1\n", "a: &x 1\nb: *x c\n", "[&x a, *x, &x b, *x]\n", "a: &1 z\nb: *1\n", "*x\n",
	"base: &b {x: 1, y: 2}\nd:\n  <<: *b\n  y: 3\n", "base: &b {x: 1, y: 2}\nd:\n  y: 3\n  <<: *b\n", "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nd:\n  <<: [*a, *b]\n  z: 3\n", "d:\n  <<: {x: 1}\n  y: 2\n",
	"d:\n  <<: [{x: 1}, {x: 2, y: 3}]\n", "a: &a {x: 1}\nd:\n  <<: *a\n  <<: {y: 1}\n", "d:\n  <<: 1\n", "d:\n  <<: \n", "d:\n  <<: []\n", "d:\n  <<: [1]\n", "d:\n  <<: [[{a: 1}]]\n", "a: &a 1\nd:\n  <<: *a\n", "a: &a [{x: 1}]\nd:\n  <<: *a\n",
	"d:\n  '<<': {x: 1}\n", "d:\n  \"<<\": 1\n", "d:\n  !!merge <<: {x: 1}\n", "d:\n  !!str <<: {x: 1}\n", "d: <<\n", "- <<\n", "a: &a {x: {y: 1}}\nd:\n  <<: *a\n  x: {z: 2}\n", "a: &a {x: 1}\nb: &b\n  <<: *a\n  y: 2\nc:\n  <<: *b\n  z: 3\n",
	"a: &a {x: ~}\nd:\n  x: 1\n  <<: *a\n", "a: &a {<<: {x: 1}}\nd:\n  <<: *a\n", "a: &a\n  <<: *a\n", "a: &m <<\n*m : {x: 1}\n", "<<: {a: 1}\nb: 2\n", "{<<: {a: 1}, b: 2}\n", "a: &a {1: x}\nd:\n  <<: *a\n  1: y\n",
	"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b]\n",
	// keys
	"1: a\n", "1.5: a\n", "1.10: a\n", "3.14159265358979: a\n", "1e6: a\n", "100000.5: a\n", "1234567.5: a\n", "1e20: a\n", "1e-5: a\n", "0.0001: a\n", "0.00001234: a\n", "16777217.0: a\n", "1e39: a\n", "-1e39: a\n", "1e-50: a\n", "-0.0: a\n", "9.999999e22: a\n",
	"true: a\n", "yes: a\n", "on: a\n", "n: a\n", "y: 1\nn: 2\n", "'y': 1\n", "null: a\n", "~: a\n", "014: a\n", "0x10: a\n", "1_000: a\n", ".inf: a\n", "-.inf: a\n", ".nan: a\n", "2001-12-14: a\n", "18446744073709551615: a\n", "18446744073709551616: a\n",
	"!!str 1: a\n", "!!int '1': a\n", "!!float 1: a\n", "!!binary aGk=: a\n", "\"\": a\n", "'': a\n", "\"a\\nb\": c\n", "a b: c\n", "\"a: b\": c\n", "a: {1: b, true: c, 1.5: d, x: e}\n", "8388608.5: a\n", "3.4028235e38: a\n", "3.4028236e38: a\n", "1e-45: a\n", "7e-46: a\n", "0.3: a\n", "33554432.0: a\n", "1.17549435e-38: a\n",
	"[a, b]: c\n", "{a: b}: c\n", "? \n: a\n", "[{1: a}, {true: b}]\n",
	// Kubernetes-like
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {app: a, version: \"1.10\", on: \"yes\"}\nspec:\n  containers:\n  - name: c\n    image: nginx:1.25\n    args: [\"--port=8080\", --v=2, -x]\n    env:\n    - {name: A, value: \"1\"}\n    - name: B\n      value: on\n    resources:\n      limits: {cpu: 0.1, memory: 1Gi, nvidia.com/gpu: 8}\n      requests:\n        cpu: 1e3\n        memory: 128Mi\n    ports:\n    - containerPort: 8080\n    command:\n    - sh\n    - -c\n    - |\n      set -e\n      echo 'hi: there'\n  terminationGracePeriodSeconds: 030\n  nodeSelector:\n    a/b: \"true\"\n",
	"kind: List\nitems:\n- kind: A\n  spec:\n    replicas: 0\n    minAvailable: null\n- kind: B\n  spec: {replicas: 9223372036854775807}\n",
	"data:\n  mode: 0644\n  defaultMode: 420\n  country: NO\n  version: 1.10\n  time: 12:30\n  mac: 01:23:45:67:89:ab\n  oct: 0o644\n  sha: 1e10\n  date: 2026-11-29\n",
	"x: " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\n",
	"x: " + strings.Repeat("{a: ", 60) + "1" + strings.Repeat("}", 60) + "\n",
	strings.Repeat("a", 200) + ": 1\n", strings.Repeat("a", 1100) + ": 1\n", "? " + strings.Repeat("a", 1100) + "\n: 1\n", "{" + strings.Repeat("a", 1100) + ": 1}\n", "\"" + strings.Repeat("a", 1100) + "\": 1\n",
	"a: \x00\n", "a: \x01\n", "a: \x7f\n", "a: \x1b\n", "a: \u0080\n", "a: \u009f\n", "a: \ufffe\n", "a: \ufffd\n", "a: \ue000\n", "a: \U0010ffff\n", "a: \U00010000\n",
}

// Texts that hold a key twice, each judged with and without strictness.
var strict = []string{
	"a: 1\n", "a: 1\na: 2\n", "a: 1\nb: 2\na: 3\n", "{a: 1, a: 2}\n", "a: {b: 1, b: 2}\n", "- {a: 1, a: 1}\n", "a: 1\nA: 2\n", "1: a\n0x1: b\n", "true: a\nyes: b\n", "1.0: a\n1.00: b\n",
	"a: 1\n'a': 2\n", "a: ~\na: ~\n", "a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", "a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n", "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", "a: &x {b: 1}\ny: &y {b: 2}\nc:\n  <<: [*x, *y]\n",
	"<<: {a: 1}\n<<: {b: 1}\n", "<<: {a: 1}\n<<: {a: 1}\n", "\"a\": 1\n\"\\u0061\": 2\n", "{\"a\":1,\"b\":{\"c\":1,\"c\":2}}", "a: {}\na: {b: 1}\n", "a: [1]\na: [2]\n", "? a\n? a\n",
}
