#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Writes a random mirage trace that is legal but full of corners.

Legal: no promise is created or resolved twice, becomes itself or a circle, and
time never goes back, though it often stands still, for rules that compare times
have to be right for equal ones.  A prefix of a legal trace is legal, so stories
of several events may be cut off anywhere by the end.

The same arguments give the same file.  What no option says is left to SEED.
"""

import argparse
import itertools
import random
import struct

from oracle import HEADER, MAGIC, NOBODY, SIMPLIFIED, TYPES, UUID

(CREATES, READ, FULFILLS, FAILS, BECOMES, LABEL, INCREASE, SWITCH, GC, SIGNAL, TRY_READ, COUNTER,
 READ_LATER, SIGNAL_ONLY) = range(14)

SIMPLIFIED_TYPES = [i for i, name in enumerate(TYPES) if name in SIMPLIFIED]
SHOULD_RESOLVE = b"__should_resolve"
TEXTS = [text.encode() for text in (
    "read", "a\tb", "two\nlines", "back\\slash \\t", "köln ✓ 織", "", " ", "<b>&amp;\"'", "queue+1",
    "__should_resolve?", "a\r\x1b[1m\x7f", "long " * 30)] + [b"latin-1 \xe9\xff", b"\x80\xbf"]
COUNTERS = [b"queue", b"buf#1", b"buf#2", b"tcp-ackd-segs", b"tcp-to-ip", b"", b"a\tb"]


class Story:
    """Tells events without end.  It knows, as a recorder's program would, which promise a number
    means by now, which are pending, and which runs.  A promise is held by one of its numbers, which
    may have become another promise since."""

    def __init__(self, rng, alive, unknown_types):
        self.rng = rng
        self.alive = alive
        self.types = list(range(len(TYPES))) + ([18, 99, 255] if unknown_types else [])
        self.now = rng.choice([1, 10**9, 10**18, 2**63])  # a clock does not start at 0
        self.next_number = rng.choice([0, 0, 1, 1000, 2**32 - 5])
        self.skipped = []
        self.names = {NOBODY: [NOBODY]}  # promise -> some of the numbers that mean it by now
        self.became = {}
        self.pending = []
        self.place = {}  # promise -> its index in pending
        self.silent = []  # pending too, but not in that list
        self.recent = []  # a few promises that most events are about, so that others fall silent
        self.resolved = []  # the last few
        self.running = NOBODY

    # Choices

    def chance(self, probability):
        return self.rng.random() < probability

    def new_number(self):
        if self.skipped and self.chance(0.05):
            return self.skipped.pop()
        if self.chance(0.03):
            self.skipped.append(self.next_number)
            self.next_number += self.rng.choice([1, 2, 1000, 2**16, 2**20])
        self.next_number += 1
        return self.next_number - 1

    def known(self, number):
        """Notes a new promise."""
        self.names[number] = [number]
        self.enter(number)
        self.recent = self.recent[-5:] + [number]
        return number

    def enter(self, promise):
        self.place[promise] = len(self.pending)
        self.pending.append(promise)

    def leave(self, promise):
        """Takes it from the pending ones, in constant time."""
        last = self.pending.pop()
        index = self.place.pop(promise)
        if last != promise:
            self.pending[index] = last
            self.place[last] = index

    def some_pending(self):
        """A pending promise; one whose creation is lost if there is no other, and now and then."""
        if not self.pending or self.chance(0.01):
            return self.known(self.new_number())
        promise = self.followed(self.rng.choice(self.recent or self.pending))
        if promise not in self.place or self.chance(0.15):
            promise = self.rng.choice(self.pending)
        return promise

    def anybody(self):
        """Whoever may be said to act."""
        luck = self.rng.random()
        if luck < 0.4:
            return self.running
        if luck < 0.45:
            return NOBODY
        if luck < 0.5 and self.resolved:
            return self.rng.choice(self.resolved)
        return self.some_pending()

    def followed(self, promise):
        while promise in self.became:
            promise = self.became[promise]
        return promise

    def is_pending(self, promise):
        return self.followed(promise) in self.place

    def can_become(self, p, q):
        p, q = self.followed(p), self.followed(q)
        return p in self.place and q not in (p, NOBODY)

    def name(self, promise):
        """One of its numbers."""
        names = self.names[self.followed(promise)]
        return names[0] if len(names) == 1 or self.chance(0.5) else self.rng.choice(names)

    def hush(self, promise):
        """Lets nobody speak of a pending promise for long: its end will be what was said last."""
        self.leave(promise)
        self.silent.append(promise)
        if len(self.silent) > self.alive // 2 + 2:
            self.enter(self.silent.pop(0))

    # Events: the bytes, and what they change.  Promises are given, names are chosen here.

    def event(self, kind, layout, *fields, text=b""):
        self.now += self.rng.choice([0, 0, 0, 1, 1, 7, 100, 1000, 50000])
        return struct.pack("<QB" + layout, self.now, kind, *fields) + text

    def pair(self, kind, a, b):
        return self.event(kind, "QQ", self.name(a), self.name(b))

    def create(self, parent=None, kind=None):
        parent = self.name(self.anybody() if parent is None else parent)
        if kind is None:
            kind = self.rng.choice(SIMPLIFIED_TYPES if self.chance(0.4) else self.types)
        return self.event(CREATES, "QQB", parent, self.known(self.new_number()), kind)

    def runs(self, event, promise):
        self.running = self.followed(promise)
        return event

    def ends(self, promise):
        self.leave(promise)
        self.resolved = self.resolved[-7:] + [promise]

    def resolve(self, resolver, p):
        if self.chance(0.75):
            event = self.pair(FULFILLS, resolver, p)
        else:
            event = self.event(FAILS, "QQ", self.name(resolver), self.name(p),
                               text=self.rng.choice(TEXTS) + b"\0")
        self.ends(self.followed(p))
        return event

    def become(self, p, q):
        event = self.pair(BECOMES, p, q)
        p, q = self.followed(p), self.followed(q)
        self.ends(p)
        self.became[p] = q
        self.names[q] = self.names[q][:3] + self.names.pop(p)[:3]
        self.running = self.followed(self.running)
        return event

    def label(self, p, text=None):
        text = self.rng.choice(TEXTS) if text is None else text
        return self.event(LABEL, "Q", self.name(p), text=text + b"\0")

    def count(self):
        """A counter's change; recorders always name what runs."""
        kind = self.rng.choice([INCREASE, COUNTER])
        amount = self.rng.choice([-(2**63), -3, -1, 0, 1, 1, 5, 2**40])
        return self.event(kind, "Qq", self.name(self.running), amount,
                          text=self.rng.choice(COUNTERS) + b"\0")

    def read(self, reader, source):
        if self.chance(0.3):
            return self.pair(READ_LATER, reader, source)
        return self.runs(self.pair(READ, reader, source), reader)

    def signal(self, receiver, source):
        if self.chance(0.4):
            return self.pair(SIGNAL_ONLY, receiver, source)
        return self.runs(self.pair(SIGNAL, receiver, source), receiver)

    def switch(self, p):
        return self.runs(self.event(SWITCH, "Q", self.name(p)), p)

    # Stories of several events

    def bind_story(self):
        """A promise that only waits and then reads, if nothing comes between."""
        rng = self.rng
        parent = self.some_pending() if self.chance(0.5) else self.anybody()
        yield self.create(parent, rng.choice(SIMPLIFIED_TYPES))
        bind = self.recent[-1]
        source = rng.choice([self.some_pending, self.anybody])()
        if self.chance(0.3):  # below, or above, the one that it will hang under
            if self.chance(0.5):
                yield self.create(bind)
                source = self.recent[-1]
            else:
                source = parent
        if source == NOBODY:
            source = self.some_pending()
        if self.chance(0.2) and self.can_become(parent, bind):
            yield self.become(parent, bind)
        if self.chance(0.1):
            yield self.switch(bind)
            yield self.count()
        if self.chance(0.1):
            yield self.label(bind)
        if self.chance(0.1) and self.is_pending(bind):
            yield self.resolve(self.anybody(), bind)
        if self.chance(0.15):
            yield from self.wait_story(self.anybody(), bind)
        yield from self.wait_story(bind, source)
        if self.chance(0.2):
            yield self.label(bind)

    def wait_story(self, reader, source):
        """try_read and then a read, but often of something that has changed meanwhile."""
        if self.chance(0.6):
            yield self.pair(TRY_READ, reader, source)
            target = self.anybody()
            if self.chance(0.2) and self.can_become(source, target):
                yield self.become(source, target)
            if self.chance(0.1):
                yield self.signal(self.anybody(), reader)
            if self.chance(0.2):
                return
        if self.chance(0.6) and self.is_pending(source):
            yield self.resolve(self.anybody(), source)
        yield self.read(reader, source)
        if self.chance(0.15):  # only the last interaction can be replaced
            yield self.pair(TRY_READ, reader, source)
            yield self.pair(TRY_READ, reader, source)
            yield self.read(reader, source)

    def chain_story(self):
        """p becomes q becomes r, with something said of each on the way."""
        p = self.some_pending()
        for _ in range(self.rng.choice([1, 2, 2, 3])):
            if self.chance(0.3):
                yield self.switch(p)
            if self.chance(0.4):
                yield self.label(p, SHOULD_RESOLVE)
            if self.chance(0.4):
                yield self.create()
            q = self.recent[-1] if self.recent and self.chance(0.7) else self.anybody()
            if self.can_become(p, q):
                yield self.become(p, q)
        if self.is_pending(p) and self.chance(0.2):
            yield self.resolve(self.anybody(), p)

    def nothing_story(self):
        """What has no effect: reads of -1, even by somebody unheard of, and labels on it."""
        reader = self.new_number() if self.chance(0.5) else self.name(self.anybody())
        kind = self.rng.choice([READ, READ_LATER, TRY_READ])
        yield self.event(kind, "QQ", reader, NOBODY)
        yield self.label(NOBODY, self.rng.choice([b"dropped", SHOULD_RESOLVE]))

    def silent_story(self):
        """A promise that is heard of once after its creation, by each way of hearing of it."""
        yield self.create()
        p = self.recent.pop()
        other = self.some_pending()
        if other == p:
            return
        yield from self.rng.choice([
            lambda: [self.create(p)], lambda: [self.label(p)], lambda: [self.switch(p)],
            lambda: [self.label(p, SHOULD_RESOLVE)], lambda: [self.switch(p), self.count()],
            lambda: [self.pair(SIGNAL_ONLY, p, other)], lambda: [self.pair(SIGNAL_ONLY, other, p)],
            lambda: [self.pair(TRY_READ, p, other)], lambda: [self.pair(TRY_READ, other, p)],
            lambda: [self.pair(READ_LATER, p, other)], lambda: [self.pair(READ_LATER, other, p)],
            lambda: [self.become(other, p)], lambda: [self.switch(other), self.become(other, p)],
            lambda: [self.resolve(p, other)]])()
        if self.running == p and self.chance(0.9):
            yield self.switch(NOBODY if self.chance(0.5) else self.some_pending())
        if self.is_pending(p) and self.running != p:
            self.hush(p)

    def tell(self):
        """Yields events for ever."""
        rng = self.rng
        one = {
            lambda: self.create(): 14,
            lambda: self.resolve(self.anybody(), self.some_pending()): 8,
            lambda: self.read(self.anybody(), self.some_pending()): 4,
            lambda: self.pair(TRY_READ, self.anybody(), self.some_pending()): 3,
            lambda: self.signal(self.anybody(), self.anybody()): 5,
            lambda: self.switch(self.anybody()): 5,
            lambda: self.label(self.anybody()): 4,
            lambda: self.count(): 4,
            lambda: self.event(GC, "Q", rng.choice([0, 5, 10**6, 2**63])): 4,
            lambda: self.label(self.anybody(), SHOULD_RESOLVE): 1,
        }
        several = {
            self.bind_story: 6, self.chain_story: 4, self.nothing_story: 1, self.silent_story: 4,
            lambda: self.wait_story(self.anybody(), self.some_pending()): 3,
        }
        choices = [(act, False) for act in one] + [(act, True) for act in several]
        weights = list(itertools.accumulate([*one.values(), *several.values()]))
        while True:
            if len(self.pending) > self.alive:
                yield self.resolve(self.anybody(), rng.choice(self.pending))
                continue
            act, many = rng.choices(choices, cum_weights=weights)[0]
            if many:
                yield from act()
            else:
                yield act()


