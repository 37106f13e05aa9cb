# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev run PROGRAM ARGS...`: brings the build up to date, says nothing on stdout, becomes the program.
# GROVE_NO_BUILD=1 leaves out the look whether something changed (about 20 ms).

dev_run_build() { # TARGET...
    [ -n "${GROVE_NO_BUILD:-}" ] && return 0
    # Programs that run side by side must not build side by side.
    exec 9>"$BUILD/.dev-lock"
    flock 9
    local log="$BUILD/.dev-run.log"
    if ! ninja -C "$BUILD" --quiet "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "dev: the build failed" >&2
        exit 125
    fi
    exec 9>&-
}

dev_run() {
    local program=${1:-}
    if [ -z "$program" ]; then
        echo "usage: ./dev run grovectl|groved|python|go ARGS..." >&2
        exit 2
    fi
    shift
    if [ ! -f "$BUILD/build.ninja" ]; then
        # shellcheck source=build-aux/dev/common.sh
        . "$ROOT/build-aux/dev/common.sh"
        { deps_ensure build && configure "$BUILD"; } >&2
    fi
    case $program in
    grovectl | groved)
        if [ ! -d "$ROOT/tools/$program" ]; then
            echo "dev: $program is not part of this version yet" >&2
            exit 125
        fi
        dev_run_build "tools/$program/$program"
        exec "$BUILD/tools/$program/$program" "$@"
        ;;
    python | python3)
        if [ ! -d "$ROOT/bindings/python" ]; then
            echo "dev: the Python binding is not part of this version yet" >&2
            exit 125
        fi
        dev_run_build lib/libgrove.so.0
        export LIBGROVE="$BUILD/lib/libgrove.so"
        export LD_LIBRARY_PATH="$BUILD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        export PYTHONPATH="$ROOT/bindings/python${PYTHONPATH:+:$PYTHONPATH}"
        exec python3 "$@"
        ;;
    go)
        if [ ! -d "$ROOT/bindings/go" ]; then
            echo "dev: the Go binding is not part of this version yet" >&2
            exit 125
        fi
        dev_run_build lib/libgrove.so.0
        export CGO_CFLAGS="-I$ROOT/include ${CGO_CFLAGS:-}"
        export CGO_LDFLAGS="-L$BUILD/lib ${CGO_LDFLAGS:-}"
        export LD_LIBRARY_PATH="$BUILD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        export PKG_CONFIG_PATH="$BUILD/meson-uninstalled${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
        exec go "$@"
        ;;
    *)
        echo "dev: no program '$program' (grovectl, groved, python, go)" >&2
        exit 2
        ;;
    esac
}
