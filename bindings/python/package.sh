#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package.sh LIBRARY OUT: an sdist, and a wheel that carries the library, into the folder OUT.
# In a copy of the sources, so that nothing is left in the tree. The sdist has no library: it finds the system's.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
library=$(realpath "$1") out=$(realpath -m "$2")
python=${GROVE_PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/source"
(cd "$here" && tar -cf - --exclude=__pycache__ --exclude=_lib grove pyproject.toml setup.py README.md) | tar -xf - -C "$work/source"
cd "$work/source"
"$python" setup.py -q sdist -d "$out"
mkdir -p grove/_lib
cp -L "$library" grove/_lib/libgrove.so.0
strip --strip-unneeded grove/_lib/libgrove.so.0
"$python" setup.py -q bdist_wheel -d "$out"
ls -l "$out"
