#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# static.sh ARCHIVE SOURCE_ROOT CC...: libgrove.a in one program with cJSON, libyaml and functions of the host that are
# called as each of the library's own: no clash at the link, and neither side calls the other's.
set -euo pipefail
archive=$1 root=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    printf 'static int called;\nint host_names(void);\nint host_names(void) {\n    return called;\n}\n'
    nm "$archive" | awk 'NF == 3 && $2 ~ /[tdrb]/ && $3 ~ /^gv_[a-z0-9_]+$/ { print $3 }' | sort -u |
        sed 's/.*/int &(void);\nint &(void) {\n    return ++called;\n}/'
} >"$work/names.c"
names=$(grep -c '^int gv_.*;$' "$work/names.c")
[ "$names" -gt 300 ] || { echo "only $names inner names found: is the archive what it should be?"; exit 1; }
link() { # NAME FLAGS...
    local name=$1
    shift
    "${cc[@]}" -std=c11 -I"$root/include" "$root/tests/abi/clash.c" "$work/names.c" "$archive" -o "$work/$name" "$@"
    "$work/$name"
}
cc=("$@")
link shared -lcjson -lyaml
if [ -n "$("${cc[@]}" -print-file-name=libyaml.a | grep /)" ] && [ -n "$("${cc[@]}" -print-file-name=libcjson.a | grep /)" ]; then
    link static -static -lcjson -lyaml
fi
echo "$names inner names, no clash"
