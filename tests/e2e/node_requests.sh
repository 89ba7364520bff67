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

# ---- Headers traceparent: what came, what is sent ----
cat >traced.js <<'END'
const http = require('http');
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const server = http.createServer(async (req, res) => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  res.end('text');
});

function ask(path, headers, change = () => {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port: server.address().port, path, agent: false, headers }, (answer) => {
      answer.resume();
      answer.on('end', resolve);
    });
    request.on('error', reject);
    change(request);
    request.end();
  });
}

const header = (n, flags = '01') => `00-${TRACE}-000000000000000${n}-${flags}`;

server.listen(0, async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  await ask('/option', { TraceParent: header(1) });
  await ask('/set', {}, (request) => request.setHeader('traceparent', header(2)));
  await ask('/list', ['Host', 'a', 'Traceparent', header(3, '00')]);
  await (await fetch(`${url}/fetch`, { headers: { traceparent: header(4) } })).text();
  await ask('/none', {});
  await ask('/upper', { traceparent: header(5).toUpperCase() });
  await ask('/zeros', { traceparent: `00-${'0'.repeat(32)}-0000000000000006-01` });
  await ask('/version', { traceparent: header(7).replace('00-', 'ff-') });
  await ask('/longer', { traceparent: header(8) + '-more' });
  await ask('/later', { traceparent: header(9).replace('00-', '01-') + '-more' });
  await ask('/twice', ['Host', 'a', 'traceparent', header(1), 'Traceparent', header(2)]);
  await ask('/name', { traceparen: header(1), traceparents: header(2), 'x-traceparent': header(3) });
  server.closeAllConnections?.();
  server.close();
});
END
run 0 "$WEFT" record -o traced.weft -- "$OWN_CLOCK" "$node" traced.js
run 0 "$WEFT" promises --ids traced.weft
# traced TYPE COLUMN: which requests have what there
traced() {
    awk -F '\t' -v type="$1" -v column="$2" '$2 == type { sub(/^[A-Z]+ (127.0.0.1|localhost)?(:[0-9]+)?/, "", $8)
        if ($column != "-") print $8, $column }' "$tmp/out" | sort | tr '\n' ';'
}
valid='/fetch 0000000000000004;/later 0000000000000009;/list 0000000000000003;/option 0000000000000001;/set 0000000000000002;'
equal 'spans that caused requests' "$valid" "$(traced request 11)"
equal 'requests that are spans' "$valid" "$(traced http 10)"
equal 'requests that are caused by none' '' "$(traced http 11)$(traced request 10)"
equal 'their traces' 4bf92f3577b34da6a3ce929d0e0e4736 "$(awk -F '\t' '$11 != "-" && NR > 1 { print $9 }' "$tmp/out" | sort -u)"
run 0 "$WEFT" promises --ids --trace 4BF92f "$tmp/traced.weft"
equal 'what is done for them is of the trace' yes "$(awk -F '\t' '$2 == "timer" || $2 == "timeout" || $2 == "Timeout" { yes = "yes" } END { print yes }' "$tmp/out")"
finish
