#!/bin/bash
# SPDX-License-Identifier: ISC
# --from and --to: a part of a trace says what the whole says about that time, and nothing else.
#   FEW=yes  a few parts of each trace
. "$(dirname "$0")/lib.sh"
[ -x "${RECORDED:-}" ] || skip 'RECORDED is not set'
need_mktrace
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR

cat >part.py <<'END_PYTHON'
"""part.py TRACE SEED: tries parts of it, and says what is wrong."""
import json, os, random, subprocess, sys

weft, trace, chance = os.environ["WEFT"], sys.argv[1], random.Random(int(sys.argv[2]))
few = os.environ.get("FEW")


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
for _ in range(2 if few else 6):
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

cat >chosen.py <<'END_PYTHON'
"""chosen.py TRACE SEED: saves parts of it, by times, streams and promises, and says what is wrong."""
import json, os, random, re, subprocess, sys

weft, trace, chance = os.environ["WEFT"], sys.argv[1], random.Random(int(sys.argv[2]))
few = os.environ.get("FEW")
SUBJECT = {k: "child" if k == "creates" else "p" for k in "creates fulfills fails resolves cancels notifies becomes "
           "label switch forgets should_resolve background increase counter span span_parent snapshot".split()}
SUBJECT |= {"read": "reader", "try_read": "reader", "read_later": "reader", "signal": "receiver",
            "signal_only": "receiver", "acquires": "holder", "releases": "holder"}
RUNS = {"read", "signal", "switch", "suspend", "resume"}


def run(*words):
    p = subprocess.run([weft, *words], capture_output=True)
    if p.returncode not in (0, 3):
        print("FAILED:", *words, p.returncode, p.stderr.decode())
    return p.stdout.decode("utf-8", "replace")


def dump(*part):
    return [l for l in run("dump", "--full", *part).splitlines() if l[:1] in "-0123456789"]


def rows(*part):
    return {r[0]: r for r in (l.split("\t") for l in run("promises", "--raw", *part).splitlines()[1:])}


class Event:
    def __init__(self, line):
        self.line = line.removesuffix(" promoted")
        self.promoted = self.line != line
        words = line.split()
        self.time, self.stream, self.kind = int(words[0]), words[1], words[2]
        self.of = dict(re.findall(r" (\w+)=(-?\d+)(?= |$)", line))
        self.about = self.of.get(SUBJECT.get(self.kind))


def depends(events, promise):
    edges = {}
    for e in events:
        to = {"becomes": "q", "read": "source", "try_read": "source", "read_later": "source", "signal": "source",
              "signal_only": "source"}.get(e.kind)
        if to:
            edges.setdefault(e.about, set()).add(e.of[to])
    found, left = {promise}, [promise]
    while left:
        for other in edges.get(left.pop(), ()):
            if other not in found and other != "-1":
                found.add(other)
                left.append(other)
    return found


def same(what, saved, *part):
    """The saved part says what the part of the whole does."""
    for command in (["dump", "--full"], ["promises"], ["stats"], ["explain", "--all"]):
        if command[0] == "explain" and what == "promise":
            continue  # there, --promise tells its story
        of_file, of_part = run(*command, saved), run(*command, *part, trace)
        if of_file.replace(saved, "FILE").split() != of_part.replace(trace, "FILE").split():
            print("FAILED: saved", *command, *part, "says something else")
            open(command[0] + ".saved", "w").write(of_file)
            open(command[0] + ".part", "w").write(of_part)
            return


lines = dump(trace)
whole = [Event(l) for l in lines]
mine = [e for e in whole if not e.promoted]
times = sorted(e.time for e in mine)
known = rows(trace)
info = json.loads(run("info", "--json", trace))
own = info["format"] == "weft"
lossless = not info["overwritten"] and not info["missing"]
tried = 0


