#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is installed serves a program outside: headers, library and pkg-config file in a folder of their
# own, a C and a C++ program compiled, linked and run against them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${GROVE_BUILD:-build}
./dev build
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage meson install -C "$build" --quiet
pc=$(find "$stage" -name libgrove.pc)
export PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_PATH=${pc%/*}
cat >"$stage/use.c" <<'EOT'
#include <grove/grove.h>
#include <stdio.h>
int main(void) {
    grove_env *env = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        return 1;
    }
    printf("libgrove %s\n", grove_version());
    grove_env_unref(env);
    return 0;
}
EOT
cp "$stage/use.c" "$stage/use.cc"
read -ra flags <<<"$(pkg-config --cflags --libs libgrove)"
lib=$(dirname "$(find "$stage" -name libgrove.so)")
gcc -std=c99 -Wall -Werror "$stage/use.c" -o "$stage/use_c" "${flags[@]}"
g++ -std=c++11 -Wall -Werror "$stage/use.cc" -o "$stage/use_cc" "${flags[@]}"
for program in use_c use_cc; do
    LD_LIBRARY_PATH=$lib "$stage/$program"
done
[ -x "$(find "$stage" -name grovectl)" ] || { echo "grovectl was not installed"; exit 1; }
