#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""now_python.py TOOLS PYTHON PROGRAM...: runs each program and compares what graph (../now/graph.c) sees of it with the
comments in it:

    # see LINK          there is such a link; there are no others, but for descriptors, and threads that wait for children
    # state THING; …    a thing's state
    # cycles N
    …  # at THING       the innermost frame in this file of that thing's stack is here

Numbers of threads, processes and descriptors, addresses and times are left out. A program says "ready" when all threads
and tasks are there; they have got where they wait when the graph is as it must be, at the latest after a minute. Then
corrupt (../now/corrupt.c) must survive it. What that replaces depends on addresses, which are the same each time where a
process may have that."""

import os
import re
import signal
import subprocess
import sys
import time

PATIENCE_S = 60
CORRUPTED = 60


def same_addresses():
    """What comes before a command so that it has the same addresses each time; nothing if that is forbidden."""
    fixed = ["setarch", "-R"]
    return fixed if subprocess.run([*fixed, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0 else []


def plain(line):
    line = re.sub(r"\b(thread|process|descriptor) \d+( \([^)]*\))?", r"\1", line)
    line = re.sub(r"process (\S+ )?\d*'?.*?$", "process", line) if "end of" in line else line
    line = re.sub(r"timer, due in .*$", "timer", line)
    line = re.sub(r", at most [\d.]+ \w+$", ", at most LONG", line)
    return re.sub(r"0x[0-9a-f]+", "0x", line)


def wanted(path):
    see, state, at, cycles = set(), set(), {}, None
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if line.startswith("# see "):
                see.add(line[6:].strip())
            elif line.startswith("# state "):
                state.add(line[8:].strip())
            elif line.startswith("# cycles "):
                cycles = line[2:].strip()
            elif "  # at " in line:
                at[line.split("  # at ")[1].strip()] = number
    return see, state, at, cycles


def problems(output, path):
    """What is not as it must be."""
    see, state, at, cycles = wanted(path)
    links, states, frames, names, remarks = set(), set(), {}, {}, []
    found_cycles = None
    for line in output.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "link":
            links.add(plain(rest))
        elif kind == "thing":
            number, _, thing = rest.partition(" ")
            name, _, what = thing.partition("; ")
            names[number] = plain(name)
            states.add(plain(f"{name}; {what.partition('; cycle')[0]}"))
        elif kind == "frame":
            number, _, frame = rest.partition(" ")
            place = re.search(r"(\S+):(\d+)$", frame)
            if place and place[1] == path:
                frames.setdefault(names[number], int(place[2]))
        elif kind == "cycles":
            found_cycles = line
        elif kind == "remark":
            remarks.append(line)
    of_loop = {link for link in links if re.match(r"descriptor |thread \S*waitpid-0'|thread .*descriptor", link)}
    yield from (f"missing: link {link}" for link in sorted(see - links))
    yield from (f"not expected: link {link}" for link in sorted(links - see - of_loop))
    yield from (f"missing: state {line}" for line in sorted(state - states))
    yield from (f"{name} is at line {frames.get(name)}, not {line}" for name, line in at.items() if frames.get(name) != line)
    yield from remarks
    if found_cycles != cycles:
        yield f"{found_cycles}, not {cycles}"


def look(graph, process, path):
    """Returns the last output and what is wrong with it."""
    end = time.monotonic() + PATIENCE_S
    while True:
        output = subprocess.run([graph, str(process.pid)], capture_output=True, text=True, check=False)
        wrong = list(problems(output.stdout, path)) + output.stderr.splitlines()
        if not wrong or time.monotonic() > end or process.poll() is not None:
            return output.stdout, wrong


def main():
    tools, python, *paths = sys.argv[1:]
    failures = 0
    command = [*same_addresses(), python]
    fixed = {**os.environ, "PYTHONHASHSEED": "0"}
    for path in paths:
        process = subprocess.Popen([*command, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=fixed,
                                   start_new_session=True)
        said = process.stdout.readline()
        if said == b"lacks a module\n":
            process.communicate()
            continue
        output, wrong = look(f"{tools}/graph", process, path) if said == b"ready\n" else ("", [f"it said {said}"])
        corrupt = [f"{tools}/corrupt", str(process.pid), str(CORRUPTED)]
        survived = subprocess.run(corrupt, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if survived.returncode != 0:
            wrong += [f"corrupt: status {survived.returncode}: {survived.stdout}"]
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if wrong:
            failures += 1
            print(f"{path} with {python}:", *wrong, output, sep="\n")
    print(f"{python}: {len(paths)} programs, {failures} wrong")
    return failures > 0


sys.exit(main())
