"""weft_top.py WEFT DRIVEN FOLDER: looks at programs that are told what to do (../tools/driven.c) with weft top."""

import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import termios
import time
import fcntl
import struct

import unsampled

WEFT, DRIVEN, TMP = sys.argv[1:4]
LONG = 300  # seconds: for what never comes
failures = 0


def check(what, good, *shown):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what}", *shown)


def equal(what, expected, found):
    check(what, expected == found, f": expected {expected!r}, found {found!r}")


class Driven:
    """The program, recorded by weft record; or unrecorded, but linked with weft."""

    number = 0

    def __init__(self, record=True):
        Driven.number += 1
        self.trace = f"{TMP}/driven{Driven.number}.weft"
        start = [WEFT, "record", "-o", self.trace, "--"] if record else []
        self.process = subprocess.Popen(start + [DRIVEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, bufsize=1)
        self.answer()
        self.pid = self.process.pid
        if record:
            children = open(f"/proc/{self.pid}/task/{self.pid}/children").read().split()
            self.pid = int(children[0])

    def answer(self):
        line = self.process.stdout.readline()
        if line != "ok\n":
            raise SystemExit(f"FAILED: the program says {line!r}")

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.answer()

    def quit(self):
        self.process.stdin.write("exit 0\n")
        self.process.stdin.close()
        self.process.wait(LONG)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.process.stdin.close()
        self.process.wait(LONG)


def top(*args, **kwargs):
    return subprocess.run([WEFT, "top", *map(str, args)], capture_output=True, text=True, timeout=LONG,
                          stdin=subprocess.DEVNULL, **kwargs)


def of(report, key, pid):
    return [item for item in report[key] if item["pid"] == pid]


def hang(driven):
    """A deadlock of two tasks and two locks, a request that waits behind it, a reply that nobody sends."""
    driven.tell("create k accept port", "background k", "create a task first", "create b task second", "create x lock L1", "create y lock L2",
              "hold a x", "hold b y", "wait a y", "wait b x", "create r request GET /7", "wait r a",
              "create p reply nobody sends it", "create q request GET /8", "wait q p",
              "counter queued 17")


# ---- As text and as JSON ----


def test_report():
    driven = Driven()
    hang(driven)
    run = top("--json", "-n", 1, "-d", "100ms", driven.pid)
    equal("status", 0, run.returncode)
    equal("lines", 1, run.stdout.count("\n"))
    report = json.loads(run.stdout)
    process = report["processes"][0]
    equal("process", (driven.pid, "driven", 8, 0, None), (process["pid"], process["program"], process["pending"],
                                                      process["lost"], process["ended"]))
    equal("oldest first", ["first", "second", "L1", "L2", "GET /7", "nobody sends it", "GET /8", "port"],
          [p["label"] for p in report["pending"]])
    ids = {p["label"]: p["promise"] for p in report["pending"]}
    waits = {p["label"]: p["waits_for"] for p in report["pending"]}
    equal("waits", {"first": ids["L2"], "second": ids["L1"], "L1": None, "L2": None, "GET /7": ids["first"],
                    "nobody sends it": None, "GET /8": ids["nobody sends it"], "port": None}, waits)
    equal("place", ["driven.c"], list({os.path.basename(p["file"]) for p in report["pending"]}))
    equal("tree",
          [(0, "first", None, True, False), (1, "L1", "held", True, False), (2, "second", "waits", True, False),
           (3, "L2", "held", True, False), (4, "first", "waits", True, True), (1, "GET /7", "waits", False, False),
           (0, "nobody sends it", None, False, False), (1, "GET /8", "waits", False, False),
           (0, "port", None, False, False)],
          [(n["depth"], n["label"], n["need"], n["deadlock"], n["again"]) for n in report["tree"]])
    equal("counter", [("queued", 17)], [(c["name"], c["value"]) for c in report["counters"]])
    text = top("-b", "-n", 1, "-d", "100ms", driven.pid).stdout
    for part in ["deadlock: first (task#", "waits ", "which closes the circle", "held by it: L1 (lock#",
                 "nobody sends it (reply#", "driven.c:", "queued 17", "pending 8"]:
        check(f"text has {part}", part in text, text)
    check("not cut", all(len(line) < 400 for line in text.split("\n")))
    only = json.loads(top("--json", "-n", 1, "-d", "100ms", "--filter", "gEt", "--view", "pending", driven.pid).stdout)
    equal("filter", ["GET /7", "GET /8"], [p["label"] for p in only["pending"]])
    check("one view", "tree" not in only)
    few = json.loads(top("--json", "-n", 1, "-d", "100ms", "--rows", 2, "--sort", "label", "--view", "pending",
                         driven.pid).stdout)
    equal("sorted, two rows", ["GET /7", "GET /8"], [p["label"] for p in few["pending"]])
    equal("and how many there are besides", {"pending": len(report["pending"]) - 2}, few["left_out"])
    driven.quit()


class Reports:
    """weft top --json that goes on, line by line."""

    def __init__(self, *args, **how):
        self.process = subprocess.Popen([WEFT, "top", "--json", "-d", "100ms", *map(str, args)], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **how)

    def next(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def until(self, what, test):
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            report = self.next()
            if report is None:
                break
            if test(report):
                return report
        check(what, False, "does not come")
        self.process.kill()
        raise SystemExit(1)

    def stop(self):
        self.process.terminate()
        self.process.wait(LONG)
        return self.process.stderr.read()


def test_rates():
    driven = Driven()
    driven.tell("rounds 500 before", "turns 1")
    reports = Reports("-w", "60s", driven.pid)
    reports.until("first report", lambda r: r["processes"])
    driven.tell("rounds 1000 GET /#", "turns 50", "create z job that fails", "fail z", "create y job that fails",
              "create x job that fails", "fulfil x")

    def done(report):
        rows = {row["label"]: row for row in of(report, "latencies", driven.pid)}
        return rows.get("that fails", {"fulfilled": 0})["fulfilled"] == 1

    report = reports.until("what was counted", done)
    rows = {(row["type"], row["label"]): row for row in report["latencies"]}
    row = rows["round", "GET /#"]
    equal("rounds", (1000, 0, 0), (row["fulfilled"], row["failed"], row["pending"]))
    check("percentiles", 0 < row["p50_ns"] <= row["p90_ns"] <= row["p99_ns"] <= row["max_ns"], row)
    equal("before it looked", None, rows.get(("round", "before")))
    row = rows["job", "that fails"]
    equal("jobs", (1, 1, 1), (row["fulfilled"], row["failed"], row["pending"]))
    process = report["processes"][0]
    equal("totals", (1003, 1002, 1), (process["created"], process["promises_ended"], process["failed"]))
    loop = report["threads"][0]
    equal("loop", ("loop", True, 50), (loop["kind"], loop["idle"], loop["turns"]))
    # A loop that does not come to its end is busy, and that is its longest turn.
    driven.tell("busy")
    report = reports.until("busy", lambda r: not r["threads"][0]["idle"] and r["threads"][0]["since_ns"] > 2 * 10**8)
    loop = report["threads"][0]
    check("the present turn counts", loop["longest_turn_ns"] >= 2 * 10**8 <= loop["busy_ns"], loop)
    driven.tell("turns 1")
    driven.quit()
    report = reports.until("end", lambda r: r["processes"] and r["processes"][0]["ended"])
    reports.process.wait(LONG)
    equal("status", 0, reports.process.returncode)
    message = reports.process.stderr.read()
    check("says that it has ended", f"process {driven.pid} (driven) has ended" in message, message)


def test_finding():
    """Of all processes, whichever begin later; one that ends; one that is switched on."""
    reports = Reports("--view", "pending", "--rows", 1000000)
    reports.until("a report without them", lambda r: True)
    driven, quiet = Driven(), Driven(record=False)
    driven.tell("create a task here")
    reports.until("it is found", lambda r: [p["label"] for p in of(r, "pending", driven.pid)] == ["here"])
    quiet.tell("create b task before")
    on = subprocess.run([WEFT, "ctl", str(quiet.pid), "on", "-o", f"{TMP}/quiet.weft"], capture_output=True, text=True)
    quiet.tell("create c task after")
    check("weft ctl on", on.returncode == 0, on.stderr)
    reports.until("it is found when it is switched on",
                  lambda r: [p["label"] for p in of(r, "pending", quiet.pid)] == ["after"])
    driven.kill()
    report = reports.until("killed", lambda r: [p for p in r["processes"] if p["pid"] == driven.pid and p["ended"]])
    equal("how", "was killed", [p["ended"] for p in report["processes"] if p["pid"] == driven.pid][0])
    reports.until("others go on", lambda r: driven.pid not in [p["pid"] for p in r["processes"]] and
                  quiet.pid in [p["pid"] for p in r["processes"]])
    reports.stop()
    quiet.quit()


def test_none():
    quiet = Driven(record=False)
    run = top("-b", "-n", 1, "-d", "100ms", quiet.pid)
    equal("status of what does not record", 1, run.returncode)
    check("says why", f"process {quiet.pid} records into no file" in run.stderr, run.stderr)
    quiet.quit()
    run = top("-b", "-n", 1, "-d", "100ms", quiet.pid)
    equal("status of what is gone", 1, run.returncode)
    check("says that it is gone", "no process" in run.stderr, run.stderr)
    for args in (["x"], ["0"], ["--sort", "nothing"], ["--view", "none"], ["-w", "2min"], ["-d", "1ms"],
                 ["--view", "tree", "--sort", "p99"], ["--metrics", "example.org:80"], ["--metrics", "70000"],
                 ["--metrics", "::1:80"], ["--metrics", "unix:"], ["-u", "nobody of that name"]):
        run = top("-b", "-n", 1, *args)
        equal(f"status of {args}", 2, run.returncode)


# ---- Samples ----


def may_sample():
    run = subprocess.run([WEFT, "sample", "-o", f"{TMP}/probe.samples", "true"], capture_output=True, text=True)
    if run.returncode and re.search("no permission|no perf_event_open", run.stderr):
        print("no samples:", run.stderr)
        return False
    return True


def test_samples():
    driven = Driven()
    report = json.loads(top("--json", "-n", 1, "-d", "100ms", driven.pid).stdout)
    equal("only when asked", [], report["samples"])
    reports = Reports("--sample=1000", "--view", "samples", "-w", "60s", "--rows", 10000, driven.pid)
    reports.until("it is sampled", lambda r: [s["sampling"] for s in r["samples"]] == [True])
    driven.tell("work 600 GET/7", "slow 20 idle", "work 200 POST")

    def counts(report):
        one = of(report, "samples", driven.pid)[0]
        return (one, {f["function"]: f["samples"] for f in one["functions"]},
                {l["label"]: l["samples"] for l in one["labels"]})

    def done(report):
        _, functions, labels = counts(report)
        return functions.get("grind", 0) > 100 and labels.get("GET/#", 0) > 100 and labels.get("POST", 0) > 30

    report = reports.until("where it used the CPU", done)
    one, functions, labels = counts(report)
    check("more of what took longer", labels["GET/#"] > labels["POST"] > labels.get("idle", 0), labels)
    check("grind most", max(functions, key=functions.get) == "grind", functions)
    equal("of the program", {os.path.basename(DRIVEN)},
          {f["object"] for f in one["functions"] if f["function"] == "grind"})
    equal("each sample has one function", one["samples"], sum(functions.values()))
    check("and at most one promise", sum(labels.values()) <= one["samples"], labels)
    equal("one view", {"time_ns", "look_ns", "processes", "samples", "left_out"}, set(report))
    equal("all of it", {"functions": 0, "labels": 0}, one["left_out"])
    equal("as told", (1000, None), (one["hz"], one["trouble"]))
    reports.stop()
    text = top("-b", "-n", 1, "-d", "100ms", "--view", "samples", driven.pid).stdout
    check("how to", "no process is sampled; --sample does that" in text, text)
    screen = Screen(30, 140, driven.pid)
    screen.has("driven", "6 Samples")
    screen.type("6")
    screen.has("no process is sampled; S does that")
    screen.type("S")
    screen.has("is sampled, 99 times a second; S ends it")
    screen.has("driven: 0 samples in")
    driven.tell(*["work 100 GET/8"] * 10)
    screen.has("by function", "grind", "by promise", "GET/#")
    screen.type("S")
    screen.has("no process is sampled")
    equal("status", 0, screen.end())
    driven.quit()


def test_unsampled():
    """If that is forbidden, all else is shown."""
    if not unsampled.POSSIBLE:
        return
    driven = Driven()
    driven.tell("create h request here")
    reports = Reports("--sample", driven.pid, preexec_fn=unsampled.forbid)
    report = reports.until("why", lambda r: ["no permission to sample" in (s["trouble"] or "") for s in r["samples"]] == [True])
    equal("the rest", ["here"], [p["label"] for p in of(report, "pending", driven.pid)])
    reports.stop()
    driven.quit()


# ---- For Prometheus ----

SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"')


def parse(text, openmetrics):
    """Strictly: families with their samples, in one piece each, without a sample twice."""
    families, samples, name, kind = {}, {}, None, None
    lines = text.split("\n")
    equal("ends with a line end", "", lines.pop())
    if openmetrics:
        equal("end", "# EOF", lines.pop())
    for line in lines:
        if line.startswith("# "):
            word, family, rest = line[2:].split(" ", 2)
            if word == "TYPE":
                check("family twice", family not in families, family)
                name, kind = family, rest
                families[family] = kind
            else:
                check("of another family", family == name and word in ("HELP", "UNIT"), line)
                check("unit is the end of its name", word != "UNIT" or family.endswith("_" + rest), line)
            continue
        match = SAMPLE.match(line)
        check("a sample", match, line)
        if not match:
            continue
        sample, labels, value = match.groups()
        ends = {"counter": ["_total"] if openmetrics else [""], "gauge": [""], "info": ["_info"],
                "histogram": ["_bucket", "_sum", "_count"]}[kind]
        check("a name of its family", sample in [name + end for end in ends], line)
        key = sample, tuple(sorted(LABEL.findall(labels or "")))
        check("sample twice", key not in samples, line)
        samples[key] = float(value)
    return families, samples


def value(samples, metric, **labels):
    found = [v for (n, l), v in samples.items() if n == metric and set(labels.items()) <= set(l)]
    return found[0] if len(found) == 1 else found


def check_histograms(samples):
    series = {}
    for (name, labels), v in samples.items():
        if name.endswith("_bucket"):
            rest = tuple(l for l in labels if l[0] != "le")
            series.setdefault((name[:-7], rest), []).append((float(dict(labels)["le"].replace("+Inf", "inf")), v))
    check("there are histograms", series)
    for (name, labels), buckets in series.items():
        equal("buckets ascend", sorted(buckets), buckets)
        check("counts ascend", all(a[1] <= b[1] for a, b in zip(buckets, buckets[1:])), buckets)
        equal("the last is infinite", float("inf"), buckets[-1][0])
        equal("count", samples[name + "_count", labels], buckets[-1][1])


def test_metrics():
    driven = Driven()
    driven.tell("turns 1")
    process = subprocess.Popen([WEFT, "top", "--metrics", "127.0.0.1:0", "-n", "0", "-d", "100ms", str(driven.pid)],
                               stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    where = process.stderr.readline()
    if "without libsoup" in where:
        print("no metrics: built without libsoup")
        driven.quit()
        return
    port = int(re.search(r"http://127\.0\.0\.1:(\d+)/metrics", where).group(1))

    def ask(path="/metrics", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read().decode()

    def until(test):
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            try:
                samples = parse(ask()[2], False)[1]
            except (ConnectionError, http.client.HTTPException):
                continue  # there are too many connections yet
            if test(samples):
                return samples
        check("metrics", False, "do not come")
        return {}

    until(lambda s: value(s, "weft_recording_info", pid=str(driven.pid)) == 1)
    driven.tell("rounds 100 GET /1", 'create a job "quoted" back\\slash', "fail a", "create b job waits", "counter queued -5", "turns 7")
    samples = until(lambda s: value(s, "weft_loop_turns_total") == 7)
    equal("created", 102, value(samples, "weft_promises_created_total"))
    equal("rounds", 100, value(samples, "weft_promises_ended_total", type="round", label="GET /#", outcome="fulfilled"))
    equal("failed", 1, value(samples, "weft_promises_ended_total", label='\\"quoted\\" back\\\\slash', outcome="failed"))
    equal("pending", 1, value(samples, "weft_promises_pending", label="waits"))
    equal("counter", -5, value(samples, "weft_value", name="queued"))
    equal("durations", 100, value(samples, "weft_promise_duration_seconds_count", type="round"))
    equal("lost", 0, value(samples, "weft_events_lost_total"))
    check("busy", 0 < value(samples, "weft_loop_busy_seconds_total") < LONG)
    check_histograms(samples)
    # Which format
    prometheus = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    status, kind, text = ask(Accept=prometheus)
    equal("OpenMetrics", (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"), (status, kind))
    families, samples = parse(text, True)
    equal("types", {"info", "counter", "gauge", "histogram"}, set(families.values()))
    check_histograms(samples)
    status, kind, plain = ask(Accept="text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.1")
    equal("plain", "text/plain; version=0.0.4; charset=utf-8", kind)
    equal("without a wish", kind, ask()[1])
    equal("HEAD", (200, ""), ask(method="HEAD")[::2])
    equal("POST", 405, ask(method="POST")[0])
    equal("elsewhere", 404, ask("/else")[0])
    equal("a name of somebody else", 403, ask(Host="example.org")[0])
    equal("its own", 200, ask(Host=f"localhost:{port}")[0])
    # It closes connections: as many descriptors as before, and no more than a limit if many are held open.
    files = lambda: len(os.listdir(f"/proc/{process.pid}/fd"))
    for _ in range(100):
        ask("/")
    check("descriptors", files() < 50, files())
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(150)]
    refused = 0
    for connection in held[100:]:
        connection.settimeout(LONG)
        refused += connection.recv(1) == b""  # closed at once
    equal("too many", 50, refused)
    check("descriptors of those", files() < 120, files())
    for connection in held:
        connection.close()
    until(lambda s: value(s, "weft_loop_turns_total") == 7)
    promtool = shutil.which("promtool")
    if promtool:
        run = subprocess.run([promtool, "check", "metrics"], input=plain, capture_output=True, text=True)
        equal("promtool", (0, ""), (run.returncode, run.stderr))
    else:
        print("skipped: promtool is not installed (Debian's package prometheus)")
    driven.quit()
    # All that were given have ended.
    process.wait(LONG)
    equal("status", 0, process.returncode)
    equal("prints nothing", "", process.stdout.read())


def test_metrics_socket():
    driven, path = Driven(), f"{TMP}/metrics"
    old = socket.socket(socket.AF_UNIX)
    old.bind(path)  # left by another one
    old.close()
    process = subprocess.Popen([WEFT, "top", "--metrics", "unix:" + path, "-n", "0", str(driven.pid)],
                               stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if "without libsoup" in process.stderr.readline():
        return driven.quit()
    equal("what others may do", 0, os.stat(path).st_mode & 0o077)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answer = b""
    while part := connection.recv(65536):
        answer += part
    check("answers", answer.startswith(b"HTTP/1.") and b"weft_recording_info" in answer, answer[:300])
    run = top("--metrics", "unix:" + path, "-b", "-n", 1, "-d", "100ms")
    equal("taken", 1, run.returncode)
    process.terminate()
    process.wait(LONG)
    check("the socket is removed", not os.path.exists(path))
    driven.quit()


# ---- On a terminal ----


class Screen:
    """weft top in a terminal of its own, and what stands there: as much of a vt100 as ncurses asks for."""

    def __init__(self, lines, columns, *args, term="vt100", **env):
        self.lines, self.columns, self.raw = lines, columns, b""
        self.clear()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM=term, **env)
            os.environ.pop("LINES", None)
            os.environ.pop("COLUMNS", None)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execv(WEFT, [WEFT, "top", "-d", "200ms", *map(str, args)])

    def clear(self):
        self.cell = [[" "] * self.columns for _ in range(self.lines)]
        self.y = self.x = 0
        self.first, self.last = 0, self.lines - 1  # what scrolls
        self.rest = ""

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cell)

    def put(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\n" and self.y == self.last:
            self.cell.insert(self.last + 1, [" "] * self.columns)
            del self.cell[self.first]
        elif c == "\n":
            self.y = min(self.y + 1, self.lines - 1)
        elif c == "\b":
            self.x = max(self.x - 1, 0)
        elif c >= " ":
            if self.x < self.columns:
                self.cell[self.y][self.x] = c
            self.x += 1

    def escape(self, letter):
        if letter == "D":
            self.put("\n")
        elif letter == "M" and self.y == self.first:
            del self.cell[self.last]
            self.cell.insert(self.first, [" "] * self.columns)
        elif letter == "M":
            self.y = max(self.y - 1, 0)

    def control(self, numbers, letter):
        # What was written before the terminal became smaller may lead beyond its end.
        n = [int(part) if part.isdigit() else 0 for part in numbers.split(";")]
        if letter == "H":
            self.y, self.x = min(max(n[0] - 1, 0), self.lines - 1), max((n + [0])[1] - 1, 0)
        elif letter == "r":
            last = (n + [0])[1] - 1 if (n + [0])[1] else self.lines - 1
            self.first, self.last = min(max(n[0] - 1, 0), self.lines - 1), min(last, self.lines - 1)
            self.y = self.x = 0
        elif letter == "J":
            for y in range(self.y + 1, self.lines):
                self.cell[y] = [" "] * self.columns
            self.cell[self.y][self.x:] = [" "] * (self.columns - self.x)
        elif letter == "K":
            if n[0] == 0:
                self.cell[self.y][self.x:] = [" "] * (self.columns - self.x)
            else:
                self.cell[self.y][:self.x + 1] = [" "] * min(self.x + 1, self.columns)
        elif letter == "C":
            self.x += max(n[0], 1)
        elif letter == "D":
            self.x = max(self.x - max(n[0], 1), 0)
        elif letter == "A":
            self.y = max(self.y - max(n[0], 1), 0)
        elif letter == "B":
            self.y = min(self.y + max(n[0], 1), self.lines - 1)

    def feed(self, data):
        self.raw += data
        text = self.rest + data.decode(errors="ignore")
        while text:
            match = re.match(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b[()].|\x1b([=>78DM])|[^\x1b]", text, re.DOTALL)
            if not match:
                break
            if match.group(2):
                self.control(match.group(1), match.group(2))
            elif match.group(3):
                self.escape(match.group(3))
            elif match.group(0)[0] != "\x1b":
                self.put(match.group(0))
            text = text[match.end():]
        self.rest = text

    def until(self, what, test):
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            if test(self.text()):
                return self.text()
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    self.feed(os.read(self.fd, 65536))
                except OSError:
                    break
        check(f"on the screen: {what}", False, "\n" + self.text())
        os.kill(self.pid, signal.SIGKILL)
        raise SystemExit(1)

    def has(self, *parts):
        return self.until(parts, lambda text: all(part in text for part in parts))

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.clear()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def end(self, keys="q"):
        self.type(keys)
        while True:
            try:
                if not (data := os.read(self.fd, 65536)):
                    break
                self.raw += data
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_screen():
    driven = Driven()
    hang(driven)
    driven.tell("turns 3")
    screen = Screen(30, 140, driven.pid)
    screen.has("weft top", "driven", "pending 8", "loop", "GET /7", "1 Pending", "F1", "L2 (lock#")
    screen.type("2")
    screen.has("deadlock: first (task#", "which closes the circle", "nobody sends it")
    screen.type("\\GET /8")
    screen.until("filtered", lambda t: "nobody sends it" in t and "deadlock" not in t)
    screen.type("\x1b")
    screen.has("deadlock: first")
    screen.type("1/nobody\r\r")
    screen.has("details", "nobody sends it (reply#", "waits for it:", "GET /8 (request#")
    screen.type("\x1b")
    screen.has("1 Pending")
    screen.type("h")
    screen.has("keys", "explain the selected process")
    screen.type("q")
    driven.tell("rounds 321 fast")
    screen.type("3")
    screen.has("round", "fast", "P99")
    screen.type("5")
    screen.has("queued", "17")
    screen.type("4")
    screen.has("driven", "idle")
    screen.type("p")
    screen.has("paused")
    screen.type("p1")
    screen.resize(5, 20)
    screen.until("small", lambda t: "task" in t or "AGE" in t)
    screen.resize(40, 100)
    screen.has("GET /8", "F1")
    driven.kill()
    screen.has("was killed")
    equal("status", 0, screen.end())
    check("the terminal is restored", b"\x1b[?1l" in screen.raw, screen.raw[-80:])


def test_metrics_screen():
    """The screen and the server, in one process."""
    driven = Driven()
    driven.tell("create a task here")
    if "without libsoup" in top("--metrics", "127.0.0.1:0", "-b", "-n", 1, "-d", "100ms", driven.pid).stderr:
        return driven.quit()
    path = f"{TMP}/with-screen"
    screen = Screen(24, 100, "--metrics", "unix:" + path, driven.pid)
    screen.has("here", "F1")
    screen.resize(12, 60)
    screen.has("here")
    for i in range(3):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        while connection.recv(65536):
            pass
        driven.tell(f"create {i} task another{i}")
        screen.has(f"another{i}")
    equal("status", 0, screen.end())
    check("the socket is removed", not os.path.exists(path))
    driven.quit()


def test_actions():
    """Explaining and saving are left to others; the screen comes back."""
    driven = Driven()
    hang(driven)
    folder = os.getcwd()
    os.makedirs(f"{TMP}/saved")
    os.chdir(f"{TMP}/saved")
    screen = Screen(30, 140, driven.pid, WEFT_PAGER="")
    screen.has("GET /7")
    screen.type("s")
    text = screen.has("saved: driven-")
    name = re.search(r"saved: (\S+)", text).group(1)
    equal("events of what was saved", 0, subprocess.run([WEFT, "info", name], capture_output=True).returncode)
    screen.clear()
    before = len(screen.raw)
    screen.type("e")
    screen.has("Enter goes back")
    check("it was explained", b"1. deadlock" in screen.raw[before:], screen.raw[before:])
    screen.clear()
    screen.type("\r")
    screen.has("1 Pending", "GET /7")
    equal("status", 0, screen.end())
    os.chdir(folder)
    driven.quit()


def test_terminals():
    driven = Driven()
    driven.tell("create a task \x1b[31mred\x07\u202egnp.exe", "create b task \u4e2d\u6587\u5b57 end", "create c lock it",
              "hold a c", "wait a c")
    plain = Screen(24, 100, driven.pid, term="xterm-256color", NO_COLOR="1")
    plain.until("text", lambda t: b"red" in plain.raw and b"end" in plain.raw)
    equal("status", 0, plain.end())
    check("no colours", not re.search(rb"\x1b\[[0-9;]*3[0-7][;m]", plain.raw), plain.raw[:2000])
    check("nothing of the label gets through", b"\x1b[31mred" not in plain.raw and b"\x07" not in plain.raw
          and "\u202e".encode() not in plain.raw)
    check("wide characters", "\u4e2d\u6587\u5b57".encode() in plain.raw)
    bright = Screen(24, 100, "--view", "tree", driven.pid, term="xterm-256color")
    bright.until("text", lambda t: b"deadlock" in bright.raw)
    equal("status", 0, bright.end())
    check("the deadlock is red", re.search(rb"\x1b\[[0-9;]*31[;m][^\n]*deadlock", bright.raw), bright.raw[:2000])
    narrow = Screen(24, 100, driven.pid, LC_ALL="C")
    narrow.has("red", "end")
    equal("status", 0, narrow.end())
    check("only ASCII", all(byte < 0x80 for byte in narrow.raw))
    dumb = Screen(24, 100, "-n", 1, driven.pid, term="dumb")
    dumb.has("what waits for what", "deadlock")
    equal("status", 0, dumb.end(""))
    check("no control sequences", b"\x1b" not in dumb.raw, dumb.raw[:500])
    gone = Screen(24, 100, driven.pid)
    gone.has("red")
    os.kill(gone.pid, signal.SIGTERM)
    equal("status after SIGTERM", 0, gone.end(""))
    driven.quit()


TESTS = [test_report, test_rates, test_finding, test_none, test_metrics, test_metrics_socket, test_screen,
         test_metrics_screen, test_actions, test_terminals, *([test_samples] if may_sample() else []), test_unsampled]
for test in TESTS:
    if len(sys.argv) < 5 or test.__name__[5:] in sys.argv[4:]:
        before = failures
        test()
        if failures > before:
            print(f"FAILED in {test.__name__}")
sys.exit(failures > 0)
