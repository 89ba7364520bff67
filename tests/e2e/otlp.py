# SPDX-License-Identifier: ISC
"""otlp.py make FOLDER: traces of weft's own, written by code that has nothing of weft's.
otlp.py check FILE: whether each line is a request as OTLP's mapping to JSON has it, by itself; how many lines and spans.
otlp.py tell FILE: each span as a line: promise, trace, span, parent, kind, status, events, links; of made ids whose they are."""
import json, re, struct, sys

LOOP = 2**64 - 1
A, B = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
WALL = 1_700_000_000_000_000_000

# ---- Traces, as docs/format.md has them; ticks are nanoseconds ----

CREATES, TRY_READ, FULFILS, FAILS, LABEL, BECOMES, SWITCH, BACKGROUND = 192, 74, 130, 163, 101, 132, 71, 83
TEXT, SPAN, SPAN_WIDE, PARENT, PARENT_WIDE = 0xE0, 249, 121, 250, 122
INLINE = 2**32 - 1


class Trace:
    def __init__(self):
        self.strings, self.known, self.events, self.count = b"", {}, b"", 0

    def entry(self, kind, body):
        if (kind, body) not in self.known:
            self.known[kind, body] = (64 + len(self.strings)) // 4
            self.strings += struct.pack("<I", kind << 24 | len(body)) + body.ljust((len(body) + 4) // 4 * 4, b"\0")
        return self.known[kind, body]

    def text(self, text):
        return self.entry(1, text if isinstance(text, bytes) else text.encode())

    def put(self, t, code, *ids, words=b""):
        self.events += struct.pack("<Q%dQ" % len(ids), t | code << 56, *ids) + words
        self.count += code != TEXT

    def creates(self, t, parent, child, kind, label=None, line=0):
        file = self.text("/src/server.c") if line else 0
        site = self.entry(2, struct.pack("<4I", self.text(kind), 0, file, line))
        self.put(t, CREATES, parent, child, words=struct.pack("<II", site, self.text(label) if label else 0))

    def label(self, t, p, text):
        self.put(t, LABEL, p, words=struct.pack("<I", self.text(text)))

    def fails(self, t, p, why):
        self.put(t, FAILS, LOOP, p, words=struct.pack("<I", self.text(why)))

    def span(self, t, code, p, trace, span):
        """The number of the promise is a difference from the base, which is 0."""
        self.put(t, code, words=struct.pack("<i", p) + bytes.fromhex(trace + span))

    def span_wide(self, t, code, p, trace, span):
        text = (trace + "-" + span).encode()
        self.put(t, TEXT, words=struct.pack("<II", 1 + (len(text) + 3) // 4, len(text)) + text + -len(text) % 4 * b"\0")
        self.put(t, code, p, words=struct.pack("<I", INLINE))

    def packet(self, kind, header, body):
        bits = 8 * (48 + len(header) + len(body))
        return struct.pack("<I16sIHHIQQ", 0xC1FC1FC1, b"0123456789abcdef", 0x74666577, 1, kind, 48 + len(header), bits, bits) + header + body

    def write(self, path, end, wall=True, facts=b""):
        real = WALL if wall else 0
        head = struct.pack("<4I", 2, 77, 3, 65536) + struct.pack("<19Q", 10**9, 0, 0, 0, 0, 0, real, end, end, *[0] * 10)
        strings = struct.pack("<QQ", len(self.strings), 0)
        events = struct.pack("<QQIIQQQQQQQQII16sIIQ", 0, end, 0, 88, 1, 0, 0, LOOP, 0, 0, 0, real, 0, self.count, b"main", 0, 0, 0)
        with open(path, "wb") as f:
            f.write(self.packet(3, head, facts) + self.packet(2, strings, self.strings) + self.packet(1, events, self.events))


def one():
    """Everything that a promise can have to do with spans."""
    t = Trace()
    t.creates(0, LOOP, 1, "task", "main", line=3)
    t.creates(10, 1, 2, "request", "GET /x", line=7)
    t.span(11, PARENT, 2, A, "0000000000000001")
    t.label(12, 2, "looks it up")
    t.label(13, 2, 'said "\\\t\x01\x7f\u2028é'.encode() + b"\xff")
    t.put(20, SWITCH, 2)
    t.creates(21, 2, 3, "db")
    t.put(22, TRY_READ, words=struct.pack("<ii", 2, 3))
    t.creates(30, 2, 4, "http", "POST /y")
    t.span(31, SPAN, 4, A, "0000000000000002")
    t.creates(32, 4, 5, "socket")
    t.creates(33, 4, 6, "http", "again")
    t.span(34, SPAN, 6, A, "0000000000000002")
    t.creates(40, 2, 7, "http")
    t.span(41, PARENT, 7, A, "0000000000000001")
    t.span(42, SPAN, 7, B, "0000000000000003")
    t.creates(43, 7, 2**40, "far")
    t.span_wide(44, SPAN_WIDE, 2**40, B, "0000000000000004")
    t.span_wide(45, PARENT_WIDE, 2**40, B, "0000000000000005")
    t.fails(50, 3, "refused")
    t.put(60, FULFILS, LOOP, 2)
    t.creates(70, LOOP, 8, "task")
    t.creates(71, 8, 9, "task")
    t.put(72, TRY_READ, words=struct.pack("<ii", 8, 9))
    t.put(72, TRY_READ, words=struct.pack("<ii", 8, 2))
    t.put(72, TRY_READ, words=struct.pack("<ii", 8, 9))
    t.creates(73, 8, 12, "task")
    t.put(74, BECOMES, 12, 9)
    t.creates(80, LOOP, 10, "accept")
    t.put(81, BACKGROUND, 10)
    t.creates(82, 10, 11, "connection")
    return t


def many(promises):
    """One with more links and labels than a span may have, and so many that several lines are needed."""
    t = Trace()
    t.creates(0, LOOP, 1, "task", "main")
    for i in range(2, promises):
        t.creates(i, 1, i, "task")
        t.put(i, TRY_READ, words=struct.pack("<ii", 1, i))
        t.label(i, 1, "label %d" % i)
    t.fails(promises, 1, "at last")
    return t


def make(folder):
    one().write(folder + "/one.weft", 1000, facts=b"program=/usr/bin/server\0host=h\0")
    one().write(folder + "/timeless.weft", 1000, wall=False)
    many(3000).write(folder + "/many.weft", 4000)
    Trace().write(folder + "/empty.weft", 1)


# ---- OTLP, version 1: a message is its fields by name; [x] is a list of x ----


def matches(pattern):
    def check(value):
        return isinstance(value, str) and re.fullmatch(pattern, value) is not None

    return check


def whole(most):
    return lambda value: type(value) is int and 0 <= value <= most


def u64(value):
    return matches("0|[1-9][0-9]{0,19}")(value) and int(value) < 2**64


def i64(value):
    return matches("-?(0|[1-9][0-9]{0,18})")(value) and -(2**63) <= int(value) < 2**63


def text(value):
    return isinstance(value, str) and value.encode() is not None  # no lone surrogates


U32 = whole(2**32 - 1)
TRACE_ID, SPAN_ID = matches("(?!0{32})[0-9a-f]{32}"), matches("(?!0{16})[0-9a-f]{16}")
PAIR = {"key": text, "value": {"stringValue": text, "intValue": i64, "boolValue": lambda v: type(v) is bool}}
MORE = {"attributes": [PAIR], "droppedAttributesCount": U32}
SPAN_FIELDS = {
    "traceId": TRACE_ID, "spanId": SPAN_ID, "traceState": text, "parentSpanId": SPAN_ID, "flags": U32, "name": text,
    "kind": whole(5), "startTimeUnixNano": u64, "endTimeUnixNano": u64, **MORE, "droppedEventsCount": U32, "droppedLinksCount": U32,
    "events": [{"timeUnixNano": u64, "name": text, **MORE}],
    "links": [{"traceId": TRACE_ID, "spanId": SPAN_ID, "traceState": text, "flags": U32, **MORE}],
    "status": {"code": whole(2), "message": text},
}
SCOPE = {"scope": {"name": text, "version": text, **MORE}, "spans": [SPAN_FIELDS], "schemaUrl": text}
REQUEST = {"resourceSpans": [{"resource": MORE, "scopeSpans": [SCOPE], "schemaUrl": text}]}
REQUIRED = {"resourceSpans", "scopeSpans", "spans", "key", "value"}


def check_as(value, schema, where):
    if callable(schema):
        if not schema(value):
            sys.exit("%s: %r" % (where, value))
    elif isinstance(schema, list):
        if not isinstance(value, list):
            sys.exit("%s is no list" % where)
        for i, one in enumerate(value):
            check_as(one, schema[0], "%s[%d]" % (where, i))
    else:
        if not isinstance(value, dict):
            sys.exit("%s is no message: %r" % (where, value))
        for key in value:
            if key not in schema:
                sys.exit("%s has a field %s" % (where, key))
            check_as(value[key], schema[key], where + "." + key)
        for key in REQUIRED & schema.keys() - value.keys():
            sys.exit("%s has no %s" % (where, key))
        if "stringValue" in schema and len(value) != 1:
            sys.exit("%s has %d values" % (where, len(value)))
        keys = [pair["key"] for pair in value.get("attributes", [])]
        if len(keys) != len(set(keys)):
            sys.exit("%s has an attribute twice: %s" % (where, keys))


def once(pairs):
    if len({key for key, value in pairs}) != len(pairs):
        sys.exit("a field is there twice: %s" % pairs)
    return dict(pairs)


def lines(path):
    with open(path, "rb") as f:
        data = f.read()
    if data and not data.endswith(b"\n"):
        sys.exit("the last line does not end")
    return [json.loads(line.decode("utf-8"), object_pairs_hook=once) for line in data.split(b"\n")[:-1]]


def spans_of(requests):
    return [s for r in requests for x in r["resourceSpans"] for y in x["scopeSpans"] for s in y["spans"]]


def check(path):
    requests = lines(path)
    for i, request in enumerate(requests):
        check_as(request, REQUEST, "line %d" % (i + 1))
        if not spans_of([request]):
            sys.exit("line %d has no spans" % (i + 1))
    spans = spans_of(requests)
    ids = {(s["traceId"], s["spanId"]) for s in spans}
    if len(ids) != len(spans):
        sys.exit("%d spans have %d ids" % (len(spans), len(ids)))
    for s in spans:
        if int(s["startTimeUnixNano"]) > int(s["endTimeUnixNano"]):
            sys.exit("a span ends before it begins: %s" % s)
        remote = s.get("flags", 0) & 0x200
        if "parentSpanId" in s and not remote and (s["traceId"], s["parentSpanId"]) not in ids:
            sys.exit("the parent of a span is not there: %s" % s)
        if len(s.get("links", [])) > 128 or len(s.get("events", [])) > 128:
            sys.exit("a span has too many parts")
    print(len(requests), len(spans))


# ---- What is in it ----


def value(s, key):
    for pair in s["attributes"]:
        if pair["key"] == key:
            return next(iter(pair["value"].values()))


def tell(path):
    spans = spans_of(lines(path))
    of_span = {s["spanId"]: value(s, "weft.promise") for s in spans}
    traces = {}
    for s in spans:  # a made trace is that of its first promise
        traces.setdefault(s["traceId"], "of " + value(s, "weft.promise"))
    traces.update({A: "A", B: "B"})

    def span(id):
        return "." + id.lstrip("0") if id.startswith("00000000") else "of " + of_span[id] if id in of_span else "?"

    for s in spans:
        start, end = (int(s[k]) - WALL for k in ("startTimeUnixNano", "endTimeUnixNano"))
        flags = s.get("flags", 0)
        parent = span(s["parentSpanId"]) + (" elsewhere" if flags & 0x200 else "") if "parentSpanId" in s else "none"
        events = ["%s %r" % (int(e["timeUnixNano"]) - WALL, e["name"]) for e in s["events"]]
        links = ["%s %s %s" % (value(l, "weft.relation"), traces.get(l["traceId"], "?"), span(l["spanId"])) for l in s["links"]]
        status = s["status"].get("code", 0), s["status"].get("message", "")
        print("%s %r %d..%d, trace %s, span %s in %s, kind %d, status %d %r, events %s, links %s"
              % (value(s, "weft.promise"), s["name"], start, end, traces[s["traceId"]], span(s["spanId"]), parent, s["kind"], *status,
                 events, links))


{"make": make, "check": check, "tell": tell}[sys.argv[1]](sys.argv[2])
