#!/bin/bash
# SPDX-License-Identifier: ISC
# Node.js programs that nobody changed: weft record tells of them what it would of others, and they notice nothing.
. "$(dirname "$0")/lib.sh"
adapter=$BUILD_ROOT/adapters/node
node=${NODE:-$(command -v node || :)}
[ -e "$adapter/weft.node" ] || skip 'Node.js programs are not recorded by this build'
[ -n "$node" ] && [ -x "$node" ] || missing 'node'
[ "$("$node" -p 'process.versions.node.split(".")[0] >= 18')" = true ] || skip 'node is older than 18'
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK NODE_OPTIONS
bugs=$SOURCE_ROOT/examples/bugs/node
cd "$tmp"

# record TRACE ARGUMENT...: of node
record() {
    local trace=$1
    shift
    "$WEFT" record --force --size 1M -o "$trace" -- "$node" "$@"
}

# facts TRACE EXPRESSION: with p for the promises, as rows of type, label and outcome
facts() {
    "$WEFT" dump "$1" >dump
    python3 - "$2" <<'END_FACTS'
import re, sys
rows = {}
for line in open("dump"):
    time, stream, kind, *rest = re.findall(r'[a-z_]+="(?:[^"\\]|\\.)*"|\S+', line.strip())
    f = dict(part.split("=", 1) for part in rest if "=" in part)
    number = f.get("p") or f.get("promise") or f.get("child")
    if kind == "creates":
        rows[f["child"]] = [f["type"], f.get("label", "").strip('"'), "pending"]
    elif kind == "label" and number in rows:
        rows[number][1] = f.get("label", f.get("text", "")).strip('"')
    elif kind in ("fulfills", "fails", "resolves", "cancels", "forgets") and number in rows:
        rows[number][2] = kind
p = [tuple(r) for r in rows.values()]
print(eval(sys.argv[1]))
END_FACTS
}

# ---- What hangs is explained ----
run 0 record pool.weft "$bugs/pool.js"
says "$tmp/err" '^weft: pool.weft: [0-9]+ events, .*'
run 0 "$WEFT" explain --json pool.weft
equal 'the first finding' 'hang-root certain acquire pool.js:16' \
    "$(json "$tmp/out" '"{name} {confidence} {label}".format(**d["findings"][0])')"
says "$tmp/out" 'which got it last and has not passed it on, failed at .*Error: bad row 6'
equal 'calls of an async function' 12 "$(facts pool.weft 'len([r for r in p if r[:2] == ("call", "handle pool.js:34")])')"
run 0 record good.weft "$bugs/pool.js" good
run 0 "$WEFT" explain good.weft
equal 'what is pending' 0 "$(facts good.weft 'len([r for r in p if r[2] == "pending"])')"

# ---- What cannot be recorded, and what shall not ----
run 0 record n.weft --no-addons -e '0'
says "$tmp/err" '^weft: node loads no addons here \(ERR_DLOPEN_DISABLED\); the program runs on without recording$'
says "$tmp/err" 'nothing was recorded: it is a Node.js program, but its node is older than 18, or may not load addons$'
run 0 "$WEFT" record --runtimes none -o n.weft -- "$node" -p 'process.env.NODE_OPTIONS'
equal 'NODE_OPTIONS without runtimes' undefined "$(cat "$tmp/out")"
says "$tmp/err" 'nothing was recorded: it is a Node.js program, and --runtimes leaves Node.js out$'
run 0 env NODE_OPTIONS=--no-deprecation "$WEFT" record --force -o n.weft -- "$node" -p 'process.noDeprecation'
equal 'NODE_OPTIONS of its own' true "$(cat "$tmp/out")"
run 0 "$WEFT" record --list-runtimes
says "$tmp/out" '^node  Node.js 18'
says "$tmp/out" "^        $adapter\$"
finish
