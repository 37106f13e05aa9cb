#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_k8s beside client-go's informer against the local control plane: bench_k8s.sh PROGRAM ROOT. Without one the
# figures that need no server are measured, and the rest is said to be missing.
set -euo pipefail
program=$1 root=$2
folder=$(mktemp -d)
started=0
pids=()
trap '[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true; [ "$started" = 0 ] || "$root/dev" control-plane down >&2 || true; rm -rf "$folder"' EXIT
build() { # NAME
    (cd "$root/tests/control-plane" && CGO_ENABLED=0 go build -buildvcs=false -trimpath -o "$folder/$1" "./cmd/$1") >&2
}
if command -v go >/dev/null && build stream; then
    "$folder/stream" --kubeconfig-out "$folder/stream.kubeconfig" &
    pids+=($!)
    for _ in $(seq 100); do
        [ -s "$folder/stream.kubeconfig" ] && break
        sleep 0.05
    done
    GROVE_BENCH_PART=stream GROVE_BENCH_KUBECONFIG=$folder/stream.kubeconfig "$program" "$root"
fi
"$root/dev" control-plane status >/dev/null 2>&1 || started=1
if ! command -v go >/dev/null || ! "$root/dev" control-plane up >"$folder/up" 2>&1; then
    started=0
    "$program" "$root"
    echo "bench_k8s: no control plane can be started here: what needs a server was not measured" >&2
    exit 0
fi
GROVE_BENCH_KUBECONFIG=$(sed -n 's/^KUBECONFIG=//p' "$folder/up")
export GROVE_BENCH_KUBECONFIG GROVE_BENCH_PODS=${GROVE_BENCH_PODS:-2000}
build informer
"$root/dev" control-plane kubectl create namespace bench >/dev/null
updates=$((GROVE_BENCH_PODS < 2000 ? GROVE_BENCH_PODS : 2000)) # as many as the bench makes
GROVE_BENCH_PART=create "$program" "$root"
"$folder/informer" --kubeconfig "$GROVE_BENCH_KUBECONFIG" --namespace bench --pods "$GROVE_BENCH_PODS" \
    --updates "$updates" >"$folder/informer.log" 2>&1 &
pids+=($!)
for _ in $(seq 600); do
    grep -q sync_cpu "$folder/informer.log" && break
    sleep 0.1
done
GROVE_BENCH_PART=watch "$program" "$root"
for _ in $(seq 100); do
    grep -q event_cpu "$folder/informer.log" && break
    sleep 0.1
done
peer() { # KEY FIGURE UNIT
    local value
    value=$(sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$folder/informer.log")
    echo "{\"bench\":\"k8s\",\"figure\":\"$2\",\"value\":${value:-0},\"unit\":\"$3\",\"setting\":\"client-go informer, the same pods and events\"}"
}
peer sync_cpu_ms informer_sync_cpu_ms ms
peer heap_bytes_a_pod informer_bytes_a_pod bytes
peer event_cpu_us informer_event_cpu_us us
"$root/dev" control-plane kubectl delete namespace bench --wait=false >/dev/null
