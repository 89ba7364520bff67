# SPDX-License-Identifier: ISC
"""Traces and profiles that are made to cost much: each has one kind of thing as often as fits into it. A folder of the
tests, tests/fuzz/make-corpus, knows how packets look.

    hostile.py           lists their names
    hostile.py NAME      writes that one to standard output
      SIZE=10000000      its size, about, in bytes
      STEP=1000000       time from an event to the next, mostly, in nanoseconds"""

import importlib.machinery
import importlib.util
import os
import pathlib
import random
import struct
import sys

tests = pathlib.Path(__file__).parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(tests / "e2e"))
import perfdata as perf  # noqa: E402

loader = importlib.machinery.SourceFileLoader("corpus", str(tests / "fuzz/make-corpus"))
corpus = importlib.util.module_from_spec(importlib.util.spec_from_loader("corpus", loader))
sys.modules["corpus"] = corpus
loader.exec_module(corpus)
from corpus import INLINE, LOOP, SHORT_LOOP, cell, event, events, facts, form, packet, pending, record, roll, text_before  # noqa: E402

SIZE = int(os.environ.get("SIZE", 10_000_000))
STEP = int(os.environ.get("STEP", 1_000_000))
EACH = 64000  # bytes of events in a packet
T = 10**9
HOSTILE = {}
pack = struct.pack


def hostile(make):
    HOSTILE[make.__name__.replace("_", "-")] = make
    return make


class Strings(corpus.Strings):
    def __init__(self):
        self.bytes = bytearray()


# The forms that are used most. Numbers of promises are the program's own: they count from 0.
def create(t, p, site, by=SHORT_LOOP, label=0):
    return pack("<QiiII", t | 128 << 56, by, p, site, label)


def pair(number):
    code = (64 + number) << 56
    return lambda t, a, b: pack("<Qii", t | code, a, b)


def one(number):
    code = (32 + number) << 56
    return lambda t, a: pack("<Qi", t | code, a)


read, fulfil, become, signal, wait, later, cancel, notify = map(pair, (1, 2, 4, 9, 10, 12, 15, 17))
run, forget, should, background = map(one, (7, 16, 18, 19))


def fail(t, by, p, text):
    return pack("<QiiI", t | 99 << 56, by, p, text)


def label(t, p, text):
    return pack("<QiI", t | 69 << 56, p, text)


def counter(t, text, value):
    return pack("<QIi", t | 75 << 56, text, value)


def suspend(t):
    return form(t, 1, 20, 0)


def resume(t):
    return form(t, 0, 21)


class Trace:
    """Packets of events, each stream's own; fits() until SIZE is reached."""

    def __init__(self, each=EACH, close=True):
        self.strings, self.out, self.size, self.each, self.close = Strings(), [], 0, each, close
        self.sequence, self.open, self.end = 0, {}, 0
        self.site = self.strings.site(self.strings.text("task"), self.strings.text("a name"), self.strings.text("main.c"), 7)
        self.bind = self.strings.site(self.strings.text("bind"), 0, 0, 0)
        self.name = self.strings.text("a word")

    def fits(self):
        return self.size + len(self.strings.bytes) < SIZE

    def add(self, form, t, stream=0):
        begin, forms, size = self.open.get(stream) or self.open.setdefault(stream, [t, [], 0])
        forms.append(form)
        self.open[stream][2] += len(form)
        self.size += len(form)
        self.end = max(self.end, t)
        if size + len(form) >= self.each:
            self.flush(stream, t)

    def flush(self, stream, t):
        begin, forms, _ = self.open.pop(stream)
        self.sequence += 1
        self.size += 160
        self.out.append(events(self.sequence, begin, *forms, end=t if self.close else 0, stream=stream, count=sum(f[7] not in (0xe0, 0xd6) for f in forms), pair=(begin, begin, 5)))

    def write(self, *more, **odd):
        for stream in list(self.open):
            self.flush(stream, self.end)
        end = self.end + 100 * STEP
        told = facts(state=1, start=(T, T), stop=(end, end), **odd)
        return b"".join([told[:136] + bytes(40) + told[176:], self.strings.packet(), *more, *self.out])


def simple(step, trace=None, before=(), after=(), **odd):
    """A trace of what step(trace, i, t) gives, for i = 0, 1, 2 …"""
    trace, t, i = trace or Trace(), T, 0
    while trace.fits():
        for form in step(trace, i, t):
            trace.add(form, t)
            t += STEP
        i += 1
    return trace.write(**odd)


def phases(unit, *steps, each=EACH):
    """As many promises as fit if all steps are made for each of them, unit bytes: first one step for all, then the next."""
    trace, t, n = Trace(each), T, int(SIZE / unit)
    for step in steps:
        for i in range(n):
            for form in step(trace, i, t, n):
                trace.add(form, t)
                t += STEP
    return trace.write()


# ---- Who waits for whom ----

def created(x, i, t, n):
    return [create(t, i, x.site)]


def created_by_last(x, i, t, n):
    return [create(t, i, x.site, i - 1 if i else SHORT_LOOP)]


@hostile
def waits_for_one():
    return phases(40, created, lambda x, i, t, n: [wait(t, i, 0)])


