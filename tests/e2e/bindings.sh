#!/bin/bash
# SPDX-License-Identifier: ISC
# bindings/node: what a program says by it stands in the trace; without a recording it does nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/node_lib.sh"

run 0 "$node" --test "$SOURCE_ROOT/bindings/node"
says "$tmp/out" '^[^ ]* fail 0$'
says "$tmp/out" '^[^ ]* pass [1-9]'

mkdir -p node_modules
cp -r "$SOURCE_ROOT/bindings/node" node_modules/weft
cat >app.js <<'END'
const weft = require('weft');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const jobs = weft.counter('jobs');

async function job(n) {
  jobs.add();
  weft.label(`number ${n}`);
  await sleep(1);
  jobs.set(10 * n);
}

async function main() {
  const lost = new Promise(() => {});
  weft.mark(lost);
  await weft.request('nightly', async () => {
    weft.traceparent('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    weft.traceparent('00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01', lost, { sent: true });
    weft.traceparent('something else', lost);
    weft.snapshot('by night');
    await job(1);
    await job(2);
  });
  await weft.request('bad', () => {
    throw new Error('oops');
  }).catch((e) => console.log(e.message, weft.recording));
}
main();
END
run 0 "$node" app.js
equal 'alone' 'oops false' "$(cat "$tmp/out")"
run 0 "$WEFT" record -o app.weft -- "$node" app.js
equal 'recorded' 'oops true' "$(cat "$tmp/out")"
run 0 "$WEFT" promises app.weft
equal 'requests' 'request fulfilled nightly;request failed bad;' \
    "$(awk -F '\t' '$2 == "request" { printf "%s %s %s;", $2, $6, $8 }' "$tmp/out")"
equal 'what is done for it' 'job app.js:5 job app.js:5' "$(awk -F '\t' '
    { type[$1] = $2; parent[$1] = $3; label[$1] = $8 }
    $8 ~ /^job/ { for (p = $3; type[p] && label[p] != "nightly"; p = parent[p]); if (type[p]) printf "%s%s", sep, $8; sep = " " }' "$tmp/out")"
run 0 "$WEFT" dump app.weft
says "$tmp/out" ' label p=[0-9]+ text="number 2"'
says "$tmp/out" ' counter="jobs" .*value=20$'
equal 'spans' 'span_parent 00f067aa0ba902b7;span b7ad6b7169203331;' \
    "$(sed -nE 's/.* (span|span_parent) p=[0-9]+ ids="4bf92f3577b34da6a3ce929d0e0e4736-(.*)"$/\1 \2;/p' "$tmp/out" | tr -d '\n')"
says "$tmp/out" ' snapshot p=[0-9]+ reason="by night"$'
equal 'what was marked' 'never-resolved certain main app.js:13' "$(findings app.weft | head -n 1)"

# Whoever fails keeps what it has.
cat >held.js <<'END'
const weft = require('weft');
const pool = weft.resource('connections');
const queue = [];
let free = 1;

async function get() {
  if (free > 0) return void free--;
  const place = new Promise((resolve) => queue.push(resolve));
  pool.wait(place);
  await place;
}

function giveBack() {
  pool.release();
  if (queue.length > 0) queue.shift()();
  else free++;
}

async function importer() {
  await get();
  pool.acquire();
  await new Promise((resolve) => setTimeout(resolve, 1));
  if (process.argv[2] !== 'good') throw new Error('bad record');
  giveBack();
}

async function reader() {
  await get();
  pool.acquire();
  giveBack();
  console.log('read');
}

process.exitCode = 3;
Promise.allSettled([importer(), reader()]);
END
run 3 "$WEFT" record -o held.weft -- "$node" held.js
run 0 "$WEFT" explain held.weft
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "'connections' \(resource [0-9]+\) was never given back; "
says "$tmp/text" "'importer held.js:[0-9]+' \(call [0-9]+\), which failed at [0-9.]+ .?s \('Error: bad record'\), still holds it, since"
run 3 "$WEFT" record -o good.weft -- "$node" held.js good
equal 'the good one' 'read' "$(cat "$tmp/out")"
equal 'what hangs in it' '' "$(findings good.weft)"
finish
