# SPDX-License-Identifier: ISC
"""Traces whose every text is hostile, and what must not be in anything that weft says of them."""

import gzip
import html.parser
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree
import zlib

import perfdata

# Control characters, also of C1 and as UTF-8; what is not UTF-8; what turns the direction of writing; ends of lines.
NASTY = [b"\x1b[31m", b"\n", b"\t", b"\r", b"\x07", b"\x7f", b"\xc2\x9b", b"\x9b", b"\xff", b"\xc3(", b"\xe2\x80\xae", b"\xe2\x81\xa6",
         b"\xe2\x80\x8f", b"\xd8\x9c", b"\xe2\x80\xa8", b"\xc2\x85", b"\xe2\x80", b"\x01", b"<&>\"'", b"\\n", b"]]>", b"\x08", b"%s"]
ALL = b"x".join(NASTY)
HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
PACKET, MAGIC, SIGNATURE = struct.Struct("<I16sIHHIQQ"), 0xC1FC1FC1, 0x74666577


def spoil(text):
    """As long as text, the same for the same one, and mostly nasty; never empty, and no NUL."""
    out, start = bytearray(text), zlib.crc32(text)
    at = 1
    for i in itertools.count():
        piece = NASTY[(start + i) % len(NASTY)]
        if at + len(piece) > len(out):
            break
        out[at : at + len(piece)] = piece
        at += len(piece) + 1
    if len(out) == 1 or len(out) == 2:
        out[-1:] = b"\x9b"
    return bytes(out)


def spoil_trace(data):
    """Every text of a trace of weft's own: types, labels, files, counters, reasons; names of threads; the process's facts."""
    out, at = bytearray(data), 0
    while at + PACKET.size <= len(out):
        magic, _, signature, _, kind, header, bits, content = PACKET.unpack_from(out, at)
        if magic != MAGIC or signature != SIGNATURE:
            break
        if kind == 1:
            name = bytes(out[at + 144 : at + 160]).rstrip(b"\0")
            out[at + 144 : at + 144 + len(name)] = spoil(name) if name else b""
        elif kind == 2:
            (used,) = struct.unpack_from("<Q", out, at + PACKET.size)
            place, end = at + header, at + header + used
            while place + 4 <= end:
                (head,) = struct.unpack_from("<I", out, place)
                size = head & 0xFFFFFF
                if head >> 24 == 1:
                    out[place + 4 : place + 4 + size] = spoil(bytes(out[place + 4 : place + 4 + size]))
                    place += (4 + size + 1 + 3) // 4 * 4
                elif head >> 24 == 2:
                    place += 4 + 16
                else:
                    break
        elif kind == 3:
            place, end = at + header, at + content // 8
            for text in bytes(out[place:end]).split(b"\0"):
                key, equals, value = text.partition(b"=")
                if equals and key in (b"program", b"host", b"version", b"arg"):
                    out[place + len(key) + 1 : place + len(text)] = spoil(value)
                place += len(text) + 1
        at += bits // 8
    return bytes(out)


def quoted(text):
    return "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\x{c:02x}" for c in text)


def mirage_lines():
    nasty = quoted(ALL)
    return f"""0 0 creates parent=-1 child=1 type=bind
1 0 creates parent=1 child=2 type=try
2 0 label p=1 text="{nasty}"
3 0 label p=2 text="b{nasty}"
4 0 increase p=1 counter="{nasty}" amount=3
5 0 creates parent=1 child=3 type=task
6 0 label p=3 text="{nasty}"
7 0 fails resolver=-1 p=3 exception="{nasty}"
8 0 read reader=1 source=3
9000 0 creates parent=1 child=4 type=200
9100 0 fulfills resolver=-1 p=2
"""


def samples_lines():
    name = ALL.replace(b"\n", b"~").replace(b"\t", b"").replace(b"\r", b"").replace(b" ", b"").replace(b";", b"")
    return b"\n".join([
        b"source cpu" + name + b" ns 1000000 1000", b"program " + name + b" " + name, b"object /opt/" + name,
        b"function f" + name[:60] + b" /src/" + name[:60] + b" 10 14", b"thread 0 10 1 " + name[:12],
        b"0 create 1 t" + name[:20] + b" " + name, b"0 run 1 on 0",
        b"1000 sample 0 2 1000000 main;f" + name[:60], b"1000 out 0 2 main;f" + name[:60], b"2000 in 0 2",
        b"3000 sample 0 2 1000000 main;f" + name[:60] + b";g", b"4000 end 1 on 0", b""])


