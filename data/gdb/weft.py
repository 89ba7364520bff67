# SPDX-License-Identifier: ISC
"""The command weft for gdb: what the process under the debugger, or that of a core, waits for.

    (gdb) source /usr/share/weft/gdb/weft.py      (not needed where gdb loads it with libweft itself)
    (gdb) weft                                    weft explain --pending
    (gdb) weft promises | info | stats | dump | explain --promise 'GET /users/7' | …

It calls the program weft with a copy of the trace that is in the memory of the process. Nothing is called in the process,
and nothing in it changes, so it may be stopped anywhere, be a core, or be on another machine.
"""

import os
import re
import shutil
import struct
import subprocess
import tempfile

import gdb

NOTE = b"weft\0\0\0\0"  # its name, up to a multiple of 4
NOTE_TYPE = 1
CONTROL = b"weftctl\0"
PACKET_MAGIC = 0xC1FC1FC1  # of CTF
BLOCK = 1 << 20
TRACE_MAX = 1 << 34
HERE = os.path.dirname(os.path.realpath(__file__))  # gdb knows it only now


def program():
    """The program weft: of $WEFT, of the same installation or build, or of $PATH."""
    beside = ("../../../bin/weft", "../../build/src/weft")
    for path in [os.environ.get("WEFT"), *(os.path.normpath(os.path.join(HERE, name)) for name in beside)]:
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    found = shutil.which("weft")
    if not found:
        raise gdb.GdbError("weft: the program is not in $PATH; start gdb with WEFT=/where/it/is/weft in its environment")
    return found


class Memory:
    """Of the process, as gdb reads it: also in a core, and through a remote stub."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()
        self.order = ">" if "big endian" in gdb.execute("show endian", to_string=True) else "<"

    def read(self, at, size):
        """The bytes there, or None."""
        try:
            return bytes(self.inferior.read_memory(at, size))
        except (gdb.error, OverflowError):
            return None

    def unpack(self, form, at):
        """The numbers there, as struct says, or None."""
        data = self.read(at, struct.calcsize(self.order + form))
        return data and struct.unpack(self.order + form, data)


def notes():
    """Where the sections are that say where a libweft has its control structure."""
    line = re.compile(r"^\s*(0x[0-9a-f]+) - (0x[0-9a-f]+) is \.note\.weft(?: in |$)", re.M)
    for start, end in line.findall(gdb.execute("info files", to_string=True)):
        yield int(start, 16), int(end, 16)


def control_at(memory, start, end):
    """The address of the control structure, and the size of a pointer; or None."""
    head = memory.unpack("3I", start)
    if not head or end - start < 24 or head[0] != 5 or head[1] not in (4, 8) or head[2] != NOTE_TYPE:
        return None
    if memory.read(start + 12, len(NOTE)) != NOTE:
        return None
    at = start + 12 + len(NOTE)
    distance = memory.unpack("q" if head[1] == 8 else "i", at)
    return distance and ((at + distance[0]) & ((1 << 8 * head[1]) - 1), head[1])


def traces(memory):
    """The addresses of the traces that are being recorded; and whether there is a libweft at all."""
    found, linked = [], False
    for start, end in notes():
        control = control_at(memory, start, end)
        if not control or memory.read(control[0], len(CONTROL)) != CONTROL:
            continue
        # magic, version, bytes, self, word, bell, facts
        itself, _, _, facts = memory.unpack("4Q" if control[1] == 8 else "4I", control[0] + 16)
        if itself != control[0]:
            continue
        linked = True
        if facts and facts not in found:
            found.append(facts)
    return found, linked


def copy(memory, at, out):
    """Writes the trace at an address to a file. What has not been used stays a hole."""
    # The header of a packet; state, pid, clock, event_packet_bytes, hz, events_at, event_packets: format/packet.h
    head = memory.unpack("48x4I3Q", at)
    if not head or memory.unpack("I", at) != (PACKET_MAGIC,):
        raise gdb.GdbError(
            "weft: the trace cannot be read: it is in a file that the core does not have; weft explain CORE looks for it"
        )
    packet, first, count = head[3], head[5], head[6]
    if not 0 < packet <= BLOCK << 4 or first + packet * count > TRACE_MAX:
        raise gdb.GdbError("weft: the trace of the process is damaged")
    pieces = [(done, min(BLOCK, first - done)) for done in range(0, first, BLOCK)]
    pieces += [(first + i * packet, packet) for i in range(count)]
    for done, size in pieces:
        if done >= first and memory.unpack("I", at + done) != (PACKET_MAGIC,):
            continue
        data = memory.read(at + done, size)
        if data and any(data):
            out.seek(done)
            out.write(data)
    out.truncate(first + packet * count)
    return head[1]


def core_file():
    """The core that gdb looks at, or None."""
    found = re.search(r"core dump file:\s*`(.*)', file type", gdb.execute("info files", to_string=True))
    return found and found.group(1)


def call(arguments, files):
    """Calls weft, and prints what it says."""
    environment = dict(os.environ, WEFT_PAGER="")
    width = gdb.parameter("width")
    if width:
        environment["COLUMNS"] = str(width)
    done = subprocess.run(
        [program(), *arguments, *files],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    gdb.write(done.stdout.decode("utf-8", "replace"))
    return done.returncode


class Weft(gdb.Command):
    """Say what the process waits for, from what it has recorded with weft.

    weft                    what is pending, as a tree, and what went wrong (weft explain --pending)
    weft COMMAND [OPTION…]  any command of the program weft, which is given the trace: info, promises, dump, stats, …
    weft help [COMMAND]     what these are

