#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets of the library as OSS-Fuzz wants it: CC, CFLAGS, LIB_FUZZING_ENGINE, WORK and OUT come from
# its image, which has make, zip and libyaml-dev. `./dev oss-fuzz` plays that image with clang and libFuzzer.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
make -C "$root" -s -j"$(nproc)" OUT="$WORK" CC="$CC" CFLAGS="$CFLAGS" objects
mapfile -t objects < <(find "$WORK/lib" -name '*.o')
for source in "$root"/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    target=${name#fuzz_}
    grep -qE '"(k8s|front|unit)/' "$source" && continue # these stand on libcurl, libevent and cmocka
    support=()
    [ "$target" = sched ] && support=("$root"/tests/support/sched_{check,drive,victims}.c)
    # shellcheck disable=SC2086 # flags are words
    $CC $CFLAGS -std=c11 -D_POSIX_C_SOURCE=200809L -DGV_HAVE_YAML=1 -I"$root/include" -I"$root/lib" -I"$root/tests" \
        "$source" "${support[@]}" "${objects[@]}" -o "$OUT/$name" $LIB_FUZZING_ENGINE -lyaml
    words=$root/fuzz/dictionaries/$target.dict
    [ ! -e "$words" ] || cp "$words" "$OUT/$name.dict"
    (cd "$root/fuzz/corpus/$target" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
done