def perf_file():
    p = perfdata
    return p.file([p.comm(ALL[:15]), p.mmap(b"/opt/" + ALL, 0x400000, 0x1000), p.sample(0x400010, time=10**9),
                   p.sample(0x400020, chain=(p.IN_USER, 0x400020, 0x400030), time=2 * 10**9)],
                  features={"hostname": p.string(ALL[:60]), "release": p.string(ALL[:60])})


# ---- What must not be ----


class Wrong(Exception):
    pass


def decoded(data):
    try:
        return data.decode()
    except UnicodeDecodeError as e:
        raise Wrong(f"not UTF-8: {e}")


def check_text(data, allowed="\n"):
    text = decoded(data)
    for found in HARMFUL.finditer(text):
        if found.group() not in allowed:
            raise Wrong(f"{found.group()!r} in {text[max(0, found.start() - 60) : found.end() + 20]!r}")
    return text


def check_lines(data):
    if data and not check_text(data).endswith("\n"):
        raise Wrong("the last line does not end")


def check_tsv(data):
    rows = check_text(data, "\n\t").split("\n")[:-1]
    fields = {row.count("\t") for row in rows}
    if len(fields) != 1 or any(not re.match(r"-?\d+\t", row) for row in rows[1:]):
        raise Wrong(f"rows differ: {fields}")


def check_dump(data):
    for line in check_text(data).split("\n")[:-1]:
        if not re.match(r'("([^"\\]|\\.)*" |[^ "]+ )?-?\d+ (\d+|-) [a-z_]+( [a-z]+=("([^"\\]|\\.)*"|[^ "]+))*( promoted)?$', line):
            raise Wrong(f"line {line!r}")


def check_json(data):
    try:
        json.loads(check_text(data))
    except json.JSONDecodeError as e:
        raise Wrong(f"no JSON: {e}")


def check_svg(data):
    check_text(data)
    try:
        xml.etree.ElementTree.fromstring(data)
    except xml.etree.ElementTree.ParseError as e:
        raise Wrong(f"not well-formed: {e}")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.inside = [], None

    def handle_starttag(self, tag, attrs):
        self.inside = tag
        if tag == "meta" or any(name == "data-trace" for name, _ in attrs):
            self.found += [value or "" for _, value in attrs]

    def handle_data(self, data):
        if self.inside == "title":
            self.found.append(data.rstrip("\n"))


def check_html(data):
    page = Page()
    page.feed(decoded(data))
    if not page.found:
        raise Wrong("nothing of the trace is in it")
    for text in page.found:
        check_text(text.encode())


def check_pprof(data):
    """The strings of the table are field 6 of the profile."""
    data, at = gzip.decompress(data), 0

    def varint():
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
        key = varint()
        if key & 7 != 2:
            varint()
            continue
        size = varint()
        if key >> 3 == 6:
            check_text(data[at : at + size], "")
        at += size


def check_legacy(data):
    """Words, then the memory map as text: a line for each mapping."""
    check_text(data[data.index(b"00400000-") if b"00400000-" in data else data.rindex(b"-", 0, data.index(b" r-xp")) - 16 :].lstrip(b"\0"))


def check_ctf(folder):
    with open(os.path.join(folder, "metadata"), "rb") as f:
        check_text(f.read(), "\n")