def check(part, inside, marked_ok):
    """What is handed out is part of the whole, and the promises in it are what they are in the whole."""
    global tried
    got = [Event(l) for l in dump(*part, trace)]
    said = {(e.line) for e in whole}
    for e in got:
        if e.line not in said and not (e.promoted and "=-1 " in e.line):
            print("FAILED:", *part, "nobody said", e.line)
    want = [e.line for e in mine if inside(e)]
    have = [e.line for e in got if not e.promoted and inside(e)]
    if want != have:
        print("FAILED:", *part, len(have), "events instead of", len(want))
    rest = {e.kind for e in got if not e.promoted and not inside(e)}
    if rest - marked_ok:
        print("FAILED:", *part, "also", rest)
    for id, row in rows(*part, trace).items():
        tried += 1
        # how and when it ended, and what it became; of what is pending it is not known until when
        if lossless and row[4 + (row[5] == "pending") : 7] != known[id][4 + (row[5] == "pending") : 7]:
            print("FAILED:", *part, "promise", row, "was", known[id])
    return got


for stream in sorted({e.stream for e in mine} - {"-"})[: 1 if few else 3]:
    part = ["--stream", stream]
    check(part, lambda e: e.stream == stream, set())
    if own:
        run("save", "-o", "saved.weft", *part, trace)
        same("stream", "saved.weft", *part)
for promise in chance.sample(sorted(known), min(1 if few else 4, len(known))):
    part = ["--promise", promise]
    those = depends(whole, promise)
    check(part, lambda e: e.about in those, RUNS | {"becomes"})
    if own:
        run("save", "-o", "saved.weft", *part, trace)
        same("promise", "saved.weft", *part)
for _ in range((1 if few else 4) if own else 0):
    a, b = sorted(max(chance.choice(times) + chance.randrange(-1, 2), 0) for _ in range(2))
    part = ["--from", str(a), "--to", str(b)]
    run("save", "-o", "saved.weft", *part, trace)
    same("times", "saved.weft", *part)
    c, d = sorted(chance.choice(times) for _ in range(2))
    both = ["--from", str(max(a, c)), "--to", str(min(b, d))]
    if max(a, c) <= min(b, d) and dump("--from", str(c), "--to", str(d), "saved.weft") != dump(*both, trace):
        print("FAILED: a part of a part", *part, c, d)
print(tried, "promises in parts of", trace)
END_PYTHON

