# SPDX-License-Identifier: ISC
# For the scripts that record Python programs: see lib.sh. Sourced, not run.
# shellcheck shell=bash
adapter=$BUILD_ROOT/adapters/python
python=${PYTHON:-/usr/bin/python3}
case $(meson introspect "$BUILD_ROOT" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "b_sanitize"))') in
    none) [ -e "$adapter/_weft.abi3.so" ] || missing "the headers of Python" ;;
    *) skip 'Python has no sanitizers' ;;
esac
[ -x "$python" ] || skip "$python is not there"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK PYTHONPATH PYTHONSTARTUP
export PYTHONDONTWRITEBYTECODE=1
cd "$tmp"

# record TRACE ARGUMENT...: of Python
record() {
    local trace=$1
    shift
    "$WEFT" record --force --size 1M -o "$trace" -- "$python" "$@"
}

# facts TRACE EXPRESSION: see facts.py
facts() {
    "$WEFT" dump "$1" >dump
    python3 "$SOURCE_ROOT/tests/e2e/facts.py" "$2" <dump
}

# alike STATUS TRACE ARGUMENT...: a Python program does the same alone and recorded, but for addresses and times
alike() {
    local wanted=$1 trace=$2
    shift 2
    run "$wanted" "$python" "$@"
    sed -E 's/0x[0-9a-f]+/0x/g' "$tmp/out" >alone.out
    sed -E 's/0x[0-9a-f]+/0x/g' "$tmp/err" >alone.err
    run "$wanted" record "$trace" "$@"
    sed -E 's/0x[0-9a-f]+/0x/g' "$tmp/out" >recorded.out
    grep -vE '^weft: .* (events, |is where its children record)' "$tmp/err" | sed -E 's/0x[0-9a-f]+/0x/g' >recorded.err || :
    same "what $1 prints" alone.out recorded.out
    same "what $1 says" alone.err recorded.err
}
