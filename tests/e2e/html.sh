#!/bin/bash
# SPDX-License-Identifier: ISC
# The page that weft html makes, in a browser: html.js drives it.
. "$(dirname "$0")/lib.sh"
# NO_PAGE: on purpose
"$WEFT" help html >/dev/null 2>&1 || { [ -z "${NO_PAGE:-}" ] || skip 'no page'; missing 'this weft was built without weft html'; }
[ -x "${EXAMPLES:-}/arp_race" ] || skip 'EXAMPLES is not set'
here=$(cd "$(dirname "$0")" && pwd)
cd "$tmp"
# ---- The command ----
run 2 "$WEFT" html
says err 'PAGE is missing'
run 2 "$WEFT" html -o x.html
says err 'no FILE is given'
run 2 "$WEFT" html -o x.html --empty some.ctf
run 1 "$WEFT" html -o x.html "$here/html.sh"
says err 'is not a trace: it is text'
equal 'pages of what is no trace' '' "$(ls x.html* 2>/dev/null)"
cp "$SOURCE_ROOT/tests/fuzz/corpus/mirage/one-event" large.ctf
truncate -s 513M large.ctf
run 1 "$WEFT" html -o x.html large.ctf
says err 'large.ctf: is too large for a page'
equal 'pages of what is too large' '' "$(ls x.html* 2>/dev/null)"
rm large.ctf
run 1 "$WEFT" html -o /dev/full --empty
says err 'cannot be written'

run 1 simulated ring 67108864 "$EXAMPLES/arp_race" bad
run 0 "$WEFT" save -o bad.weft ring
run 0 "$WEFT" html -o bad.html ring # without the unused space
equal 'bytes of a page' yes "$([ "$(stat -c %s bad.html)" -lt 1000000 ] && echo yes)"
run 0 simulated ring 67108864 "$EXAMPLES/arp_race" good
run 0 "$WEFT" save -o good.weft ring
run 0 "$WEFT" html -o bad.html bad.weft
silent err
run 0 "$WEFT" html -o both.html --title 'A good <b>and</b> a bad run' good.weft bad.weft
run 0 "$WEFT" html -o many.html good.weft bad.weft good.weft bad.weft good.weft bad.weft
cp bad.weft noted.weft
cat >noted.weft.weft-notes <<'EOF'
{"weft-notes": 1, "since": "0", "notes": [{"at": "t1000000", "text": "a </script> in it"}, {"at": "r2-9", "text": ""},
  {"at": "x", "text": "of nothing"}, {"at": 1, "text": []}, "no note", {"at": "99999999999999999999999", "text": "of no promise"}]}
EOF
run 0 "$WEFT" html -o noted.html noted.weft
silent err
run 0 "$WEFT" html -o unnoted.html --no-notes noted.weft
run 0 "$WEFT" render -o noted.svg noted.weft
says noted.svg 'a &lt;/script&gt; in it'
run 0 "$WEFT" render -o unnoted.svg --no-notes noted.weft
equal 'notes in a picture' 0 "$(grep -c 'in it' unnoted.svg || :)"
echo '{"weft-notes": 1' >bad.weft.weft-notes
run 1 "$WEFT" html -o x.html bad.weft
says err 'bad.weft.weft-notes: is not JSON'
rm bad.weft.weft-notes
run 0 "$WEFT" html -o diff.html --diff good.weft bad.weft
run 0 "$WEFT" html -o finding.html --finding 1 --at path=1 bad.weft
says finding.html 'content="path=1&#38;finding=1"'
run 2 "$WEFT" html -o x.html --diff bad.weft
run 2 "$WEFT" html -o x.html --finding 0 bad.weft
run 0 "$WEFT" html -o empty.html --empty
"$WEFT" html -o - - <bad.weft >pipe.html
says pipe.html '<title>standard input</title>'
run 0 "$WEFT" html -o at.html --at '#from=1000000&to=2000000' bad.weft
# A file name, and labels, that would be taken for something else
hostile='</script><img src=x onerror=alert(1)>"'"'"'.ctf'
if [ -x "${MKTRACE:-}" ]; then
    "$MKTRACE" labels.ctf <"$SOURCE_ROOT/tests/golden/labels.trace"
    run 0 "$WEFT" html -o labels.html labels.ctf
    (cat labels.ctf && echo junk) >junk.ctf
    run 0 "$WEFT" html -o junk.html junk.ctf
    # The loop is blocked by render and a garbage collection while two wait for db; late stands ready after that.
    "$MKTRACE" waits.ctf <<'EOF'
0 0 creates parent=-1 child=1 type=task
0 0 label p=1 text="request"
0 0 switch p=1
1000000 0 creates parent=1 child=2 type=wait
1000000 0 label p=2 text="db"
1000000 0 creates parent=1 child=4 type=task
1000000 0 label p=4 text="late"
1000000 0 try_read reader=1 source=2
1000000 0 switch p=4
2000000 0 try_read reader=4 source=2
2000000 0 switch p=-1
40000000 0 creates parent=-1 child=3 type=task
40000000 0 label p=3 text="render"
40000000 0 switch p=3
60000000 0 gc duration=10000000
90000000 0 fulfills resolver=3 p=3
90000000 0 fulfills resolver=-1 p=2
90000000 0 read reader=1 source=2
95000000 0 fulfills resolver=1 p=1
95000000 0 read reader=4 source=2
98000000 0 switch p=-1
EOF
    run 0 "$WEFT" html -o waits.html waits.ctf
fi
if [ -x "${MKSAMPLES:-}" ]; then
    "$MKSAMPLES" served.weft <"$SOURCE_ROOT/tests/golden/flame/served.samples"
    run 0 "$WEFT" html -o served.html served.weft
fi
mkdir names
cp bad.weft "names/${hostile//\//_}"
run 0 "$WEFT" html -o hostile.html --at "$hostile" "names/${hostile//\//_}"
run 0 "$WEFT" html -o title.html --title "$hostile" bad.weft
equal 'tags of names' 0 "$(cat hostile.html title.html | grep -c '<img' || :)"
echo no trace >none.ctf

# ---- The C, without a browser ----
without() {
    [ "$failures" -eq 0 ] || finish
    missing "what needs a browser: $*"
}
command -v node >/dev/null || without 'there is no node'
run 0 node "$SOURCE_ROOT/tests/web/corpus.js" empty.html 1000 "$SOURCE_ROOT/tests/fuzz/corpus/"{mirage,weft} bad.weft
cat out

# ---- In a browser ----
# What drives it is fetched once, into the build directory. package-lock.json says what it must be.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || without 'there is no chromium'
modules=${BUILD_ROOT:-$tmp}/tests/web
if ! cmp -s "$SOURCE_ROOT/tests/web/package-lock.json" "$modules/installed"; then
    command -v npm >/dev/null || without 'there is no npm'
    mkdir -p "$modules"
    cp "$SOURCE_ROOT/tests/web/"package*.json "$SOURCE_ROOT/tests/web/.npmrc" "$modules"
    (cd "$modules" && timeout 600 npm ci --ignore-scripts >npm.log 2>&1) ||
        without "playwright-core cannot be fetched: $(tail -n 1 "$modules/npm.log")"
    cp "$SOURCE_ROOT/tests/web/package-lock.json" "$modules/installed"
fi
run 0 env NODE_PATH="$modules/node_modules" WEFT="$WEFT" BROWSER="$browser" node "$here/html.js" "$tmp" "$SOURCE_ROOT"
cat out
[ ! -s err ] || cat err
finish
