"""core.py WEFT CORE FOLDER: what weft explain says of cores that end too early, or that somebody has made up. It must end soon,
with status 0 or 1, and never open what is not a regular file."""

import os
import struct
import subprocess
import sys

weft, real, folder = sys.argv[1:4]
failed = 0
NT_PRSTATUS, NT_PRPSINFO, NT_FILE, NT_SIGINFO = 1, 3, 0x46494C45, 0x53494749
PT_LOAD, PT_NOTE = 1, 4


def note(kind, data, name=b"CORE\0"):
    head = struct.pack("<3I", len(name), len(data), kind)
    return head + name + bytes(-len(name) % 4) + data + bytes(-len(data) % 4)


def files(entries, count=None, page=4096):
    names = b"".join(os.fsencode(path) + b"\0" for _, _, _, path in entries)
    places = b"".join(struct.pack("<3Q", start, end, offset) for start, end, offset, _ in entries)
    return struct.pack("<2Q", len(entries) if count is None else count, page) + places + names


def core(notes, parts=(), phnum=None):
    """parts: (start, size, bytes in the file, its bytes)."""
    machine = struct.unpack_from("<H", open(real, "rb").read(20), 18)[0]
    count = 1 + len(parts)
    at = 64 + 56 * count
    heads = struct.pack("<2I6Q", PT_NOTE, 0, at, 0, 0, len(notes), len(notes), 4)
    at += len(notes)
    memory = b""
    for start, size, in_file, data in parts:
        heads += struct.pack("<2I6Q", PT_LOAD, 6, at + len(memory), start, 0, in_file, size, 4096)
        memory += data
    ident = b"\177ELF\2\1\1" + bytes(9)
    head = ident + struct.pack("<2HI3QI6H", 4, machine, 1, 0, 64, 0, 0, 64, 56, phnum or count, 64, 0, 0)
    return head + heads + notes + memory


def run(name, data, wanted=None, command=("explain", "--json")):
    """Runs weft with a core; None: with the file of that name."""
    global failed
    path = os.path.join(folder, name)
    if data is not None:
        with open(path, "wb") as out:
            out.write(data)
    try:
        done = subprocess.run([weft, *command, path], capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        print("FAILED:", name, "does not end")
        failed += 1
        return b""
    said = b" ".join((done.stdout + done.stderr).split())
    if done.returncode not in (0, 1) or (wanted and wanted not in said) or b"Sanitizer" in said:
        print("FAILED:", name, "status", done.returncode, "expected", wanted, "found", said[:600])
        failed += 1
    return said



def as_kernel(whole):
    """The same core with its notes first, as the kernel writes it, and of large pieces of memory only the ends."""
    heads, parts, notes = [], b"", b""
    for i in range(struct.unpack_from("<H", whole, 56)[0]):
        head = list(struct.unpack_from("<2I6Q", whole, 64 + 56 * i))
        data = whole[head[2] : head[2] + head[5]]
        if head[0] == PT_NOTE:
            notes = data
        elif head[0] == PT_LOAD:
            kept = 1 << 16 if len(data) > 1 << 18 else len(data)
            head[3], head[6] = head[3] + len(data) - kept, head[6] - len(data) + kept
            heads.append((head, data[len(data) - kept :]))
    at = 64 + 56 * (1 + len(heads))
    out = struct.pack("<2I6Q", PT_NOTE, 0, at, 0, 0, len(notes), len(notes), 4)
    at += len(notes)
    for head, data in heads:
        head[2], head[5] = at + len(parts), len(data)
        out += struct.pack("<2I6Q", *head)
        parts += data
    return whole[:40] + bytes(8) + whole[48:56] + struct.pack("<4H", 1 + len(heads), 64, 0, 0) + out + notes + parts, at


whole, memory_at = as_kernel(open(real, "rb").read())
run("kernel.core", whole, b"parse_request")

# It ends anywhere: densely in the headers and notes, then within the memory.
cuts = {0, 1, 4, 17, 18, 19, 40, 63, 64, 65, 119, 120, 121, memory_at - 1, memory_at, memory_at + 1}
cuts |= set(range(200, memory_at, max(1, memory_at // 25)))
cuts |= set(range(memory_at, len(whole), max(1, (len(whole) - memory_at) // 8)))
for cut in sorted(cuts):
    run("cut.core", whole[:cut], b'"cut": true' if cut >= memory_at else None)
run("cut.core", whole[:memory_at], b"The core file ends too early", ("explain",))
run("cut.core", open(real, "rb").read()[: 1 << 20], b"says nothing of its threads", ("explain",))

prpsinfo = note(NT_PRPSINFO, struct.pack("<4b4xQ2I4i16s80s", 0, 82, 0, 0, 0, 0, 0, 4711, 1, 1, 1, b"made\x1b[31m up", b"made up"))
status = note(NT_PRSTATUS, struct.pack("<3iH2x2Q4i", 11, 0, 0, 11, 0, 0, 4711, 1, 1, 1).ljust(112, b"\0") + bytes(400))
run("plain.core", core(prpsinfo + status), b'"process": 4711')
run("plain.core", core(prpsinfo + status), b"process 4711 'made [31m up' was ended by SIGSEGV", ("explain",))

# Files that it names: what is no regular file must not be opened.
fifo = os.path.join(folder, "fifo")
os.mkfifo(fifo)
tricky = [fifo, "/dev/zero", "/dev/stdin", "/proc/kmsg", "/proc/self/fd/0", folder, "relative", "", "/" + "x" * 5000, "/dev/tty"]
entries = [(0x10000 * i + 0x10000, 0x10000 * i + 0x11000, 0, path) for i, path in enumerate(tricky)]
run("names.core", core(prpsinfo + status + note(NT_FILE, files(entries))), b"no trace")
for count in (2**64 - 1, 2**60, 2**32, 100000):
    run("count.core", core(prpsinfo + status + note(NT_FILE, files(entries, count))))
run("pages.core", core(prpsinfo + status + note(NT_FILE, files(entries, page=2**63))))
run("many.core", core(prpsinfo + status + note(NT_FILE, files([(4096 * i, 4096 * i + 4096, 0, "/dev/zero") for i in range(100000)]))))

# Sizes and addresses at the limits, and memory that overlaps.
top = 2**64 - 1
for start, size, in_file in ((top, top, top), (0, top, 0), (top - 4096, 4097, 4096), (4096, top - 4095, 2**62), (0, 1, top)):
    run("size.core", core(prpsinfo + status, [(start, size, in_file, b"weftctl\0" * 64)]))
control = struct.pack("<8s2I4Q", b"weftctl\0", 2, 4248, 0x5000, 0, 0, 0x5000).ljust(4096, b"\0")
run("itself.core", core(prpsinfo + status, [(0x5000, 4096, 4096, control)]), b"no trace")
run("overlap.core", core(prpsinfo + status, [(0x5000, 1 << 40, 1 << 40, b"weftctl\0")] * 1000))
run("phdrs.core", core(prpsinfo + status, phnum=0xFFFE))
run("xnum.core", core(prpsinfo + status, phnum=0xFFFF))
run("threads.core", core(prpsinfo + status * 20000), b'"process": 4711')
run("notes.core", core(struct.pack("<3I", 0, 0, 0) * 200000), b"no trace")
run("wild.core", core(struct.pack("<3I", 2**32 - 1, 2**32 - 1, 1) + prpsinfo))
print("%d failed" % failed)
sys.exit(1 if failed else 0)
