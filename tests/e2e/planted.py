# SPDX-License-Identifier: ISC
"""planted.py FOLDER [NAME…]: does weft diff name what was planted?

Programs are played on a clock of their own, as traces of weft. Each is played well and badly: one thing is planted in the
bad run, so it is known what must be named first. In half of the runs other things happen, too, that have nothing to do with
it; in some, others do the same well.

Prints what was not found and how much was, and fails if that is less than it was. WEFT is the program; with PLANTED_SEEDS=N
there are N runs of each instead of 8."""
import heapq, itertools, json, os, random, struct, subprocess, sys

MS = 1000000
LOOP = 2**64 - 1
# How many of them all, with 8 seeds. Swapped operands cannot be seen where nothing goes wrong.
LEAST = {"one good run": 256, "four good runs": 256, "swapped": 216, "healthy": 230, "healthy, four good runs": 256}
SEEDS = int(os.environ.get('PLANTED_SEEDS', 8))

# ---- Traces ----

# code and kinds of words of the widest forms in src/format/events.def
CREATES, READ, FULFILS, FAILS, LABEL, SWITCH, SIGNAL, TRY_READ = 192, 129, 130, 163, 101, 71, 137, 138
READ_LATER, CANCELS, NOTIFIES, SHOULD, BACKGROUND, SUSPEND, RESUME = 140, 143, 145, 82, 83, 52, 21
ACQUIRES, RELEASES, FORGETS, TEXT = 150, 151, 80, 0xE0


