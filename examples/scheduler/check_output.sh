#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_output.sh PROGRAM EXPECTED: runs the example and compares what it prints.
# The program may be built for another machine: Meson names what runs it then.
${MESON_EXE_WRAPPER:-} "$1" | diff "$2" - && echo "1 passed, 0 failed"
