#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an image holds: collect.sh PROGRAM FOLDER copies the program to FOLDER/usr/bin, and the libraries that it loads
# to where it looks for them. Nothing else goes in: no shell, no package manager. `chroot FOLDER /usr/bin/NAME` runs it.
set -eu
program=$1 folder=$2
name=$(basename "$program")
mkdir -p "$folder/usr/bin" "$folder/etc" "$folder/tmp"
cp "$program" "$folder/usr/bin/$name"
strip "$folder/usr/bin/$name"
ldd "$program" | grep -o '/[^ )]*' | sort -u | while read -r library; do
    mkdir -p "$folder$(dirname "$library")"
    cp -L "$library" "$folder$library"
done
echo 'groved:x:65532:65532::/:/none' >"$folder/etc/passwd"
