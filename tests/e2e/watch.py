# SPDX-License-Identifier: ISC
"""watch.py DIR: drives a program and looks at what weft watch keeps of it. Waits for lines of messages, never for a time."""

import os
import re
import signal
import subprocess
import sys

from watching import DRIVEN, TMP, WEFT, Driven, Watch, check, copy_of_program, failures, place


def one(condition, *lines, pattern, kept_as=None):
    """A condition holds when the program has done these lines."""
    trace, to = place()
    d = Driven(trace)
    w = Watch(to, d.pid, condition)
    w.until("watching")
    d.do(*lines)
    said = w.until("kept")
    check(f"{condition}: {pattern}", re.search(pattern, said), said)
    check(f"{condition}: named", re.search(kept_as or ".", said), said)
    d.end()
    check(f"{condition}: status", w.end() == 0)
    text = w.text(said)
    check(f"{condition}: text", f"Condition: {condition}\n" in text and "---- weft explain " in text and
          "on the trace's clock" in text, text)
    return text


def conditions():
    text = one("GET?* > 50ms", "slow 70 POST", "slow 70 GET", "slow 70 GET/x",
               pattern=r"GET/x \(request, promise \d+\) took", kept_as=r"/driven-\d+-[-0-9T:.]+Z-GET-50ms\.weft\.zst")
    check("its story", "'GET/x' (request" in text and "---- weft explain --promise" in text, text)
    one("pending /../b > 50ms", "create b request /../b", "slow 60 x", pattern=r"/\.\./b \(request, promise \d+\) "
        "(has been pending for|took)", kept_as=r"Z-pending-..-b-50ms\.weft\.zst")
    one("failed *", "create a request a", "fulfil a", "create b request b", "fail b why",
        pattern=r"b \(request, promise \d+\) failed after .*: why")
    one("loop > 60ms", "busy 1", "busy 80", pattern="the event loop of thread .* in one turn for")
    one("counter queue > 10", "counter queue 10", "counter other 11", "counter queue 11",
        pattern="the counter queue is 11")
    one("counter free < 3", "counter free 3", "counter free 2", pattern="the counter free is 2")
    one("rate many > 5/s", "rounds 400 few", "rounds 400 many", pattern="promises many ended in 10 s")
    one("rate failed * > 1/min over 1s", "create a request a", "fail a why", pattern=r"1 promises \* failed in 1 s")
    one("call slow*", "call other", "call slow/now", pattern=r'weft_snapshot\("slow/now"\)')
    one("crash", "crash", pattern="the process has ended: without stopping its recording")


def signals():
    trace, to = place()
    d = Driven(trace)
    w = Watch(to, d.pid, "signal USR2", "signal USR1")
    w.until("watching")
    w.p.send_signal(signal.SIGUSR1)
    text = w.text(w.until("kept"))
    check("a signal", "Condition: signal USR1\n" in text and "signal USR2" not in text.split("---- ")[0], text)
    w.p.send_signal(signal.SIGTERM)
    check("ends by a signal", w.end() == 0)
    check("nothing unfinished", not list(to.glob("*.part")))
    d.end()


def suppressed():
    """What happens within --every is counted, and kept at the end at the latest."""
    trace, to = place()
    d = Driven(trace)
    w = Watch(to, d.pid, "--every", "1h", "a > 10ms", "crash")
    w.until("watching")
    d.do("slow 20 a")
    first = w.until("kept")
    d.do(*["slow 20 a"] * 70)
    d.end()
    last = w.until("kept")
    w.end()
    check("two are kept", len(w.files()) == 2, *w.files())
    text = w.text(last)
    check("70 in the second", "70 times since the last recording was kept" in text, text)
    check("some are not listed", re.search("and [0-9]+ more that are not listed", text), text)
    check("the first has one", "times since" not in w.text(first))
    check("no crash", "Condition: crash" not in text, text)


def bounds():
    trace, to = place()
    d = Driven(trace)
    w = Watch(to, d.pid, "--every", "1ns", "--max-files", 2, "a > 10ms")
    w.until("watching")
    for _ in range(4):
        d.do("slow 20 a")
        w.until("kept")
    (to / "mine").write_text("mine")
    d.end()
    w.end()
    check("two stay", len(w.files()) == 2, *w.files())
    check("so do their texts", len(list(to.glob("*.txt"))) == 2, *to.iterdir())
    check("and what is not ours", (to / "mine").exists())


