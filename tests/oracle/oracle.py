#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""What `weft promises FILE` must print for a mirage trace, computed naively.

A second implementation of the rules by which events become promises, to
compare weft with.  It shares no code with weft and prefers being obviously
right to being fast: one object a promise, one `if` a rule.  It knows legal
traces only: on damage it stops, because what weft makes of damage is weft's
own business.

usage: oracle.py [--raw] FILE
"""

import struct
import sys

HEADER = struct.Struct("<I16sIHI")  # magic, UUID, packet bits, sequence number, content bits
MAGIC = 0xC1FC1FC1
UUID = bytes.fromhex("05883b8d521a487bb397456ab150680c")
NOBODY = 2**64 - 1  # promise -1: the main loop

TYPES = """wait task bind try choose pick join map condition on_success on_failure
on_termination on_any ignore_result async promise semaphore switch""".split()
SIMPLIFIED = {"bind", "try", "map", "ignore_result", "on_failure", "on_termination"}

# The fields of each event; "s" is a string that ends with a NUL byte.
EVENTS = [
    ("creates", "QQB"), ("read", "QQ"), ("fulfills", "QQ"), ("fails", "QQs"), ("becomes", "QQ"),
    ("label", "Qs"), ("increase", "Qqs"), ("switch", "Q"), ("gc", "Q"), ("signal", "QQ"),
    ("try_read", "QQ"), ("counter", "Qqs"), ("read_later", "QQ"), ("signal_only", "QQ"),
]


class Damage(Exception):
    """The file breaks a rule that every recorder keeps."""


# ---- from bytes to events ----------------------------------------------------------------------


def packets(data):
    """Yields (sequence number, content without header) in the order of the file."""
    offset = 0
    while offset < len(data):
        magic, uuid, packet_bits, number, content_bits = HEADER.unpack_from(data, offset)
        if magic != MAGIC or uuid != UUID or not HEADER.size * 8 <= content_bits <= packet_bits:
            raise Damage(f"no packet at byte {offset}")
        yield number, data[offset + HEADER.size : offset + content_bits // 8]
        offset += packet_bits // 8


def oldest_first(ring):
    """Sorts packets by age.  Numbers are modulo 2^16, so none is the smallest by itself: where the
    number does not go up by a small step, the writer came round to the start of the file."""
    if len(ring) > 0x8000:
        raise Damage("too many packets for their numbers to tell the order")
    first = 0
    for i in range(1, len(ring)):
        if (ring[i][0] - ring[i - 1][0]) % 2**16 > 0x8000:
            first = i
            break
    return sorted(ring, key=lambda packet: (packet[0] - ring[first][0]) % 2**16)


def decode(content):
    """Yields (time, event name, fields) of one packet, and (None, why, []) where it cannot go on."""
    at = 0
    while at < len(content):
        try:
            time, number = struct.unpack_from("<QB", content, at)
            name, layout = EVENTS[number]
            at += 9
            fields = []
            for field in layout:
                if field == "s":
                    end = content.index(b"\0", at)
                    fields.append(content[at:end])
                    at = end + 1
                else:
                    fields += struct.unpack_from("<" + field, content, at)
                    at += struct.calcsize("<" + field)
        except (struct.error, IndexError, ValueError) as why:
            yield None, str(why), []
            return
        yield time, name, fields


def read_events(data):
    """All events, oldest first, with times relative to the first one.

    The writer makes room for an event before it writes it, so the last event of the newest packet
    may be half-written: it does not decode, or is still zero (no clock reads zero after it has
    read more).  It is left out.  Anywhere else that would be damage."""
    used = [decode(content) for _, content in oldest_first(list(packets(data))) if content]
    events = []
    for packet in used:
        for time, name, fields in packet:
            if time is None or (time == 0 and events and events[-1][0] > 0):
                if packet is not used[-1]:
                    raise Damage(f"half an event before the last packet: {name}")
                break
            if events and time < events[-1][0]:
                raise Damage(f"time goes back from {events[-1][0]} to {time}")
            events.append((time, name, fields))
    return [(time - events[0][0], name, fields) for time, name, fields in events]


# ---- from events to promises -------------------------------------------------------------------


class Promise:
    def __init__(self, number, type_name, creator, start):
        self.number = number
        self.type = type_name
        self.creator = creator
        self.start = start
        self.end = None  # as long as it is pending
        self.outcome = "pending"
        self.became = None
        self.should_resolve = False
        self.labels = []  # (time, text; None for a counter's change)
        self.interactions = []  # (time, what, the other promise as it was then), as the actor
        self.traces_of_life = []  # other times that tell that it was pending then

    def followed(self):
        """The promise that this one is by now."""
        promise = self
        while promise.became:
            promise = promise.became
        return promise


class Model:
    def __init__(self, events):
        self.root = Promise(NOBODY, "preexisting", None, 0)
        self.promises = {NOBODY: self.root}
        self.running = self.root
        for time, name, fields in events:
            getattr(self, "on_" + name)(time, *fields)
        self.end_pending(max((time for time, _, _ in events), default=0))

    def get(self, number):
        """The promise that an event means by a number, at this moment."""
        if number not in self.promises:
            self.promises[number] = Promise(number, "preexisting", self.root, 0)
        return self.promises[number].followed()

    # Identity

    def on_creates(self, time, parent, child, type_number):
        if child in self.promises:
            raise Damage(f"{child} is created twice, or used before it is created")
        creator = self.get(parent)
        type_name = TYPES[type_number] if type_number < len(TYPES) else f"type-{type_number}"
        self.promises[child] = Promise(child, type_name, creator, time)
        creator.traces_of_life.append(time)

    def resolve(self, promise, time, outcome):
        if promise.outcome != "pending" or promise is self.root:
            raise Damage(f"{promise.number} is resolved twice, or is the main loop")
        promise.outcome = outcome
        promise.end = time

    def on_fulfills(self, time, resolver, p):
        resolver, p = self.get(resolver), self.get(p)
        self.resolve(p, time, "fulfilled")
        resolver.interactions.append((time, "resolve", p))

    def on_fails(self, time, resolver, p, _exception):
        resolver, p = self.get(resolver), self.get(p)
        self.resolve(p, time, "failed")
        resolver.interactions.append((time, "resolve", p))

    def on_becomes(self, time, p, q):
        p, q = self.get(p), self.get(q)
        if p is q or q is self.root:
            raise Damage(f"{p.number} becomes itself or the main loop")
        self.resolve(p, time, "became")
        p.became = q
        if p is self.running:
            self.run(time, q)

    # What runs

    def run(self, time, promise):
        if promise is not self.running:
            self.running.traces_of_life.append(time)
            self.running = promise

    def on_switch(self, time, p):
        self.run(time, self.get(p))

    # Interactions

    def on_read(self, time, reader, source):
        if source != NOBODY:
            self.on_read_later(time, reader, source)
            self.run(time, self.get(reader))

    def on_read_later(self, time, reader, source):
        """A read after a wait for the same promise replaces the wait."""
        if source == NOBODY:
            return
        reader, source = self.get(reader), self.get(source)
        if reader.interactions and reader.interactions[-1][1:] == ("try_read", source):
            reader.interactions.pop()
        reader.interactions.append((time, "read", source))

    def on_try_read(self, time, reader, source):
        if source == NOBODY:
            return
        reader, source = self.get(reader), self.get(source)
        reader.interactions.append((time, "try_read", source))
        source.traces_of_life.append(time)

    def on_signal(self, time, receiver, source):
        self.on_signal_only(time, receiver, source)
        self.run(time, self.get(receiver))

    def on_signal_only(self, time, receiver, source):
        receiver, source = self.get(receiver), self.get(source)
        source.interactions.append((time, "signal", receiver))
        receiver.traces_of_life.append(time)

    # Texts and numbers

    def on_label(self, time, p, text):
        if p == NOBODY:
            return
        p = self.get(p)
        if text == b"__should_resolve":
            p.should_resolve = True
        else:
            p.labels.append((time, text))

    def on_increase(self, time, p, _amount, _counter):
        self.get(p).labels.append((time, None))

    on_counter = on_increase

    def on_gc(self, time, duration):
        pass

    # After the last event

    def end_pending(self, trace_end):
        """Lets pending promises end where they were last heard of.  Their outcome stays pending."""
        self.running.traces_of_life.append(trace_end)
        for p in self.promises.values():
            if p.outcome == "pending":
                p.end = max([p.start] + p.traces_of_life
                            + [label[0] for label in p.labels]
                            + [interaction[0] for interaction in p.interactions])
        for p in self.promises.values():
            if p.should_resolve and p.followed().outcome == "pending":
                p.followed().end = trace_end

    def simplified_starts(self):
        """Promise -> start in the picture, for those that only waited before their first read."""
        first_wait = {}  # source -> time; of the waits that a read has not replaced
        for p in self.promises.values():
            for time, what, source in p.interactions:
                if what == "try_read":
                    first_wait[source] = min(time, first_wait.get(source, time))
        starts = {}
        for p in self.promises.values():
            if p.type not in SIMPLIFIED or not p.interactions:
                continue
            time, what, _ = p.interactions[0]
            # An exception's text is drawn as one more label, after all others.
            labels = p.labels + ([(p.end, None)] if p.outcome == "failed" else [])
            if (what == "read"
                    and p.creator.became is not p
                    and not (labels and labels[0][0] < time)
                    and not (p in first_wait and first_wait[p] <= time)):
                starts[p] = time
        return starts


def escape(text):
    """A label as the truth files have it: every byte is taken for a Latin-1 character and written
    in UTF-8, so that text which was UTF-8 already comes out encoded twice. Control characters are
    escaped: see TEXTS in weft(1)."""
    letters = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    return "".join(
        letters.get(c) or (f"\\x{ord(c):02x}" if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 else c)
        for c in text.decode("latin-1")).encode("utf-8")


def promises_tsv(model, raw):
    """The lines of `weft promises`, as bytes: labels need not be UTF-8."""
    starts = {} if raw else model.simplified_starts()
    yield b"id\ttype\tcreator\tstart_ns\tend_ns\toutcome\tbecomes\tlabel\n"
    for number, p in sorted(model.promises.items()):
        if p is model.root:
            continue
        creator = "-1" if p.creator is model.root else p.creator.number
        became = p.became.number if p.became else "-"
        label = next((text for _, text in p.labels if text is not None), b"")
        fields = [number, p.type, creator, starts.get(p, p.start), p.end, p.outcome, became]
        yield "\t".join(map(str, fields)).encode() + b"\t" + escape(label) + b"\n"


def main(arguments):
    raw = "--raw" in arguments
    names = [a for a in arguments if a != "--raw"]
    if len(names) != 1:
        sys.exit(__doc__)
    try:
        with open(names[0], "rb") as file:
            model = Model(read_events(file.read()))
    except (Damage, OSError, struct.error) as why:
        sys.exit(f"oracle: {names[0]}: {why}")
    sys.stdout.buffer.writelines(promises_tsv(model, raw))


if __name__ == "__main__":
    main(sys.argv[1:])
