# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The verbs of ./dev, one function each: verb_<name>.

# Options of each build variant: CC, then meson options.
variant_options() { # NAME -> "CC|options"
    case $1 in
    asan) echo "gcc|-Db_sanitize=address,undefined" ;;
    tsan) echo "gcc|-Db_sanitize=thread" ;;
    clang) echo "clang|-Db_lundef=false" ;;
    release) echo "gcc|--buildtype=release" ;;
    noyaml) echo "gcc|-Dyaml=disabled" ;;
    arena) echo "gcc|-Ddebug_arena=true -Db_sanitize=address,undefined" ;;
    fuzz) echo "clang|-Dfuzz=true -Db_lundef=false -Db_sanitize=address,undefined" ;;
    coverage) echo "gcc|-Db_coverage=true --buildtype=debug -Dwerror=false" ;; # -O0 sees less, and warns of what it does not see
    bench) echo "gcc|--buildtype=release -Dbench=true -Dtests=disabled" ;;
    *) die "no build variant '$1'" ;;
    esac
}

variant_setup() { # NAME
    local options cc
    options=$(variant_options "$1")
    cc=${options%%|*}
    have ccache && cc="ccache $cc"
    # shellcheck disable=SC2086 # the options are words
    CC=$cc configure "$(variant "$1")" ${options#*|}
}

variant_test() { # NAME [RUN-TESTS OPTIONS...]: builds the variant and runs every suite on it
    local name=$1
    shift
    deps_ensure build test
    variant_setup "$name"
    compile "$(variant "$name")"
    sanitizer_environment
    "$ROOT/build-aux/run-tests.py" "$(variant "$name")" --no-suite build-aux --no-suite cluster --no-suite bindings --jobs "$JOBS" \
        --multiplier 5 "$@"
}

# `./dev test` plays all of them; what compilers and sanitizers see, some show as well.
fewer_histories() {
    export GROVE_CHAOS_SEEDS=${GROVE_CHAOS_SEEDS:-12} GROVE_CRASH_STEP=${GROVE_CRASH_STEP:-7} GROVE_MODEL_CHECK=few
    export GROVE_PREEMPT_SEEDS=${GROVE_PREEMPT_SEEDS:-12} GROVE_THROUGH_SEEDS=${GROVE_THROUGH_SEEDS:-40}
    export GROVE_FAULT_STEP=${GROVE_FAULT_STEP:-4}
}

sanitizer_environment() {
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:allocator_may_return_null=1:detect_stack_use_after_return=1}
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
    export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
    fewer_histories
}

