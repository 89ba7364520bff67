# SPDX-License-Identifier: ISC
"""facts_agree.py WEFT FACTS TRACE…: what the facts of random promises and ranges of each trace say equals what weft dump,
weft promises and weft stats say. Prints what does not, and how much was compared. FACTS is tools/facts.c. FEW=yes: of fewer."""
import json
import os
import random
import re
import subprocess
import sys

PROMISES, RANGES = (80, 20) if os.environ.get("FEW") else (400, 60)
weft, facts = sys.argv[1:3]
wrong = compared = 0

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "d": 86400e9}
TIME = r"(-?[\d.,]+) (ns|µs|ms|s|min|h|d)\b"


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        print("FAILED:", *command, done.stderr)
        sys.exit(1)
    return done.stdout


def check(what, expected, found):
    global wrong, compared
    compared += 1
    if expected != found:
        wrong += 1
        if wrong <= 20:
            print(f"FAILED: {what}: expected {expected}, found {found}")


def check_time(what, ns, text):
    """A length has three digits and is rounded; a moment has more of them and is cut."""
    number = re.match(TIME, text or "")
    near = False
    if number:
        digits, unit = number.group(1).replace(",", ""), UNITS[number.group(2)]
        last = 10 ** -len(digits.partition(".")[2])
        near = abs(float(digits) * unit - ns) <= last * unit
    check(f"{what} of {ns} ns", True, near or text)


def first(answer, name):
    return next((text for have, text in answer if have == name), None)


def under(answer, heading, name):
    """The first text of that name below a heading."""
    at = next((i for i, (have, text) in enumerate(answer) if have == heading and not text), None)
    for have, text in answer[at + 1:] if at is not None else []:
        if not text:
            break
        if have == name:
            return text
    return None


def count(text):
    return int(re.sub(r"\D", "", text.partition(":")[0])) if text else 0


class Trace:
    def __init__(self, path, raw):
        self.path, self.raw = path, raw
        mode = ["--raw"] if raw else []
        table = run(weft, "promises", *mode, path).splitlines()
        names = table[0].split("\t")
        self.promise, self.children = {}, {}
        for line in table[1:]:
            row = dict(zip(names, line.split("\t")))
            row["start_ns"], row["end_ns"] = int(row["start_ns"]), int(row["end_ns"])
            self.promise[row["id"]] = row
            if row["creator"] != row["id"]:
                self.children[row["creator"]] = self.children.get(row["creator"], 0) + 1
        self.created, self.promoted, self.undated = {}, set(), {}
        self.times, self.ends = [], {}
        for line in run(weft, "dump", path).splitlines():
            time, _, kind, *rest = re.findall(r'[a-z_]+="(?:[^"\\]|\\.)*"|\S+', line)
            time, kept = int(time), rest[-1:] == ["promoted"]
            field = dict(part.split("=", 1) for part in rest if "=" in part)
            if kind == "creates" and field["parent"] == "?":
                self.undated[field["child"]] = time
            elif kind == "creates" and field["child"] not in self.created:
                self.created[field["child"]] = time
                if kept:
                    self.promoted.add(field["child"])
            if not kept:
                self.times.append(time)
        self.stats = json.loads(run(weft, "stats", "--json", "--by", "type", *mode, path))
        self.end = self.stats["span_ns"]

    def ask(self, questions):
        out = run(facts, self.path, *(["raw"] if self.raw else []), text="\n".join(questions) + "\n")
        return [[tuple(line.split("\t", 1)) for line in answer.split("\n")] for answer in out.split("\n\n")][:len(questions)]

    def lasts(self, row):
        end = max(self.end, row["end_ns"]) if row["outcome"] == "pending" else row["end_ns"]
        return max(end - row["start_ns"], 0)


def promise_facts(t, number, answer):
    row = t.promise[number]
    what = f"{t.path}: #{number}"
    pending = row["outcome"] == "pending"
    check(f"{what} heading", True, answer[0][0].startswith(f"#{number} "))
    if number in t.created:
        check_time(f"{what} created", t.created[number], first(answer, "created").removeprefix("at "))
    else:
        check(f"{what} created", "before the trace begins", first(answer, "created"))
        check(f"{what} begins", t.undated.get(number, row["start_ns"]), row["start_ns"])
    check_time(f"{what} lasted", t.lasts(row), first(answer, "pending for" if pending else "lasted"))
    if not pending:
        check_time(f"{what} end", row["end_ns"], (first(answer, row["outcome"]) or "").removeprefix("at "))
    became = first(answer, "what it became") if row["outcome"] == "became" else None
    check(f"{what} became", row["becomes"], became.split()[0].strip("#,") if became else "-")
    check(f"{what} children", t.children.get(number, 0), count((under(answer, "Created", "in all") or "").split(" ")[0]))
    creator = t.promise.get(row["creator"])
    said = first(answer, "created by")
    if number in t.created and creator and said:
        check(f"{what} creator", row["creator"] if t.raw else said.split()[0][1:], said.split()[0][1:])
        named = t.promise.get(said.split()[0][1:])
        length = re.search(TIME + r"(?=(, failed|, pending)?$)", said)
        if named and length:  # it is not cut
            check_time(f"{what} creator's length", t.lasts(named), length.group(0))


