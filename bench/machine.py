# SPDX-License-Identifier: ISC
"""What bench/run and bench/run-record measure on."""

import json
import os
import pathlib
import platform
import re
import shlex
import subprocess


def describe(build):
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    command = json.loads((build / "compile_commands.json").read_text())[0]["command"]
    compiler = subprocess.run([shlex.split(command)[0], "--version"], capture_output=True,
                              text=True).stdout.split("\n")[0]
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    buildtype = next(o["value"] for o in options if o["name"] == "buildtype")
    return (f"{cpu[1] if cpu else 'unknown CPU'} ({platform.machine()}), {os.cpu_count()} cores, "
            f"Linux {platform.release()}, {compiler}, {buildtype}, load {os.getloadavg()[0]:.1f}")
