#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The JSON-only core on musl: library and grovectl built with musl-gcc, grovectl run without any shared library, its
# answers compared with those of grovectl here.
#     musl.sh GROVECTL
set -euo pipefail
here=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v musl-gcc >/dev/null || { echo "musl-tools is not installed"; exit 77; }
cc=musl-gcc
command -v ccache >/dev/null && cc='ccache musl-gcc'
make -s -j"$(nproc)" OUT=build-musl CC="$cc" CFLAGS='-O2 -Werror' LDFLAGS=-static YAML=no build-musl/libgrove.a build-musl/grovectl
make -s OUT=build-musl CC="$cc" CFLAGS='-O2 -Werror' YAML=no build-musl/libgrove.so
! objdump -p build-musl/grovectl | grep -q NEEDED || { echo "grovectl is not static"; exit 1; }
echo "musl: libgrove.so $(stat -c %s build-musl/libgrove.so) bytes, grovectl $(stat -c %s build-musl/grovectl) bytes, static"
build-aux/check-json-only.py "$here" "$PWD/build-musl/grovectl" "$PWD"
