# SPDX-License-Identifier: ISC
"""A program that is driven by lines (../tools/driven.c), and weft watch beside it. Nothing here waits for a time."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

WEFT, DRIVEN = os.environ["WEFT"], os.environ["DRIVEN"]
TMP = pathlib.Path(sys.argv[1])
for name in ("WEFT_KEEP", "JOURNAL_STREAM"):
    os.environ.pop(name, None)
failures = []
number = 0


def check(what, holds, *shown):
    if not holds:
        failures.append(what)
        print("FAILED:", what, *shown, sep="\n  ")


def place():
    """For a trace, and for what is kept of it."""
    global number
    number += 1
    return TMP / f"trace{number}", TMP / f"kept{number}"


def copy_of_program():
    """One of a name that no other process has."""
    own = TMP / f"own{os.getpid()}"
    shutil.copy(DRIVEN, own)
    return str(own)


class Driven:
    """The program, which records."""

    def __init__(self, trace, size="1M", program=DRIVEN):
        self.p = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, WEFT_TRACE=str(trace), WEFT_TRACE_SIZE=size, LD_LIBRARY_PATH=str(pathlib.Path(WEFT).parent)))
        self.pid = self.p.pid
        assert self.p.stdout.readline() == "ok\n"
        self.do("rounds 1 start", "turns 1")

    def do(self, *lines):
        for line in lines:
            self.p.stdin.write(line + "\n")
            self.p.stdin.flush()
            assert self.p.stdout.readline() == "ok\n" or line.split()[0] in ("crash", "exit"), line

    def end(self):
        self.p.stdin.close()
        self.p.wait()
        self.p.stdout.close()


class Watch:
    """weft watch, and what it says."""

    def __init__(self, to, *arguments, **how):
        self.to = pathlib.Path(to)
        self.p = subprocess.Popen([WEFT, "watch", "--to", str(to), *map(str, arguments)], text=True,
                                  stderr=subprocess.PIPE, **how)
        self.said = []

    def until(self, pattern):
        """Reads messages until one matches, which it returns."""
        for line in self.p.stderr:
            self.said.append(line.rstrip("\n"))
            if re.search(pattern, line):
                return line
        check(f"the watcher says {pattern}", False, *self.said)
        return ""

    def end(self):
        self.said += self.p.stderr.read().splitlines()
        self.p.stderr.close()
        return self.p.wait()

    def files(self):
        return sorted(f for f in self.to.iterdir() if f.name.endswith(".weft.zst"))

    def kept(self):
        """The next recording that is kept."""
        found = re.search(r"kept (\S+)", self.until("kept "))
        return pathlib.Path(found.group(1)) if found else None

    def text(self, line):
        """The text beside what that message says was kept."""
        return pathlib.Path(re.search(r"kept (\S+)", line).group(1) + ".txt").read_text()
