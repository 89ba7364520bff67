# SPDX-License-Identifier: ISC
"""cli_report.py WEFT TRACE: reports on a terminal of ten lines and eighty columns, with a pager and without."""

import re
import sys
import unicodedata

from terminal import on_terminal

failures = 0


def check(what, condition, *shown):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what, *shown)


def main():
    weft, trace = sys.argv[1:]
    mark = "sed s/^/paged:/"
    plain, status = on_terminal([weft, "stats", trace], WEFT_PAGER="")
    missing, status = on_terminal([weft, "stats", trace], PAGER="no-such-pager -R")
    check("no pager where there is none of that name", status == 0 and missing == plain, status, missing)
    check("no pager where WEFT_PAGER is empty", status == 0 and plain.startswith(trace) and "\033[1m" in plain, status, plain)
    for line in plain.splitlines():
        bare = re.sub(r"\033\[[0-9;]*m", "", line)
        columns = sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in bare)
        check("no line is wider than the terminal", columns <= 80, columns, line)
    for command in ("stats", "explain", "info", "dump", "promises"):
        without, status = on_terminal([weft, command, trace], WEFT_PAGER="", PAGER=mark)
        paged, paged_status = on_terminal([weft, command, trace], PAGER=mark)
        check(f"{command} goes through PAGER", paged == "".join("paged:" + line + "\n" for line in without.splitlines()), paged)
        check(f"the exit status of {command} is its own", status == paged_status, status, paged_status)
        own, _ = on_terminal([weft, command, trace], PAGER="false", WEFT_PAGER=mark)
        check(f"WEFT_PAGER goes before PAGER for {command}", own == paged, own)
        for words in ([weft, "--no-pager", command, trace], [weft, command, "--no-pager", trace]):
            none, _ = on_terminal(words, PAGER=mark)
            check(f"{words[1:]} has no pager", none == without, none)
    early, status = on_terminal([weft, "dump", trace], PAGER="head -n 1")
    check("a pager that ends early is no failure", status == 0 and early.count("\n") == 1, status, early)
    missing, status = on_terminal([weft, "stats", trace + ".none"], PAGER=mark)
    check("what is wrong is said", status == 1 and "cannot be opened" in missing and "paged" not in missing, status, missing)
    bare, _ = on_terminal([weft, "stats", trace], WEFT_PAGER="", NO_COLOR="1")
    check("no colours with NO_COLOR", "\033" not in bare, bare)
    wide, _ = on_terminal([weft, "stats", trace], WEFT_PAGER="", COLUMNS="200", NO_COLOR="1")
    check("a terminal knows its own width", wide == bare, wide)
    sys.exit(failures > 0)


main()
