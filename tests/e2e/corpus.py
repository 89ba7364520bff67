# SPDX-License-Identifier: ISC
"""corpus.py: how often weft explain is right, of the programs in tests/faults and examples/bugs, on a simulated machine.

Each with its fault and without, as it is written and as if nobody had marked anything; ended by itself, killed, and on a busy
machine. Right is: the first finding is of that kind and names the culprit; and nothing likely or certain where there is no
fault. Prints both by kind, and what is not right. Fails if that is not what corpus.known says.

FEW=yes: each program is run in one of these ways only, the first in the first one, and so on."""
import collections, json, os, re, subprocess, sys

source, build = os.environ["SOURCE_ROOT"], os.environ["BUILD_ROOT"]
weft, trace = os.environ["WEFT"], sys.argv[1] + "/corpus.weft"

# PROGRAM MODE KIND CULPRIT: its label, one of several; after a ~ what the text says. "good": it has no fault.
FAULTS = """
plain circle deadlock auth|db|log
plain unheard lost-wakeup SELECT|GET /
plain notified lost-wakeup data ready
plain no_answer never-resolved GET /missing
plain blocking loop-blocked GET /proxy
plain endless loop-blocked POST /parse
plain limits leak request timeout
plain dashboard serial-waits GET /dashboard
plain rounds herd lock released
plain wrapped hang-root dns reply
turns starved slow-wake checkout|payment
turns pingpong spin left balancer|right balancer
turns listeners leak drain listener
threads mutexes deadlock compactor|writer|index|log
threads flag lost-wakeup work available
threads asks spin consumer
threads unwoken slow-wake upload 3|hash of 3
io hung_up spin log shipper|log shipper readable
io render loop-blocked render template|~render template
io import loop-blocked import|~row
numbers driver hang-root db reply 7
numbers rejection swallowed-failure save draft
numbers resolved spin poller
healthy server good
healthy not_found good
healthy pool good
healthy download good
"""

# How it is run: as if nothing were marked, and with which environment.
VARIANTS = {
    "told": (False, {}),
    "busy": (False, {"SIMULATED_BUSY": "1"}),
    "killed": (False, {"SIMULATED_KILLED": "200"}),
    "unmarked": (True, {}),
    "unmarked, killed": (True, {"SIMULATED_KILLED": "200"}),
}


def programs():
    """Path, arguments but for bad or good, kind, culprits."""
    for line in FAULTS.split("\n"):
        if line:
            program, mode, kind, *culprit = line.split(" ", 3)
            yield "tests/faults", program, [mode], kind, "".join(culprit).split("|")
    with open(f"{source}/tests/e2e/bugs.sh") as f:
        for name, culprit in re.findall(r"^bug (\w+) \d '?([^'\n]+)'?$", f.read(), re.M):
            yield "examples/bugs", name, [], name.replace("_", "-"), culprit.split("|")


def explain(folder, program, arguments, variant):
    """The findings, the first ones first."""
    unmarked, extra = VARIANTS[variant]
    path = f"{build}/tests/faults/unmarked_{program}" if unmarked else f"{build}/{folder}/{program}"
    size = "262144" if "wrapped" in arguments else "4194304"
    env = dict(os.environ, LD_PRELOAD=os.environ["SIMULATED_LIBRARY"], SIMULATED=trace, SIMULATED_SIZE=size, **extra)
    # A search for leaks reads the clock, which takes time there.
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":leak_check_at_exit=0"
    env.pop("WEFT_TRACE", None)
    if os.path.exists(trace):
        os.unlink(trace)
    subprocess.run([path, *arguments], env=env, stdin=subprocess.DEVNULL, capture_output=True)
    told = subprocess.run([weft, "explain", "--all", "--json", trace], capture_output=True, check=True)
    return json.loads(told.stdout)["findings"]


def names(finding, culprits):
    return any(c[1:] in finding["text"] if c[0] == "~" else c == finding["label"] for c in culprits)


def main():
    right, all_bad, sure = collections.Counter(), collections.Counter(), collections.Counter()
    alarms, false, wrong, tried = collections.Counter(), collections.Counter(), [], set()
    few = os.environ.get("FEW")
    for i, variant in enumerate(VARIANTS):
        for n, (folder, program, arguments, kind, culprits) in enumerate(programs()):
            if few and n % len(VARIANTS) != i:
                continue
            for fault in ("good",) if kind == "good" else ("bad", "good"):
                what = f"{variant}: {' '.join([program, *arguments, fault])}"
                tried.add(what)
                found = explain(folder, program, [*arguments, fault], variant)
                likely = [f for f in found if f["confidence"] != "possible"]
                for f in likely:
                    alarms[f["name"]] += 1
                    false[f["name"]] += fault == "good" or f["name"] != kind
                tell = "; ".join(f"{f['confidence']} {f['name']} of {f['label']!r}" for f in (likely or found)[:2]) or "nothing"
                if fault == "bad":
                    is_right = bool(found) and found[0]["name"] == kind and names(found[0], culprits)
                    all_bad[kind] += 1
                    right[kind] += is_right
                    sure[kind] += is_right and bool(likely)
                else:
                    is_right = not likely
                if not is_right:
                    wrong.append(f"{what}: {tell}")
    print(f"{'kind':20} {'programs':>8} {'right':>6} {'likely':>7} {'false alarms':>13}")
    for kind in sorted(all_bad | alarms):
        print(f"{kind:20} {all_bad[kind]:8} {right[kind]:6} {sure[kind]:7} {false[kind]:13}")
    print(f"{'all':20} {all_bad.total():8} {right.total():6} {sure.total():7} {false.total():13}")
    with open(f"{source}/tests/e2e/corpus.known") as f:
        known = [line for line in f.read().split("\n") if line and line[0] != "#"]
    if few:
        known = [w for w in known if ": ".join(w.split(": ")[:2]) in tried]
    print(*(f"known: {w}" for w in wrong if w in known), sep="\n")
    for w in (w for w in wrong if w not in known):
        print("FAILED:", w)
    for w in (w for w in known if w not in wrong):
        print("FAILED: not so any more:", w)
    return sorted(wrong) != sorted(known)


sys.exit(main())
