# SPDX-License-Identifier: ISC
"""What bench/run and bench/run-* measure on, and where they write it."""

import contextlib
import io
import json
import os
import pathlib
import platform
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time


def describe(build):
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    command = json.loads((build / "compile_commands.json").read_text())[0]["command"]
    words = shlex.split(command)
    compiler = subprocess.run([words[words[0].endswith("ccache")], "--version"], capture_output=True,
                              text=True).stdout.split("\n")[0]
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    buildtype = next(o["value"] for o in options if o["name"] == "buildtype")
    return (f"{cpu[1] if cpu else 'unknown CPU'} ({platform.machine()}), {os.cpu_count()} cores, "
            f"Linux {platform.release()}, {compiler}, {buildtype}, load {os.getloadavg()[0]:.1f}")


class Tee(io.StringIO):
    """Standard output that is kept, too."""

    def write(self, text):
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def write_results(name, text):
    """Replaces what bench/NAME has written into RESULTS.md before."""
    path = pathlib.Path(__file__).parent / "RESULTS.md"
    begin, end = f"<!-- bench/{name} -->\n", "<!-- end -->"
    before, _, rest = path.read_text().partition(begin)
    path.write_text(f"{before}{begin}```\n{text.strip()}\n```\n{end}{rest.partition(end)[2]}")


class Job:
    """Something measured several times: a command, or a function that returns nothing. talks: the command says name=value
    of itself; fine: its exit statuses, unless something went wrong."""

    def __init__(self, what, runs, talks=False, fine=(0,)):
        self.what, self.runs, self.talks, self.fine = what, runs, talks, fine
        self.seconds, self.peak_bytes, self.said = [], 0, []

    def measure(self):
        begun = time.perf_counter()
        if callable(self.what):
            self.what()
        else:
            child = subprocess.Popen(self.what, text=True,
                                     stdout=subprocess.PIPE if self.talks else subprocess.DEVNULL)
            said = child.stdout.read() if self.talks else ""
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in self.fine:
                sys.exit(f"{sys.argv[0]}: exit status {child.returncode}: {shlex.join(map(str, self.what))}")
            self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * 1024)
            self.said.append({k: float(v) for k, v in re.findall(r"(\w+)=(\S+)", said)})
        self.seconds.append(time.perf_counter() - begun)

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def best(self):
        return min(self.seconds)

    def told(self, *names):
        """What the program said of itself: the sum of these figures in each run."""
        job = Job(self.what, self.runs)
        job.seconds = [sum(said[name] for name in names) for said in self.said]
        return job


def in_turn(jobs):
    for n in range(max(job.runs for job in jobs)):
        for job in jobs:
            if n < job.runs:
                job.measure()


def instructions(command, env=None, record=()):
    """Of a whole run, by callgrind; record: the command that records it."""
    command = [*record, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def cpu_ns(command, env=None):
    """CPU time of a whole run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9


def run(name, measure, needs="src/weft", more=""):
    """The whole of bench/NAME BUILD_DIR [--write]: measure(build, folder) prints what it measures; needs is a file of the build
    without which it cannot be done; more is said above it."""
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) != 1:
        sys.exit(f"usage: bench/{name} BUILD_DIR [--write]    (of a finished build)")
    build = pathlib.Path(arguments[0]).resolve()
    if not (build / needs).exists():
        sys.exit(f"bench/{name}: {build / needs} is not there: build first; if it is still missing, a library that it needs is")
    with contextlib.redirect_stdout(Tee()) as out, tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        print(f"{describe(build)}\n{time.strftime('%Y-%m-%d')}. {more}".rstrip(), flush=True)
        measure(build, pathlib.Path(folder))
    if "--write" in sys.argv:
        write_results(name, out.getvalue())
