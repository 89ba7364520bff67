# SPDX-License-Identifier: ISC
"""Writes perf.data: of what perf itself says of the format, as much as a test wants to have in hand. Records are
bytes; Recording puts them into a file, or into what goes through a pipe."""

import struct

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH, REGS_USER, STACK_USER = (1 << i for i in range(14))
WEIGHT, DATA_SRC, IDENTIFIER = (1 << i for i in range(14, 17))
USUAL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN
KERNEL, USER, GUEST_KERNEL = 1, 2, 4  # misc: where
IN_KERNEL, IN_USER = 2**64 - 128, 2**64 - 512  # markers in call chains
FEATURES = {"build_id": 2, "hostname": 3, "release": 4, "command": 11, "events": 12, "clock": 29}
SAMPLE_ID_ALL, FREQUENCY = 1 << 18, 1 << 10


def attr(kind=1, config=0, period=1000000, sample_type=USUAL, flags=SAMPLE_ID_ALL, read_format=0, branch=0, regs=0, stack=0, size=136):
    out = struct.pack("<IIQQQQQIIQQQQI", kind, size, config, period, sample_type, read_format, flags, 0, 0, 0, 0, branch, regs, stack)
    return out.ljust(size, b"\0")[:size]


def record(kind, body=b"", misc=0, size=None):
    return struct.pack("<IHH", kind, misc, (8 + len(body) if size is None else size) % 65536) + body


def trailer(pid=1, tid=1, time=0, cpu=0, ident=1, sample_type=USUAL):
    out = b""
    if sample_type & TID:
        out += struct.pack("<II", pid, tid)
    if sample_type & TIME:
        out += struct.pack("<Q", time)
    if sample_type & ID:
        out += struct.pack("<Q", ident)
    if sample_type & STREAM_ID:
        out += struct.pack("<Q", ident)
    if sample_type & CPU:
        out += struct.pack("<II", cpu, 0)
    if sample_type & IDENTIFIER:
        out += struct.pack("<Q", ident)
    return out


def sample(ip, chain=(), pid=1, tid=1, time=0, cpu=0, period=1000000, ident=1, sample_type=USUAL, misc=USER, read=b"\0" * 8, raw=b"",
           branches=0, regs=None, stack=b"", tail=b""):
    out = b""
    for bit, value in ((IDENTIFIER, ident), (IP, ip)):
        if sample_type & bit:
            out += struct.pack("<Q", value % 2**64)
    if sample_type & TID:
        out += struct.pack("<II", pid % 2**32, tid % 2**32)
    for bit, value in ((TIME, time), (ADDR, 0), (ID, ident), (STREAM_ID, ident)):
        if sample_type & bit:
            out += struct.pack("<Q", value)
    if sample_type & CPU:
        out += struct.pack("<II", cpu, 0)
    if sample_type & PERIOD:
        out += struct.pack("<Q", period)
    if sample_type & READ:
        out += read
    if sample_type & CALLCHAIN:
        out += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
    if sample_type & RAW:
        padded = raw + b"\0" * (-(len(raw) + 4) % 8)
        out += struct.pack("<I", len(padded)) + padded
    if sample_type & BRANCH:
        out += struct.pack("<Q", branches) + bytes(24 * branches)
    if sample_type & REGS_USER:
        out += struct.pack("<Q", 2 if regs is not None else 0) + b"".join(struct.pack("<Q", r) for r in regs or ())
    if sample_type & STACK_USER:
        out += struct.pack("<Q", len(stack)) + stack + (struct.pack("<Q", len(stack)) if stack else b"")
    return record(9, out + tail, misc)


def text(path):
    return path + b"\0" * (8 - len(path) % 8)


def mmap(path, start, size, offset=0, pid=1, misc=USER, **who):
    return record(1, struct.pack("<IIQQQ", pid % 2**32, pid % 2**32, start, size, offset) + text(path) + trailer(**who), misc)


