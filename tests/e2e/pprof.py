# SPDX-License-Identifier: ISC
"""Streams of Akaros, and profiles as pprof has them, without any code of weft's: what pprof.sh compares with.

    pprof.py make FOLDER       writes streams, and beside each NAME.json what is in it
    pprof.py check STREAM.json PROFILE.pb.gz
    pprof.py legacy STREAM.json PROFILE.prof
    pprof.py raw STREAM.json TEXT         of go tool pprof -raw
    pprof.py perf TEXT PROFILE.pb.gz [dwarf]  of perf script --no-inline -F tid,period,ip; the profile has one event
    pprof.py stacks PROFILE.pb.gz         one line a sample: values, functions from the innermost
    pprof.py hottest PROFILE.pb.gz        one line a function that samples were in: how many, name; as compiled, with
                                          what was inlined into it
"""

import collections
import gzip
import json
import pathlib
import random
import struct
import sys

KERNEL = 0xFFFFFFFF80000000
NOBODY = 0xFFFFFFFF


# ---- Akaros's streams, as reference/akaros-profiling.md describes them ----


def version_1(samples):
    out = b""
    for time, core, stack in samples:
        word = 0xEE << 56 | 1 << 48 | core << 16 | len(stack)
        out += struct.pack("<QQ", word, time) + struct.pack(f"<{len(stack)}Q", *stack)
    return out


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def record(kind, body):
    return varint(kind) + varint(len(body)) + body


def trace(time, core, process, stack):
    head = struct.pack("<QQIHH", 0, time, process, core, len(stack))
    return record(1 if stack[0] >> 63 else 2, head + struct.pack(f"<{len(stack)}Q", *stack))


def mapping(time, process, start, size, offset, path):
    return record(3, struct.pack("<QQQQI", time, start, size, offset, process) + path + b"\0")


def process(time, number, path):
    return record(4, struct.pack("<QI", time, number) + path + b"\0")


def histogram(rows):
    total = sum(ticks for _, _, ticks in rows)
    lines = [(0, "total", total)] + rows
    return b"".join(b"%016x %29.29s %016x\n" % (a, n.encode(), t) for a, n, t in lines)


def op2(samples):
    """What op2 writes, with what it gets wrong: nanoseconds, and half of each address."""
    span = max(t for t, _, _ in samples) - min(t for t, _, _ in samples)
    stacks = collections.Counter(tuple(pc & 0xFFFFFFFF for pc in s) for _, _, s in samples)
    return span // len(samples), stacks


def random_stacks(rng):
    stacks = [[rng.randrange(0x400000, 0x500000)] for _ in range(6)]
    # The same lower halves: op2 takes these for one.
    stacks += [[0x4000081001234], [0xFFFFFFFF81001234], [0x81001234]]
    for depth in (1, 2, 5, 16):
        stacks.append([KERNEL + rng.randrange(1 << 24) for _ in range(depth)])
    stacks.append([KERNEL + 0x1000 + i for i in range(255)])
    return stacks


def write(folder, name, data, facts):
    (folder / name).write_bytes(data)
    (folder / f"{name}.json").write_text(json.dumps(facts))


def facts_of(samples, **more):
    period, _ = op2(samples)
    counts = collections.Counter(tuple(s) for _, _, s in samples)
    return {"samples": len(samples), "period_ns": period, "op2": op2(samples)[0],
            "span_ns": samples[-1][0] - samples[0][0],
            "stacks": [[list(s), n] for s, n in counts.items()],
            "cores": dict(collections.Counter(str(c) for _, c, _ in samples)), **more}