The process must record: run it with weft record or WEFT_TRACE=FILE, or switch that on with weft ctl. Of a core, weft explain
also says which thread ended it, and what all threads waited for."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        arguments = gdb.string_to_argv(argument) or ["explain", "--pending"]
        if arguments[0].startswith("-") and arguments[0] not in ("--version", "--help"):
            arguments.insert(0, "explain")
        if arguments[0] in ("help", "--version", "--help") or "--help" in arguments:
            call(arguments, [])
            return
        core = core_file()
        if core:
            call(arguments, [core])
            return
        if not gdb.selected_inferior().pid:
            raise gdb.GdbError("weft: there is no process; start the program, attach to one, or open a core")
        memory = Memory()
        found, linked = traces(memory)
        if not found:
            raise gdb.GdbError(
                "weft: the process records nothing; "
                + ("start it with WEFT_TRACE=FILE in its environment" if linked else "it is not linked with weft")
                + "; generate-core-file FILE, then weft explain FILE in a shell, says what its threads wait for"
            )
        with tempfile.TemporaryDirectory(prefix="weft-") as folder:
            files = []
            for number, at in enumerate(found):
                path = os.path.join(folder, "trace")
                with open(path, "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as out:
                    pid = copy(memory, at, out)
                files.append(os.path.join(folder, "process-%d%s" % (pid, ".%d" % (number + 1) if number else "")))
                os.rename(path, files[-1])
            call(arguments, files)

    def complete(self, text, word):
        word = word or ""  # None: gdb asks first whether we know which letters separate words
        try:
            words = gdb.string_to_argv(text)
            if not text or text[-1].isspace():
                words.append("")
            answer = subprocess.run(
                [program(), "--complete", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except (gdb.error, OSError):
            return gdb.COMPLETE_NONE
        last = words[-1] if words else ""
        cut = len(last) - len(word) if last.endswith(word) else 0
        known = []
        for line in answer.stdout.decode("utf-8", "replace").split("\0"):
            if line[:1] in ("w", "d"):
                known.append(line[1:].split("\t")[0])
        return [k[cut:] for k in known if k.startswith(last)]


Weft()
