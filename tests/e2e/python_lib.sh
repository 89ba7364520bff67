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

# facts TRACE EXPRESSION: with p for the promises, as rows of type, label and outcome; waits as pairs of labels
facts() {
    "$WEFT" dump "$1" >dump
    python3 - "$2" <<'END_FACTS'
import re, sys
rows = {}
events = []
for line in open("dump"):
    time, stream, kind, *rest = re.findall(r'[a-z_]+="(?:[^"\\]|\\.)*"|\S+', line.strip())
    f = dict(part.split("=", 1) for part in rest if "=" in part)
    events.append((kind, f))
    if kind == "creates":
        rows[f["child"]] = [f["type"], f.get("label", "").strip('"'), "pending"]
    elif kind in ("fulfills", "fails", "resolves", "cancels", "forgets"):
        p = rows.get(f.get("p") or f.get("promise") or f.get("child"))
        if p:
            p[2] = kind
def name(f, key):
    return rows[f[key]][1] if f.get(key) in rows else "loop"
p = [tuple(r) for r in rows.values()]
waits = [(name(f, "reader"), name(f, "source")) for kind, f in events if kind == "try_read"]
print(eval(sys.argv[1]))
END_FACTS
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