def make(folder):
    folder = pathlib.Path(folder)
    rng = random.Random(7)
    stacks = random_stacks(rng)
    time, samples = 3 * 10**14, []
    for _ in range(5000):
        samples.append((time, rng.choice([0, 1, 7, 300]), rng.choice(stacks)))
        time += 1000000 + rng.randrange(-20000, 20000)
    data = version_1(samples)
    write(folder, "v1", data, facts_of(samples))
    write(folder, "one", version_1(samples[:1]), facts_of(samples[:1], period_ns=1000000))
    write(folder, "cut", data + version_1(samples[:1])[:-3], facts_of(samples))
    # Not in order of time, as cores come one after the other.
    write(folder, "unordered", version_1(samples[2500:] + samples[:2500]), facts_of(samples))

    records = [process(samples[0][0], 77, b"/bin/prog"),
               mapping(samples[0][0], 77, 0x400000, 0x100000, 0x1000, b"/bin/prog")]
    for i, (time, core, stack) in enumerate(samples[:1000]):
        records.append(trace(time, core, NOBODY if i % 4 == 0 else 77, stack))
        if i == 500:
            records.append(record(99, b"of another version"))
    facts = facts_of(samples[:1000], mapping=[0x400000, 0x500000, 0x1000, "/bin/prog"], process=77)
    write(folder, "kpdata", b"".join(records), facts)
    rows = [(0, "(user)", 40), (KERNEL + 0x100, "schedule", 500), (KERNEL + 0x200, "kmem_cache_alloc_of_a_long_name", 1 << 33)]
    write(folder, "ticks", histogram(rows), {"rows": rows})
    (folder / "empty").write_bytes(b"")
    (folder / "garbage").write_bytes(data[:800] + b"\x55" * 64 + data[800:])


# ---- profile.proto, decoded by its wire format ----


