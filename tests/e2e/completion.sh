#!/bin/bash
# SPDX-License-Identifier: ISC
# TAB in bash, on a terminal: names of files, folders and Xen domains that anybody may have chosen become one word, and nothing
# in them is run. Labels are not completed.
. "$(dirname "$0")/lib.sh"
cd "$tmp"
run 0 env PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE_ROOT/tests/e2e/completion.py" "$SOURCE_ROOT/completions/weft.bash"
cat "$tmp/out" "$tmp/err"
finish
