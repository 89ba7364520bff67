#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""liar.py HOW TRACE FILE: a process that claims to record. FILE, a copy of TRACE, says it is this process's.

  mapped       it is mapped
  foreign      TRACE itself is mapped
  large BYTES  it has as many bytes, of which a packet of events claims 64 MiB; nothing but its header is there
  forked       mapped, also by a child, whose id is said
  dropped      mapped, then the process becomes nobody
  path         nobody has it open, only as a place (O_PATH), in which it could not read it
  reading      nobody has it open for reading

Says its id when it is ready, and waits.
"""
import mmap
import os
import signal
import struct
import sys

STATE, PID, EVENTS_AT, START = 48, 52, 72, 192  # in the facts
SIZES, SEQUENCE = 32, 72  # in a packet's header, of events
NOBODY = 65534


def claim(trace, file, large):
    with open(trace, "rb") as source:
        data = bytearray(source.read())
    with open("/proc/self/stat") as stat:
        start = int(stat.read().rpartition(")")[2].split()[19])
    struct.pack_into("<I", data, PID, os.getpid())
    struct.pack_into("<Q", data, START, start)
    with open(file, "wb") as f:
        os.fchmod(f.fileno(), 0o600)
        f.write(data)
        if large:
            at = struct.unpack_from("<Q", data, EVENTS_AT)[0]
            header = data[at : at + 4096]
            struct.pack_into("<QQ", header, SIZES, 1 << 29, 1 << 29)
            struct.pack_into("<Q", header, SEQUENCE, 1 << 20)
            f.write(header)
            f.truncate(large)


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def main():
    how, trace, file = sys.argv[1:4]
    kept = []
    if how == "foreign":
        file = trace
    else:
        claim(trace, file, int(sys.argv[4]) if how == "large" else 0)
    if how in ("path", "reading"):
        os.chmod(file, 0o600 if how == "path" else 0o644)
        become_nobody()
        os.open(file, os.O_PATH if how == "path" else os.O_RDONLY)
    else:
        with open(file, "r+b") as f:
            kept.append(mmap.mmap(f.fileno(), 4096))
    if how == "dropped":
        become_nobody()
    if how == "forked" and (child := os.fork()):
        print(os.getpid(), child, flush=True)
    elif how != "forked":
        print(os.getpid(), flush=True)
    signal.pause()


main()
