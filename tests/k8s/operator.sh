#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A PodCliqueSet from creation to deletion on the control plane that runs: operator.sh PROGRAM. Exit 77, and says so,
# where none runs.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
NS=operator-$$

if ! "$ROOT/dev" control-plane status >/dev/null 2>&1; then
    echo "k8s operator: SKIPPED: no control plane runs (./dev control-plane up)" >&2
    exit 77
fi
kubeconfig=$("$ROOT/dev" control-plane up | sed -n 's/^KUBECONFIG=//p')
k() { "$ROOT/dev" control-plane kubectl "$@"; }
k apply --server-side --force-conflicts -f "$ROOT/deploy/crds/upstream" >/dev/null
k wait --for=condition=Established --timeout=30s crd --all >/dev/null
k create namespace "$NS" >/dev/null
"$1" "$kubeconfig" "$NS" 60 &
operator=$!
trap 'kill $operator 2>/dev/null || true; k delete namespace "$NS" --wait=false >/dev/null || true' EXIT

k -n "$NS" create -f - >/dev/null <<'EOT'
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: demo}
spec:
  replicas: 2
  template:
    cliques:
      - name: lead
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: c, image: "example.com/a:1"}]}}
      - name: work
        spec: {roleName: work, replicas: 3, podSpec: {containers: [{name: c, image: "example.com/a:1"}]}}
EOT
fail() {
    echo "k8s operator: FAILED: $1" >&2
    k -n "$NS" get pcs,pclq,podgangs,pods,events >&2 || true
    exit 1
}
pods() { k -n "$NS" get pods -o jsonpath='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' | grep -c "$1" || true; }
reached=
for _ in $(seq 60); do # each look takes a while: the wait is kubectl's own
    [ "$(pods True)" = 8 ] && reached=1 && break
    k -n "$NS" wait --for=condition=Ready pods --all --timeout=1s >/dev/null 2>&1 || true
done
[ -n "$reached" ] || fail "8 pods did not become Ready"
[ "$(k -n "$NS" get pcs demo -o jsonpath='{.status.availableReplicas}')" = 2 ] ||
    k -n "$NS" wait --for=jsonpath='{.status.availableReplicas}'=2 pcs/demo --timeout=10s >/dev/null || fail "the set does not say 2 available"
k -n "$NS" delete pcs demo --timeout=30s >/dev/null || fail "the set does not go"
# the set goes as soon as it holds nothing back; its children follow by the server's garbage collector
k -n "$NS" wait --for=delete pclq,podgangs,pods --all --timeout=60s >/dev/null 2>&1 || true # none is no fault
[ "$(k -n "$NS" get pclq,podgangs,pods -o name | wc -l)" = 0 ] || fail "children stay"
echo "k8s operator: 8 pods Ready, 2 available, gone"