# parts NAME: tries parts of NAME with some seeds
parts() {
    for seed in 1 2; do
        checks=$((checks + 1))
        python3 -B part.py "$1" "$seed" >found 2>&1 || fail "$1 with seed $seed: $(tail -n 3 found)"
        grep FAILED found && fail "parts of $1, seed $seed"
        tail -n 1 found
        [ "$seed" -eq 1 ] || continue
        python3 -B chosen.py "$1" "$seed" >found 2>&1 || fail "$1 with seed $seed: $(tail -n 3 found)"
        grep FAILED found && fail "chosen parts of $1, seed $seed"
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

# What needs more memory than there is says so before, and a part of it fits. Sanitizers need terabytes.
if ! grep -q -e __asan_init -e __tsan_init "$WEFT"; then
    run 0 "$WEFT" record -o large.weft --size 64M "$RECORDED" threads 4 150000
    for command in promises explain stats 'export --to otlp -o otlp'; do
        # shellcheck disable=SC2086 # words
        status=0 && (ulimit -v 100000 && "$WEFT" $command large.weft) >out 2>err || status=$?
        [ "$status" -eq 1 ] || fail "$command with little memory ended with $status"
        says err '^weft: large.weft: needs [0-9.]+ MiB of memory or more, and there are [0-9.]+ .*; look at a part of it, by --from'
        # shellcheck disable=SC2086 # words
        (ulimit -v 100000 && "$WEFT" $command --to 20ms large.weft) >out 2>err ||
            fail "a part, by $command: $(cat err)"
    done
    [ -s otlp ] || fail 'nothing was exported'
    rm large.weft
fi

# Parts that somebody has changed: whatever they say, weft ends by itself, with a result or with a message.
cat >forged.py <<'END_PYTHON'
import os, random, subprocess, sys

weft, chance = os.environ["WEFT"], random.Random(5)
saved = open("part.weft", "rb").read()
at = saved.index(b"part=")
end = saved.index(b"\0", at)
numbers = ["0", "1", "7", "18446744073709551615", "9223372036854775807", "x", "", "18446744073709551616"]
for n in range(0, 60, 5 if os.environ.get("FEW") else 1):
    if n < 30:  # of the same size: zeros before a number, or other texts behind a NUL
        text = " ".join(chance.choice(numbers) for _ in range(5)).encode()[: end - at - 5]
        forged = saved[: at + 5] + text.ljust(end - at - 5, b"\0") + saved[end:]
    else:
        forged = bytearray(saved)
        for _ in range(chance.randrange(1, 20)):
            forged[chance.randrange(len(forged))] = chance.randrange(256)
    open("forged.weft", "wb").write(forged)
    for words in (["dump"], ["explain"], ["stats", "--stream", "0"], ["info", "--promise", "1"], ["save", "-o", "x", "--to", "1ms"]):
        p = subprocess.run([weft, *words, "forged.weft"], capture_output=True)
        if p.returncode not in (0, 1):
            print("FAILED:", n, *words, p.returncode, p.stderr.decode("utf-8", "replace"))
END_PYTHON
run 0 "$WEFT" save -o part.weft --from 1us --stream 1 whole.weft
python3 -B forged.py >found 2>&1 || fail "forged parts: $(tail -n 3 found)"
! grep . found || fail 'forged parts'

run 2 "$WEFT" dump --stream 1 --promise 2 whole.weft
says "$tmp/err" 'only one of them'
run 1 "$WEFT" dump --stream 99 whole.weft
says "$tmp/err" 'has no event on stream 99'
run 1 "$WEFT" promises --promise 18446744073709551000 whole.weft
says "$tmp/err" 'has no event about promise'
run 0 "$WEFT" save -o part.weft --stream 1 whole.weft
says "$tmp/err" "^weft: whole.weft: [0-9]+ of [0-9]+ packets? left out"
run 1 "$WEFT" dump --stream 0 part.weft
says "$tmp/err" 'already a part, of another stream'
run 1 "$WEFT" save -o part.ctf --to 1us mirage.ctf
says "$tmp/err" "no part of it can be saved; weft export --to mirage"

# The window gets a copy of the part, here a window that prints it.
mkdir window
cp "$WEFT" window/weft
cat >window/weft-view <<'END_SHELL'
#!/bin/sh
for file in "$@"; do :; done
exec "$WEFT" dump --full "$file"
END_SHELL
chmod +x window/weft-view
for part in '--from 10us --to 1ms' '--stream 1' '--promise 3'; do
    # shellcheck disable=SC2086 # words
    window/weft view ${part/--from/--part --from} whole.weft >out || fail "view $part"
    # shellcheck disable=SC2086 # words
    "$WEFT" dump --full $part whole.weft | cmp - out || fail "the window of $part shows something else"
done
run 2 window/weft view --part whole.weft
says "$tmp/err" 'part needs --from or --to'

# The events that are exported are those of the part
run 0 "$WEFT" export --to mirage --from 1us --to 30us -o part.ctf mirage.ctf
"$WEFT" dump --from 1us --to 30us mirage.ctf | sed 's/^[0-9]* //' >of_part
"$WEFT" dump part.ctf | sed 's/^[0-9]* //' | cmp - of_part || fail 'a part was exported as something else'
run 2 "$WEFT" export --to 2s -o x whole.weft
says "$tmp/err" 'to FORMAT is missing'
run 2 "$WEFT" export --to pprof --from 1s -o x whole.weft

run 0 "$WEFT" info --from 1s whole.weft
says "$tmp/out" '^  part +from 1 s$'
run 2 "$WEFT" info --from 2s --to 1s whole.weft
says "$tmp/err" '^weft info: --from is later than --to; see'
run 0 "$WEFT" stats --from 1h whole.weft
run 0 "$WEFT" promises --to 0 whole.weft
cat whole.weft | "$WEFT" info --to 1ms - >out || fail 'a part of standard input'
says out '^  part +to 1 ms$'
finish
