#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit, an operator's round and a burst of writes on an API server that sends GOAWAY on one request in
# fifty: goaway.sh CONFORMANCE OPERATOR FAULTS. Starts a control plane of its own and takes it down; exit 77, and
# says so, where none can be started or one runs already.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
HERE=$ROOT/tests/k8s
if "$ROOT/dev" control-plane status >/dev/null 2>&1; then
    echo "k8s goaway: SKIPPED: a control plane runs already" >&2
    exit 77
fi
export GROVE_APISERVER_FLAGS=--goaway-chance=0.02
trap '"$ROOT/dev" control-plane down >/dev/null 2>&1 || true' EXIT
up=0
"$ROOT/dev" control-plane up >/dev/null 2>&1 || up=$?
[ "$up" != 77 ] || { echo "k8s goaway: SKIPPED: no control plane can be started here" >&2; exit 77; }
[ "$up" = 0 ] || exit 1
"$HERE/conformance.sh" "$1" | grep -v "^ok"
"$HERE/operator.sh" "$2"
kubeconfig=$("$ROOT/dev" control-plane up | sed -n 's/^KUBECONFIG=//p')
"$3" "$kubeconfig" default 400
