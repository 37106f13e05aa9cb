#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is installed serves a program outside: headers, library and pkg-config file in a folder of their
# own, a C and a C++ program compiled, linked and run against them, with the shared and the static library; a Meson
# project that finds libgrove installed, and one that builds it as a subproject; the source tarball, built where there
# is neither Python nor a network.
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
[ -x "$(find "$stage" -path '*/bin/grovectl')" ] || { echo "grovectl was not installed"; exit 1; }
for part in share/man/man1/grovectl.1 share/man/man3/libgrove.3 bash-completion/completions/grovectl site-functions/_grovectl; do
    [ -n "$(find "$stage" -path "*/$part")" ] || { echo "$part was not installed"; exit 1; }
done

# libgrove-k8s, where it was built: a program that makes a backend from a kubeconfig of its own text.
if [ -n "$(find "$stage" -name libgrove-k8s.pc)" ]; then
    cat >"$stage/k8s.c" <<'EOT'
#include <grove/grove.h>
#include <grove/k8s.h>
#include <stdio.h>
#include <string.h>
static const char text[] = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
                           "contexts: [{name: x, context: {cluster: c, namespace: here}}]\ncurrent-context: x\n";
int main(void) {
    grove_env *env = NULL;
    grove_k8s_options options = {sizeof options};
    grove_k8s_lease_options lease = {sizeof lease};
    grove_k8s_lease_info info = {sizeof info};
    grove_backend backend;
    if (grove_env_new(NULL, &env) < 0) {
        return 1;
    }
    options.kubeconfig_bytes = text;
    options.kubeconfig_len = strlen(text);
    lease.name = "leader";
    if (grove_k8s_backend(env, &options, &backend, NULL) < 0 || grove_k8s_elect(&backend, &lease, NULL) < 0 ||
        grove_k8s_lease(&backend, &info) < 0 || info.state != GROVE_K8S_LEASE_STANDBY) {
        return 1;
    }
    printf("libgrove-k8s: namespace %s\n", grove_k8s_namespace(&backend));
    backend.ops->destroy(backend.impl);
    grove_env_unref(env);
    return 0;
}
EOT
    cp "$stage/k8s.c" "$stage/k8s.cc"
    read -ra flags <<<"$(pkg-config --cflags --libs libgrove-k8s)"
    gcc -std=c99 -Wall -Werror -Wno-missing-field-initializers "$stage/k8s.c" -o "$stage/k8s_c" "${flags[@]}"
    g++ -std=c++11 -Wall -Werror -Wno-missing-field-initializers "$stage/k8s.cc" -o "$stage/k8s_cc" "${flags[@]}"
    for program in k8s_c k8s_cc; do
        [ "$(LD_LIBRARY_PATH=$lib "$stage/$program")" = "libgrove-k8s: namespace here" ] || { echo "$program failed"; exit 1; }
    done
    # what it needs beyond libgrove comes with it: no library of an event loop
    needed=$(objdump -p "$(find "$stage" -name libgrove-k8s.so)" | sed -n 's/ *NEEDED *//p')
    ! grep -q libevent <<<"$needed" || { echo "libgrove-k8s needs an event loop: $needed"; exit 1; }
    echo "libgrove-k8s: installed, compiled against by pkg-config, run"
fi

# The static library: named whole by pkg-config --static, its public names only.
read -ra flags <<<"$(pkg-config --static --cflags --libs libgrove)"
archive=$(dirname "$(find "$stage" -name libgrove.a)")
gcc -std=c99 -Wall -Werror "$stage/use.c" -o "$stage/use_static" -Wl,-Bstatic -L"$archive" "${flags[@]}" -Wl,-Bdynamic
"$stage/use_static"
! objdump -p "$stage/use_static" | grep -q 'NEEDED *libgrove' || { echo "the static program needs the shared library"; exit 1; }

# A Meson project: `dependency('libgrove')` finds what is installed, and the same line a subproject.
consumer() { # FOLDER
    mkdir -p "$1"
    cp "$stage/use.c" "$1/use.c"
    printf '%s\n' "project('consumer', 'c')" "test('use', executable('use', 'use.c', dependencies: dependency('libgrove', version: '>= 0.1')))" \
        >"$1/meson.build"
}
consumer "$stage/found"
meson setup "$stage/found/build" "$stage/found" --wrap-mode nofallback >"$stage/log" || { cat "$stage/log"; exit 1; }
LD_LIBRARY_PATH=$lib meson test -C "$stage/found/build" >"$stage/log" 2>&1 || { cat "$stage/log"; exit 1; }
echo "meson: dependency('libgrove') installed"
dist=$(./dev dist "$stage")
consumer "$stage/sub"
mkdir "$stage/sub/subprojects"
tar -xf "$dist" -C "$stage/sub/subprojects"
mv "$stage"/sub/subprojects/libgrove-* "$stage/sub/subprojects/libgrove"
printf '%s\n' '[wrap-file]' 'directory = libgrove' '' '[provide]' 'dependency_names = libgrove' >"$stage/sub/subprojects/libgrove.wrap"
cc_cached=gcc
command -v ccache >/dev/null && cc_cached='ccache gcc'
CC=$cc_cached meson setup "$stage/sub/build" "$stage/sub" --force-fallback-for libgrove --buildtype=plain -Dlibgrove:front=disabled \
    -Dlibgrove:k8s=disabled >"$stage/log" || { cat "$stage/log"; exit 1; }
meson test -C "$stage/sub/build" use >"$stage/log" 2>&1 || { tail -n 60 "$stage/log"; exit 1; }
echo "meson: libgrove as a subproject, from the tarball"

# The tarball with a compiler and make alone; a Python, git or downloader that is called fails the build, and where
# the system lets us there is no network at all.
tar -xf "$dist" -C "$stage"
mkdir "$stage/without"
for tool in python python3 meson git curl wget; do
    printf '#!/bin/sh\necho "%s was called" >>%s\nexit 1\n' "$tool" "$stage/called" >"$stage/without/$tool"
done
chmod +x "$stage"/without/*
offline=()
unshare -rn true 2>/dev/null && offline=(unshare -rn)
unset PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
PATH=$stage/without:$PATH "${offline[@]}" make -s -j2 -C "$stage"/libgrove-*/ CC="$cc_cached" CFLAGS=-O0 DESTDIR="$stage/made" PREFIX=/usr install
[ ! -e "$stage/called" ] || { cat "$stage/called"; exit 1; }
export PKG_CONFIG_SYSROOT_DIR=$stage/made PKG_CONFIG_PATH=$stage/made/usr/lib/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs libgrove)"
gcc -std=c99 -Wall -Werror "$stage/use.c" -o "$stage/use_made" "${flags[@]}"
LD_LIBRARY_PATH=$stage/made/usr/lib "$stage/use_made"
"$stage/made/usr/bin/grovectl" validate examples/manifests/04-leader-worker.yaml
diff <(nm -D --defined-only "$lib/libgrove.so" | cut -d' ' -f2-) <(nm -D --defined-only "$stage/made/usr/lib/libgrove.so" | cut -d' ' -f2-)
echo "tarball: $(basename "$dist"), $(stat -c %s "$dist") bytes, built without Python and network${offline[*]:+ (none in reach)}, the same symbols"
