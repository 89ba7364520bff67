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
equal 'what was marked' 'never-resolved certain main app.js:13' "$(findings app.weft | head -n 1)"
finish