verb_deps() { # [GROUP...]
    [ $# -gt 0 ] || set -- build test
    [ "$1" = all ] && set -- build test gates docs bindings wasm cross-arm64 cross-s390x cross-i386 bench cluster
    deps_ensure "$@"
}

# shellcheck disable=SC2120 # the command line passes them
verb_build() { # [TARGET...]
    deps_ensure build
    configure "$BUILD"
    compile "$BUILD" "$@"
}

verb_demo() {
    local started=$SECONDS
    deps_ensure build
    configure "$BUILD"
    compile "$BUILD" tools/grovectl/grovectl
    if [ -x "$ROOT/build-aux/demo.sh" ]; then
        GROVECTL="$BUILD/tools/grovectl/grovectl" "$ROOT/build-aux/demo.sh" "$@"
    elif "$BUILD/tools/grovectl/grovectl" help | grep -q '^  demo '; then
        (cd "$ROOT" && "$BUILD/tools/grovectl/grovectl" demo "$@")
    else
        die "this version has no demo yet (neither build-aux/demo.sh nor 'grovectl demo')"
    fi
    say "demo: $((SECONDS - started)) s with the build"
}

verb_test() { # [NAME...]: unit, golden and conformance suites, the gates' self-tests
    deps_ensure build test
    say "== build"
    configure "$BUILD"
    compile "$BUILD"
    say "== test"
    "$ROOT/build-aux/run-tests.py" "$BUILD" --no-suite gate --no-suite cluster --jobs "$JOBS" \
        --multiplier 3 "$@"
}

verb_k8s() { # the Kubernetes backend and the engine against a real API server
    local script="$ROOT/tests/control-plane/control-plane.sh" was_up=1 result=0
    deps_ensure build test cluster
    configure "$BUILD"
    compile "$BUILD"
    "$script" status >/dev/null 2>&1 || was_up=0
    "$script" up >/dev/null || return $? # 77: it cannot be had here
    "$ROOT/build-aux/run-tests.py" "$BUILD" --suite cluster --jobs 1 || result=$?
    [ "$was_up" = 1 ] || "$script" down
    return "$result"
}

verb_bindings() { # what the bindings need beyond `./dev test`
    deps_ensure build test bindings
    configure "$BUILD"
    compile "$BUILD"
    "$ROOT/build-aux/bindings.sh" "$BUILD"
}

verb_live() { # [STAGE...] groved under its own rights on a real control plane; GROVE_LIVE_CASES, GROVE_LIVE_ROUNDS
    local script="$ROOT/tests/control-plane/control-plane.sh" was_up=1 result=0
    deps_ensure build test cluster
    configure "$BUILD"
    compile "$BUILD" tools/groved/groved tools/grove-initc/grove-initc
    if [ "$*" != node ]; then # it has a control plane of its own
        "$script" status >/dev/null 2>&1 || was_up=0
        "$script" up >/dev/null || return $? # 77: it cannot be had here
    fi
    python3 "$ROOT/tests/live/live.py" --groved "$BUILD/tools/groved/groved" "$@" || result=$?
    [ "$was_up" = 1 ] || "$script" down
    return "$result"
}

verb_chart() { exec "$ROOT/build-aux/chart.sh"; } # Helm itself on deploy/chart

verb_goaway() { # the backend on an API server that sends GOAWAY on one request in fifty
    deps_ensure build test cluster
    configure "$BUILD"
    compile "$BUILD"
    "$ROOT/tests/k8s/goaway.sh" "$BUILD"/tests/k8s/k8s-{conformance,operator,faults}
}

verb_gates() { exec python3 "$ROOT/build-aux/gates.py" "$@"; }
verb_asan() { variant_test asan "$@"; }
verb_clang() { deps_ensure gates && variant_test clang "$@"; }
verb_release() { variant_test release "$@"; }

# The inputs of the other suites are YAML; sets turned into JSON stand for them.
verb_noyaml() {
    variant_test noyaml --suite base --suite value --suite model --suite store --suite sched --suite api \
        --suite fuzz "$@"
    configure "$BUILD"
    compile "$BUILD" tools/grovectl/grovectl
    "$ROOT/build-aux/check-json-only.py" "$BUILD/tools/grovectl/grovectl" \
        "$(variant noyaml)/tools/grovectl/grovectl" "$ROOT"
}

verb_arena() { variant_test arena "$@"; }

# Only suites that start threads gain from it: those of suite `threads`.
verb_tsan() {
    deps_ensure build test
    variant_setup tsan
    if [ -z "$(meson test -C "$(variant tsan)" --list --suite threads 2>/dev/null)" ]; then
        say "tsan: no suite starts threads yet"
        return 77
    fi
    variant_test tsan --suite threads "$@"
}

verb_model_check() { # [SCENARIO FAULTS LAG STATES DEPTH]: larger sizes than a test run takes; minutes
    local program=$BUILD/tests/model-check/model_check
    deps_ensure build test
    configure "$BUILD"
    compile "$BUILD" tests/model-check/model_check
    if [ $# -gt 0 ]; then
        "$program" "$@"
        return
    fi
    "$program" small 2 0
    "$program" small 1 1
    "$program" small 2 1
    "$program" one 3 0 999999999 1000 whole
    "$program" pair 2 0
    "$program" shrink 1 0
    "$program" grow 1 0 300000
}

verb_fuzz() { # [NAME] [--seconds N | --total N] [--seed N]: 60 s a target, or N for all of them; seed 0: another each time
    local seconds=60 total='' seed=0 only='' name folder names=()
    while [ $# -gt 0 ]; do
        case $1 in
        --seconds) seconds=$2 && shift 2 ;;
        --total) total=$2 && shift 2 ;;
        --seed) seed=$2 && shift 2 ;;
        *) only=$1 && shift ;;
        esac
    done
    deps_ensure build test gates
    variant_setup fuzz
    folder=$(variant fuzz)
    sanitizer_environment
    for name in "$ROOT"/fuzz/fuzz_*.c; do
        [ -e "$name" ] || continue
        name=$(basename "$name" .c)
        name=${name#fuzz_}
        [ -z "$only" ] || [ "$only" = "$name" ] || continue
        compile "$folder" "fuzz/fuzz_$name"
        names+=("$name")
    done
    if [ ${#names[@]} -eq 0 ]; then
        say "fuzz: no target${only:+ named $only}"
        [ -n "$only" ] && return 1
        return 77
    fi
    if [ -n "$total" ]; then
        "$ROOT/build-aux/fuzz-share.py" "$folder" "$ROOT" "$seed" "$total" "${names[@]}"
        return
    fi
    for name in "${names[@]}"; do
        say "== fuzz $name, $seconds s"
        "$ROOT/build-aux/fuzz-share.py" "$folder" "$ROOT" "$seed" "$seconds" "$name" >"$folder/$name.found" || {
            cat "$folder/$name.found"
            return 1
        }
        printf '%s: %s runs, no finding\n' "$name" "$(awk '$1 == "all" { print $2 }' "$folder/$name.found")"
    done
}

verb_mutate() { # plan|admission|sched [--seed N] [--count N]...: plants small faults; do the tests catch them?
    deps_ensure build test
    "$ROOT/build-aux/mutate.py" "$@"
}

verb_bench() { # [NAME]
    local name found=0 folder log
    deps_ensure build bench
    variant_setup bench
    folder=$(variant bench)
    log=$folder/figures.log
    : >"$log"
    for name in "$ROOT"/bench/bench_*.c; do
        [ -e "$name" ] || continue
        name=$(basename "$name" .c)
        [ $# -eq 0 ] || [ "$1" = "${name#bench_}" ] || continue
        found=$((found + 1))
        compile "$folder" "bench/$name" || return 1
        say "== $name"
        if [ -x "$ROOT/bench/$name.sh" ]; then # what it is measured beside has to be started
            "$ROOT/bench/$name.sh" "$folder/bench/$name" "$ROOT"
        else
            "$folder/bench/$name" "$ROOT"
        fi | tee -a "$log" | sed '/^{"bench"/d'
    done
    [ "$found" -gt 0 ] || die "no bench${1:+ named $1}"
    grep '^{"bench"' "$log" || die "no bench printed a figure"
}

verb_dist() { # [FOLDER]: the source tarball, from the files that git knows; the same bytes for the same tree
    local out=${1:-$ROOT/build-dist} version name
    version=$(sed -n 's/.*GROVE_VERSION_STRING "\(.*\)"/\1/p' "$ROOT/include/grove/version.h")
    name=libgrove-$version
    mkdir -p "$out"
    git -C "$ROOT" ls-files -z | (cd "$ROOT" && tar --null -T - -cf - --sort=name --owner=0 --group=0 --numeric-owner \
        --mtime='2000-01-01 00:00:00Z' --transform "s,^,$name/,") | gzip -9n >"$out/$name.tar.gz"
    printf '%s\n' "$out/$name.tar.gz"
}

verb_coverage() { # lines that the suites run, by layer, with floors
    deps_ensure build test
    variant_setup coverage
    compile "$(variant coverage)"
    find "$(variant coverage)" -name '*.gcda' -delete
    fewer_histories
    "$ROOT/build-aux/run-tests.py" "$(variant coverage)" --no-suite build-aux --no-suite cluster --no-suite bindings --no-suite gate \
        --jobs "$JOBS" --multiplier 5 "$@" || return 1
    "$ROOT/build-aux/coverage.py" "$(variant coverage)"
}

verb_report() { python3 "$ROOT/build-aux/complexity.py" "$@"; } # [--top N]: size and shape of the code

verb_musl() {
    deps_ensure build
    deps_ensure nightly || return 77
    configure "$BUILD"
    compile "$BUILD" tools/grovectl/grovectl
    "$ROOT/build-aux/musl.sh" "$BUILD/tools/grovectl/grovectl"
}

verb_fuzz_engines() { # oss-fuzz|afl [SECONDS]
    deps_ensure build test gates
    deps_ensure nightly || return 77
    "$ROOT/build-aux/fuzz-engines.sh" "$@"
}

verb_man() { # man pages and the command line reference, from what the programs say
    deps_ensure build
    configure "$BUILD"
    compile "$BUILD" tools/grovectl/grovectl tools/groved/groved tools/grove-initc/grove-initc
    "$ROOT/build-aux/gen-man.py" "$@" --grovectl "$BUILD/tools/grovectl/grovectl" --groved "$BUILD/tools/groved/groved" \
        --initc "$BUILD/tools/grove-initc/grove-initc"
}

verb_docs() {
    deps_ensure docs
    "$ROOT/build-aux/check-docs.py" "$ROOT" || return 1
    mkdir -p "$ROOT/build-docs"
    (cd "$ROOT" && doxygen docs/Doxyfile) || die "doxygen found fault with the header comments"
    say "docs: build-docs/html/index.html"
}

verb_abi() {
    deps_ensure build gates
    configure "$BUILD"
    compile "$BUILD"
    "$ROOT/build-aux/check-symbols.py" "$ROOT" "$BUILD" || return 1
    "$ROOT/build-aux/api-description.py" "$ROOT" --check || return 1
    "$ROOT/build-aux/check-abi.py" "$ROOT" "$BUILD" "$@"
}

verb_format() { # the files changed against main; --all: every file; --check: fails instead
    deps_ensure gates
    case " $* " in
    *" --check "*) ;;
    *) set -- --fix "$@" ;;
    esac
    (cd "$ROOT" && "$ROOT/build-aux/check-format.py" "$@")
}

verb_lint() {
    deps_ensure build gates
    configure "$BUILD"
    "$ROOT/build-aux/lint.sh" "$BUILD" "$@"
}

verb_source() {
    deps_ensure gates
    "$ROOT/build-aux/check-all.sh" "$@"
}

# Test scripts call these programs by path: under an emulator a script of that name stands in for each.
cross_stand_in() { # FOLDER EMULATOR PROGRAM...
    local folder=$1 emulator=$2 program
    shift 2
    for program in "$@"; do
        [ "$(head -c 4 "$folder/$program" | tail -c 3)" = ELF ] || continue
        mv "$folder/$program" "$folder/$program.elf"
        printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$folder/$program.elf" >"$folder/$program"
        chmod +x "$folder/$program"
    done
}

# An emulator is tens of times slower: what is repeated for its own sake, and not for the other machine, is
# repeated less often.
cross_emulated() { # FOLDER EMULATOR
    cross_stand_in "$1" "$2" tools/grovectl/grovectl tests/unit/plan/plan_drive
    export GROVE_PREEMPT_SEEDS=${GROVE_PREEMPT_SEEDS:-4} GROVE_CHAOS_SEEDS=${GROVE_CHAOS_SEEDS:-4} GROVE_CRASH_STEP=${GROVE_CRASH_STEP:-41} \
        GROVE_OOM_STEP=${GROVE_OOM_STEP:-37} GROVE_FAULT_STEP=${GROVE_FAULT_STEP:-29}
}

verb_cross() { # arm64|s390x|i386: unit, golden and hash suites on another machine
    local target=${1:-}
    if [ ! -f "$ROOT/build-aux/cross/$target.ini" ]; then
        die "usage: ./dev cross arm64|s390x|i386"
    fi
    shift
    deps_ensure build test
    if ! deps_ensure "cross-$target"; then
        say "cross $target: its compiler or libraries are not to be had here"
        return 77
    fi
    configure "$(variant "cross-$target")" --cross-file "$ROOT/build-aux/cross/$target.ini"
    compile "$(variant "cross-$target")"
    case $target in
    arm64) # as wide and as ordered as this machine: whole lives are left to the big-endian one
        cross_emulated "$(variant cross-arm64)" qemu-aarch64
        set -- --no-suite lives "$@"
        ;;
    s390x) cross_emulated "$(variant cross-s390x)" qemu-s390x ;;
    esac
    fewer_histories
    "$ROOT/build-aux/run-tests.py" "$(variant "cross-$target")" --no-suite build-aux --no-suite gate \
        --no-suite cluster --no-suite native --jobs "$JOBS" --multiplier 10 "$@"
}

