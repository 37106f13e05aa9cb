#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz-engines.sh oss-fuzz|afl [SECONDS]: the fuzz targets as other engines build them, each for a short while.
#     oss-fuzz   fuzz/oss-fuzz/build.sh as that service's image runs it (clang, libFuzzer, ASan, UBSan)
#     afl        AFL++ with afl-clang-fast and its libFuzzer driver
# 77: the engine is not to be had here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
engine=$1 seconds=${2:-5}
out=$PWD/build-$engine
mkdir -p "$out/work" "$out/out"
export OUT=$out/out WORK=$out/work
case $engine in
oss-fuzz)
    export CC=clang CFLAGS="-O1 -g -fsanitize=address,undefined -fsanitize=fuzzer-no-link" LIB_FUZZING_ENGINE=-fsanitize=fuzzer
    ;;
afl)
    command -v afl-clang-fast >/dev/null || { echo "AFL++ is not installed"; exit 77; }
    export CC=afl-clang-fast CFLAGS="-O1 -g" LIB_FUZZING_ENGINE=-fsanitize=fuzzer AFL_QUIET=1
    ;;
*) exit 2 ;;
esac
fuzz/oss-fuzz/build.sh
ran=0
for target in "$OUT"/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    seeds=fuzz/corpus/${name#fuzz_}
    words=fuzz/dictionaries/${name#fuzz_}.dict
    told=()
    if [ "$engine" = afl ]; then
        [ ! -e "$words" ] || told=(-x "$words")
        rm -rf "$out/found"
        AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 \
            afl-fuzz -V "$seconds" -m none -t 5000+ "${told[@]}" -i "$seeds" -o "$out/found" -- "$target" >"$out/$name.log" 2>&1 ||
            { tail -n 30 "$out/$name.log"; exit 1; }
        crashes=$(find "$out/found" -path '*/crashes/id*' | wc -l)
        runs=$(awk '/^execs_done/ { print $3 }' "$out/found/default/fuzzer_stats")
        [ "$crashes" -eq 0 ] || { echo "$name: $crashes findings in $out/found"; exit 1; }
    else
        [ ! -e "$words" ] || told=("-dict=$words")
        "$target" "${told[@]}" -max_total_time="$seconds" -seed=1 -rss_limit_mb=2048 -print_final_stats=1 "$seeds" >"$out/$name.log" 2>&1 ||
            { tail -n 30 "$out/$name.log"; exit 1; }
        runs=$(awk '/stat::number_of_executed_units/ { print $2 }' "$out/$name.log")
    fi
    printf '%s: %s runs, no finding\n' "$name" "$runs"
    ran=$((ran + 1))
done
[ "$ran" -gt 0 ]
