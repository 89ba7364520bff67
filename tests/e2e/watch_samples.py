# SPDX-License-Identifier: ISC
"""watch_samples.py DIR: drives a program that uses the CPU, and looks at the samples of what is kept. Waits for lines of
messages, never for a time; how much of the CPU the program used is measured by the program, not by a clock."""

import json
import os
import pathlib
import re
import subprocess
import sys

import unsampled
from watching import DRIVEN, TMP, WEFT, Driven, Watch, check, copy_of_program, failures, place


def watch(to, *arguments, **how):
    return Watch(to, "--every", "1ns", *arguments, **how)


def profile(file, *arguments):
    r = subprocess.run([WEFT, "profile", "--json", "--limit", "0", *arguments, str(file)], capture_output=True,
                       text=True, check=False)
    check(f"weft profile {arguments} {file}", r.returncode == 0, r.stderr)
    return json.loads(r.stdout) if r.returncode == 0 else {"rows": [], "measured": {}}


def samples(file, *arguments):
    return {row["name"]: row["samples"] for row in profile(file, *arguments)["rows"]}


def of_functions():
    """By function and by promise; also when the program is gone, and its file."""
    trace, to = place()
    own = copy_of_program()
    d = Driven(trace, program=own)
    w = watch(to, "--sample=1000", d.pid, "call *")
    w.until(f"sampling process {d.pid}, 1,000 times a second")
    d.do("work 600 GET/a", "slow 20 GET/idle", "work 200 GET/b", "call first")
    first = w.kept()
    d.do("work 300 GET/c", "call second")
    second = w.kept()
    d.end()
    check("status", w.end() == 0)
    os.unlink(own)
    for file in (first, second):
        functions, labels = samples(file, "--user"), samples(file, "--by", "label")
        used = {n: labels.get(n, 0) for n in ("GET/a", "GET/b", "GET/c", "GET/idle")}
        check("grind() used the CPU", functions.get("grind", 0) > 100, functions)
        check("by promise", used["GET/a"] > used["GET/b"] > 20, used)
        check("one that slept", used["GET/idle"] < 10, used)
        check("the last one", (used["GET/c"] > 20) == (file == second), used)
        text = pathlib.Path(f"{file}.txt").read_text()
        check("the text", "samples of where it used the CPU" in text and "---- weft profile" in text and
              re.search(r"  grind +driven\.c:", text) and re.search(r"\d  GET/a$", text, re.M), text)
    read_all(second)


def of_a_story():
    """The explanation of a slow promise, and of what kept the loop from others, says in which function."""
    trace, to = place()
    d = Driven(trace)
    w = watch(to, "--sample=1000", d.pid, "GET* > 300ms")
    w.until("sampling")
    d.do("create w request waits", "work 500 GET/a", "fulfil w")
    file = w.kept()
    d.do("work 500 GET/b")
    file = w.kept() or file
    d.end()
    w.end()
    pattern = r"Where it used the CPU( meanwhile)? \([0-9,]+ samples\):\s+grind \(driven\.c:[0-9]+\) [0-9]+ %"
    r = subprocess.run([WEFT, "explain", "--all", str(file)], capture_output=True, text=True, check=False)
    check("a finding", re.search(pattern, r.stdout), r.stdout, r.stderr)
    text = pathlib.Path(f"{file}.txt").read_text()
    check("a story", re.search(pattern, text[text.index("---- weft explain --promise"):]), text)
    r = subprocess.run([WEFT, "explain", "--json", "--promise", "GET/a", str(file)], capture_output=True, text=True,
                       check=False)
    hot = json.loads(r.stdout)["on_cpu"] if r.returncode == 0 else {}
    check("for programs", hot.get("samples", 0) > 100 and hot["functions"][0]["function"] == "grind", hot, r.stderr)


def read_all(file):
    """Every command reads it."""
    out = str(TMP / "out")
    for command in (["info"], ["dump"], ["stats"], ["explain"], ["promises"], ["render", "--flame", out + "1.svg"],
                    ["render", "-o", out + "2.svg"], ["export", "--to", "pprof", "-o", out + ".pb.gz"],
                    ["export", "--to", "mirage", "-o", out + ".ctf"], ["profile", "--tree"],
                    ["diff", str(file)], ["save", "-o", out + ".weft"]):
        r = subprocess.run([WEFT, *command, str(file)], capture_output=True, text=True, check=False)
        check(f"{command} reads it", r.returncode == 0, r.stderr)
        if command == ["info"]:
            check("undamaged", re.search("^  damage *none$", r.stdout, re.M), r.stdout)
    check("a copy has the samples", samples(out + ".weft") == samples(file))