def reading():
    """Every command reads what is kept, as it is."""
    trace, to = place()
    d = Driven(trace)
    w = Watch(to, d.pid, "a > 10ms")
    w.until("watching")
    d.do("rounds 100 b", "slow 20 a")
    w.until("kept")
    d.end()
    w.end()
    file = str(w.files()[0])
    for command in (["info"], ["dump"], ["stats"], ["explain"], ["promises"], ["render", "-o", str(TMP / "a.svg")],
                    ["save", "-o", str(TMP / "a.weft")], ["export", "--to", "mirage", "-o", str(TMP / "a.ctf")]):
        r = subprocess.run([WEFT, *command, file], capture_output=True, text=True, check=False)
        check(f"{command[0]} reads it", r.returncode == 0, r.stderr)
    r = subprocess.run([WEFT, "dump", "-"], stdin=open(file, "rb"), capture_output=True, text=True, check=False)
    check("a pipe, too", r.returncode == 0 and "create" in r.stdout, r.stderr)


def no_room():
    """What cannot be kept is said once, and kept when it can be."""
    trace, to = place()
    to.write_text("in the way")
    d = Driven(trace)
    w = Watch(to, d.pid, "--every", "1ns", "a > 10ms")
    w.until("watching")
    d.do("slow 20 a")
    w.until("nothing can be kept")
    d.do("slow 20 a", "slow 20 a")
    to.unlink()
    text = w.text(w.until("kept "))
    check("all three", text.count("took") >= 3, text)
    d.end()
    w.end()
    check("said once", sum("nothing can be kept" in line for line in w.said) == 1, *w.said)


def full_disk():
    trace, to = place()
    to.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "weft", str(to)], check=False, capture_output=True).returncode == 0
    if not mounted:
        return
    try:
        try:
            with open(to / "filler", "wb", buffering=0) as f:
                while f.write(b"x" * 4096) == 4096:
                    pass
        except OSError:
            pass
        d = Driven(trace)
        w = Watch(to, d.pid, "--every", "1ns", "a > 10ms")
        w.until("watching")
        d.do("slow 20 a")
        check("it says why", "No space left" in w.until("nothing can be kept"))
        check("nothing unfinished", [f.name for f in to.iterdir()] == ["filler"], *to.iterdir())
        (to / "filler").unlink()
        w.until("kept ")
        d.end()
        w.end()
        check("one is kept", len(w.files()) == 1, *to.iterdir())
    finally:
        subprocess.run(["umount", "-l", str(to)], check=False)


def restarted():
    """The next process in its place is watched from its start."""
    trace, to = place()
    program = copy_of_program()
    d = Driven(trace, program=program)
    w = Watch(to, "--follow", d.pid, "a > 10ms", "crash")
    w.until("watching")
    d.do("slow 20 a")
    w.until("kept")
    d.p.kill()
    d.end()
    check("the end of the first", "without stopping" in w.until("kept"))
    e = Driven(trace, program=program)
    e.do("slow 20 a")
    check("the second is found", str(e.pid) in w.until("watching"))
    check("what it did", f"{os.path.basename(program)}-{e.pid}-" in w.until("kept"))
    w.p.send_signal(signal.SIGTERM)
    check("ended", w.end() == 0)
    e.end()


def read_again():
    trace, to = place()
    conditions_file, log = TMP / "conditions", TMP / "log"
    conditions_file.write_text("# nothing yet\n\na > 1h\n")
    os.mkfifo(log)
    d = Driven(trace)
    w = Watch(to, "--conditions", conditions_file, "--log", log, d.pid)
    with open(log, encoding="utf-8") as said:
        check("the log", "1 condition" in said.readline())
        conditions_file.write_text("a > 1h\nb > 10ms\nb ?\n")
        w.p.send_signal(signal.SIGHUP)
        check("a mistake", "conditions, line 3" in said.readline())
        check("they stay", "stay as they were" in said.readline())
        conditions_file.write_text("a > 1h\nb > 10ms\n")
        os.rename(log, TMP / "log.1")
        os.mkfifo(log)
        w.p.send_signal(signal.SIGHUP)
        with open(log, encoding="utf-8") as again:
            check("the new log", "2 conditions" in again.readline())
            d.do("slow 20 b")
            check("the new condition", "kept" in again.readline())
            d.end()
            w.end()


