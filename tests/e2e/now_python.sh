#!/bin/bash
# SPDX-License-Identifier: ISC
# What waits for what in Python programs that hang and that nobody has prepared (../now/python_*.py), with each version of
# Python that is there: of the system, and of pyenv.
#   FEW=yes  with one of them
. "$(dirname "$0")/lib.sh"
: "${NOW:?the folder of tests/now}"
[ -r /proc/self/syscall ] || skip 'this kernel does not say where threads wait'
cd "$tmp"
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH PYTHONSTARTUP

says='import sys; print(sys.implementation.name, "%d.%02d" % sys.version_info[:2], getattr(sys, "_is_gil_enabled", lambda: True)())'
for python in /usr/bin/python3 /usr/bin/python3.* /usr/local/bin/python3.* ~/.pyenv/versions/*/bin/python3; do
    [ -x "$python" ] || continue
    case $("$python" -c "$says" 2>/dev/null) in
        'cpython 3.09 True' | 'cpython 3.1'[0-3]' True') realpath "$python" ;;
    esac
done | sort -u | { [ -z "${FEW:-}" ] && cat || head -n 1; } >pythons
[ -s pythons ] || missing 'a Python from 3.9 to 3.13'
while read -r python; do
    run 0 python3 "$SOURCE_ROOT/tests/e2e/now_python.py" "$NOW" "$python" "$SOURCE_ROOT"/tests/now/python_*.py
    cat "$tmp/out"
done <pythons
finish
