#!/bin/bash
# SPDX-License-Identifier: ISC
# What docs/guide.md quotes stands in the sources like that, and its links lead somewhere. A quotation is
# the fenced block after <!-- from FILE -->; a line that is only … stands for lines left out.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/quotes.py" <<'END'
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
guide = (root / "docs/guide.md").read_text(encoding="utf-8")
lines = lambda text: [line.strip() for line in text.strip("\n").split("\n")]
quotes = re.findall(r"^<!-- from (\S+) -->\n```\w*\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)


def find(source, piece, start):
    """Where the piece ends in the source, at or after start; None: it is not there."""
    for at in range(start, len(source) - len(piece) + 1):
        if source[at:at + len(piece)] == piece:
            return at + len(piece)
    return None


for path, block in quotes:
    source, at = lines((root / path).read_text(encoding="utf-8")), 0
    for piece in re.split(r"^\s*…\n", block, flags=re.MULTILINE):
        at = find(source, lines(piece), at)
        if at is None:
            print(f"not in {path}, or not in this order: {lines(piece)[0]}")
            break
for target in re.findall(r"\]\(([^)#:]+)\)", guide):
    if not (root / "docs" / target).exists():
        print(f"leads nowhere: {target}")
print(len(quotes), "quotations", file=sys.stderr)
END
run 0 python3 "$tmp/quotes.py" "$SOURCE_ROOT"
silent "$tmp/out"
says "$tmp/err" '^[1-9][0-9]* quotations$'
equal 'quotations without an end' "$(grep -c '^<!-- from ' "$SOURCE_ROOT/docs/guide.md") quotations" "$(cat "$tmp/err")"
finish
