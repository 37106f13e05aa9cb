#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit through the Kubernetes backend on the embedded cluster's HTTP front: front.sh PROGRAM GROVED.
# Everything answers at once there, so the kit need not be patient.
set -euo pipefail
folder=$(mktemp -d)
"$2" --embedded --kubeconfig-out "$folder/kubeconfig" 2>"$folder/log" &
groved=$!
trap 'kill $groved 2>/dev/null || true; wait $groved 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 200); do # written whole or not at all, when it serves
    [ -s "$folder/kubeconfig" ] && break
    kill -0 "$groved" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.05
done
"$1" "$folder/kubeconfig" 2000 2>"$folder/notes" || { tail -20 "$folder/notes" >&2; exit 1; }