class Trace:
    """Packets of facts, strings and events, as docs/format.md has them."""

    def __init__(self):
        self.strings, self.sites, self.events, self.count = b"", {}, b"", 0

    def entry(self, kind, body):
        at = 64 + len(self.strings)
        room = (len(body) + 1 + 3) // 4 * 4
        self.strings += struct.pack("<I", kind << 24 | len(body)) + body.ljust(room, b"\0")
        return at // 4

    def site(self, kind):
        if kind not in self.sites:
            self.sites[kind] = self.entry(2, struct.pack("<4I", self.entry(1, kind.encode()), 0, 0, 0))
        return self.sites[kind]

    def put(self, t, code, *ids, words=()):
        self.events += struct.pack("<Q%dQ%dI" % (len(ids), len(words)), t | code << 56, *ids, *words)
        self.count += code != TEXT

    def text(self, t, text):
        text = text.encode()
        room = (len(text) + 3) // 4 * 4
        self.events += struct.pack("<QII", t | TEXT << 56, 1 + room // 4, len(text)) + text.ljust(room, b"\0")

    def packet(self, kind, header, body):
        size = 48 + len(header)
        bits = 8 * (size + len(body))
        head = struct.pack("<I16sIHHIQQ", 0xC1FC1FC1, b"0123456789abcdef", 0x74666577, 1, kind, size, bits, bits)
        return head + header + body

    def write(self, path, end):
        facts = struct.pack("<4I", 2, 1, 3, 65536) + struct.pack("<17Q", 10**9, *[0] * 16)
        strings = struct.pack("<QQ", len(self.strings), 0)
        events = struct.pack("<QQIIQQQQQQQQII16sIIQ", 0, end, 0, 0, 1, 0, 0, LOOP, 0, 0, 0, 0, 0, self.count, b"", 0, 0, 0)
        with open(path, "wb") as f:
            f.write(self.packet(3, facts, b"") + self.packet(2, strings, self.strings) + self.packet(1, events, self.events))


# ---- Runs ----


class Failed(Exception):
    pass


class Promise:
    def __init__(self, number, label):
        self.number, self.label, self.done, self.reason, self.readers = number, label, None, None, []


class Run:
    """A program that runs: tasks are generators that yield what they wait for. style: 0 an event loop that tells all, 1 one
    that does not say when it sleeps, 2 nothing is said of what runs, 3 as 0, and a driver resolves what comes from outside."""

    def __init__(self, seed, noisy, style):
        self.chance, self.noisy, self.style = random.Random(seed), noisy, style
        self.trace, self.now, self.order = Trace(), 1000, itertools.count()
        self.heap, self.numbers, self.asleep, self.running = [], itertools.count(1), False, None

    def tick(self):
        self.now += self.chance.randrange(400, 1500)
        return self.now

    def after(self, ms, call, exact=False):
        ns = int(ms * MS * (1 if exact else self.chance.uniform(0.9, 1.1)))
        heapq.heappush(self.heap, (self.now + ns, next(self.order), call))

    def me(self):
        return self.running.number if self.running else LOOP

    def new(self, kind, label, by=None):
        p = Promise(next(self.numbers), label)
        self.trace.put(self.tick(), CREATES, by.number if by else self.me(), p.number, words=(self.trace.site(kind), 0))
        if label:
            self.trace.text(self.now, label)
            self.trace.put(self.now, LABEL, p.number, words=(2**32 - 1,))
        return p

    def task(self, body, label, by=None, kind="task"):
        p = self.new(kind, label, by)
        p.body = body(p) if callable(body) else body
        self.after(0.001, lambda: self.step(p, None))
        return p

    def step(self, task, woken):
        """woken: the promise or condition because of which the task runs."""
        if task.done:
            return
        was, self.running = self.running, task
        if woken and self.style != 2:
            self.trace.put(self.tick(), SIGNAL if woken.done is None else READ, task.number, woken.number)
        elif woken and woken.done:
            self.trace.put(self.tick(), READ_LATER, task.number, woken.number)
        elif self.style != 2:
            self.trace.put(self.tick(), SWITCH, task.number)
        try:
            fails = woken and woken.done not in (None, "value")
            source = task.body.throw(Failed(woken.reason)) if fails else next(task.body)
            while source.done:
                self.trace.put(self.tick(), READ_LATER if self.style == 2 else READ, task.number, source.number)
                source = task.body.throw(Failed(source.reason)) if source.done != "value" else next(task.body)
            self.trace.put(self.tick(), TRY_READ, task.number, source.number)
            source.readers.append(task)
        except StopIteration:
            self.end(task)
        except Failed as e:
            self.end(task, "error", str(e))
        self.running = was
        if self.style != 2:
            self.trace.put(self.tick(), SWITCH, was.number if was else LOOP)

    def end(self, p, how="value", reason="cancelled"):
        if p.done:
            return
        p.done, p.reason = how, reason
        if how == "error":
            self.trace.text(self.tick(), reason)
            self.trace.put(self.now, FAILS, self.me(), p.number, words=(2**32 - 1,))
        else:
            self.trace.put(self.tick(), FULFILS if how == "value" else CANCELS, self.me(), p.number)
        readers, p.readers = p.readers, []
        for r in readers:
            if how != "cancel":
                self.after(0.001, lambda r=r: self.step(r, p))

    def notify(self, p):
        self.trace.put(self.tick(), NOTIFIES, self.me(), p.number)
        readers, p.readers = p.readers, []
        for r in readers:
            self.after(0.001, lambda r=r: self.step(r, p))

    def io(self, label, ms, how="value", reason="", kind="promise"):
        p = self.new(kind, label)
        self.after(ms, lambda: self.outside(lambda: self.end(p, how, reason)))
        return p

    def outside(self, call):
        """What comes from outside: the loop does it, or a driver."""
        if self.style == 3:
            self.running = self.driver
            self.trace.put(self.tick(), SWITCH, self.driver.number)
        call()
        if self.style == 3:
            self.running = None
            self.trace.put(self.tick(), SWITCH, LOOP)

    def mark(self, code, p):
        self.trace.put(self.tick(), code, p.number)

    def hold(self, code, p):
        self.trace.put(self.tick(), code, self.me(), p.number)

    def play(self, program, bad, crowd, path):
        """crowd: how many others do the same, well, in noisy runs."""
        if self.style == 3:
            self.driver = self.new("task", "event driver")
            self.mark(BACKGROUND, self.driver)
        self.after(self.chance.uniform(1, 20), lambda: program(self, bad))
        if self.noisy:
            for _ in range(crowd):
                self.after(self.chance.uniform(0, 40), lambda: program(self, False))
            for _ in range(self.chance.randrange(4, 12)):
                self.after(self.chance.uniform(0, 70), lambda: noise(self))
        while self.heap and self.heap[0][0] < 150 * MS:
            at, _, call = heapq.heappop(self.heap)
            if at - self.now > 20000 and self.style in (0, 3):
                self.trace.put(self.tick(), SUSPEND, words=(0,))
                self.now = max(at, self.now)
                self.trace.put(self.tick(), RESUME)
            self.now = max(at, self.now)
            call()
        self.now = max(self.now, 200 * MS)
        if self.style in (0, 3):
            self.trace.put(self.now, RESUME)
        self.trace.write(path, self.now)


NOISE = ["health check", "log flush", "ping", "GET /status/", "statistics", "session", "cache lookup of", "keep-alive"]


def noise(r):
    """Something that nobody of the program waits for: alone, or with a little tree of its own."""
    what, n = r.chance.randrange(7), r.chance.randrange(1000)
    name = "%s %d" % (r.chance.choice(NOISE[:6]), n) if n % 2 else r.chance.choice(NOISE)
    if what == 0:  # a timer without a name
        r.io(None, r.chance.uniform(1, 30))
    elif what == 1:  # one that is never resolved
        r.new("promise", name)
    elif what == 2:
        r.io(name, r.chance.uniform(1, 40))
    elif what == 3:
        r.io(name, r.chance.uniform(1, 20), "cancel")
    elif what == 4 and n % 4 == 0:
        r.io(name, r.chance.uniform(1, 20), "error", "no answer")
    elif what == 5:  # nobody looks at how it ends
        c = r.new("condition", name)
        r.after(r.chance.uniform(1, 20), lambda: r.notify(c))
    else:

        def body(me):
            for _ in range(r.chance.randrange(1, 4)):
                yield r.io(r.chance.choice(["ping", "write log", None]), r.chance.uniform(1, 8))

        r.task(body, name)


def idle(r, label, ms=1):
    """In noisy runs a task does something by the way."""
    if r.noisy and r.chance.random() < 0.7:
        r.io(label, r.chance.uniform(ms, 10 * ms))


# ---- What is planted: (what may be named first, program) ----

PLANTED = {}


def planted(*labels, orders=False):
    def add(program):
        PLANTED[program.__name__] = (labels, program, orders)
        return program

    return add


def main_of(r, body, label="main"):
    p = r.task(body, label)
    if r.style != 2:
        r.mark(SHOULD, p)
    return p


@planted("ring.write", "ARP response")
def arp_race(r, bad):
    """The response comes before the query has been sent, so its signal is missed."""

    def connect(me):
        yield r.task(query, "ARP query", kind="task")
        yield r.io("SYN-ACK", 5)

    def query(me):
        response = r.new("condition", "ARP response")
        r.after(10 if bad else 40, lambda: r.step(driver(response), None))
        idle(r, "metrics")
        yield r.io("ring.write", 20)
        yield response

    def driver(c):
        def body():
            r.notify(c)
            return
            yield

        d.body, d.done = body(), None
        return d

    def main(me):
        idle(r, "metrics")
        yield r.task(connect, "TCP connect")

    d = r.new("task", "driver")
    r.mark(BACKGROUND, d)
    main_of(r, main)


@planted("fetch from origin", "cache lookup")
def cache_miss(r, bad):
    """What is not in the cache is fetched, which takes longer than the client waits."""

    def page(me):
        yield r.io("cache lookup", 2)
        if bad:
            yield r.io("fetch from origin", 60)
        idle(r, "statistics")
        yield r.io("render", 5)

    def client(me):
        yield r.io("accept", 3)
        yield r.task(page, "GET /users/%d" % r.chance.randrange(1000))

    main_of(r, client, "client")


@planted("attempt 3")
def retry_too_few(r, bad):
    """Two attempts fail; there is no third one, so the upload fails."""

    def upload(me):
        for i in range(1, 3 if bad else 4):
            try:
                yield r.io("attempt %d" % i, 6, "error" if i < 3 else "value", "connection reset")
                return
            except Failed:
                yield r.io("back off", 3)
        raise Failed("gave up")

    def main(me):
        yield r.io("read file", 4)
        idle(r, "progress bar")
        yield r.task(upload, "upload")

    main_of(r, main)


@planted("attempt")
def retry_unnumbered(r, bad):
    """The same, but all attempts have the same name."""

    def upload(me):
        for i in range(1, 3 if bad else 4):
            try:
                yield r.io("attempt", 6, "error" if i < 3 else "value", "connection reset")
                return
            except Failed:
                pass
        raise Failed("gave up")

    def main(me):
        yield r.task(upload, "upload")

    main_of(r, main)


@planted("time limit")
def time_limit(r, bad):
    """A limit of 15 ms instead of 100: the request is cancelled, and what waits for it fails."""

    def request(me):
        limit = r.new("timer", "time limit")
        answer = r.new("promise", "answer")

        def over():
            if not limit.done and not answer.done:
                r.end(limit)
                r.running = limit if r.style == 1 else None
                r.end(answer, "error", "timed out")
                r.running = None

        r.after(15 if bad else 100, over)
        r.after(30, lambda: r.end(answer))
        yield answer
        r.end(limit, "cancel")

    def main(me):
        yield r.io("resolve name", 5)
        yield r.task(request, "request")
        idle(r, "statistics")
        yield r.io("store", 5)

    main_of(r, main)


@planted("time limit")
def time_limit_cancels(r, bad):
    """The same, but the request is only cancelled, and nobody is told."""

    def request(me):
        yield r.io("answer", 30)

    def main(me):
        q = r.task(request, "request")
        limit = r.new("timer", "time limit")

        def over():
            if not limit.done and not q.done:
                r.end(limit)
                r.end(q, "cancel")

        r.after(15 if bad else 90, over)
        yield q
        r.end(limit, "cancel")

    main_of(r, main)


@planted("source")
def cancelled_source(r, bad):
    """A source is cancelled, and the report that is made of it waits for it to the end."""

    def report(me):
        yield source
        yield r.io("format", 4)

    def main(me):
        rows = r.task(report, "report")
        idle(r, "metrics")
        yield rows

    source = r.new("promise", "source")
    r.after(30, lambda: r.end(source, "cancel" if bad else "value"))
    main_of(r, main)


@planted("source")
def cancelled_by_task(r, bad):
    """The same, with a stage in between, and by somebody who stops too early."""

    def stage(me):
        yield source
        yield r.io("sort", 4)

    def report(me):
        yield r.task(stage, "stage")
        yield r.io("format", 4)

    def janitor(me):
        yield r.io("sweep", 12)
        if bad:
            r.end(source, "cancel")
        idle(r, "statistics")

    def main(me):
        yield r.task(report, "report")

    source = r.new("promise", "source")
    r.after(25, lambda: r.end(source))
    main_of(r, main)
    r.task(janitor, "janitor")


def locking(r, bad, told):
    """Two take two locks, in opposite order; in the good run one after the other."""
    owner, queue, resource = {}, {"accounts": [], "journal": []}, {}

    def lock(name):
        p = r.new("lock", name if told else "lock " + name)
        if name not in owner:
            owner[name] = r.running
            r.end(p)
            if told:
                r.hold(ACQUIRES, resource[name])
        else:
            queue[name].append((p, r.running))
        return p

    def unlock(name):
        if told:
            r.hold(RELEASES, resource[name])
        del owner[name]
        if queue[name]:
            p, owner[name] = queue[name].pop(0)
            if told:
                r.trace.put(r.tick(), ACQUIRES, owner[name].number, resource[name].number)
            r.end(p)

    def body(first, second, ms):
        def run(me):
            yield r.io("begin", ms)
            yield lock(first)
            idle(r, "metrics")
            yield r.io("compute", 8)
            yield lock(second)
            yield r.io("commit", 2)
            unlock(second)
            unlock(first)

        return run

    for name in queue:
        if told:
            resource[name] = r.new("mutex", name)
            r.mark(BACKGROUND, resource[name])

    def main(me):
        a = r.task(body("accounts", "journal", 2), "transfer")
        b = r.task(body("journal", "accounts", 4 if bad else 40), "audit")
        yield a
        yield b

    main_of(r, main)


@planted("lock accounts", "lock journal")
def locks(r, bad):
    locking(r, bad, False)


@planted("accounts", "journal")
def locks_told(r, bad):
    locking(r, bad, True)


@planted("read block")
def leaf_error(r, bad):
    """An error far below makes everything above fail."""

    def table(me):
        yield r.io("open", 2)
        yield r.io("read block", 5, "error" if bad else "value", "checksum is wrong")

    def query(me):
        yield r.task(table, "table scan")

    def handler(me):
        yield r.io("parse", 1)
        idle(r, "statistics")
        yield r.task(query, "query")
        yield r.io("encode", 2)

    def main(me):
        yield r.task(handler, "handler")

    main_of(r, main)


@planted("election")
def other_actor(r, bad):
    """Another one wins the election, whose work is never done."""

    def node(name, ms):
        def body(me):
            yield r.io("heartbeat of " + name, ms)
            if not election.done:
                election.winner = name
                r.end(election)
            idle(r, "keep-alive")

        return body

    def main(me):
        yield election
        if election.winner == "north":
            yield r.io("replicate", 6)
        else:
            yield r.new("promise", "quorum")

    election = r.new("promise", "election")
    r.task(node("north", 10), "north")
    r.task(node("south", 5 if bad else 20), "south")
    main_of(r, main)


@planted("lease")
def other_outcome(r, bad):
    """A lease is refused; that is handled, but then nobody writes."""

    def main(me):
        yield r.io("connect", 4)
        try:
            yield r.io("lease", 6, "error" if bad else "value", "held by another")
        except Failed:
            idle(r, "statistics")
            yield written
            return
        r.after(8, lambda: r.end(written))
        yield written

    written = r.new("promise", "written")
    main_of(r, main)


@planted("migrate")
def step_left_out(r, bad):
    """Nobody migrates, so a query fails later."""

    def start(me):
        yield r.io("open database", 4)
        if not bad:
            yield r.io("migrate", 10)
        idle(r, "log flush")
        yield r.io("warm up", 3)

    def serve(me):
        yield r.io("query", 5, "error" if bad else "value", "no such column")

    def main(me):
        yield r.task(start, "start")
        yield r.task(serve, "serve")

    main_of(r, main)


@planted("resolve name")
def slow_step(r, bad):
    """One step takes far longer; nothing else differs."""

    def request(me):
        yield r.io("resolve name", 70 if bad else 8)
        yield r.io("connect", 6)
        idle(r, "statistics")
        yield r.io("answer", 10)

    def main(me):
        yield r.task(request, "request")
        yield r.io("store", 5)

    main_of(r, main)


@planted("parse", "item ready")
def late_wait(r, bad):
    """Who is to be told of an item is busy for longer, and begins to wait when it has been told."""

    def consumer(me):
        yield r.io("parse", 30 if bad else 6)
        idle(r, "metrics")
        yield item
        yield r.io("use", 3)

    def producer(me):
        yield r.io("produce", 18)
        r.notify(item)

    def main(me):
        yield consuming

    item = r.new("condition", "item ready")
    r.task(producer, "producer")
    consuming = r.task(consumer, "consumer")
    main_of(r, main)


@planted("item ready")
def no_signal(r, bad):
    """Whoever is to tell of an item does not."""

    def consumer(me):
        yield item
        yield r.io("use", 3)

    def producer(me):
        yield r.io("produce", 18)
        if not bad:
            r.notify(item)
        idle(r, "log flush")

    item = r.new("condition", "item ready")
    r.task(producer, "producer")
    main_of(r, consumer, "consumer")


@planted("worker 1", "load page")
def worker_died(r, bad):
    """A worker fails, and nobody looks at it; its jobs wait for ever."""
    jobs = [r.new("promise", "job %d" % i) for i in range(4)]

    def worker(number, mine):
        def body(me):
            for job in mine:
                fails = bad and number == 1 and job is mine[1]
                yield r.io("load page", 5, "error" if fails else "value", "out of memory")
                r.end(job)
                idle(r, "progress bar")

        return body

    def main(me):
        for job in jobs:
            yield job

    for i in range(2):
        r.task(worker(i, jobs[i::2]), "worker %d" % i)
    main_of(r, main)


@planted("worker")
def worker_cancelled(r, bad):
    """A worker is cancelled before it has resolved what it was to."""

    def work(me):
        yield r.io("load page", 8)
        yield r.io("decode", 15)
        r.end(picture)

    def main(me):
        yield picture
        yield r.io("show", 3)

    picture = r.new("promise", "picture")
    worker = r.task(work, "worker")
    if bad:
        r.after(14, lambda: r.end(worker, "cancel"))
    main_of(r, main)


@planted("write header", "write body", orders=True)
def swapped_order(r, bad):
    """The body is written before the header; who reads the file later fails, but nothing says that it waited for them."""

    def writer(label, ms):
        def body(me):
            yield r.io(label, ms)
            idle(r, "statistics")

        return body

    def reader(me):
        yield r.io("poll file", 45)
        if bad:
            raise Failed("bad magic")
        yield r.io("parse", 3)

    r.task(writer("write header", 26 if bad else 8), "header")
    r.task(writer("write body", 16), "body")
    main_of(r, reader, "reader")


@planted("open valve", "start pump", orders=True)
def swapped_order_only(r, bad):
    """Two things come in the other order, and nothing goes wrong that the trace shows."""

    def main(me):
        yield r.io("cool down", 50)

    def valve(me):
        yield r.io("open valve", 6)

    def pump(me):
        yield r.io("start pump", 6)
        idle(r, "metrics")

    r.after(20 if bad else 2, lambda: r.task(valve, "valve"))
    r.after(10, lambda: r.task(pump, "pump"))
    main_of(r, main)


@planted("database reply")
def never_comes(r, bad):
    """An answer from outside does not come."""

    def query(me):
        yield r.io("send", 2)
        yield r.new("promise", "database reply") if bad else r.io("database reply", 12)
        yield r.io("decode", 3)

    def main(me):
        yield r.task(query, "query")
        idle(r, "metrics")
        yield r.io("store", 4)

    main_of(r, main)


@planted("reply")
def forgotten(r, bad):
    """A reply is dropped, with which somebody waited for it."""

    def main(me):
        yield r.io("connect", 5)
        reply = r.new("promise", "reply")
        if bad:
            r.after(9, lambda: (r.mark(FORGETS, reply), setattr(reply, "done", "dropped")))
        else:
            r.after(12, lambda: r.end(reply))
        idle(r, "metrics")
        yield reply
        yield r.io("use", 4)

    main_of(r, main)


@planted("query", "request 1")
def pool_leak(r, bad):
    """A request fails and does not give back the only connection, for which the next one waits."""
    waiting, free = [], [True]
    pool = r.new("pool", "connections")
    r.mark(BACKGROUND, pool)

    def request(number, ms):
        def body(me):
            yield r.io("parse", ms)
            connection = r.new("permit", "connection")
            if free[0]:
                free[0] = False
                r.end(connection)
                r.hold(ACQUIRES, pool)
            else:
                waiting.append((connection, me))
            yield connection
            fails = bad and number == 1
            yield r.io("query", 10, "error" if fails else "value", "syntax error")
            r.hold(RELEASES, pool)
            if waiting:
                connection, holder = waiting.pop(0)
                r.end(connection)
                r.trace.put(r.tick(), ACQUIRES, holder.number, pool.number)
            else:
                free[0] = True

        return body

    def main(me):
        requests = [r.task(request(1, 2), "request 1"), r.task(request(2, 6), "request 2")]
        idle(r, "statistics")
        for q in requests[::-1]:
            yield q

    main_of(r, main)


@planted("connection")
def not_given_back(r, bad):
    """The same, but nothing fails: it is just not given back."""
    waiting = []

    def first(me):
        yield r.io("query", 15)
        if not bad:
            r.end(waiting[0])
        yield r.io("log", 2)

    def second(me):
        yield r.io("parse", 4)
        waiting.append(r.new("permit", "connection"))
        yield waiting[0]
        yield r.io("query", 6)

    def main(me):
        a = r.task(first, "first request")
        b = r.task(second, "second request")
        yield a
        yield b

    main_of(r, main)


@planted("first stage")
def chain_of_signals(r, bad):
    """Each stage tells the next one that it is done; the first is not told."""
    names = ("first stage", "second stage", "third stage")
    ready = [r.new("condition", name) for name in names]

    def stage(number):
        def body(me):
            yield ready[number]
            yield r.io("work", 5)
            if number + 1 < len(ready):
                r.notify(ready[number + 1])

        return body

    def main(me):
        tasks = [r.task(stage(i), "worker of " + names[i]) for i in range(3)]
        yield r.io("load", 10)
        if not bad:
            r.notify(ready[0])
        idle(r, "statistics")
        for t in tasks[::-1]:
            yield t

    main_of(r, main)


@planted("charge card")
def done_twice(r, bad):
    """A card is charged twice, which is noticed later."""

    def pay(me):
        yield r.io("charge card", 6)
        if bad:
            yield r.io("charge card", 6)
        idle(r, "metrics")
        yield r.io("book", 3, "error" if bad else "value", "amounts differ")

    def main(me):
        yield r.task(pay, "pay")

    main_of(r, main)


@planted("compute")
def busy_loop(r, bad):
    """Something computes for long on the event loop, and what waits for it is late."""

    def compute(me):
        yield r.io("load table", 4)
        r.now += (80 if bad else 3) * MS

    def main(me):
        yield r.io("accept", 3)
        yield r.task(compute, "compute")
        idle(r, "statistics")
        yield r.io("answer", 4)

    main_of(r, main)


@planted("flush")
def not_waited_for(r, bad):
    """In the bad run nobody waits for the flush, which is cancelled as its writer has ended."""

    def main(me):
        yield r.io("write", 6)
        flush = r.io("flush", 12)
        if not bad:
            yield flush
        yield r.io("close", 2)
        r.end(flush, "cancel")
        idle(r, "metrics")
        yield r.io("rename", 3, "error" if bad else "value", "file is empty")

    main_of(r, main)


@planted("flush")
def await_left_out(r, bad):
    """Nobody waits for the flush, which is done, but too late."""

    def save(me):
        yield r.io("write", 6)
        flush = r.io("flush", 12)
        if not bad:
            yield flush
        yield r.io("rename", 3)

    def main(me):
        yield r.task(save, "save")
        idle(r, "statistics")
        yield r.io("read back", 2, "error" if bad else "value", "file is empty")

    main_of(r, main)


@planted("source")
def flat_source(r, bad):
    """No tasks: a promise waits for another one, and that for a source, which is cancelled."""
    source, report, mail = (r.new("promise", name) for name in ("source", "report", "mail"))
    for reader, of in ((report, source), (mail, report)):
        r.trace.put(r.tick(), TRY_READ, reader.number, of.number)

    def resolve():
        r.end(source, "cancel" if bad else "value")
        if not bad:
            r.after(4, lambda: r.end(report))
            r.after(8, lambda: r.end(mail))

    idle(r, "metrics")
    r.after(15, resolve)


@planted("configuration", "socket", orders=True)
def flat_order(r, bad):
    """No tasks, and nobody waits for two things that come in the other order; then a request fails."""
    r.io("configuration", 20 if bad else 5)
    r.io("socket", 12)
    idle(r, "metrics")
    r.io("request", 40, "error" if bad else "value", "no such host")


# ---- Asking ----


def trace(folder, name, seed, number, bad):
    """number: of the run; 0 is the bad one. In every other run something else happens, too."""
    path = "%s/%s-%d-%s%d.weft" % (folder, name, seed, "bad" if bad else "good", number)
    noisy = (seed + number + seed // 2) % 2 == 0
    run = Run("%s %d %d" % (name, seed, number), noisy, (seed // 2) % 4)
    _, program, orders = PLANTED[name]
    run.play(program, bad, 0 if orders else (0, 0, 1, 2, 0, 1, 2, 1)[seed % 8], path)
    return path


def weft_diff(*arguments):
    done = subprocess.run([os.environ.get("WEFT", "weft"), "diff", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit("weft diff " + " ".join(arguments) + ": " + done.stderr)
    return done.stdout


def ask(*paths):
    return json.loads(weft_diff("--json", *paths))


def first_paragraph(*paths):
    """What people read first, without its heading."""
    lines = weft_diff(*paths).split("\n\n")[0].splitlines()
    return " ".join(line.strip() for line in lines if line.startswith(" "))


def first_told(d):
    """What is said first: the labels that stand for it, and the text."""
    if d["divergence"]:
        v = d["divergence"]
        places = [v[run][which] for which in ("first", "second") for run in ("good", "bad")]
        return [p["label"] for p in places if p][:2], v["text"]
    if d["orders"]:
        return [d["orders"][0]["bad"][which]["label"] for which in ("first", "second")], d["orders"][0]["text"]
    for part in ("changes", "running", "latencies"):
        if d[part]:
            return [p["label"] for p in (d[part][0]["good"], d[part][0]["bad"]) if p], d[part][0]["text"]
    return [], "nothing"


def wrong(name, *paths):
    d = ask(*paths)
    labels, text = first_told(d)
    if d["divergence"] and not d["swapped"] and first_paragraph(*paths) != text:
        return "the text begins otherwise: " + first_paragraph(*paths)
    if d["swapped"]:
        return d["swapped"]
    wanted, _, orders = PLANTED[name]
    if labels and labels[0] in wanted:
        return None
    if orders and all(o["bad"][x]["label"] in wanted for o in d["orders"][:1] for x in ("first", "second")) and d["orders"]:
        return None
    return text


def main():
    folder, counts = sys.argv[1], {}
    only = sys.argv[2:] or PLANTED
    asked = list(LEAST)
    for name in only:
        n = counts[name] = [0] * len(asked)
        for seed in range(SEEDS):
            bad = trace(folder, name, seed, 0, True)
            good = [trace(folder, name, seed, i, False) for i in range(1, 6)]
            healthy = [ask(good[0], good[4]), ask(*good[:4], good[4])]
            answers = [
                wrong(name, good[0], bad),
                wrong(name, *good[:4], bad),
                None if ask(bad, good[0])["swapped"] else "not seen as swapped",
                *(first_told(d)[1] if d["divergence"] or d["swapped"] else None for d in healthy),
            ]
            for i, answer in enumerate(answers):
                n[i] += answer is None
                if answer:
                    print("%s %d, %s: %s" % (name, seed, asked[i], answer))
    row = "%-20s %12s %14s %7s %7s %23s"
    print(row % ("", *asked))
    for name in only:
        print(row % (name, *counts[name]))
    for i, question in enumerate(asked):
        found, of = sum(n[i] for n in counts.values()), SEEDS * len(counts)
        print("%s: %d of %d" % (question, found, of))
        if found < LEAST[question] and SEEDS == 8 and len(counts) == len(PLANTED):
            sys.exit("%s: %d at least" % (question, LEAST[question]))


main()