@hostile
def waits_for_one_that_fails():
    return phases(60, created, lambda x, i, t, n: [wait(t, i, 0)], lambda x, i, t, n: [read(t, i, 0)] if i else [fail(t, 0, 0, x.name)])


@hostile
def waits_of_one():
    return phases(40, created, lambda x, i, t, n: [wait(t, 0, i)])


@hostile
def waits_of_one_read():
    return phases(80, created, lambda x, i, t, n: [wait(t, 0, i)], lambda x, i, t, n: [fulfil(t, i, i), read(t + 5, 0, i)])


@hostile
def waits_chain():
    return phases(40, created, lambda x, i, t, n: [wait(t, i, i + 1)])


@hostile
def waits_chain_backwards():
    return phases(40, created, lambda x, i, t, n: [wait(t, n - i, n - i - 1)])


@hostile
def waits_chain_resolved():
    return phases(80, created, lambda x, i, t, n: [wait(t, i, i + 1)], lambda x, i, t, n: [fulfil(t, n - i, n - i), read(t, n - i - 1, n - i)])


@hostile
def waits_chain_failed():
    return phases(80, created, lambda x, i, t, n: [wait(t, i, i + 1)], lambda x, i, t, n: [read(t, n - i, n - i + 1), fail(t, n - i, n - i, x.name)])


@hostile
def waits_cycle():
    return phases(40, created, lambda x, i, t, n: [wait(t, i, (i + 1) % n)])


@hostile
def waits_cycles():
    return phases(40, created, lambda x, i, t, n: [wait(t, i, i + 1 if i % 3 < 2 else i - 2)])


