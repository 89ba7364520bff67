# SPDX-License-Identifier: ISC
"""fxt.py FILE [providers]: a trace in Fuchsia's format, as programs write it that have nothing to do with Eio. providers: two of them, which
take turns, and have numbers of their own."""
import struct
import sys

strings = {}
out = bytearray()


def words(kind, fields, body=b""):
    """A record, its body padded."""
    body += b"\0" * (-len(body) % 8)
    out.extend(struct.pack("<Q", kind | (1 + len(body) // 8) << 4 | fields) + body)


def string(text):
    if text not in strings:
        strings[text] = len(strings) + 1
        words(2, strings[text] << 16 | len(text) << 32, text.encode())
    return strings[text]


def argument(name, value):
    if isinstance(value, str):
        return struct.pack("<Q", 6 | 1 << 4 | string(name) << 16 | string(value) << 32)
    if isinstance(value, float):
        return struct.pack("<Qd", 5 | 2 << 4 | string(name) << 16, value)
    if value < 0:
        return struct.pack("<Q", 1 | 1 << 4 | string(name) << 16 | (value & 0xFFFFFFFF) << 32)
    return struct.pack("<QQ", 4 | 2 << 4 | string(name) << 16, value)


def event(kind, thread, time, category, name, last=None, **arguments):
    args = b"".join(argument(k, v) for k, v in arguments.items())
    category, name = string(category), string(name)
    body = struct.pack("<Q", time) + args + (struct.pack("<Q", last) if last is not None else b"")
    words(4, kind << 16 | len(arguments) << 20 | thread << 24 | category << 32 | name << 48, body)


out.extend(struct.pack("<Q", 0x0016547846040010))
if sys.argv[2:] == ["providers"]:
    for turn in range(2):
        for provider, name in (1, "a"), (7, "bc"):
            if turn:
                words(0, 2 << 16 | provider << 20)  # its records go on
            else:
                words(0, 1 << 16 | provider << 20 | len(name) << 52, name.encode())
                words(2, 1 << 16 | len(name) << 32, name.encode())  # string 1
                words(3, 1 << 16, struct.pack("<QQ", 50, 100 + provider))  # thread 1
            # begins in the first turn, ends in the second; the last has a thread and a string of its own
            words(4, (2 + turn) << 16 | 1 << 24 | 1 << 32 | 1 << 48, struct.pack("<Q", 10 * turn + provider))
    body = struct.pack("<QQQ", 30, 50, 200) + b"inline\0\0" + struct.pack("<QQ", 4 | 2 << 4 | 1 << 16, 2**64 - 1)
    words(4, 2 << 16 | 1 << 20 | 1 << 32 | 0x8006 << 48, body)
    open(sys.argv[1], "wb").write(out)
    sys.exit()
words(1, 0, struct.pack("<Q", 1000000))  # a tick is a microsecond
for thread, name in (1, "main"), (2, "worker"):
    words(3, thread << 16, struct.pack("<QQ", 50, 100 + thread))
    process, name = string("process"), string(name)
    words(7, 2 << 16 | name << 24 | 1 << 40, struct.pack("<QQQ", 100 + thread, 8 | 2 << 4 | process << 16, 50))
event(2, 1, 10, "app", "request", path="/users", n=-7)
event(5, 1, 11, "net", "fetch", 77, url="http://x", ratio=0.5, size=3)
event(8, 1, 12, "flow", "job", 5)
event(6, 1, 13, "net", "connected", 77)
event(5, 1, 14, "net", "resolve", 77)
event(7, 1, 15, "net", "resolve", 77)
event(0, 1, 16, "app", "half done")
event(1, 1, 17, "app", "queue", 1, length=12)
event(3, 1, 20, "app", "request")
# Complete ones are written when they end: the inner one first, though both begin at once.
event(4, 2, 30, "app", "inner", 35)
event(10, 2, 32, "flow", "job", 5)
event(4, 2, 30, "app", "outer", 40)
event(4, 2, 41, "app", "empty", 41)
# One begins when the one before it ends, and is written first; what happens then happens in it.
event(0, 2, 44, "app", "between")
event(4, 2, 44, "app", "second", 46)
event(4, 2, 42, "app", "first", 44)
event(7, 2, 50, "net", "fetch", 77, status="ok")
event(5, 2, 60, "net", "never ends", 78)
open(sys.argv[1], "wb").write(out)
