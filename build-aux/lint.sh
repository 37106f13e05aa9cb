#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy and cppcheck over the C files, shellcheck over the scripts; a finding fails.
#     lint.sh BUILD [FILE...]     without files: all of lib/, tools/ and the scripts
set -uo pipefail
build=$1
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
bad=0
if [ $# -eq 0 ]; then
    mapfile -t scripts < <(git ls-files dev .ci/run .githooks/pre-commit '*.sh')
    if shellcheck -x -S warning "${scripts[@]}"; then
        echo "shellcheck: ${#scripts[@]} files clean"
    else
        bad=1
    fi
    mapfile -t files < <(git ls-files 'lib/*.c' 'tools/*.c' | grep -vE '(/gen/|_gen\.c$|generated)')
else
    files=("$@")
fi
# clang-tidy on a file whose text and headers are as at its last clean run would say the same again.
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/libgrove/tidy
mkdir -p "$cache"
tidy_one() { # FILE
    local key log
    key=$({ cat .clang-tidy "$1" && clang -std=c11 -Iinclude -Ilib -E "$1" 2>/dev/null; } | sha256sum | cut -c1-32)
    [ -e "$cache/$key" ] && return 0
    if log=$(clang-tidy --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null); then
        touch "$cache/$key"
        return 0
    fi
    printf '%s\n' "$log"
    return 1
}
export -f tidy_one
export build cache
tidy=0
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'tidy_one "{}"' || tidy=1
[ "$tidy" -eq 0 ] && echo "clang-tidy: ${#files[@]} files clean"
[ "$tidy" -eq 0 ] || bad=1
mkdir -p "$build/cppcheck"
if cppcheck --quiet --std=c11 --language=c --platform=unix64 --enable=warning,portability \
    --suppressions-list=build-aux/cppcheck.txt --inline-suppr --error-exitcode=1 --cppcheck-build-dir="$build/cppcheck" \
    -j "$(nproc)" -Iinclude -Ilib -DGV_HAVE_YAML=1 -DGROVE_API= "${files[@]}"; then
    echo "cppcheck: ${#files[@]} files clean"
else
    bad=1
fi
exit $bad