@hostile
def waits_all_pairs():
    n = int((SIZE / 16)**.5)
    return simple(lambda x, i, t: [create(t, i, x.site)] if i < n else [wait(t, i // n % n, i % n)])


@hostile
def waits_all_pairs_resolved():
    n = int((SIZE / 16)**.5) - 1

    def step(x, i, t):
        if i < n:
            return [create(t, i, x.site)]
        if i < n * n:
            return [wait(t, i // n % n, i % n)]
        return [fulfil(t, SHORT_LOOP, i % n)]
    return simple(step)


@hostile
def waits_polled():
    return simple(lambda x, i, t: [create(t, i, x.site)] if i < 2 else [wait(t, 0, 1)])


@hostile
def waits_with_marks():
    return phases(52, created, lambda x, i, t, n: [should(t, i)], lambda x, i, t, n: [wait(t, i, i // 2)])


@hostile
def waits_tree():
    return phases(72, created, lambda x, i, t, n: [wait(t, i // 2, i)], lambda x, i, t, n: [fulfil(t, n - i, n - i), read(t, (n - i) // 2, n - i)])


@hostile
def waits_ladder():
    """Two ways from each step to the next."""
    return phases(56, created, lambda x, i, t, n: [wait(t, i, i // 2 * 2 + 2), wait(t, i, i // 2 * 2 + 3)])


@hostile
def waits_ladder_resolved():
    return phases(90, created, lambda x, i, t, n: [wait(t, i, i // 2 * 2 + 2), wait(t, i, i // 2 * 2 + 3)],
                  lambda x, i, t, n: [fulfil(t, n - i, n - i), read(t, (n - i) // 2 * 2 - 1, n - i), read(t, (n - i) // 2 * 2 - 2, n - i)])


@hostile
def locks_handed_on():
    """A pool: each promise waits for the one before, runs, and hands it on."""
    return simple(lambda x, i, t: [create(t, i, x.site), wait(t, i, i - 1), run(t, i - 1), fulfil(t, i - 1, i - 1), read(t, i, i - 1)])


@hostile
def herd():
    n = 1000
    return simple(lambda x, i, t: [create(t, i, x.site)] if i <= n else [wait(t, 1 + i // 2 % n, 0)] if i // n % 2 else [notify(t, SHORT_LOOP, 0), signal(t, 1 + i % n, 0)])


@hostile
def notified_without_waiters():
    return simple(lambda x, i, t: [create(t, i, x.site), notify(t, i, 0)] if i % 2 else [create(t, i, x.site), wait(t, i, 0)])


@hostile
def signals():
    return simple(lambda x, i, t: [create(t, i, x.site)] if i < 999 else [signal(t, i * 7 % 999, i % 999)])


@hostile
def spins():
    return simple(lambda x, i, t: [create(t, i, x.site)] if i < 9 else [run(t, i % 3), wait(t, i % 3, 5), run(t, SHORT_LOOP)])


# ---- Creators, becoming, labels ----

@hostile
def creators_chain():
    return phases(24, created_by_last)


@hostile
def creators_chain_ended():
    return phases(60, created_by_last, lambda x, i, t, n: [run(t, n - i), fulfil(t, n - i, n - i)])


@hostile
def creators_chain_failed():
    return phases(48, created_by_last, lambda x, i, t, n: [fail(t, n - i, n - i, x.name)])


@hostile
def creators_chain_from_the_end():
    return phases(24, lambda x, i, t, n: [create(t, n - i, x.site, n - i - 1)])


@hostile
def creators_late():
    """Mentioned as creators long before they are created."""
    return phases(24, lambda x, i, t, n: [create(t, n - i, x.bind, n - i + 1 if i else 0)])


@hostile
def creators_star():
    return phases(40, lambda x, i, t, n: [create(t, i, x.site, 0)], lambda x, i, t, n: [fulfil(t, i, i)])


@hostile
def becomes_chain():
    return phases(40, created, lambda x, i, t, n: [become(t, i, i + 1)])


@hostile
def becomes_chain_backwards():
    return phases(40, created, lambda x, i, t, n: [become(t, n - i - 1, n - i)])


@hostile
def becomes_chain_labelled():
    return phases(80, created, lambda x, i, t, n: [label(t, i, x.name), become(t, i, i + 1)], lambda x, i, t, n: [label(t, i, x.name)])


@hostile
def becomes_one():
    return phases(56, created, lambda x, i, t, n: [become(t, i + 1, 0)], lambda x, i, t, n: [wait(t, i, i + 1)])


@hostile
def becomes_tree():
    return phases(40, created, lambda x, i, t, n: [become(t, n - i, (n - i) // 2)])


@hostile
def binds_under_each_other():
    return phases(56, lambda x, i, t, n: [create(t, i, x.bind, i - 1 if i else SHORT_LOOP)], lambda x, i, t, n: [wait(t, n - i - 1, n - i)],
                  lambda x, i, t, n: [later(t, n - i - 1, n - i)])


@hostile
def labels_of_one():
    return simple(lambda x, i, t: [create(t, 0, x.site)] if not i else [label(t, 0, x.name)])


@hostile
def labels_different():
    return simple(lambda x, i, t: [text_before(t, b"%d" % i), label(t, 0, INLINE)])


@hostile
def labels_of_each_different():
    return simple(lambda x, i, t: [create(t, i, x.site), text_before(t, b"%d" % i), label(t, i, INLINE), fulfil(t, i, i)])


@hostile
def labels_numbered():
    """All of one family."""
    return simple(lambda x, i, t: [text_before(t, b"GET /%d/%d" % (i, i * i)), create(t, i, x.site, SHORT_LOOP, INLINE), run(t, i), fulfil(t, i, i)])


@hostile
def labels_alike():
    """That begin alike for long."""
    return simple(lambda x, i, t: [text_before(t, b"a" * 1000 + b"%d" % i), create(t, i, x.site, SHORT_LOOP, INLINE)])


@hostile
def labels_of_numbers():
    return simple(lambda x, i, t: [text_before(t, b"1 2" * 300 + b"%d" % i), create(t, i, x.site, SHORT_LOOP, INLINE)])


@hostile
def labels_odd():
    return simple(lambda x, i, t: [text_before(t, b"\xe2\x80\xae\x1b[0m\xff\"&<" * 90 + b"%d" % i), create(t, i, x.site, SHORT_LOOP, INLINE), fail(t, i, i, 0)])


@hostile
def text_used_often():
    """A text of 8000 bytes, and 500 000 promises that have it."""
    x = Trace()
    name = x.strings.text(b"GET /" + b"a0" * 4000)
    return simple(lambda x, i, t: [create(t, i, x.site, SHORT_LOOP, name)], x)


@hostile
def text_of_failures():
    x = Trace()
    name = x.strings.text(b"Failure " * 1000)
    return simple(lambda x, i, t: [create(t, i, x.site, SHORT_LOOP), fail(t, i, i, name)], x)


@hostile
def texts_within_each_other():
    """Each word of the packet of strings is the head of a long text, and each is used."""
    x = Trace()
    first = x.strings.text(b"".join(pack("<I", 1 << 24 | 0xfff00) for _ in range(SIZE // 8)))
    return simple(lambda x, i, t: [label(t, i, first + 1 + i)], x)


@hostile
def kinds_many():
    """A type, a label and a place for each promise."""
    def step(x, i, t):
        s = x.strings
        return [create(t, i, s.site(s.text("t%d" % i), s.text("l%d" % i), s.text("f%d.c" % i), i)), run(t, i), fulfil(t, i, i)]
    return simple(step)


@hostile
def kinds_many_waiting():
    def step(x, i, t):
        s = x.strings
        return [create(t, i, s.site(s.text("t%d" % i), s.text("l%d" % i), 0, i)), wait(t, i, i // 2)]
    return simple(step)


@hostile
def kinds_many_serial():
    def step(x, i, t):
        s = x.strings
        return [create(t, i, s.site(s.text("task"), s.text("l%d" % (i // 2)), 0, i), 0), wait(t, 0, i), fulfil(t, i, i), read(t, 0, i)]
    return simple(step)


@hostile
def failures_many():
    return simple(lambda x, i, t: [create(t, i, x.site), fail(t, i, i, x.name)])


@hostile
def failures_different():
    return simple(lambda x, i, t: [text_before(t, b"Error %d" % i + b"abcdefgh"[:i % 9]), create(t, i, x.site), fail(t, i, i, INLINE)])


@hostile
def failures_read():
    return simple(lambda x, i, t: [create(t, i, x.site, i // 2), wait(t, i // 2, i), fail(t, i, i, x.name), read(t, i // 2, i)])


@hostile
def cancelled():
    return phases(60, created, lambda x, i, t, n: [wait(t, i, i // 2)], lambda x, i, t, n: [cancel(t, i, i)])


@hostile
def marked():
    return phases(48, created, lambda x, i, t, n: [should(t, i), background(t, i)])


@hostile
def promises_mentioned_only():
    return simple(lambda x, i, t: [wait(t, 2 * i * 1000003 % 2**31, (2 * i + 1) * 1000003 % 2**31)])


@hostile
def leak():
    """Requests that leave more and more behind."""
    return simple(lambda x, i, t: [create(t, i, x.site)] if i % 2 else [create(t, i, x.bind), run(t, i), fulfil(t, i, i)])


# ---- Streams, runs, time ----

@hostile
def streams_many():
    x = Trace(each=1)
    i = 0
    while x.fits():
        x.add(run(T + i, i), T + i, i)
        i += 1
    return x.write()


@hostile
def streams_many_together():
    """All of them open from the beginning to the end."""
    x = Trace(close=False)
    n = SIZE // 400
    for round_ in range(20):
        for i in range(n):
            t = T + round_ * STEP + i % 7
            x.add(form(t, 1, 20, 0) if round_ % 2 else resume(t), t, i)
    return x.write()


@hostile
def streams_in_one_packet():
    return simple(lambda x, i, t: [corpus.stream_begins(t, i), run(t, i)])


@hostile
def streams_that_sleep():
    x = Trace()
    i = 0
    while x.fits():
        s, t = i % 64, T + i * STEP
        x.add(suspend(t) if i // 64 % 2 else resume(t), t, s)
        i += 1
    return x.write()


@hostile
def streams_that_sleep_in_turn():
    x = Trace(each=2000)
    i = 0
    while x.fits():
        s, t = i // 2 % 2000, T + i * STEP
        x.add(suspend(t) if i % 2 else run(t, i % 999), t, s)
        i += 1
    return x.write()


@hostile
def streams_one_promise():
    x = Trace(each=1000)
    i = 0
    while x.fits():
        t = T + i * STEP
        x.add(run(t, i % 3) if i % 5 else become(t, i, i + 7), t, i % 500)
        i += 1
    return x.write()


@hostile
def runs_many():
    return simple(lambda x, i, t: [create(t, i, x.site)] if i < 999 else [run(t, i * 7919 % 999)])


@hostile
def runs_of_one():
    return simple(lambda x, i, t: [run(t, 1), run(t, SHORT_LOOP)])


@hostile
def runs_of_many():
    return simple(lambda x, i, t: [create(t, i, x.site), run(t, i)])


@hostile
def sleeps_many():
    return simple(lambda x, i, t: [suspend(t), resume(t)])


@hostile
def collections_many():
    return simple(lambda x, i, t: [form(t, 1, 8, 1)])


@hostile
def time_stands_still():
    n = SIZE // 60
    trace = Trace()
    for i in range(n):
        for f in create(T, i, trace.site, i // 2), wait(T, i, i // 3), run(T, i), fulfil(T, i // 5, i // 5):
            trace.add(f, T)
    return trace.write()


@hostile
def time_backwards():
    n = SIZE // 60
    trace = Trace()
    for i in range(n):
        t = T + SIZE * STEP - i * STEP
        for f in create(t, i, trace.site, i // 2), wait(t, i, i // 3), run(t, i), fulfil(t, i // 5, i // 5):
            trace.add(f, t)
    return trace.write()


@hostile
def time_wild():
    r, x = random.Random(1), Trace(each=300)
    i = 0
    while x.fits():
        t = r.randrange(2**55)
        for f in create(t, i, x.site, i // 2), wait(t, i, i // 3), run(t, i), fulfil(t, i // 5, i // 5):
            x.add(f, t)
        i += 1
    return x.write()


@hostile
def time_far():
    return simple(lambda x, i, t: [create(t + i * 2**36, i, x.site), wait(t + i * 2**36, i, i // 2)])


@hostile
def clocks_wild():
    r, out, size, i = random.Random(1), [], 0, 0
    while size < SIZE:
        out.append(events(i + 1, T + i, run(T + i, i), pair=(r.randrange(2**64), r.randrange(2**64), r.randrange(2**32)), stream=i % 3, end=T + i))
        size += len(out[-1])
        i += 1
    return b"".join([facts(clock=1), Trace().strings.packet(), *out])


# ---- Counters ----

@hostile
def counters_many():
    return simple(lambda x, i, t: [text_before(t, b"c%d" % i), counter(t, INLINE, i % 1000)])


@hostile
def counters_of_one_scale():
    return simple(lambda x, i, t: [text_before(t, b"c#%d" % i), counter(t, INLINE, i % 1000)])


@hostile
def counters_some():
    x = Trace()
    names = [x.strings.text("c%d" % i) for i in range(1000)]
    return simple(lambda x, i, t: [counter(t, names[i % 1000], i * 7919 % 100003)], x)


@hostile
def counter_alone():
    return simple(lambda x, i, t: [counter(t, x.name, i * 7919 % 100003)])


# ---- Packets ----

@hostile
def packets_tiny():
    return simple(lambda x, i, t: [create(t, i, x.site)], Trace(each=1))


@hostile
def packets_empty():
    out = [events(i + 1, T + i, end=T + i, stream=i) for i in range(SIZE // 160)]
    return b"".join([facts(), Trace().strings.packet(), *out])


@hostile
def packets_of_one_number():
    out = [events(7, T + i, run(T + i, i), end=T + i) for i in range(SIZE // 172)]
    return b"".join([facts(), Trace().strings.packet(), *out])


@hostile
def packets_backwards():
    out = [events(i + 1, T + i, run(T + i, i), end=T + i) for i in range(SIZE // 172)]
    return b"".join([facts(), Trace().strings.packet(), *reversed(out)])


@hostile
def packets_of_many_traces():
    out = [events(i + 1, T + i, run(T + i, i), end=T + i, uuid=pack("<QQ", i, i)) for i in range(SIZE // 172)]
    return b"".join([facts(), Trace().strings.packet(), *out])


@hostile
def packets_of_strings():
    s = Trace().strings.packet()
    return b"".join([facts(), *[s] * (SIZE // len(s)), events(1, T, run(T, 1))])


@hostile
def packets_of_facts():
    f = facts(b"arg=x\0" * 9)
    return b"".join([f] * (SIZE // len(f)) + [events(1, T, run(T, 1))])


@hostile
def facts_long():
    return b"".join([facts(b"arg=x\0" * (SIZE // 6)), events(1, T, run(T, 1))])


@hostile
def packets_unknown():
    p = corpus.weft_packet(77, bytes(8))
    return b"".join([facts(), *[p] * (SIZE // len(p)), events(1, T, run(T, 1))])


@hostile
def packets_within_each_other():
    """Each says that it reaches to the end."""
    out = [events(i + 1, T + i, run(T + i, i), packet=8 * (SIZE - 172 * i), content=8 * (SIZE - 172 * i)) for i in range(SIZE // 172)]
    return b"".join([facts(), *out])


@hostile
def headers_only():
    return b"".join(events(i + 1, T, packet=2**30, content=2**30) for i in range(SIZE // 160))


@hostile
def marks_only():
    return events(1, T)[:24] * (SIZE // 24)


@hostile
def marks_of_magic():
    return facts() + events(1, T)[:4] * (SIZE // 4)


@hostile
def zeros():
    return facts() + bytes(SIZE) + events(1, T, run(T, 1))


@hostile
def noise():
    return facts() + random.Random(1).randbytes(SIZE)


@hostile
def forms_unknown():
    return simple(lambda x, i, t: [form(t, 0, 31)])


@hostile
def texts_without_use():
    return simple(lambda x, i, t: [text_before(t, b"x")] * 99 + [label(t, 1, INLINE)])


# ---- What is kept of pending promises ----

def cells(number, notes, count=None, **more):
    n = SIZE // 128 if count is None else count
    return pending([(number(i), cell(created=T + i, notes=notes(i, n), **more)) for i in range(n)], kept=n)


def home(i=3, ended=b""):
    return corpus.events_of_home(2**30 // 64 + i, run(T * 2, 1), sequence=i + 2**20, begin=2 * T, end=3 * T, ended=ended)


@hostile
def cells_wait_for_one():
    s = Trace().strings.packet()
    return facts() + s + cells(lambda i: i + 65, lambda i, n: [(128, 1, T + i, 65), (128, 1, T + i, 66), (10, 1, T + i, 65)]) + home()


@hostile
def cells_chain():
    s = Trace().strings.packet()
    return facts() + s + cells(lambda i: i + 65, lambda i, n: [(10, 1, T + i, 66 + i), (10, 2, T + i, 64 + i), (17, 1, T + i, 66), (5, 1, T, 20)]) + home()


@hostile
def cells_of_one():
    s = Trace().strings.packet()
    return facts() + s + cells(lambda i: 65, lambda i, n: [(10, 1, T + i, 66 + i), (10, 2, T + i, 64 + i)], flags=4) + home()


@hostile
def cells_many_packets():
    s = Trace().strings.packet()
    p = cells(lambda i: i + 65, lambda i, n: [(10, 1, T + i, 66 + i), (10, 2, T + i, 64 + i)], 10)
    return facts() + s + p * (SIZE // len(p)) + home()


@hostile
def roll_full():
    x = Trace()
    some = [(x.site, 1), (x.bind, 2)] + [(x.strings.site(x.name, x.name, 0, i), i) for i in range(4000)]
    return facts() + x.strings.packet() + pending([]) + roll(some, [(i + 65, i % 4002) for i in range(SIZE // 8)]) + home()


@hostile
def roll_of_one():
    x = Trace()
    return facts() + x.strings.packet() + pending([]) + roll([(x.site, 1)], [(65, 0)] * (SIZE // 8)) + home()


@hostile
def rolls_many():
    x = Trace()
    p = roll([(x.site, 1)], [(65 + i, 0) for i in range(9)])
    return facts() + x.strings.packet() + pending([]) + p * (SIZE // len(p)) + home()


@hostile
def unlisted():
    x = Trace()
    return facts() + x.strings.packet() + pending([], given_up=2**60) + roll([(x.site, 2**60)] * 4000, []) + home()


@hostile
def ended_many():
    x = Trace()
    return b"".join([facts(), x.strings.packet(), pending([]), *[home(i, b"\1" * 64) for i in range(SIZE // 300)]])


@hostile
def ended_of_one_home():
    x = Trace()
    out = [corpus.events_of_home(2, form(T + i, 2, 0, i % 64, x.site), sequence=i + 9, begin=T + i, end=T + i, ended=b"\1" * 64) for i in range(SIZE // 256)]
    return b"".join([facts(), x.strings.packet(), pending([]), *out])


# ---- Anything ----

def anything(promises, seed=1, each=EACH, streams=1):
    r, x, t, i = random.Random(seed), Trace(each), T, 0
    while x.fits():
        a, b = (r.randrange(-1, promises) for _ in "ab")
        a, b = a if a >= 0 else SHORT_LOOP, b if b >= 0 else SHORT_LOOP
        f = r.choice((
            lambda: create(t, i % promises, x.site if a % 2 else x.bind, a, x.name), lambda: r.choice((read, later))(t, a, b),
            lambda: wait(t, a, b), lambda: wait(t, a, b), lambda: signal(t, a, b), lambda: notify(t, a, b), lambda: run(t, a), lambda: fulfil(t, a, b),
            lambda: fail(t, a, b, x.name), lambda: become(t, a, b), lambda: cancel(t, a, b), lambda: should(t, a), lambda: label(t, a, x.name),
            lambda: suspend(t), lambda: resume(t), lambda: counter(t, x.name, r.randrange(99))))
        x.add(f(), t, r.randrange(streams))
        i += 1
        t += r.choice((0, 1, 1000, 10**6))
    return x.write()


@hostile
def anything_of_ten():
    return anything(10)


@hostile
def anything_of_thousand():
    return anything(1000, each=3000, streams=30)


@hostile
def anything_of_many():
    return anything(100000)


# ---- mirage-profile's ----

@hostile
def mirage_packets_tiny():
    return b"".join(packet(i, event(T + i, 7, i)) for i in range(SIZE // 47))


@hostile
def mirage_packets_unused():
    return b"".join(packet(i) for i in range(SIZE // 30))


@hostile
def mirage_packets_backwards():
    return b"".join(packet(65535 - i, event(T - i, 7, i)) for i in range(SIZE // 47))


@hostile
def mirage_marks():
    return packet(0, event(T, 7, 1)) + corpus.MARK * (SIZE // 20)


@hostile
def mirage_headers():
    return b"".join(packet(i, size=2**28, content=2**28) for i in range(SIZE // 30))


@hostile
def mirage_labels():
    return packet(0, *[event(T + i, 5, i % 9, "x%d" % i) for i in range(SIZE // 24)])


@hostile
def mirage_long_text():
    return packet(0, *[corpus.creates(T, LOOP, 1), event(T, 5, 1, "x1" * (SIZE // 2)), *[event(T + i, 7, i % 3) for i in range(9)]])


@hostile
def mirage_becomes():
    n = SIZE // 43
    return packet(0, *[corpus.creates(T + i, i - 1, i) for i in range(n)], *[event(T + n + i, 4, i, i + 1) for i in range(n)])


@hostile
def mirage_time_backwards():
    n = SIZE // 68
    return packet(0, *[e for i in range(n) for e in (corpus.creates(T * 99 - i, i - 1, i, 2), event(T * 99 - i, 10, i, i + 1), event(T * 99 - i, 7, i))])


# ---- Samples ----

def samples(*groups, each=900000, before=b""):
    """Packets of samples; groups: records that may stand in different packets, each after before."""
    out, size, now, sequence = [facts(), Trace().strings.packet()], 0, [before], 1
    for r in groups:
        now.append(r)
        size += len(r)
        if size > each:
            out.append(corpus.samples_packet(*now, sequence=sequence))
            size, now, sequence = 0, [before], sequence + 1
    out.append(corpus.samples_packet(*now, sequence=sequence))
    return b"".join(out)


NAMES = corpus.texts("cpu-clock", "/bin/a", "[kernel]", "uv_run", "parse", "a.c") + corpus.source(1)
MAP = corpus.mapping(5, 2, 0x1000, 2**40)


@hostile
def samples_deep():
    n = SIZE // 12 // 24  # in each packet
    before = NAMES + MAP + b"".join(corpus.node(i, 0x1000 + i) for i in range(n))
    return samples(*[corpus.sample(T + i, 100, 1 + i % n) for i in range(SIZE // 2 // 40)], each=SIZE // 12, before=before)


def chains(depth, names=b""):
    """Stacks of that depth, each of whose callers is a stack, too."""
    def one(first):
        return (names or NAMES + MAP) + b"".join(corpus.node(i, 0x1000 + first + i) for i in range(depth)) + b"".join(
            corpus.sample(T + first + i, 100, 1 + i) for i in range(depth))
    return samples(*[one(i * depth) for i in range(SIZE // 64 // depth)], each=1)


@hostile
def samples_chains():
    return chains(4096)


@hostile
def samples_chains_shorter():
    return chains(1000)


@hostile
def samples_inlined_below():
    """What is inlined deeply, called from many places."""
    n = 900
    calls = [corpus.node(0, 0x1000 + 16 * i, 2) + corpus.node(1 + 2 * i, 0x1008) + corpus.sample(T + i, 100, 2 + 2 * i) for i in range(SIZE // 88)]
    return samples(NAMES + MAP + corpus.known_object(2) + corpus.symbol(0, 8, *[(4 + j % 2, 0, 6, j, j) for j in range(n)]), *calls, each=SIZE)


@hostile
def samples_deeper():
    n = SIZE // 2 // 24
    return samples(NAMES + MAP, *[corpus.node(i, 0x1000 + i * 16) for i in range(n)], *[corpus.sample(T + i, 100, n - i) for i in range(n // 2)], each=2**23 * 3 // 2)


@hostile
def samples_wide():
    return samples(*[NAMES + corpus.node(0, 0x1000 + i * 16) + corpus.sample(T + i, i, 1) for i in range(SIZE // 260)])


@hostile
def samples_threads():
    return samples(*[corpus.thread(1, i, i, max(i - 1, 0), 5) + corpus.sample(T + i, i, 1, process=i) for i in range(SIZE // 72)], before=NAMES + MAP + corpus.node(0, 0x1100))


@hostile
def samples_threads_star():
    return samples(*[corpus.thread(1, i, i, 1, 5) + corpus.sample(T + i, i, 1, process=i) for i in range(2, SIZE // 72)], before=NAMES + MAP + corpus.node(0, 0x1100))


@hostile
def samples_mappings():
    n = SIZE // 2 // 72
    return samples(NAMES, *[corpus.mapping(i, 2, 0x1000 * (n - i), 0x2000 * (i + 1)) for i in range(n)], *[corpus.node(0, 0x1000 * i) + corpus.sample(T + i, 1, i + 1) for i in range(SIZE // 2 // 64)], each=2**23 * 3 // 2)


@hostile
def samples_symbols():
    n = SIZE // 110
    return samples(NAMES + MAP, corpus.known_object(2), *[corpus.symbol(0, i, (4, 5, 6, i, i)) + corpus.node(0, 0x1000 + i) for i in range(n)],
                   *[corpus.sample(T + i, 1, i + 1) for i in range(n)], each=2**23 * 3 // 2)


@hostile
def samples_functions():
    n = SIZE // 170
    return samples(NAMES + MAP, corpus.known_object(2), *[corpus.texts("function%d" % i) + corpus.symbol(0, i, (7 + i, 0, 6, i, i)) + corpus.node(0, 0x1000 + i) for i in range(n)],
                   *[corpus.sample(T + i, i % 100, i + 1) for i in range(n)], each=2**23 * 3 // 2)


@hostile
def samples_inlined():
    n = 2000
    return samples(NAMES + MAP, corpus.known_object(2), *[corpus.symbol(0, i, *[(4 + j % 2, 5, 6, j, j) for j in range(n)]) + corpus.node(0, 0x1000 + i) for i in range(SIZE // 2 // 24 // n)],
                   *[corpus.sample(T + i, 1, 1 + i % (SIZE // 2 // 24 // n)) for i in range(SIZE // 80)], each=2**23 * 3 // 2)


@hostile
def samples_objects():
    return samples(NAMES, *[corpus.texts("/bin/%d" % i) + corpus.mapping(5, 7 + i, 0x1000 * i, 0x1000) + corpus.node(0, 0x1000 * i + 5) + corpus.sample(T + i, 1, 1 + i) for i in range(SIZE // 160)], each=2**23 * 3 // 2)


@hostile
def samples_switches():
    return samples(*[corpus.switch(T + i, i // 2 % 1000, i % 2, i % 2) for i in range(SIZE // 32)], before=NAMES + MAP + corpus.node(0, 0x1100))


@hostile
def samples_interrupts():
    return samples(*[corpus.interrupt(T + i, T + 2 * i, i % 99, 6) for i in range(SIZE // 40)], before=NAMES + MAP + corpus.node(0, 0x1100))


@hostile
def samples_packets():
    return samples(*[NAMES + MAP + corpus.node(0, 0x1100) + corpus.sample(T + i, 1, 1) for i in range(SIZE // 400)], each=1)


@hostile
def samples_sources():
    return samples(NAMES, *[corpus.texts("event%d" % i) + corpus.source(7 + i) + corpus.sample(T + i, 1, 0, small=i % 65536) for i in range(SIZE // 96)], each=2**23 * 3 // 2)


@hostile
def samples_with_promises():
    x = Trace()
    n = SIZE // 100
    for i in range(n):
        for f in create(T + i, i, x.site, i // 2), run(T + i, i):
            x.add(f, T + i)
    return x.write() + samples(*[corpus.sample(T + i, 100, 1 + i % 100) for i in range(n)], before=NAMES + MAP + b"".join(corpus.node(i, 0x1000 + i) for i in range(100)))


# ---- perf.data ----

def per(one):
    return int(SIZE / len(one))


@hostile
def perf_forks_of_mappings():
    m, f = perf.mmap(b"/x", 0x400000, 0x1000), perf.fork(2, 1, 2, 1, T)
    n = per(f) // 2
    return perf.file([perf.mmap(b"/x", 0x400000 + i * 0x1000, 0x1000) for i in range(per(m) // 2)] + [perf.fork(i + 2, i + 1, i + 2, i + 1, T + i) for i in range(n)] + [
        perf.sample(0x400010, pid=n, time=T * 2)])


@hostile
def perf_forks_star():
    m, s = perf.mmap(b"/x", 0x400000, 0x1000), perf.fork(2, 1, 2, 1, T) + perf.sample(0x400010)
    n = per(m) // 2
    return perf.file([perf.mmap(b"/x", 0x400000 + i * 0x1000, 0x1000) for i in range(n)] + [
        r for i in range(per(s) // 2) for r in (perf.fork(i + 2, 1, i + 2, 1, T + i), perf.sample(0x400000 + i % n * 0x1000, pid=i + 2, tid=i + 2, time=T + i))])


@hostile
def perf_forks_that_map():
    s = perf.fork(2, 1, 2, 1, T) + perf.mmap(b"/x", 0, 9) + perf.sample(0)
    return perf.file([r for i in range(per(s)) for r in (
        perf.fork(i + 2, i + 1, i + 2, i + 1, T + i), perf.mmap(b"/x", 0x400000 + i * 0x1000, 0x1000, pid=i + 2, time=T + i), perf.sample(0x400010, pid=i + 2, time=T + i))])


@hostile
def perf_chains():
    n = 8000
    chain = [tuple([perf.IN_USER] + [0x400000 + (i * n + j) * 16 for j in range(n)]) for i in range(SIZE // 8 // n)]
    return perf.file([perf.sample(0x400000 + i, chain=c, time=T + i) for i, c in enumerate(chain)])


@hostile
def perf_chains_alike():
    n = 300
    return perf.file([perf.sample(0x400000 + i, chain=tuple([perf.IN_USER] + [0x400000 + j * 16 for j in range(n)]), time=T + i) for i in range(SIZE // 8 // n)])


@hostile
def perf_comms():
    return perf.file([perf.comm(b"c%06d" % i, pid=i, tid=i, exec_=i % 2 == 1) for i in range(per(perf.comm(b"abcdefg")))])


@hostile
def perf_comms_of_one():
    return perf.file([perf.comm(b"c%06d" % i, pid=1, tid=1) for i in range(per(perf.comm(b"abcdefg")))] + [perf.sample(0x400000, time=T)])


@hostile
def perf_attributes():
    return perf.file([perf.sample(0x400000, ident=5)], attrs=[perf.attr(period=i + 1) for i in range(SIZE // 160)])


@hostile
def perf_ids():
    return perf.file([perf.sample(0x400000, ident=i + 1, time=T + i) for i in range(SIZE // 200)], ids=[[i + 1 for i in range(SIZE // 16)]])


@hostile
def perf_switches():
    return perf.file([perf.switch(i % 2 == 1, tid=i // 2 % 999, time=T + i * 10) for i in range(per(perf.switch(True)))])


@hostile
def perf_mappings_over():
    n = per(perf.mmap(b"/x", 0, 1))
    return perf.file([perf.mmap(b"/x", 0x1000 * (n - i), 0x2000 * (i + 1)) for i in range(n // 2)] + [perf.sample(0x2000 * i) for i in range(n // 3)])


@hostile
def perf_mappings_torn():
    """A large one, then many small ones in it."""
    n = per(perf.mmap(b"/x", 0, 1))
    return perf.file([perf.mmap(b"/y", 0x1000, 2**46)] + [perf.mmap(b"/x", 0x1000 + 0x2000 * (i * 7919 % n), 0x1000) for i in range(n * 2 // 3)] + [
        perf.sample(0x2000 * i, time=T) for i in range(n // 3)])


@hostile
def perf_mappings_differ():
    m = perf.mmap(b"/bin/123456", 0, 1)
    return perf.file([perf.mmap(b"/bin/%06d" % i, 0x1000 * i, 0x1000) for i in range(per(m) // 2)] + [perf.sample(0x1000 * i + 5, time=T) for i in range(SIZE // 200)])


@hostile
def perf_samples():
    s = perf.sample(0)
    return perf.file([perf.mmap(b"/x", 0, 2**40)] + [perf.sample(i * 16, pid=i % 999, tid=i, time=T + i, cpu=i % 4096) for i in range(per(s))])


@hostile
def perf_unwound():
    kind = perf.USUAL | perf.REGS_USER | perf.STACK_USER
    stack = b"\x10\x10\x40\0\0\0\0\0" * 1024
    return perf.file([perf.mmap(b"/bin/sh", 0x400000, 0x100000)] + [perf.sample(0x400000 + i, sample_type=kind, regs=(0x7000, 0x401000 + i), stack=stack, time=T + i)
                                                                  for i in range(SIZE // len(stack))], attrs=[perf.attr(sample_type=kind, regs=0x180, stack=8192)])


@hostile
def perf_build_ids():
    return perf.file([perf.sample(0x400000)], features={"build_id": b"".join(perf.build_id(b"/bin/%d" % i, b"x" * 20) for i in range(SIZE // 56))})


@hostile
def perf_lost():
    return perf.file([perf.lost(2**60) for i in range(SIZE // 64)])


@hostile
def perf_pipe():
    return perf.pipe([perf.sample(i * 16, time=T + i) for i in range(per(perf.sample(0)))], attrs=[perf.attr()] * 1000)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print("\n".join(HOSTILE))
    else:
        sys.stdout.buffer.write(HOSTILE[sys.argv[1]]())