def of_a_crash():
    """The samples are there until the end."""
    trace, to = place()
    d = Driven(trace)
    w = watch(to, "--sample", d.pid, "crash")
    w.until("sampling")
    d.do("work 500 GET/a")
    d.p.stdin.write("crash\n")
    d.end()
    file = w.kept()
    w.end()
    labels = samples(file, "--by", "label")
    check("before the crash", labels.get("GET/a", 0) > 5, labels)


def same_seconds():
    """What the ring of events has overwritten is not sampled, either; and the ring of samples is bounded."""
    trace, to = place()
    d = Driven(trace, size="64K")
    w = watch(to, "--sample=5000", "--sample-size", "256K", d.pid, "call *")
    w.until("sampling")
    d.do("work 1500 long/ago", "rounds 20000 few", "work 300 GET/a", "call now")
    file = w.kept()
    d.end()
    w.end()
    labels = samples(file, "--by", "label")
    check("the last one", labels.get("GET/a", 0) > 100, labels)
    check("no label of what is overwritten", "long/ago" not in labels, labels)
    measured = profile(file)["measured"]
    check("older samples are counted", measured.get("overwritten", 0) > 100, measured)
    check("in 256K", measured.get("samples", 1 << 20) * 48 < 256 << 10, measured)


def restarted():
    """The next process in its place is sampled, too."""
    trace, to = place()
    own = copy_of_program()
    d = Driven(trace, program=own)
    w = watch(to, "--follow", "--sample", d.pid, "call *")
    w.until(f"sampling process {d.pid}")
    d.end()
    e = Driven(trace, program=own)
    w.until(f"sampling process {e.pid}")
    e.do("work 500 GET/a", "call now")
    labels = samples(w.kept(), "--by", "label")
    check("of the second", labels.get("GET/a", 0) > 5, labels)
    w.p.terminate()
    w.end()
    e.end()


def recorded():
    """weft record --keep takes them from its own file."""
    for options in (["--sample-low"], ["--sample=1000"], ["--sample=1000", "--memory"]):
        trace, to = place()
        r = subprocess.run([WEFT, "record", "-o", str(trace), *options, "--keep", "call *", "--keep", "exit",
                            "--keep-to", str(to), DRIVEN], input="work 500 GET/a\ncall now\nwork 200 GET/b\nexit 3\n",
                           capture_output=True, text=True, check=False)
        check(f"{options}: its status", r.returncode == 3, r.stderr)
        last = sorted(to.glob("*.zst"), key=lambda f: f.stat().st_mtime_ns)[-1]
        labels = samples(last, "--by", "label")
        check(f"{options}: samples", labels.get("GET/a", 0) > labels.get("GET/b", 0) > 3, labels, r.stderr)
        check(f"{options}: their names", "grind" in samples(last, "--user"), samples(last))
        check(f"{options}: the trace has them", "GET/b" in samples(trace, "--by", "label"), r.stderr)
        for text in to.glob("*.txt"):
            check(f"{options}: explained", "---- weft explain" in text.read_text(), text.read_text())


def forbidden():
    """That is said once, and what happens is kept without samples."""
    if not unsampled.POSSIBLE:
        return
    trace, to = place()
    own = copy_of_program()
    d = Driven(trace, program=own)
    w = watch(to, "--follow", "--sample", d.pid, "call *", preexec_fn=unsampled.forbid)
    w.until(f"process {d.pid}: it is watched without samples: no permission to sample")
    d.do("work 50 GET/a", "call now")
    check("it is kept", w.kept() is not None)
    d.end()
    e = Driven(trace, program=own)
    w.until(f"watching .*, process {e.pid} ")
    e.do("call now")
    text = w.kept()
    w.p.terminate()
    e.end()
    w.end()
    check("once", sum("without samples" in line for line in w.said) == 1, *w.said)
    check("no samples in the text", text and "samples of where" not in pathlib.Path(f"{text}.txt").read_text())


of_functions()
of_a_story()
of_a_crash()
same_seconds()
restarted()
recorded()
forbidden()
sys.exit(1 if failures else 0)
