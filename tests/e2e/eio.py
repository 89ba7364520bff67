# SPDX-License-Identifier: ISC
"""eio.py TRUTH DUMP: what OCaml's own reader (NAME.events.txt) or eio-trace's (NAME.dump.txt) says of a recording is in what weft
dump says of it: every fiber, context and object, what ran and where, what was waited for, names, and when. Says what differs, and exits with 1."""

import collections
import re
import sys

KINDS = "root|switch|protect|sub|any|promise|semaphore|stream|mutex"


def plain(text):
    """Without OCaml's escapes of bytes."""
    return re.sub(r"(\\\d{3})+", lambda e: bytes(map(int, e[0][1:].split("\\"))).decode(), text)


def of_ring(path):
    """What the runtime's reader says: (time, what) in the words of `said`."""
    ended = set()
    lines = []
    for line in open(path, encoding="utf-8", errors="replace"):
        cells = line.rstrip("\n").split("\t")
        if len(cells) == 4:
            lines.append((int(cells[1]), int(cells[0]), cells[2], cells[3]))
    lines.sort(key=lambda cells: cells[0])
    sort = {}
    depth = collections.Counter()
    for time, ring, source, text in lines:
        if source != "eio":
            continue
        if m := re.fullmatch(r"create fiber (\d+) in CC (\d+)", text):
            yield time, f"creates fiber {m[1]}"
        elif m := re.fullmatch(rf"create ({KINDS})(?: CC)? (\d+)", text):
            sort[m[2]] = m[1]
            yield time, f"creates {m[1]} {m[2]}"
        elif m := re.fullmatch(r"fiber (\d+) is now running", text):
            yield time, f"runs {m[1]} on {ring}"
        elif text.startswith("fiber suspended"):
            yield time, f"runs -1 on {ring}"
        elif text in ("domain suspend", "domain resume"):
            yield time, text.split()[1]
        elif m := re.fullmatch(r"put (\d+)", text):
            if sort.get(m[1]) in ("mutex", "semaphore"):
                yield time, f"releases {m[1]}"
            elif m[1] not in ended:
                ended.add(m[1])
                yield time, f"ends {m[1]}"
        elif m := re.fullmatch(r"fiber (\d+) finishes", text):
            if m[1] not in ended:
                yield time, f"ends {m[1]}"
        elif m := re.fullmatch(r"(\d+) is named \"(.*)\"", text):
            yield time, f"name {m[1]} {plain(m[2])}"
        elif m := re.fullmatch(r"waiting to get from (\d+)", text):
            yield None, f"waits {m[1]}"
        elif m := re.fullmatch(r"log: \"(.*)\"", text):
            yield time, "log"


def of_fxt(path):
    event, fields = None, {}

    def told():
        if not event:
            return
        time, name = event
        if name == "instant create-fiber":
            yield time, f"creates fiber {fields['id']}"
        elif name == "duration begin cc":
            yield time, f"creates {fields['type']} {fields['id']}"
        elif name == "instant exit-fiber":
            yield time, f"ends {fields['id']}"
        elif name.startswith("suspended"):
            yield time, "runs -1"
        elif name == "duration begin suspend-domain":
            yield time, "suspend"
        elif name == "duration end suspend-domain":
            yield time, "resume"
        elif name.startswith("instant log"):
            yield time, "log"

    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.rstrip("\n")
        if m := re.match(r"  (\w+)=(.*)", line):
            fields[m[1]] = m[2]
            continue
        yield from told()
        event, fields = None, {}
        if m := re.match(r"event ts=(\d+) \S+ cat=eio (instant|duration begin|duration end) (\S+)(.*)", line):
            event = int(m[1]), f"{m[2]} {m[3]}"
            fields = dict(re.findall(r"(\w+)=(\S+)", m[4]))
        elif m := re.match(r"event ts=(\d+) \S+ cat=eio.suspend duration begin", line):
            event = int(m[1]), "suspended"
        elif m := re.match(r"scheduling thread_wakeup ts=(\d+) cpu=(\d+) (\d+)", line):
            yield int(m[1]), f"runs {m[3]} on {m[2]}"
        elif m := re.match(r"user (\d+) name=(.*) thread=", line):
            name = plain(m[2].strip('"'))
            yield None, f"name {m[1]} {name}"
    yield from told()


def said(path, fxt):
    """fxt: the truth does not say on which ring nothing runs."""
    first_own = 10**12
    contexts = set()
    for line in open(path, encoding="utf-8", errors="replace"):
        time, ring, kind, rest = (line.rstrip("\n") + " ").split(" ", 3)
        field = dict(re.findall(r"(\w+)=(\"(?:[^\"\\]|\\.)*\"|\S+)", rest))
        time = int(time)
        number = {k: int(v) for k, v in field.items() if re.fullmatch(r"-?\d+", v)}
        if kind == "creates" and number["child"] < first_own:
            if field["type"] in ("root", "switch", "protect", "sub", "any"):
                contexts.add(number["child"])
            yield time, f"creates {field['type']} {number['child']}"
        elif kind == "creates" and field["type"] == "log":
            yield time, "log"
        elif kind == "switch":
            yield time, "runs -1" if fxt and number["p"] == -1 else f"runs {number['p']} on {ring}"
        elif kind == "read":
            yield time, f"runs {number['reader']} on {ring}"
        elif kind == "signal":
            yield time, f"runs {number['receiver']} on {ring}"
        elif kind in ("suspend", "resume"):
            yield time, kind
        elif kind in ("fulfills", "resolves") and number["p"] < first_own and number["p"] not in contexts:
            yield time, f"ends {number['p']}"
        elif kind == "releases":
            yield time, f"releases {number['resource']}"
        elif kind == "label":
            yield time, f"name {number['p']} {field['text'][1:-1]}"
        elif kind == "try_read" and number["source"] < first_own and number["reader"] < first_own and number["reader"] not in contexts:
            yield time, f"waits {number['source']}"


def main():
    fxt = sys.argv[1].endswith(".dump.txt")
    truth, seen = list((of_fxt if fxt else of_ring)(sys.argv[1])), list(said(sys.argv[2], fxt))
    if not truth or not seen:
        sys.exit("nothing was said, or nothing was seen")
    # Times of the dump count from its first event, which is one of these.
    known = min(t for t, what in truth if what.startswith("creates"))
    shift = known - min(t for t, what in seen if what.startswith("creates"))
    wrong = 0
    timed = [collections.Counter(), collections.Counter()]
    loose = [collections.Counter(), collections.Counter()]
    for side, items in enumerate((truth, seen)):
        for time, what in items:
            sort = what.split()[0]
            if sort == "waits" or (fxt and sort == "name"):
                loose[side][what] += 1
            else:
                timed[side][(time + (shift if side else 0), what)] += 1
    for one, other, where in ((timed[0], timed[1], "truth"), (timed[1], timed[0], "dump")):
        for (time, what), n in sorted((one - other).items()):
            print(f"only in the {where}: {time} {what}")
            wrong += n
    for what, n in loose[0].items():
        # What is tried and got at once, or given up, is no wait.
        if loose[1][what] > n or (what.startswith("name") and loose[1][what] != n):
            print(f"{what}: {n} in the truth, {loose[1][what]} in the dump")
            wrong += 1
    for what in loose[1]:
        if what not in loose[0]:
            print(f"only in the dump: {what}")
            wrong += 1
    print(f"{sum(timed[0].values())} things compared")
    sys.exit(wrong > 0)


main()
