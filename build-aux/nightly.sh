#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes longer than CI may: `./dev nightly [STEP...]`. Hours on two cores. Each step counts once; its log is in
# build-gates/nightly-<step>.log. Last line: N passed, N failed, N skipped.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
logs=build-gates
mkdir -p "$logs"
passed=0 failed=0 skipped=0
wanted=" $* "

step() { # NAME COMMAND...
    local name=$1 begun=$SECONDS status
    shift
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
    printf 'nightly %-12s ... ' "$name"
    "$@" >"$logs/nightly-$name.log" 2>&1 </dev/null
    status=$?
    case $status in
    0) passed=$((passed + 1)) && printf 'passed' ;;
    77) skipped=$((skipped + 1)) && printf 'skipped: %s' "$(tail -n 1 "$logs/nightly-$name.log")" ;;
    *) failed=$((failed + 1)) && printf 'FAILED (%s)' "$logs/nightly-$name.log" ;;
    esac
    printf ', %d min\n' $(((SECONDS - begun) / 60))
}

chaos() { ./dev build && GROVE_CHAOS_FIRST=${GROVE_CHAOS_FIRST:-100000} GROVE_CHAOS_SEEDS=2500 ./dev test system_chaos; }

step chaos chaos
step model-check ./dev model-check
step mutate-plan ./dev mutate plan --seed "$(date +%j)" --count 200
step mutate-sched ./dev mutate sched --seed "$(date +%j)" --count 200
step mutate-admission ./dev mutate admission --seed "$(date +%j)" --count 200
step fuzz ./dev fuzz --seconds 300
step afl ./dev fuzz-engines afl 30
step oss-fuzz ./dev fuzz-engines oss-fuzz 30
step musl ./dev musl
step coverage ./dev coverage
step chart ./dev chart
step live ./dev live
step soak env GROVE_LIVE_MINUTES=30 ./dev live soak
step goaway ./dev goaway
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
