#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Compares `weft promises` with the oracle, byte for byte, on random traces and on real ones.

Environment: WEFT, the program; ORACLE_SEEDS, how many random traces (default 60);
SHARED, the folder with data/mirage (default: beside the project), skipped if it is not there.
"""

import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

import generate
import oracle

# Sizes in events, with what generate.py is told; short traces let a single event decide.
SHAPES = [
    (1, {}), (12, {}), (40, {}), (150, {"alive": 5}), (400, {}), (1500, {"alive": 100}),
    (150, {"half": "zeros"}), (5000, {"alive": 1000, "packets": 40}), (300, {"unknown_types": True}),
    (400, {"alive": 400, "unused": 0, "half": "none"}),
]
PROJECT = pathlib.Path(__file__).resolve().parents[2]


def weft_promises(weft, trace, raw):
    """What weft prints, and why that cannot be right if its exit status already tells."""
    command = [weft, "promises"] + ["--raw"] * raw + [str(trace)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return b"", "no answer within a minute"
    if done.returncode == 0:
        return done.stdout, None
    return done.stdout, f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}"


def check(weft, trace, raw, want, title):
    """Returns whether weft prints `want`, and says what is different."""
    got, failure = weft_promises(weft, trace, raw)
    if got == want and not failure:
        return True
    print(f"FAILED: {title}{' --raw' * raw}")
    if failure:
        print(failure)
    lines = difflib.diff_bytes(difflib.unified_diff, want.splitlines(), got.splitlines(),
                               b"expected", b"weft", n=0, lineterm=b"")
    for number, line in enumerate(lines):
        if number == 40:
            print("…")
            break
        print(line.decode(errors="backslashreplace"))
    return False


def expected(data, raw):
    return b"".join(oracle.promises_tsv(oracle.Model(oracle.read_events(data)), raw))


def random_traces(weft, seeds, folder):
    """Yields the outcome of each comparison."""
    trace = folder / "random.ctf"
    for seed in range(seeds):
        events, options = SHAPES[seed % len(SHAPES)]
        data = generate.generate(seed, events, **options)
        trace.write_bytes(data)
        flags = " ".join(f"--{name.replace('_', '-')}" + f" {value}" * (value is not True)
                         for name, value in options.items())
        for raw in (False, True):
            yield check(weft, trace, raw, expected(data, raw),
                        f"tests/oracle/generate.py {seed} {events} random.ctf {flags}")


def real_traces(weft, shared):
    """Yields the outcome of each comparison, with the truth files where there are some."""
    traces = sorted((shared / "data" / "mirage").glob("*.ctf"))
    if not traces:
        print(f"skipped: the real traces, as there are none in {shared}/data/mirage")
    for trace in traces:
        for raw in (False, True):
            want = expected(trace.read_bytes(), raw)
            truth = trace.with_suffix(".promises.raw.tsv" if raw else ".promises.tsv")
            if truth.exists() and truth.read_bytes() != want:
                print(f"FAILED: the oracle itself differs from {truth}")
                yield False
            yield check(weft, trace, raw, want, str(trace))


def main():
    weft = os.environ.get("WEFT")
    if not weft or not os.access(weft, os.X_OK):
        print("usage: WEFT=path/to/weft tests/oracle/compare", file=sys.stderr)
        return 2
    weft = os.path.abspath(weft)
    seeds = int(os.environ.get("ORACLE_SEEDS", "60"))
    shared = pathlib.Path(os.environ.get("SHARED") or PROJECT.parent / "shared")
    with tempfile.TemporaryDirectory() as folder:
        outcomes = list(random_traces(weft, seeds, pathlib.Path(folder)))
    outcomes += real_traces(weft, shared)
    print(f"{outcomes.count(True)} outputs as expected, {outcomes.count(False)} not")
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
