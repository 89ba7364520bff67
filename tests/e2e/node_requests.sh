#!/bin/bash
# SPDX-License-Identifier: ISC
# Requests that a Node.js program answers: what is done for them hangs under them, and they wait for it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/node_lib.sh"

cat >server.js <<'END'
const http = require('http');
const good = process.argv[2] === 'good';
const waiting = [];
let free = 1;

async function connect() {
  if (free > 0) free--;
  else await new Promise((resolve) => waiting.push(resolve));
}

function release() {
  if (waiting.length > 0) waiting.shift()();
  else free++;
}

async function user(id) {
  await connect();
  if (id === '2' && !good) throw new Error('no such row'); // and keeps its connection
  release();
  return id;
}

const server = http.createServer(async (req, res) => {
  try {
    res.end(await user(req.url.split('/')[2]));
  } catch (e) {
    res.statusCode = 500;
    res.end(e.message);
  }
});

function ask(id) {
  return new Promise((resolve, reject) => {
    http.get({ port: server.address().port, path: `/user/${id}`, agent: false }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    }).on('error', reject);
  });
}

server.listen(0, async () => {
  console.log(await ask(1), await ask(2));
  if (good) {
    console.log(await ask(3));
    server.close();
  } else {
    ask(3);
    setTimeout(() => process.exit(4), 50);
  }
});
END

run 4 "$WEFT" record -o bad.weft -- "$OWN_CLOCK" "$node" server.js
equal 'answers' '200 500' "$(cat "$tmp/out")"
equal 'the first finding' 'hang-root certain connect server.js:8' "$(findings bad.weft | head -n 1)"
run 0 "$WEFT" explain bad.weft
says "$tmp/out" "'GET /user/3'"
run 0 "$WEFT" promises bad.weft
equal 'requests' 'fulfilled GET /user/1;failed GET /user/2;' \
    "$(awk -F '\t' '$2 == "request" && $6 != "pending" { printf "%s %s;", $6, $8 }' "$tmp/out")"

run 0 "$WEFT" record -o good.weft -- "$OWN_CLOCK" "$node" server.js good
equal 'findings of the good one' '' "$(findings good.weft)"
run 0 "$WEFT" dump good.weft
equal 'requests that wait for what is done for them' 3 "$(awk '
    / creates / && /type=request/ { match($0, /child=[0-9]+/); request[substr($0, RSTART + 6, RLENGTH - 6)] = 1 }
    / try_read / { match($0, /reader=[0-9]+/); if (substr($0, RSTART + 7, RLENGTH - 7) in request) n++ }
    END { print n + 0 }' "$tmp/out")"
finish
