#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gate of the bindings: what is too slow for `./dev test`, or needs tools that a newcomer need not have.
#     bindings.sh BUILD
# Python: types by mypy --strict, no leak over 10^5 calls, sdist and wheel used from an empty environment, the
# conformance suites through the binding.
# Go: vet, tests under the race detector (with checkptr), the conformance suites through the binding.
# Last line: N passed, N failed, N skipped.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
python=/usr/bin/python3
export LIBGROVE=$build/lib/libgrove.so.0 PYTHONDONTWRITEBYTECODE=1 GROVE_PYTHON=$python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

step() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        printf 'ok      %s\n' "$name"
        passed=$((passed + 1))
    else
        printf 'FAILED  %s\n' "$name"
        tail -n 40 "$work/log"
        failed=$((failed + 1))
    fi
}

skip() { # NAME REASON
    printf 'skipped: %s: %s\n' "$1" "$2"
    skipped=$((skipped + 1))
}

leaks() {
    PYTHONPATH=$root/bindings/python GROVE_PYTHON_CALLS=100000 "$python" \
        "$root/bindings/python/tests/test_manners.py" Manners.test_nothing_leaks
}

# From the wheel alone: no LIBGROVE, no source tree.
wheel() {
    "$root/bindings/python/package.sh" "$build/lib/libgrove.so.0" "$work/packages" || return 1
    mkdir "$work/site" && "$python" -m zipfile -e "$work"/packages/*.whl "$work/site" || return 1
    (cd "$work" && env -u LIBGROVE PYTHONPATH="$work/site" "$python" -c '
import grove, os
assert os.path.dirname(grove.__file__).startswith(os.environ["PYTHONPATH"])
assert not grove.validate({"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "a"}, "spec": {}})
' && case $(ls packages) in *libgrove-*.tar.gz*) ;; *) return 1 ;; esac)
}

suite() { # NAME PROGRAM: one of tests/conformance, with a binding's program in the place of grovectl
    PYTHONPATH=$root/bindings/python "$python" "$root/tests/conformance/$1.py" --grovectl "$2"
}

if have_mypy=$(command -v /usr/bin/mypy); then
    step "python types" env -C "$root/bindings/python" "$have_mypy" --strict --cache-dir "$work/mypy" grove
    step "python types of the example" env -C "$root/bindings/python" MYPYPATH=. "$have_mypy" --strict \
        --cache-dir "$work/mypy" ../../examples/python
else
    skip "python types" "mypy is not installed"
fi
step "python leaks, 100000 calls" leaks
step "python children" suite children "$root/bindings/python/tests/grovectl"
step "python admission" suite admission "$root/bindings/python/tests/grovectl"
if "$python" -c 'import setuptools, wheel' 2>/dev/null; then
    step "python sdist and wheel" wheel
else
    skip "python sdist and wheel" "python3-setuptools and python3-wheel are not installed"
fi

if command -v go >/dev/null; then
    cd "$root/bindings/go" || exit 1
    export CGO_CFLAGS="-I$root/include" PKG_CONFIG_PATH=$build/meson-uninstalled LD_LIBRARY_PATH=$build/lib GOFLAGS=-mod=mod
    step "go format" test -z "$(gofmt -l .)"
    step "go vet" go vet ./...
    step "go tests under the race detector" go test -race ./...
    step "go build of the command" go build -o "$work/grove" ./cmd/grove
    step "go children" suite children "$work/grove"
    step "go admission" suite admission "$work/grove"
else
    skip "go binding" "Go is not installed"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
