#!/bin/bash
# SPDX-License-Identifier: ISC
# TAB in bash, zsh and fish, on a terminal: names of files, folders and Xen domains that anybody may have chosen become one word, and nothing
# in them is run. Labels are not completed.
. "$(dirname "$0")/lib.sh"
cd "$tmp"
run 0 env PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE_ROOT/tests/e2e/completion.py" "$SOURCE_ROOT/completions"
cat "$tmp/out" "$tmp/err"
finish