def range_facts(t, low, high, answer):
    what = f"{t.path}: {low} to {high}"
    rows = t.promise.values()
    events = first(answer, "events")
    inside = sum(low <= time <= high for time in t.times)
    if not events.startswith("about "):
        check(f"{what} events", inside, count(events))
    check(f"{what} created", sum(low <= time <= high and n not in t.promoted for n, time in t.created.items()
                                 if n in t.promise), count(first(answer, "created in it")))
    ended = [r for r in rows if r["outcome"] != "pending" and low <= r["end_ns"] <= high]
    check(f"{what} resolved", len(ended), count(first(answer, "resolved in it")))
    check(f"{what} failed", sum(r["outcome"] == "failed" for r in ended), count(first(answer, "failed in it")))
    if t.raw:
        alive = sum(r["start_ns"] <= high and max(r["start_ns"], t.end if r["outcome"] == "pending" else r["end_ns"]) >= low
                    for r in rows)
        check(f"{what} alive", alive, count(first(answer, "alive in it")))
    for name in ("running", "sleeping", "collecting garbage"):
        share = re.search(r"(\d+) %", first(answer, name) or "")
        check(f"{what} {name}", True, not share or int(share.group(1)) <= 100 or first(answer, name))


def whole_range(t, answer):
    """Of all: what stats says of each type, without threads. Where one promise ran on several threads at the same time, that
    counts once there; so it is at most what stats says of the streams."""
    said = re.match(TIME, first(answer, "running") or "")
    if not said:
        return
    found = float(said.group(1)) * UNITS[said.group(2)]
    least = sum(r["running_ns"] for r in t.stats["rows"] if r["type"] != "thread")
    most = max(least, sum(s["busy_ns"] - s["loop_ns"] for s in t.stats["streams"]))
    check(f"{t.path}: running in all, {least} to {most} ns", True, 0.99 * least <= found <= 1.01 * most or said.group(0))


def search_facts(t, random_row, answer, query):
    limit = t.lasts(random_row)
    longer = sum(t.lasts(r) > limit for r in t.promise.values())
    found = answer[0][0]
    check(f"{t.path}: {query}", f"{longer:,} found" if longer else "not found", found if longer else found[:9])


def look_at(path, raw):
    t = Trace(path, raw)
    chance = random.Random(22)
    numbers = chance.sample(sorted(t.promise), min(PROMISES, len(t.promise)))
    ranges = []
    for i in range(RANGES):
        low = chance.randint(-1000, t.end)
        ranges.append((low, low + chance.randint(1, max(t.end // (1 if i % 2 else 100), 2))))
    rows = [t.promise[n] for n in chance.sample(numbers, min(20, len(numbers)))]
    lowest = min([0] + [r["start_ns"] for r in t.promise.values()])
    questions = [f"promise {n}" for n in numbers] + [f"range {a} {b}" for a, b in ranges]
    questions += [f"search >{t.lasts(r)}ns" for r in rows] + [f"range {lowest - 1} {t.end + 1}", "trace"]
    answers = iter(t.ask(questions))
    for n in numbers:
        promise_facts(t, n, next(answers))
    for low, high in ranges:
        range_facts(t, low, high, next(answers))
    for row in rows:
        search_facts(t, row, next(answers), f"longer than #{row['id']}")
    whole_range(t, next(answers))
    answer = next(answers)
    check(f"{path}: promises", len(t.promise), count(first(answer, "promises")))
    check(f"{path}: events", len(t.times), count(first(answer, "events")))
    outcomes = [r["outcome"] for r in t.promise.values()]
    for outcome in set(outcomes):
        check(f"{path}: {outcome}", outcomes.count(outcome), count(first(answer, outcome)))


for path in sys.argv[3:]:
    for raw in (False, True):
        look_at(path, raw)
print(f"{compared} facts compared, {wrong} wrong")
sys.exit(wrong > 0 or compared == 0)
