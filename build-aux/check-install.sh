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
