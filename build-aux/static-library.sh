#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# static-library.sh OBJCOPY OUT ARCHIVE... -- CC...: joins archives into one whose hidden names are local.
# Hidden visibility alone does not keep two archives from clashing: it binds late, at the link of the program.
set -eu
objcopy=$1 out=$2
shift 2
archives=
while [ "$1" != -- ]; do
    archives="$archives $1"
    shift
done
shift
joined=$out.o
# shellcheck disable=SC2086 # names of the build folder, without blanks
"$@" -r -nostdlib -o "$joined" -Wl,--whole-archive $archives -Wl,--no-whole-archive
"$objcopy" --localize-hidden "$joined"
rm -f "$out"
ar rcs "$out" "$joined"
rm -f "$joined"