# ---- from events to a file ---------------------------------------------------------------------


def fill(rng, events, count):
    """Packs events into about `count` packets' contents, as the writer does: next packet when an
    event does not fit.  Returns them and the room in a packet."""
    sizes = [len(event) for event in events]
    room = max([sum(sizes) // count, *sizes]) + rng.choice([0, 1, 40])
    contents = [bytearray()]
    for event in events:
        if len(contents[-1]) + len(event) > room:
            contents.append(bytearray())
        contents[-1] += event
    return contents, room


def half_an_event(rng, kind, event):
    """What a writer leaves of the last event if it is interrupted: the room, with the beginning of
    the event or with the zeros that were there."""
    if kind == "cut":
        return event[: rng.randrange(1, len(event))]
    return bytes(len(event)) if kind == "zeros" else b""


def ring(rng, contents, room, unused, interrupted):
    """Puts packets into a file as the writer would have left them: numbered modulo 2^16, perhaps
    wrapped, in which case the writer may just have emptied the oldest for what comes next."""
    packets = [bytes(content) for content in contents]
    wrapped = unused == 0 and rng.random() < 0.6
    if wrapped and not interrupted and rng.random() < 0.3:
        packets.append(b"")
    packets += [b""] * unused
    first = rng.choice([0, 1, 7, 0x7FFF, 0xFFFF, 0x10000 - len(packets), rng.randrange(2**16)])
    first = (first - rng.randrange(len(packets))) % 2**16 if wrapped else first
    numbered = list(enumerate(packets, first))
    turn = rng.randrange(len(packets)) if wrapped else 0
    numbered = numbered[turn:] + numbered[:turn]
    for i, (number, content) in enumerate(numbered):
        rest = room - len(content)
        if i == len(numbered) - 1:
            rest += rng.choice([0, 3, 100])  # the last packet takes the remainder
        size = HEADER.size + len(content) + rest
        yield HEADER.pack(MAGIC, UUID, size * 8, number % 2**16, (HEADER.size + len(content)) * 8)
        yield content
        yield rng.randbytes(min(rest, 64)).ljust(rest, b"\0")  # of an earlier lap, or never written


def generate(seed, events, alive=20, packets=None, unused=None, half=None, unknown_types=False):
    """Returns the bytes of a trace."""
    rng = random.Random(seed)
    told = list(itertools.islice(Story(rng, alive, unknown_types).tell(), events + 1))
    contents, room = fill(rng, told[:events], packets or rng.choice([1, 2, 4, 4, 4, 9]))
    half = half or rng.choice(["none", "none", "cut"])
    tail = half_an_event(rng, half, told[-1])
    if tail and rng.random() < 0.3:
        contents.append(bytearray())
    contents[-1] += tail
    room = max(room, len(contents[-1]))
    if unused is None:
        unused = rng.choice([0, 0, 1, 2])
    return b"".join(ring(rng, contents, room, unused, interrupted=bool(tail)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("events", type=int)
    parser.add_argument("out")
    parser.add_argument("--alive", type=int, default=20, help="promises pending at once, about")
    parser.add_argument("--packets", type=int, help="with events in them, about")
    parser.add_argument("--unused", type=int, help="packets that were never written")
    parser.add_argument("--half", choices=["none", "cut", "zeros"],
                        help="an event more, of which only this was written")
    parser.add_argument("--unknown-types", action="store_true", help="use type numbers above 17")
    options = vars(parser.parse_args())
    with open(options.pop("out"), "wb") as file:
        file.write(generate(**options))


if __name__ == "__main__":
    main()