def large():
    """More than a text may have."""
    trace, to = place()
    d = Driven(trace, size="16M")
    d.do("rounds 400000 many")
    w = Watch(to, "--run", 'echo "ran $WEFT_FILE"', d.pid, "a > 10ms")
    w.until("watching")
    d.do("slow 20 a")
    said = w.until("kept")
    w.until("^ran")
    text = w.text(said)
    check("it is large", re.search(r": [1-9]\d* MiB of its trace", text), text)
    check("it is explained", "---- weft explain --promise" in text and "(weft " not in text, text)
    d.end()
    w.end()


def commands():
    trace, to = place()
    d = Driven(trace)
    w = Watch(to, "--every", "1ns", "--run", 'echo "ran $WEFT_REASON $WEFT_PID" && ls "$WEFT_FILE" "$WEFT_TEXT" && exit 3', d.pid, "a > 10ms")
    w.until("watching")
    d.do("slow 20 a")
    check("the command", f"ran a > 10ms {d.pid}" in w.until("^ran"))
    check("its files", w.until(r"\.weft\.zst$") and w.until(r"\.weft\.zst\.txt$"))
    w.until("the command for .* has ended with status 3")
    d.end()
    w.end()
    d = Driven(trace)
    w = Watch(to, "--run", "echo began; read line < /dev/tty || exec tail -f /dev/null", "--run-timeout", "100ms", d.pid, "a > 10ms")
    w.until("watching")
    d.do("slow 20 a")
    w.until("the command for .* was killed, because it took too long")
    d.end()
    w.end()


def hostile():
    """Somebody writes into the trace meanwhile: anything may be kept, but the watcher goes on and ends."""
    trace, to = place()
    d = Driven(trace)
    w = Watch(to, "--interval", "10ms", "--every", "1ns", d.pid, "* > 1ms", "loop > 1ms", "counter * > 1", "rate * > 1/s")
    w.until("watching")
    state = 1
    with open(trace, "r+b") as f:
        size = f.seek(0, os.SEEK_END)
        for i in range(300):
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            f.seek(4096 + state % (size - 8192))
            f.write(state.to_bytes(8, "little") * 4)
            f.flush()
            if i % 30 == 0:
                d.p.stdin.write("slow 2 a\n")
                d.p.stdin.flush()
    d.p.kill()
    d.end()
    check("the watcher ends by itself", w.end() == 0, *w.said)


def recorded():
    """weft record --keep, and the environment."""
    trace, to = place()
    r = subprocess.run([WEFT, "record", "-o", str(trace), "--keep", "a > 10ms", "--keep-to", str(to), "--keep", "exit", DRIVEN],
                       input="slow 20 a\nexit 3\n", capture_output=True, text=True, check=False)
    check("its status", r.returncode == 3, r.stderr)
    texts = "".join(f.read_text() for f in to.glob("*.txt"))
    check("both", "took" in texts and "with status 3" in texts, texts, r.stderr)
    trace, to = place()
    r = subprocess.run([WEFT, "record", "--memory", "-o", str(trace), DRIVEN], cwd=TMP, input="slow 20 a\ncrash\n",
                       capture_output=True, text=True, check=False, env=dict(os.environ, WEFT_KEEP="b > 1h;crash"))
    check("its signal", r.returncode == -signal.SIGABRT, r.stderr)
    texts = "".join(f.read_text() for f in (TMP / "weft-kept").glob("*.txt"))
    check("the crash", "by signal 6 (Aborted)" in texts, texts, r.stderr)


def journal():
    """Standard error is the journal's, but there is no socket: priorities stand in front."""
    trace, to = place()
    d = Driven(trace)
    r, w = os.pipe()
    st = os.fstat(w)
    p = subprocess.Popen([WEFT, "watch", "--to", str(to), str(d.pid), "call"], stderr=w,
                         env=dict(os.environ, JOURNAL_STREAM=f"{st.st_dev}:{st.st_ino}"))
    os.close(w)
    with open(r, encoding="utf-8") as said:
        if not os.path.exists("/run/systemd/journal/socket"):
            check("a priority", said.readline().startswith("<6>weft: watching"))
            d.do("call x")
            check("a higher one", said.readline().startswith("<5>weft: kept"))
        d.end()
        p.wait()


conditions()
signals()
suppressed()
bounds()
reading()
no_room()
full_disk()
restarted()
read_again()
large()
commands()
hostile()
recorded()
journal()
sys.exit(1 if failures else 0)
