#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""now_trace.py WEFT PID|CORE: what the commands that read traces say of a process, or core, that records nothing, compared
with what weft explain --json says of it. Prints a line: how many things, waits and holds there are."""

import collections
import json
import shlex
import subprocess
import sys
import time

weft, source = sys.argv[1:3]
failed = 0


def run(*command):
    done = subprocess.run([weft, *command], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(what, expected, found):
    global failed
    if expected != found:
        print(f"FAILED: {what}\n  expected {expected}\n  found    {found}")
        failed += 1


def fields(line):
    return dict(word.split("=", 1) for word in shlex.split(line.replace("'", "\\'")) if "=" in word)


# What can be read of a heap within a second depends on the machine; a look that did not get far enough says so. All commands
# read the trace of the same look.
FULL_S = 300
trace = "look.weft"
end = time.monotonic() + FULL_S
while True:
    said = json.loads(run("explain", "--json", source))
    run("save", "-o", trace, source)
    info = json.loads(run("info", "--json", "--promises", trace))
    outside = info["provenance"]["outside"]
    if "crash" in said or not (said["remarks"] or outside["remarks"]):
        break
    if time.monotonic() > end:
        sys.exit(f"it is never seen as a whole: {said['remarks']} {outside['remarks']}")
graph = said["crash"]["now"] if "crash" in said else said
things = [(thing["kind"], thing["name"]) for thing in graph["things"]]
links = collections.Counter((things[l["from"]], l["how"], things[l["to"]]) for l in graph["links"])

# ---- The same, in a trace ----
check("how many promises", len(things), info["promises"])
check("all are pending", {"pending"}, {outcome for by in info["promises_by"].values() for outcome in by})
check("of which process", graph["process"], info["provenance"]["pid"])
check("in a core", "crash" in said, outside["core"])
check("stacks", sum(bool(t["frames"]) for t in graph["things"]), outside["stacks"])
kinds = collections.Counter(l["how"] for l in graph["links"])
found = collections.Counter()
for kind in outside["links"]:
    found[kind["how"]] += kind["links"]
check("kinds of links", kinds, found)

rows = [line.split("\t") for line in run("promises", trace).splitlines()]
head, rows = rows[0], rows[1:]
column = {name: i for i, name in enumerate(head)}
names = {row[column["id"]]: (row[column["type"]], row[column["label"]]) for row in rows}
check("types and labels", sorted(things), sorted(names.values()))

events = collections.Counter()
states = {}
for line in run("dump", trace).splitlines():
    kind = line.split()[2]
    if kind in ("try_read", "acquires", "label"):
        event = fields(line)
    if kind == "try_read":
        events[names[event["reader"]], "waits for", names[event["source"]]] += 1
    elif kind == "acquires":
        events[names[event["resource"]], "is held by", names[event["holder"]]] += 1
    elif kind == "label":
        states[names[event["p"]]] = event["text"]
left_out = sum(kind["links"] for kind in outside["links"] if kind["as"] == "left out")
truth = collections.Counter()
for (start, how, end), count in links.items():
    truth[start, "is held by" if how in ("is held by", "is locked by") else "waits for", end] += count
if not left_out:
    check("links", truth, events)
check("links, but for those left out", sum(truth.values()) - left_out, sum(events.values()))
check("things that do something", {things[i] for i, t in enumerate(graph["things"]) if t["state"]}, set(states))

stats = json.loads(run("stats", "--json", trace))
check("counted", len(things), sum(row["count"] for row in stats["rows"]))
check("no loop is known", [], stats["streams"])

# ---- What is found in it ----
explained = json.loads(run("explain", "--json", "--pending", trace))
check("a deadlock", graph["cycles"] > 0, any(f["name"] == "deadlock" for f in explained["findings"]))
held = sum(n for (_, how, _), n in truth.items() if how == "is held by")
print(f"{len(things)} things, {sum(truth.values()) - held} waits, {held} holds")
sys.exit(failed != 0)
