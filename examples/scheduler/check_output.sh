#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_output.sh PROGRAM EXPECTED: runs the example and compares what it prints.
"$1" | diff "$2" - && echo "1 passed, 0 failed"
