# SPDX-License-Identifier: ISC
"""What bench/run and bench/run-* measure on, and where they write it."""

import io
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys


def describe(build):
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    command = json.loads((build / "compile_commands.json").read_text())[0]["command"]
    compiler = subprocess.run([shlex.split(command)[0], "--version"], capture_output=True,
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
