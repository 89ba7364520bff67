#!/bin/bash
# SPDX-License-Identifier: ISC
# --from and --to: a part of a trace says what the whole says about that time, and nothing else.
. "$(dirname "$0")/lib.sh"
[ -x "${RECORDED:-}" ] || skip 'RECORDED is not set'
need_mktrace
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR

cat >part.py <<'END_PYTHON'
"""part.py TRACE SEED: tries parts of it, and says what is wrong."""
import json, os, random, subprocess, sys

weft, trace, chance = os.environ["WEFT"], sys.argv[1], random.Random(int(sys.argv[2]))


def run(*words):
    p = subprocess.run([weft, *words, trace], capture_output=True)
    if p.returncode not in (0, 3):
        print("FAILED:", *words, p.returncode, p.stderr.decode())
    return p.stdout.decode("utf-8", "replace")


def promises(*part):
    rows = [l.split("\t") for l in run("promises", "--raw", *part).splitlines()[1:]]
    return {r[0]: r for r in rows}


whole = [l for l in run("dump").splitlines() if l[:1] in "-0123456789"]
times = sorted(int(l.split()[0]) for l in whole if not l.endswith("promoted"))
info = json.loads(run("info", "--json"))
known = promises()
if not times or "part" in info:
    print("FAILED: no events, or the whole is a part")
tried = 0
for _ in range(6):
    a, b = sorted(chance.choice(times) + chance.randrange(-1, 2) for _ in range(2))
    part = ["--from", str(max(a, 0)), "--to", str(max(b, 0))]
    a, b = max(a, 0), max(b, 0)
    want = [l for l in whole if a <= int(l.split()[0]) <= b and not l.endswith("promoted")]
    got = [l for l in run("dump", *part).splitlines() if l[:1] in "-0123456789" and not l.endswith("promoted")]
    if got != want:
        print("FAILED: dump", *part, len(got), "events instead of", len(want))
    p = json.loads(run("info", "--json", *part))
    if p["events_total"] < len(want) or sum(s["kept"] for s in p.get("streams_by") or []) not in (len(want), info["events_total"], 0):
        print("FAILED: info", *part, p["events_total"], p.get("streams_by"), len(want))
    if b < times[-1] and p.get("ended", "saved") != "saved":
        print("FAILED: info", *part, "ended", p["ended"])
    inside = promises(*part)
    for id, row in inside.items():
        begin, end = int(row[3] or -1), row[4]
        if a <= begin and end and int(end) <= b and row[5] != "pending" and known.get(id) != row:
            print("FAILED: promise", id, row, "was", known.get(id), *part)
        tried += 1
    for id, row in known.items():
        if row[3] and row[4] and row[5] != "pending" and a <= int(row[3]) and int(row[4]) <= b and id not in inside:
            print("FAILED: promise", id, "is missing", *part)
    json.loads(run("stats", "--json", *part))
    run("explain", *part)
print(tried, "promises in parts of", trace)
END_PYTHON

# parts NAME: tries parts of NAME with some seeds
parts() {
    for seed in 1 2; do
        checks=$((checks + 1))
        python3 -B part.py "$1" "$seed" >found 2>&1 || fail "$1 with seed $seed: $(tail -n 3 found)"
        grep FAILED found && fail "parts of $1, seed $seed"
        tail -n 1 found
    done
}

run 0 "$WEFT" record -o wrapped.weft --size 512K "$RECORDED" threads 3 6000
parts wrapped.weft
run 0 "$WEFT" record -o whole.weft "$RECORDED" threads 2 400
parts whole.weft
"$WEFT" save -z -o whole.weft.zst whole.weft
parts whole.weft.zst
python3 - >lines <<'END_PYTHON'
for i in range(60):
    t = 1000 * i
    print(t, 0, f"creates parent=-1 child={i + 1} type=task")
    print(t + 5, 0, f"switch p={i + 1}")
    if i % 3:
        print(t + 900, 0, f"fulfills resolver={i + 1} p={i}") if i > 1 else None
END_PYTHON
"$MKTRACE" mirage.ctf <lines
parts mirage.ctf

# What does not lie in the part is not read: 100 us out of many packets
run 0 "$WEFT" info --json --from 1us --to 100us wrapped.weft
says "$tmp/out" '"from_ns": 1000,?$'
few=$(json "$tmp/out" 'd["packets"]')
run 0 "$WEFT" info --json wrapped.weft
checks=$((checks + 1))
[ "$few" -lt "$(json "$tmp/out" 'd["packets"]')" ] || fail "$few packets were read for a short part"

run 0 "$WEFT" info --from 1s whole.weft
says "$tmp/out" '^  part +from 1 s$'
run 2 "$WEFT" info --from 2s --to 1s whole.weft
says "$tmp/err" '^weft info: --from is later than --to; see'
run 0 "$WEFT" stats --from 1h whole.weft
run 0 "$WEFT" promises --to 0 whole.weft
cat whole.weft | "$WEFT" info --to 1ms - >out || fail 'a part of standard input'
says out '^  part +to 1 ms$'
finish
