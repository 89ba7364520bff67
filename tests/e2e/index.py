"""index.py WEFT FOLDER TRACE...: what weft says by an index, and when it uses one. Prints what is wrong, and exits with 1."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

weft, folder, traces = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
cache, failures, checks = folder / "cache", 0, 0
os.environ["XDG_CACHE_HOME"] = str(cache)
COMMANDS = [
    ["info"], ["info", "--json"],
    ["stats"], ["stats", "--json"], ["stats", "--by", "family", "--sort", "p99"], ["stats", "--by", "type"],
    ["explain"], ["explain", "--all"], ["explain", "--json"], ["explain", "--check"],
    ["explain", "--only", "leak,lost-wakeup"], ["explain", "--block", "1ms"],
]  # fmt: skip
MAKERS = ["info"], ["stats"], ["stats", "--by", "family"]


def check(what, *about):
    global failures, checks
    checks += 1
    if not what:
        failures += 1
        print("FAILED:", *about)


def run(command, how, place=None, **more):
    """Status, output and messages."""
    p = subprocess.run(
        [weft, *command, "--index", how, "trace"], cwd=place or folder / "a", capture_output=True, timeout=300, **more
    )
    return p.returncode, p.stdout, p.stderr


def index(place=None):
    return (place or folder / "a") / "trace.weft-index"


def fresh(trace):
    """A new folder with a copy of the trace."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "a").mkdir(parents=True)
    shutil.copy(trace, folder / "a/trace")
    os.utime(folder / "a/trace", (1e9, 1e9))


def load(place=None):
    return json.loads(index(place).read_bytes())


def store(value, place=None):
    index(place).write_text(json.dumps(value, separators=(",", ":")))


MARK = 1234567  # a number of events that no trace here has


def mark():
    """Makes the index wrong, so that it is seen whether it is used."""
    value = load()
    value["summary"][0][0] = MARK
    store(value)


def is_used(place=None, **more):
    return json.loads(run(["info", "--json"], "always", place, **more)[1])["events_total"] == MARK


# ---- It says the same, whatever command made it ----
for number, trace in enumerate(traces):
    fresh(trace)
    plain = [run(c, "never") for c in COMMANDS]
    check(not index().exists(), trace, "--index never writes one")
    for maker in (MAKERS[number % len(MAKERS)], ["explain"]):
        index().unlink(missing_ok=True)
        check(run(maker, "always")[0] == 0, trace, maker, "fails")
        check(index().exists(), trace, maker, "leaves no index")
        for command, wanted in zip(COMMANDS, plain):
            check(run(command, "always") == wanted, trace, command, "differs with an index of", maker)
        check(index().stat().st_size <= max(os.path.getsize(trace) / 20, 65536), trace, "the index is too large")
    check(set(load()) >= {"summary", "model", "stats", "explain"}, trace, "not all is kept:", *load())
    check(sorted(os.listdir(folder / "a")) == ["trace", "trace.weft-index"], trace, "leaves", os.listdir(folder / "a"))
    check(not cache.exists(), trace, "writes to the cache directory, too")

# ---- It is used if it fits ----
trace = traces[0]
fresh(trace)
size = os.path.getsize(trace)
run(["explain"], "always")
mark()
check(is_used(), "it is not used")
marked = index().read_bytes()
truth = json.loads(run(["info", "--json"], "never")[1])["events_total"]
check(truth != MARK, "--index never uses it")
check(json.loads(run(["info", "--json", "--from", "0"], "always")[1])["events_total"] == truth, "it is used for a part")
check(json.loads(run(["info", "--json", "--promises"], "always")[1])["events_total"] == truth, "used though promises are counted")
check(load()["summary"][0][0] == MARK, "it is replaced though it fits")
p = subprocess.run([weft, "info", "--json", "trace"], cwd=folder / "a", capture_output=True)
check(json.loads(p.stdout)["events_total"] == truth, "auto: it is used for a small trace")

# A copy with other times has the same bytes, and the next time it is known by its stamp.
(folder / "b").mkdir()
shutil.copy(folder / "a/trace", folder / "b/trace")
index(folder / "b").write_bytes(marked)
check(is_used(folder / "b"), "it is not used for a copy of the trace")

# ---- Stale ----
raw = (folder / "a/trace").read_bytes()


def stale(why, change):
    """Replaces the trace by a changed one of the same times."""
    index().write_bytes(marked)
    (folder / "a/trace").write_bytes(change(raw))
    os.utime(folder / "a/trace", (1e9, 1e9))
    check(not is_used(), why)
    (folder / "a/trace").write_bytes(raw)
    os.utime(folder / "a/trace", (1e9, 1e9))


def flip(at):
    return lambda b: b[:at] + bytes([b[at] ^ 1]) + b[at + 1 :]


