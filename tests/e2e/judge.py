# SPDX-License-Identifier: ISC
"""judge.py NAME LABEL LEAST <FINDINGS: what is wrong with them, if their first, at least that sure, is to be NAME of LABEL, a pattern;
"nothing" as NAME: if there is to be none. FINDINGS are weft explain --all --json.

What is judged by how long things took may be found on a machine that is busy with something else."""
import fnmatch, json, sys

name, label, least = sys.argv[1:4]
found = json.load(sys.stdin)["findings"]
clocked = {"drift", "gc-pause", "livelock", "loop-blocked", "starvation", "slow-wake", "spin"}
sure = [f for f in found if f["confidence"] != "possible" and (f["name"] == name or f["name"] not in clocked)]
tell = lambda f: f"{f['confidence']} {f['name']} of {f['label']!r}"
if name == "nothing":
    wrong = [f for f in sure if f["name"] not in clocked or f["label"] == label]
    wrong += [f for f in found if f["name"] == "leak"]
    print("; ".join(map(tell, wrong)))
elif not sure or sure[0]["name"] != name or not fnmatch.fnmatchcase(sure[0]["label"], label):
    print("first:", tell(sure[0]) if sure else "nothing")
elif least == "certain" and sure[0]["confidence"] != "certain" or len(sure) > 1:
    print("; ".join(map(tell, sure)))