def fields(data):
    """(number, value) of a message; a value is an int or bytes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            assert key & 7 == 2, key
            size = number()
            yield key >> 3, data[at : at + size]
            at += size


def packed(value):
    """A list of numbers, packed or one of them."""
    if isinstance(value, int):
        return [value]
    out, current, shift = [], 0, 0
    for byte in value:
        current |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(current)
            current = shift = 0
    return out


def message(data, names):
    """Fields by name; a name that ends in * is a list, in + a list of numbers."""
    out = {n.rstrip("*+"): [] if n[-1] in "*+" else 0 for n in names.values()}
    for number, value in fields(data):
        name = names[number]
        if name.endswith("+"):
            out[name[:-1]] += packed(value)
        elif name.endswith("*"):
            out[name[:-1]].append(value)
        else:
            out[name] = value
    return out


class Profile:
    def __init__(self, path):
        data = gzip.decompress(pathlib.Path(path).read_bytes())
        p = message(data, {1: "sample_type*", 2: "sample*", 3: "mapping*", 4: "location*", 5: "function*",
                           6: "string*", 9: "time_ns", 10: "duration_ns", 11: "period_type", 12: "period",
                           13: "comment+", 14: "default_sample_type"})
        self.text = [s.decode() for s in p["string"]]  # UTF-8, or this fails
        assert self.text[0] == "" and len(set(self.text)) == len(self.text)
        self.period, self.duration_ns = p["period"], p["duration_ns"]
        self.types = [self.value_type(t) for t in p["sample_type"]]
        self.period_type = self.value_type(p["period_type"])
        self.mappings = self.by_id(p["mapping"], {1: "id", 2: "start", 3: "limit", 4: "offset", 5: "file", 6: "build_id",
                                                  7: "functions", 8: "files", 9: "lines", 10: "inlined"})
        self.functions = self.by_id(p["function"], {1: "id", 2: "name", 3: "system_name", 4: "file", 5: "start_line"})
        self.locations = self.by_id(p["location"], {1: "id", 2: "mapping", 3: "address", 4: "line*"})
        for l in self.locations.values():
            l["line"] = [message(x, {1: "function", 2: "line"}) for x in l["line"]]
            assert l["mapping"] == 0 or l["mapping"] in self.mappings
            assert all(x["function"] in self.functions for x in l["line"])
        self.samples = [self.sample(s) for s in p["sample"]]
        self.comments = [self.text[c] for c in p["comment"]]

    def value_type(self, data):
        t = message(data, {1: "type", 2: "unit"})
        return self.text[t["type"]], self.text[t["unit"]]

    def by_id(self, list_, names):
        out = {}
        for data in list_:
            m = message(data, names)
            assert m["id"] and m["id"] not in out, m
            out[m["id"]] = m
        return out

    def sample(self, data):
        s = message(data, {1: "location+", 2: "value+", 3: "label*"})
        labels = {}
        for label in s["label"]:
            l = message(label, {1: "key", 2: "str", 3: "num"})
            assert l["str"] and not l["num"] and self.text[l["key"]] not in labels
            labels[self.text[l["key"]]] = self.text[l["str"]]
        assert len(s["value"]) == len(self.types)
        assert all(i in self.locations for i in s["location"])
        return s["location"], s["value"], labels

    def addresses(self, sample):
        return [self.locations[i]["address"] for i in sample[0]]

    def in_file(self, address):
        """What lies at an address of memory; an address of a file stays what it is, for no mapping is that low."""
        for m in self.mappings.values():
            if m["start"] <= address < m["limit"] and not is_kernel(address):
                return address - m["start"] + m["offset"]
        return address

    def names(self, sample):
        return [self.text[self.functions[x["function"]]["name"]] for i in sample[0] for x in self.locations[i]["line"]]


def same(what, expected, found):
    if expected != found:
        sys.exit(f"{what}: expected {str(expected)[:600]}, found {str(found)[:600]}")


def counted(facts):
    return {tuple(s): n for s, n in facts["stacks"]}


def check(facts_path, path):
    facts, p = json.loads(pathlib.Path(facts_path).read_text()), Profile(path)
    same("types", [("samples", "count"), ("cpu", "nanoseconds")], p.types)
    same("period", (facts["period_ns"], ("cpu", "nanoseconds")), (p.period, p.period_type))
    same("duration", facts["span_ns"], p.duration_ns)
    stacks, cores = collections.Counter(), collections.Counter()
    for s in p.samples:
        stacks[tuple(p.addresses(s))] += s[1][0]
        cores[s[2]["core"]] += s[1][0]
        same("time of a sample", s[1][0] * facts["period_ns"], s[1][1])
    same("stacks", counted(facts), dict(stacks))
    same("cores", facts["cores"], dict(cores))
    distinct = {(tuple(s[0]), json.dumps(s[2], sort_keys=True)) for s in p.samples}
    same("samples that are alike", len(distinct), len(p.samples))
    if "mapping" in facts:
        found = [[m["start"], m["limit"], m["offset"], p.text[m["file"]]] for m in p.mappings.values()]
        assert facts["mapping"] in found, found
        pids = {s[2].get("pid") for s in p.samples}
        same("processes", {None, str(facts["process"])}, pids)
        mapped = {p.text[p.mappings[l["mapping"]]["file"]] for l in p.locations.values()
                  if 0x400000 <= l["address"] < 0x500000 and l["mapping"]}
        same("mapped", {"/bin/prog"}, mapped)


def legacy_words(path):
    data = pathlib.Path(path).read_bytes()
    word = lambda i: struct.unpack_from("<Q", data, 8 * i)[0]
    header = [word(i) for i in range(5)]
    at, stacks = 5, collections.Counter()
    while True:
        count, depth = word(at), word(at + 1)
        pcs = tuple(word(at + 2 + i) for i in range(depth))
        at += 2 + depth
        if count == 0:
            same("trailer", (0,), pcs)
            break
        assert pcs not in stacks, "a stack stands there twice"
        stacks[pcs] += count
    return header, stacks, data[8 * at :].decode()


def legacy(facts_path, path):
    facts = json.loads(pathlib.Path(facts_path).read_text())
    header, stacks, maps = legacy_words(path)
    same("header", [0, 3, 0, 0], header[:3] + header[4:])
    same("period in us", max(1, round(facts["period_ns"] / 1000)), header[3])
    same("stacks", counted(facts), dict(stacks))
    halves = collections.Counter()  # as op2 has them, which takes different addresses for the same
    for stack, count in stacks.items():
        halves[tuple(pc & 0xFFFFFFFF for pc in stack)] += count
    of_op2 = collections.Counter()
    for stack, count in counted(facts).items():
        of_op2[tuple(pc & 0xFFFFFFFF for pc in stack)] += count
    same("as op2", of_op2, halves)
    assert len(of_op2) < len(stacks) or len(stacks) < 5, "op2 would have told them apart"
    if "mapping" in facts:
        start, limit, offset, file = facts["mapping"]
        line = f"{start:08x}-{limit:08x} r-xp {offset:08x} 00:00 0 {file}"
        assert line in maps.splitlines(), maps


def raw(facts_path, path):
    """What go tool pprof -raw says has all addresses, and as many samples."""
    facts = json.loads(pathlib.Path(facts_path).read_text())
    text = pathlib.Path(path).read_text()
    body, locations = text.split("Samples:\n")[1].split("Locations\n")
    addresses = {int(l.split(":")[0]): int(l.split()[1], 16) for l in locations.split("Mappings")[0].splitlines()}
    stacks = collections.Counter()
    for line in body.splitlines()[1:]:
        values, colon, ids = line.partition(":")
        if colon and values.split() and all(v.isdigit() for v in values.split()):
            stacks[tuple(addresses[int(i)] for i in ids.split())] += int(values.split()[0])
    same("stacks of go tool pprof", counted(facts), dict(stacks))


def perf_script(path):
    """(tid, period, addresses) of each sample; addresses are those of the file, or (perf 6.12) all those of memory."""
    head, stack = None, []
    for line in pathlib.Path(path).read_text().splitlines() + [""]:
        if not line.strip():
            if head:
                yield head[0], head[1], stack
            head, stack = None, []
        elif line[0] == "\t":
            stack.append(int(line.split()[0], 16))
        else:
            head = [int(w.rstrip(":")) for w in line.split()[:2]]


def is_kernel(address):
    return address >= 0xFFFFFFFF80000000  # its code; what lies between is what frame pointers gave by mistake


def perf(text, path, dwarf=""):
    """As many samples with each stack and period, and with each thread, as perf says there are."""
    p, found, found_threads, total = Profile(path), collections.Counter(), collections.Counter(), 0
    expected, threads = collections.Counter(), collections.Counter()
    for tid, period, stack in perf_script(text):
        threads[tid] += 1
        # Callers stand before their return; what a system call interrupted is no caller. Where perf has unwound
        # the stack itself, it has taken the one off already.
        pcs = [pc - (i > 0 and pc > 0 and is_kernel(pc) == is_kernel(stack[i - 1]) and not (dwarf and not is_kernel(pc)))
               for i, pc in enumerate(stack)]
        expected[tuple(p.in_file(pc) for pc in pcs), period] += 1
    for s in p.samples:
        pcs = []
        for i in s[0]:
            l = p.locations[i]
            m = p.mappings.get(l["mapping"])
            in_file = m and not is_kernel(l["address"])
            pcs.append(l["address"] - m["start"] + m["offset"] if in_file else l["address"])
        found[tuple(pcs)] += s[1][0]
        found_threads[int(s[2].get("tid", -1))] += s[1][0]
        total += s[1][1]
    stacks_ = collections.Counter()
    for (stack, _), n in expected.items():
        stacks_[stack] += n
    same("periods", sum(period * n for (_, period), n in expected.items()), total)
    same("threads", dict(threads), {t: n for t, n in found_threads.items() if n})
    left, more = stacks_ - found, found - stacks_
    # A frame pointer that was none leads anywhere, also to the first byte of a file, and one before that is not 0.
    # perf, as it unwinds by itself, gets lost in the loader as a program starts.
    if sum(left.values()) * (50 if dwarf else 100) > sum(stacks_.values()):
        same("stacks that perf has and weft has not", {}, dict(left))
        same("stacks that weft has and perf has not", {}, dict(more))
    print(sum(stacks_.values()), "samples,", len(stacks_), "stacks")


def stacks(path):
    p = Profile(path)
    for s in p.samples:
        print(*s[1], ";".join(p.names(s)), json.dumps(s[2], sort_keys=True), sep="\t")


def hottest(path):
    p, counts = Profile(path), collections.Counter()
    for s in p.samples:
        lines = p.locations[s[0][0]]["line"] if s[0] else []
        counts[p.text[p.functions[lines[-1]["function"]]["name"]] if lines else "-"] += s[1][0]
    for name, n in sorted(counts.items(), key=lambda c: (-c[1], c[0])):
        print(n, name)


if __name__ == "__main__":
    {"make": make, "check": check, "legacy": legacy, "raw": raw, "perf": perf, "stacks": stacks, "hottest": hottest}[sys.argv[1]](*sys.argv[2:])