class Tried:
    def __init__(self, weft):
        self.weft, self.failures, self.checks = weft, 0, 0

    def fail(self, command, what):
        self.failures += 1
        words = [w if isinstance(w, str) else w.decode("latin1") for w in command]
        print(f"FAILED: {[w[:20] for w in words]}: {what}"[:600])

    def run(self, check, *command, statuses=(0,)):
        self.checks += 1
        done = subprocess.run([self.weft, *command], stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode not in statuses:
            self.fail(command, f"status {done.returncode}: {done.stderr[:300]!r}")
            return
        try:
            check_lines(done.stderr)
        except Wrong as e:
            self.fail(command, f"message: {e}")
        try:
            if check and (done.returncode != 1 or done.stdout):
                check(done.stdout)
        except Wrong as e:
            self.fail(command, e)

    def trace(self, path, pages, promise=b"1"):
        """Every command that reads a trace."""
        run, any_ = self.run, (0, 1, 3)
        run(check_tsv, "promises", path)
        run(check_tsv, "promises", "--raw", path)
        run(check_dump, "dump", path)
        run(check_dump, "dump", path, path, statuses=any_)
        for more in ([], ["--promises"]):
            run(check_lines, "info", *more, path)
            run(check_json, "info", "--json", *more, path)
        run(check_lines, "explain", "--all", path, statuses=any_)
        run(check_json, "explain", "--all", "--json", path, statuses=any_)
        for one in (promise, b"x"):
            run(check_lines, "explain", "--promise", one, path, statuses=any_)
        run(check_json, "explain", "--json", "--promise", promise, path, statuses=any_)
        for by in ("label", "type", "family"):
            run(check_lines, "stats", "--by", by, path, statuses=(0, 1, 2))
        run(check_lines, "stats", path, statuses=any_)
        run(check_json, "stats", "--json", path, statuses=any_)
        run(check_svg, "render", "-o", "-", "--format", "svg", path)
        run(check_svg, "render", "-o", "-", "--format", "svg", "--search", ALL.replace(b"\0", b""), path, path)
        if pages:
            run(check_html, "html", "-o", "-", path)
            run(check_html, "html", "-o", "-", "--title", ALL, "--at", ALL, path)
        folder = b"folder"
        run(lambda _: check_ctf("folder"), "export", "--to", "ctf", "-o", folder, path)
        subprocess.run(["rm", "-rf", "folder"], check=True)
        run(None, "export", "--to", "mirage", "-o", "out.ctf", path)
        run(None, "save", "-o", "out.weft", path)

    def profile(self, path):
        run, any_ = self.run, (0, 1)
        for more in ([], ["--tree"], ["--lines"], ["--off-cpu"], ["--by", "label"], ["--by", "promise"], ["--by", "thread"], ["--by", "root"]):
            run(check_lines, "profile", "--no-symbols", *more, path, statuses=any_)
            if "--lines" not in more:
                run(check_json, "profile", "--no-symbols", "--json", *more, path, statuses=any_)
        run(check_lines, "profile", "--no-symbols", "--diff", path, path, statuses=any_)
        run(check_json, "profile", "--no-symbols", "--json", "--diff", path, path, statuses=any_)
        for option in ("--thread", "--label", "--promise", "--event"):
            run(check_lines, "profile", option, ALL, path, statuses=(1, 2))
        run(check_svg, "render", "--no-symbols", "--flame", "-", "--format", "svg", path, statuses=any_) if self.samples(path) else None
        run(check_pprof, "export", "--no-symbols", "--to", "pprof", "-o", "-", path)
        run(check_legacy, "export", "--no-symbols", "--to", "pprof-legacy", "-o", "-", path)

    def samples(self, path):
        return subprocess.run([self.weft, "profile", "--no-symbols", path], capture_output=True).returncode == 0

    def arguments(self, path):
        """Words of the command line that come back in messages."""
        wrong = (1, 2, 126, 127)
        for command in (["info", ALL], [ALL], ["help", ALL], ["render", "-o", ALL, path], ["render", "-o", ALL + b".svg", ALL], ["diff", ALL, path],
                        ["stats", "--by", ALL, path], ["explain", "--promise", ALL, path], ["explain", "--" + ALL.decode("latin1"), path],
                        ["record", "-o", "none.weft", ALL], ["record", "-o", ALL + b"/x", "true"], ["sample", "-o", "none.weft", ALL],
                        ["ctl", ALL, "on"], ["save", "-o", "x.weft", ALL], ["export", "--to", ALL, "-o", "x", path], ["profile", ALL],
                        ["html", "-o", "x.html", ALL], ["dump", "--from", ALL, path], ["kprof", ALL], ["view", "--at", ALL, ALL]):
            if command[0] != "view":
                self.run(check_lines, *command, statuses=(0,) + wrong)


def main():
    weft, pages, bugs = sys.argv[1], sys.argv[2] == "yes", sys.argv[3:]
    t = Tried(weft)
    with open("mirage.ctf", "wb") as f:
        subprocess.run([os.environ["MKTRACE"], "-"], input=mirage_lines().encode(), stdout=f, check=True)
    subprocess.run([os.environ["MKSAMPLES"], "samples.weft"], input=samples_lines(), check=True)
    with open("samples.weft", "rb") as f:
        data = f.read().replace(b"~", b"\n")
    with open("samples.weft", "wb") as f:
        f.write(data)
    with open("perf.data", "wb") as f:
        f.write(perf_file())
    # A file may be called anything, too.
    for n, path in enumerate(bugs):
        with open(path, "rb") as f:
            data = spoil_trace(f.read())
        name = (b"%d" % n + ALL[:150] + b".weft").replace(b"/", b"")
        with open(name, "wb") as f:
            f.write(data)
        t.trace(name, pages and n == 0)
        if n:
            t.run(check_lines, "diff", before, name, statuses=(0, 1, 3))
            t.run(check_json, "diff", "--json", before, name, statuses=(0, 1, 3))
        before = name
    t.trace(b"mirage.ctf", pages)
    t.trace(b"samples.weft", False)
    for path in (b"samples.weft", b"perf.data"):
        t.profile(path)
    t.arguments(b"mirage.ctf")
    print(f"{t.checks} runs, {t.failures} failed")
    sys.exit(t.failures > 0)


main()
