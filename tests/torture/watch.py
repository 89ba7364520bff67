# SPDX-License-Identifier: ISC
"""watch.py DIR: a flight recorder for a long time (SECONDS=3600). A program under load makes slow requests, each with a name
of its own; it is killed and started again; the disk (a small one, if root) is full in between; five conditions. Each slow request
that happened must be in a kept file; the watcher's memory, its descriptors and the folder must not grow."""

import os
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys
import threading
import time

WEFT, DRIVEN = os.environ["WEFT"], os.environ["DRIVEN"]
SECONDS = float(os.environ.get("SECONDS", "3600"))
CONDITIONS = ["slow-* > 40ms", "pending stuck > 1h", "failed broken-*", "counter queue > 100", "crash"]
BYTES = 48 << 20
here = pathlib.Path(sys.argv[1]) / "watch"
kept, trace = here / "kept", here / "trace.weft"
program_of_ours = here / f"watched{os.getpid()}"  # so that no other process has its name
chance = random.Random(int(os.environ.get("SEED", "1")))
names, wanted, bad = set(), {}, []


class Program:
    def __init__(self):
        self.p = subprocess.Popen([str(program_of_ours)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=dict(os.environ, WEFT_TRACE=str(trace), WEFT_TRACE_SIZE="16M",
                                           LD_LIBRARY_PATH=str(pathlib.Path(WEFT).parent)))
        self.p.stdout.readline()
        self.do("rounds 1 start")

    def do(self, line):
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()
        return self.p.stdout.readline()

    def kill(self):
        self.p.kill()
        self.p.communicate()


def collect(lines, todo):
    """Reads what each kept file has, before it may be removed."""
    while (line := lines.get()) is not None:
        found = re.search(r"kept (\S+) ", line)
        if not found:
            continue
        out = subprocess.run([WEFT, "dump", found[1]], capture_output=True, text=True, check=False)
        if out.returncode != 0:
            bad.append(f"{found[1]}: {out.stderr}")
        names.update(re.findall(r'"((?:slow|broken)-\d+)"', out.stdout))
        todo.discard(found[1])


def listen(stream, lines, said):
    for line in stream:
        said.append(line)
        del said[:-50]
        lines.put(line)
    lines.put(None)


def usage(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]), len(os.listdir(f"/proc/{pid}/fd"))


def size():
    total = 0
    for f in kept.iterdir():
        try:
            total += f.stat().st_size if f.name != "filler" else 0
        except FileNotFoundError:
            pass
    return total


def fill():
    try:
        with open(kept / "filler", "wb", buffering=0) as f:
            while f.write(b"x" * 65536):
                pass
    except OSError:
        pass


def work(mounted, watcher):
    program, number, least, most = Program(), 0, None, 0
    began = time.monotonic()
    full = None
    while (passed := time.monotonic() - began) < SECONDS:
        number += 1
        for _ in range(chance.randrange(4)):
            program.do("rounds 100 load")  # so few that the ring lasts longer than the disk is full
        if number % 7 == 0:
            program.do(f"create b request broken-{number}")
            program.do("fail b no")
            wanted[f"broken-{number}"] = passed
        elif number % 5 == 0:
            program.do(f"slow {chance.randrange(45, 90)} slow-{number}")
            wanted[f"slow-{number}"] = passed
        program.do(f"slow 5 quick-{number}")
        program.do(f"counter queue {chance.randrange(90, 110)}")
        if number % 1500 == 0:
            program.kill()
            program = Program()
        if mounted and full is None and passed > SECONDS / 3:
            fill()
            full = time.monotonic()
        if full and time.monotonic() - full > 4:
            (kept / "filler").unlink(missing_ok=True)
        if passed > SECONDS / 10:
            now = usage(watcher.pid)
            least = least or now
            most = max(most, now[0])
            if now[0] > 2 * least[0] + 8192 or now[1] > least[1] + 4:
                bad.append(f"the watcher grows: {least} to {now} (KiB, descriptors)")
                break
            if size() > BYTES + (32 << 20):
                bad.append(f"the folder has {size()} bytes")
                break
    program.do("exit 0")
    return most


def main():
    kept.mkdir(parents=True, exist_ok=True)
    shutil.copy(DRIVEN, program_of_ours)
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=80m", "weft", str(kept)], check=False, capture_output=True).returncode == 0
    lines, said, todo = queue.Queue(), [], set()
    watcher = subprocess.Popen([WEFT, "watch", "--name", program_of_ours.name, "--wait", "--every", "2s", "--max-files", "50", "--max-bytes", str(BYTES),
                                "--to", str(kept), *CONDITIONS], stderr=subprocess.PIPE, text=True)
    threads = [threading.Thread(target=listen, args=(watcher.stderr, lines, said)), threading.Thread(target=collect, args=(lines, todo))]
    for t in threads:
        t.start()
    try:
        most = work(mounted, watcher)
        lines_left = time.monotonic() + 120
        while wanted.keys() - names and time.monotonic() < lines_left and watcher.poll() is None:
            time.sleep(0.1)
    finally:
        watcher.terminate()
        watcher.wait()
        for t in threads:
            t.join()
        bad.extend(f"{f.name} says: {found[0]}" for f in kept.glob("*.txt") if (found := re.findall(r"\(weft .*\)$", f.read_text(), re.M)))
        if mounted:
            subprocess.run(["umount", "-l", str(kept)], check=False)
    lost = sorted(wanted.keys() - names, key=wanted.get)
    if lost:
        bad.append(f"{len(lost)} of {len(wanted)} are in no kept file: " + ", ".join(f"{n} ({wanted[n]:.0f} s)" for n in lost[:10]))
    if bad:
        print("".join(said[-20:]), *bad, sep="\n")
        return 1
    print(f"{len(wanted)} slow or failed requests in {SECONDS:.0f} s, all are kept; {most} KiB of memory{', a full disk' if mounted else ''}")
    return 0


sys.exit(main())
