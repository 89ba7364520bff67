#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""table.py TABLE.tsv STATS.json: "same" if the table, sorted by count, has the rows of weft stats, and something ran on a
core; else both."""

import json
import sys

COLUMNS = ["count", "total_ns", "p50_ns", "p99_ns", "max_ns", "waiting_ns", "ready_ns", "running_ns", "failed"]
LATENCIES = COLUMNS[1:5]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        head, *rows = [line.rstrip("\n").split("\t") for line in f]
    with open(sys.argv[2], encoding="utf-8") as f:
        stats = json.load(f)["rows"]
    assert head == ["name", *COLUMNS, "cpu_ns", "type"], head
    found = sorted([row[-1], *row[1:10]] for row in rows)
    told = sorted([r["type"], *("" if c in LATENCIES and not r["latencies"] else str(r[c]) for c in COLUMNS)] for r in stats)
    counts = [int(row[1]) for row in rows]
    good = found == told and counts == sorted(counts) and any(int(row[10]) for row in rows)
    print("same" if good else f"{found}\n{told}")


main()