# The JSON-only core as WebAssembly: grovectl under Node gives the bytes that grovectl gives here.
verb_wasm() {
    local out
    out=$(variant wasm)
    deps_ensure build test
    if ! have node || ! deps_ensure wasm; then
        say "wasm: SKIPPED: Node, clang or wasi-libc is not to be had here"
        return 77
    fi
    configure "$BUILD"
    compile "$BUILD" tools/grovectl/grovectl
    export PATH="$ROOT/build-aux/wasm:$PATH"
    configure "$out" --cross-file "$ROOT/build-aux/wasm/wasm.ini" --buildtype=minsize -Dyaml=disabled \
        -Dtests=disabled -Dfront=disabled -Dk8s=disabled
    compile "$out" tools/grovectl/grovectl
    printf '#!/bin/sh\nexec %s/build-aux/wasm/wasi-run %s "$@"\n' "$ROOT" "$out/tools/grovectl/grovectl" >"$out/grovectl-under-node"
    chmod +x "$out/grovectl-under-node"
    say "wasm: $(stat -c %s "$out/tools/grovectl/grovectl") bytes, $(gzip -9c "$out/tools/grovectl/grovectl" | wc -c) compressed"
    "$ROOT/build-aux/check-json-only.py" "$BUILD/tools/grovectl/grovectl" "$out/grovectl-under-node" "$ROOT"
}

