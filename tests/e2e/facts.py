# SPDX-License-Identifier: ISC
"""facts.py [--renamed] EXPRESSION <DUMP: its value, of what weft dump says: p are the promises, as rows of type, label and
outcome, rows the same by number; waits are pairs of labels, events (kind, what stands with it). --renamed: the label is the last
one that was given, not that of the creation."""
import re
import sys

renamed = sys.argv[1] == "--renamed"
rows = {}
events = []
for line in sys.stdin:
    time, stream, kind, *rest = re.findall(r'[a-z_]+="(?:[^"\\]|\\.)*"|\S+', line.strip())
    f = dict(part.split("=", 1) for part in rest if "=" in part)
    events.append((kind, f))
    number = f.get("p") or f.get("promise") or f.get("child")
    if kind == "creates":
        rows[f["child"]] = [f["type"], f.get("label", "").strip('"'), "pending"]
    elif number in rows and kind == "label" and renamed:
        rows[number][1] = f.get("label", f.get("text", "")).strip('"')
    elif number in rows and kind in ("fulfills", "fails", "resolves", "cancels", "forgets"):
        rows[number][2] = kind


def name(f, key):
    return rows[f[key]][1] if f.get(key) in rows else "loop"


p = [tuple(r) for r in rows.values()]
waits = [(name(f, "reader"), name(f, "source")) for kind, f in events if kind == "try_read"]
print(eval(sys.argv[-1]))
