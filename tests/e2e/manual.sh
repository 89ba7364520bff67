#!/bin/bash
# SPDX-License-Identifier: ISC
# The manual pages, as each renderer shows them: nothing of Markdown is left, and no renderer has anything to say. Each
# command has a page, each call of weft.h a name in weft.h(3).
. "$(dirname "$0")/lib.sh"

pages=$BUILD_ROOT/docs
ls "$pages"/weft.1 >/dev/null 2>&1 || missing 'there are no manual pages: lowdown is not installed'
export LC_ALL=C.UTF-8 MANWIDTH=80
unset MANOPT MANROFFOPT MANROFFSEQ MANPAGER GROFF_NO_SGR

# What no page means to say: code, bold, links and rows as Markdown has them; emphasis, escapes, comments, entities,
# terms and headings; two minuses that became a dash.
leftover='`|\*\*|\]\(|^ *\|[^|]|\*[[:alnum:]_.…-]+\*|(^|[^[:alnum:]_/])_[[:alnum:]-]+_([^[:alnum:]_]|$)'
leftover+='|\\[][|*_`<]|<!--|&[a-z]+;|^ *: [[:alpha:]]|^ *#{1,6} [A-Z].*[^.]$|[–—][a-z]'

by_man() { man --warnings -l "$1"; }
by_groff() { groff -t -K utf8 -T utf8 -man -ww -rLL=80n -P-c -P-b -P-u -P-o "$1"; }
by_mandoc() { mandoc -T utf8 -O width=80 "$1" | col -bx; }

# clean WHAT FILE: a text that has no markup
clean() {
    checks=$((checks + 1))
    if grep -En -e "$leftover" "$2" >"$tmp/found"; then
        fail "$1 has markup that was not understood:"
        head -n 5 "$tmp/found"
    fi
}

# The search finds what it is for, and nothing in what pages may say.
while IFS= read -r line; do
    checks=$((checks + 1))
    grep -Eq -e "$leftover" <<<"$line" || fail "markup is not found: $line"
done <<'END'
       --promise NUMBER|*LABEL*
       weft profile [--top|**--tree|--lines] [--by** KEY]
       those of `generated` code
       [the guide](guide.md)
       | column | meaning |
       weft.go(_place_)
       \[--json\]
       : what is defined
   ## Of samples only
       –cflags
       &lt;file&gt;
END
cat >"$tmp/plain" <<'END'
       a pattern as in the shell (*, ?). WEFT_TRACE_SIZE, stream_N, on_crash=preserve
       weft info --json *.ctf | jq .events_total
       loop-blocked nightly report*
           while (isspace(*at)) at++;
       int weft_start(const struct weft_options *options); /* what runs */
       status|on|off|stop — and so on, from 1 – 2
END
clean 'a plain text' "$tmp/plain"

renderers=0
for renderer in man groff mandoc; do
    command -v $renderer >/dev/null || continue
    # Some containers have only a man that tells how to install it.
    [ $renderer != man ] || man -l "$pages/weft.1" 2>/dev/null | grep -q '^SEE ALSO' || continue
    renderers=$((renderers + 1))
    for page in "$pages"/*.[13]; do
        run 0 by_$renderer "$page"
        says "$tmp/out" '^NAME$'
        clean "$(basename "$page") by $renderer" "$tmp/out"
        # A word that is wider than its column in a table is nobody's fault.
        grep -v 'cannot adjust line' "$tmp/err" >"$tmp/said" || :
        silent "$tmp/said"
    done
done
[ $renderers -gt 0 ] || missing 'there is neither man, groff nor mandoc'

for command in $("$WEFT" help | sed -nE 's/^ +([a-z]+)  +.*/\1/p'); do
    checks=$((checks + 1))
    case $command in help) continue ;; esac
    [ -s "$pages/weft-$command.1" ] || fail "weft $command has no manual page"
    says "$SOURCE_ROOT/docs/man/weft.1.md" "^\*\*weft-$command\*\*\(1\)\$"
done

# What stands behind the line "---- Recording" is for callers.
sed -n '/^\/\* ---- Recording/,$p' "$SOURCE_ROOT/include/weft/weft.h" |
    sed -nE 's/^(#define |[A-Za-z_].*[ *])(weft_[a-z0-9_]+)\(.*/\2/p' | sort -u >"$tmp/calls"
checks=$((checks + 1))
[ "$(wc -l <"$tmp/calls")" -gt 25 ] || fail "only these calls were found in weft.h: $(tr '\n' ' ' <"$tmp/calls")"
sed -n '/^# NAME/,/^# LIBRARY/p' "$SOURCE_ROOT/docs/man/weft.h.3.md" | grep -oE 'weft_[a-z0-9_]+' | sort >"$tmp/names"
same 'the calls of weft.h, and the names of weft.h(3)' "$tmp/calls" "$tmp/names"
while read -r call; do
    says "$SOURCE_ROOT/docs/man/weft.h.3.md" "^    [a-z].* \*?$call\("
    says "$SOURCE_ROOT/docs/man/weft.h.3.md" "^(.*, )?\*\*$call\*\*\("
done <"$tmp/calls"
finish
