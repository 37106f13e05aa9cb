#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit on the control plane that runs (`./dev control-plane up`): conformance.sh PROGRAM [FILTER].
# Exit 77, and says so, where none runs.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

if ! "$ROOT/dev" control-plane status >/dev/null 2>&1; then
    echo "k8s conformance: SKIPPED: no control plane runs (./dev control-plane up)" >&2
    exit 77
fi
kubeconfig=$("$ROOT/dev" control-plane up | sed -n 's/^KUBECONFIG=//p')
"$ROOT/dev" control-plane kubectl apply --server-side --force-conflicts -f "$ROOT/deploy/crds/upstream" >/dev/null
"$ROOT/dev" control-plane kubectl wait --for=condition=Established --timeout=30s crd --all >/dev/null
exec "$1" "$kubeconfig" 16000 ${2:+"$2"}