def mmap2(path, start, size, offset=0, pid=1, misc=USER, build_id=None, **who):
    middle = struct.pack("<IIQQ", 8, 1, 4711, 0)
    if build_id is not None:
        middle = struct.pack("<BBH20s", len(build_id), 0, 0, build_id)
        misc |= 1 << 14
    body = struct.pack("<IIQQQ", pid, pid, start, size, offset) + middle + struct.pack("<II", 5, 2) + text(path)
    return record(10, body + trailer(**who), misc)


def comm(name, pid=1, tid=1, exec_=False, **who):
    return record(3, struct.pack("<II", pid, tid) + text(name) + trailer(**who), (1 << 13) * exec_)


def fork(pid, parent, tid, parent_tid, time, **who):
    return record(7, struct.pack("<IIIIQ", pid, parent, tid, parent_tid, time) + trailer(time=time, **who))


def leave(pid, tid, time, **who):
    return record(4, struct.pack("<IIIIQ", pid, 1, tid, 1, time) + trailer(pid=pid, tid=tid, time=time, **who))


def switch(out, preempted=False, **who):
    return record(14, trailer(**who), (1 << 13) * out | (1 << 14) * preempted)


def lost(count, **who):
    return record(2, struct.pack("<QQ", 1, count) + trailer(**who))


def build_id(path, ident, pid=2**32 - 1, sized=True):
    return record(67, struct.pack("<i20sBBH", pid if pid < 2**31 else pid - 2**32, ident, len(ident), 0, 0) + text(path), USER | (1 << 15) * sized)


def packed(data):
    """perf record -z, without compressing: a zstd frame of one block as it is."""
    return record(81, b"\x28\xb5\x2f\xfd\x00\x58" + (len(data) << 3 | 1).to_bytes(3, "little") + data)


def string(value):
    padded = value + b"\0" * (64 - len(value) % 64)
    return struct.pack("<I", len(padded)) + padded


def event_names(attrs, names, ids):
    out = struct.pack("<II", len(attrs), len(attrs[0]))
    for a, name, i in zip(attrs, names, ids):
        out += a + struct.pack("<I", len(i)) + string(name) + struct.pack(f"<{len(i)}Q", *i)
    return out


def file(records, attrs=None, ids=None, features=None, data_size=None, attr_size=None):
    """A perf.data file."""
    attrs = attrs or [attr()]
    ids = ids or [[i + 1] for i in range(len(attrs))]
    data = b"".join(records)
    id_at, where = 104, []
    for i in ids:
        where.append((id_at, 8 * len(i)))
        id_at += 8 * len(i)
    entries = b"".join(a + struct.pack("<QQ", *w) for a, w in zip(attrs, where))
    data_at = id_at + len(entries)
    features = sorted((FEATURES[k], v) for k, v in (features or {}).items())
    bits = sum(1 << n for n, _ in features)
    out = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, attr_size or len(attrs[0]) + 16, id_at, len(entries), data_at,
                                    len(data) if data_size is None else data_size, 0, 0)
    out += bits.to_bytes(32, "little")
    out += b"".join(struct.pack(f"<{len(i)}Q", *i) for i in ids) + entries + data
    at = len(out) + 16 * len(features)
    for _, content in features:
        out += struct.pack("<QQ", at, len(content))
        at += len(content)
    return out + b"".join(content for _, content in features)


def pipe(records, attrs=None, ids=None, features=None):
    """The same, as perf record -o - writes it."""
    attrs = attrs or [attr()]
    ids = ids or [[i + 1] for i in range(len(attrs))]
    out = b"PERFILE2" + struct.pack("<Q", 16)
    for a, i in zip(attrs, ids):
        out += record(64, a + struct.pack(f"<{len(i)}Q", *i))
    for k, v in (features or {}).items():
        if k == "build_id":
            out += v
        else:
            out += record(80, struct.pack("<Q", FEATURES[k]) + v)
    return out + b"".join(records)
