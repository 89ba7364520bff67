# SPDX-License-Identifier: ISC
"""A trace of weft's own with one text of 4.6 MB that all its promises have: long_texts.py USE FILE."""

import struct
import sys

LOOP, LONG, PROMISES = -(2**31), 4_600_000, 50_000


def packet(kind, header, body):
    head = 48 + len(header)
    bits = 8 * (head + len(body))
    return struct.pack("<I16s4sHHIQQ", 0xC1FC1FC1, b"0123456789abcdef", b"weft", 1, kind, head, bits, bits) + header + body


class Strings:
    def __init__(self):
        self.bytes = b""

    def add(self, kind, body):
        number = (64 + len(self.bytes)) // 4
        self.bytes += struct.pack("<I", kind << 24 | len(body)) + body + bytes(4 - len(body) % 4)
        return number


def event(time, number, words):
    return struct.pack("<Q", time | (len(words) * 32 + number) << 56) + struct.pack(f"<{len(words)}I", *(w % 2**32 for w in words))


def main():
    use, strings = sys.argv[1], Strings()
    text = strings.add(1, b"GET /" + b"long line " * (LONG // 10))
    site = strings.add(2, struct.pack("<IIII", text if use == "type" else 0, 0, text if use == "type" else 0, 7))
    events = []
    for i in range(1, PROMISES):
        events.append(event(20 * i, 0, (LOOP, i, site, 0 if use == "type" else text)))
        if use == "pending":
            events.append(event(20 * i + 5, 10, (i, i + 1)))
        elif use == "reason":
            events.append(event(20 * i + 5, 3, (LOOP, i, text)))
        else:
            events.append(event(20 * i + 5, 2, (LOOP, i)))
    facts = struct.pack("<IIIIQQQQQQQQQQQQQQ16sQ", 2, 1, 3, 65536, 10**9, 0, 0, 0, 0, 0, 10**18, 10**8, 10**8, 0, 0, 0, 0, 1, b"b" * 16, 9)
    header = struct.pack("<QQIIQQQQQQQQII16sIIQ", 0, 0, 0, 100, 1, 0, 0, 2**64 - 1, 0, 0, 0, 10**18, 0, len(events), b"thread", 0, 0, len(events))
    with open(sys.argv[2], "wb") as f:
        f.write(packet(3, facts, b"program=x\0") + packet(2, struct.pack("<QQ", len(strings.bytes), 0), strings.bytes + bytes(40)))
        f.write(packet(1, header, b"".join(events)))


main()
