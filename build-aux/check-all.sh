#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check of the source itself; needs no build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
bad=0
for check in includes calls headers source symbols; do
    python3 "build-aux/check-$check.py" . || bad=1
done
exit $bad