stale("the trace has a byte more", lambda b: b + b"\0")
stale("the trace has a byte less", lambda b: b[:-1])
for at in (0, size // 3, size // 2, size - 1):
    stale(f"byte {at} is another one", flip(at))
stale("another trace of this size is there", lambda b: (pathlib.Path(traces[-1]).read_bytes() + bytes(size))[:size])
index().write_bytes(marked)
value = load()
value["program"] = value["program"][::-1]
store(value)
check(not is_used(), "another program made it")
check(load()["summary"][0][0] == truth, "it is not replaced by what is right")
if os.getuid() == 0:
    index().write_bytes(marked)
    os.chown(index(), 54321, 54321)
    check(not is_used(), "another user made it")
# ---- Truncated, forged ----
for at in range(0, len(marked), max(len(marked) // 12, 1)):
    index().write_bytes(marked[:at])
    check(not is_used(), "it is used though it ends after", at, "bytes")
index().unlink()
run(["explain"], "always")
good, chance = load(), random.Random(1)
ODD = [None, True, -1, 0, 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), 1e308, -0.5, "", "x" * 500, "\x1b[2J\x00\u202e", [], {}, [[]]]


def places(value, path=()):
    """All places in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def forged():
    value = json.loads(json.dumps(good))
    for _ in range(chance.choice((1, 1, 1, 4))):
        path = chance.choice([p for p in places(value) if p[0] not in ("program", "trace", "weft-index")])
        inner = value
        for key in path[:-1]:
            inner = inner[key]
        if chance.random() < 0.2:
            del inner[path[-1]]
        elif chance.random() < 0.1 and isinstance(inner, list):
            inner.extend([inner[path[-1]]] * chance.choice((1, 40, 2000)))
        else:
            inner[path[-1]] = chance.choice(ODD)
    return value


for i in range(60 if os.environ.get("FEW") else 150):
    value = forged()
    store(value)
    command = COMMANDS[i % len(COMMANDS)]
    status, out, err = run(command, "always")
    check(status in (0, 1, 3), "status", status, command, err[-300:], "forgery", i)
    check(b"\x1b" not in out + err, command, "an escape sequence gets through, forgery", i)

# ---- Where it is ----
fresh(trace)
index().mkdir()
run(["info"], "always")
kept = list(cache.rglob("*.weft-index"))
check(len(kept) == 1, "what cannot be beside the trace is not in the cache directory:", kept)
value = json.loads(kept[0].read_bytes())
value["summary"][0][0] = MARK
kept[0].write_text(json.dumps(value))
check(is_used(), "the one in the cache directory is not used")
value["file"] += "x"
kept[0].write_text(json.dumps(value))
check(not is_used(), "the one of another trace is used, since the hashes are the same")
fresh(trace)
index().write_text("something of the user's\n")
run(["info"], "always")
check(index().read_text() == "something of the user's\n", "it replaces a file that is no index")
fresh(trace)
os.chmod(folder, 0o755)
cache.mkdir()
nobody = 65534
more = {}
if os.getuid() == 0:
    os.chown(cache, nobody, nobody)
    more = {"user": nobody, "group": nobody, "extra_groups": []}
    reachable = subprocess.run([weft, "--version"], cwd=folder / "a", capture_output=True, **more).returncode == 0 if (
        all(os.stat(p).st_mode & 1 for p in [pathlib.Path(weft), *pathlib.Path(weft).resolve().parents, *folder.resolve().parents])
    ) else False
else:
    os.chmod(folder / "a", 0o555)
    reachable = True
if reachable:
    check(run(["explain"], "always", **more)[0] == 0, "it fails where nobody may write")
    check(not index().exists() and len(list(cache.rglob("*.weft-index"))) == 1, "nothing is kept where nobody may write")
    os.chmod(folder / "a", 0o755)
else:
    print("not tried: a folder in which another user may not write, since that user cannot start weft")
os.environ["XDG_CACHE_HOME"] = os.environ["HOME"] = "/proc/none"
fresh(trace)
index().mkdir()
check(run(["info"], "always") == run(["info"], "never"), "it fails if there is no place for an index")

# ---- Several at once ----
os.environ["XDG_CACHE_HOME"] = str(cache)
fresh(trace)
plain = {c: run([c], "never") for c in ("info", "stats", "explain")}
for _ in range(5):
    index().unlink(missing_ok=True)
    at_once = [
        (c, subprocess.Popen([weft, c, "--index", "always", "trace"], cwd=folder / "a", stdout=-1, stderr=-1)) for c in [*plain] * 2
    ]
    for command, process in at_once:
        out, err = process.communicate()
        check((process.returncode, out, err) == plain[command], command, "differs beside others")
    load()
    check(sorted(os.listdir(folder / "a")) == ["trace", "trace.weft-index"], "something is left:", *os.listdir(folder / "a"))
    for command, wanted in plain.items():
        check(run([command], "always") == wanted, command, "differs after several at once")

print(checks, "checks")
sys.exit(failures > 0)
