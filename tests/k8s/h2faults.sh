#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# HTTP/2 that goes wrong, before the embedded cluster's front and before a real API server when one runs:
# h2faults.sh FAULTS GROVED [SEED]. Exit 77, and says so, without Go or the modules of tests/control-plane.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
faults=$1 groved=$2 seed=${3:-1}
folder=$(mktemp -d)
pids=()
cleanup() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT
command -v go >/dev/null || { echo "k8s h2faults: SKIPPED: no Go" >&2; exit 77; }
(cd "$ROOT/tests/control-plane" && CGO_ENABLED=0 go build -buildvcs=false -trimpath -o "$folder/h2fault" ./cmd/h2fault) ||
    { echo "k8s h2faults: SKIPPED: the proxy cannot be built here" >&2; exit 77; }
wait_file() {
    for _ in $(seq 200); do
        [ -s "$1" ] && return 0
        sleep 0.05
    done
    echo "k8s h2faults: $1 did not come" >&2
    exit 1
}
round() { # NAME UPSTREAM-KUBECONFIG FAULTS EVERY
    "$folder/h2fault" --upstream "$2" --kubeconfig-out "$folder/$1.$3" --seed "$seed" --faults "$3" --every "$4" \
        --quiet-after 15 &
    local proxy=$!
    pids+=("$proxy")
    wait_file "$folder/$1.$3"
    echo "== $1: $3"
    "$faults" "$folder/$1.$3" default 100
    kill "$proxy"
    wait "$proxy" 2>/dev/null || true
}
"$groved" --embedded --kubeconfig-out "$folder/front.kubeconfig" 2>/dev/null &
pids+=($!)
wait_file "$folder/front.kubeconfig"
round front "$folder/front.kubeconfig" "" 1
for fault in goaway refuse reset stall dead goaway,refuse,reset,stall,dead; do
    round front "$folder/front.kubeconfig" "$fault" 12
done
if "$ROOT/dev" control-plane status >/dev/null 2>&1; then
    round server "$("$ROOT/dev" control-plane up | sed -n 's/^KUBECONFIG=//p')" goaway,refuse,reset,stall,dead 12
else
    echo "k8s h2faults: no control plane runs: the front only" >&2
fi
