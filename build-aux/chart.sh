#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chart under Helm itself: lint, and what it renders compared with build-aux/render-chart.py in each setting. Helm is the
# one on the PATH, else built from its Go module, once (minutes; kept in the cache). Exit 77 where neither is to be had.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=build-aux/dev/common.sh
. "$ROOT/build-aux/dev/common.sh"

MODULE=$ROOT/tests/deploy/helm
if ! have helm; then
    folder=$CACHE/helm/$(cat "$MODULE/go.mod" "$MODULE/go.sum" | sha256sum | cut -c1-12)
    if [ ! -x "$folder/helm" ]; then
        have go || { say "chart: SKIPPED: neither helm nor go is installed here" && exit 77; }
        mkdir -p "$folder"
        say "chart: building helm"
        if ! (cd "$MODULE" && CGO_ENABLED=0 nice -n 19 go build -buildvcs=false -trimpath -ldflags '-s -w' \
            -o "$folder/helm.new" helm.sh/helm/v3/cmd/helm) >&2; then
            say "chart: SKIPPED: helm could not be built from its module"
            exit 77
        fi
        mv "$folder/helm.new" "$folder/helm"
    fi
    PATH=$folder:$PATH
fi
helm version --short
helm lint --strict "$ROOT/deploy/chart"
python3 "$ROOT/build-aux/render-chart.py" --check
