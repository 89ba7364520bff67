# SPDX-License-Identifier: ISC
"""A session of LTTng for bench/run-record: user space, 8 sub-buffers of 1 MiB for each CPU, overwriting.

A daemon that runs already is used, and left alone. Else one is started, for as long as it is needed."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

# A program waits until the daemon knows it: no event is early. Set by session().
ENVIRONMENT = {"LTTNG_UST_REGISTER_TIMEOUT": "-1"}
NAME = f"weft-bench-{os.getpid()}"


def command(*words, check=True):
    return subprocess.run(["lttng", *words], env={**os.environ, **ENVIRONMENT}, check=check,
                          capture_output=True, text=True)


def daemon_answers():
    return command("--no-sessiond", "list", check=False).returncode == 0


class Session:
    def snapshot(self, folder):
        """What is in the buffers: how many events there are."""
        command("snapshot", "record", "--session", NAME, f"file://{folder}")
        said = subprocess.run(["babeltrace2", folder, "-c", "sink.utils.counter"], check=True,
                              capture_output=True, text=True).stdout
        events, discarded = (int(re.findall(rf"(\d+) {kind} message", said)[-1])  # it counts aloud
                             for kind in ("Event", "Discarded event"))
        if not events:
            raise SystemExit("bench/run-record: LTTng's snapshot is empty")
        return f"{events:,} in the snapshot, {discarded:,} discarded,"


def left_over():
    """What the daemon leaves in shared memory."""
    return set(pathlib.Path("/dev/shm").glob("lttng-ust-wait-*"))


@contextlib.contextmanager
def start_daemon():
    before = left_over()
    with tempfile.TemporaryDirectory(prefix="weft-bench-lttng-") as home:
        ENVIRONMENT["LTTNG_HOME"] = home
        log = pathlib.Path(home) / "log"
        with log.open("w") as out:
            daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=out, stderr=out,
                                      env={**os.environ, **ENVIRONMENT})
        try:
            for _ in range(100):
                if daemon_answers() or daemon.poll() is not None:
                    break
                time.sleep(0.1)
            yield daemon.poll() is None
        finally:
            daemon.terminate()
            daemon.wait()
            for path in left_over() - before:
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def session():
    """The session, or None: LTTng is not installed, or its daemon does not start."""
    if not all(shutil.which(p) for p in ("lttng", "lttng-sessiond", "babeltrace2")):
        yield None
        return
    with contextlib.ExitStack() as stack:
        if not daemon_answers() and not stack.enter_context(start_daemon()):
            yield None
            return
        command("create", NAME, "--snapshot")
        stack.callback(command, "destroy", NAME, check=False)
        command("enable-channel", "--session", NAME, "--userspace", "--overwrite", "--subbuf-size=1M",
                "--num-subbuf=8", "events")
        command("enable-event", "--session", NAME, "--userspace", "--channel=events", "weft_bench:*")
        command("start", NAME)
        yield Session()