verb_control_plane() { # up|down|status
    local script="$ROOT/tests/control-plane/control-plane.sh"
    [ -x "$script" ] || die "the control-plane fixture is not part of this version yet"
    exec "$script" "$@"
}

verb_hooks() {
    git -C "$ROOT" config core.hooksPath .githooks
    say "git hooks of this clone: .githooks (undo: git config --unset core.hooksPath)"
}

verb_clean() {
    local folder
    for folder in "$ROOT"/build "$ROOT"/build-*; do
        [ "$folder" = "$ROOT/build-aux" ] || rm -rf "$folder"
    done
}

verb_claims() { # [--no-run]
    verb_build >&2
    exec python3 "$ROOT/build-aux/claims.py" --build "$BUILD" "$@"
}
verb_nightly() { exec "$ROOT/build-aux/nightly.sh" "$@"; } # [STEP...]

verb_help() {
    cat <<'EOT'
usage: ./dev VERB [ARGS...]

  demo                 builds, then shows the main job on an embedded cluster
  test [NAME...]       builds, then runs unit, golden and conformance suites; last line: N passed, N failed, N skipped
  build [TARGET...]    builds into build/ (warnings are errors)
  run PROGRAM ARGS...  runs what was built, from any folder: grovectl, groved, python, go
  bench [NAME]         measures; ends with one JSON object per figure

  gates [NAME...]      what only CI waits for (docs/ci.md); --list shows them
  asan, tsan, clang, release, noyaml, arena
                       builds that variant and runs the suites on it
  model-check [SCENARIO FAULTS LAG STATES DEPTH [whole]]   the planner in every interleaving of small worlds
  fuzz [NAME] [--seconds N | --total N] [--seed N]
                       libFuzzer with ASan and UBSan: 60 s a target, or N s shared by what each still finds
  mutate plan|admission|sched [--seed N] [--count N]
                       plants small faults into that layer and counts those that the tests catch
  cross arm64|s390x|i386
                       builds for another machine and runs unit, golden and hash suites on it under qemu
  source               the checks of the source itself: layers, banned calls, headers, symbols, words
  abi, docs, lint      symbols and ABI; Doxygen and links; clang-tidy and cppcheck
  format [--all]       formats the files changed against main, or all; --check only tells
  control-plane up|down|status
                       a real Kubernetes control plane on loopback, for tests
  wasm                 the JSON-only core as WebAssembly, its answers compared
  bindings             Python and Go: types, leaks, packages, race detector
  k8s                  the Kubernetes backend and the engine against that control plane
  live [STAGE...]      groved on that control plane, under its own rights: tests/live

  deps [GROUP...|all]  installs missing Debian packages (build-aux/packages.txt); other verbs call it
  coverage             lines that the suites run, by layer, with floors
  report [--top N]     longest and most complex functions, functions used once, repeats
  musl                 the JSON-only core on musl, static, its answers compared
  fuzz-engines oss-fuzz|afl [SECONDS]
                       the fuzz targets as those engines build them
  man                  man pages and docs/reference/cli.md, from what the programs say
  dist [FOLDER]        the source tarball; it builds with Meson, or with make alone
  hooks                switches on the pre-commit hook of this clone
  clean                removes the build folders
  chart                Helm itself on deploy/chart: lint, and what it renders compared with ours
  goaway               the backend on an API server that sends GOAWAY now and then
  nightly [STEP...]    what takes hours: chaos, model check, mutants, fuzzing, the whole of live
  claims [--no-run]    what articles say of Grove: number, test, and how it stands
EOT
}
