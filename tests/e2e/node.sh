#!/bin/bash
# SPDX-License-Identifier: ISC
# Node.js programs that nobody changed: weft record tells of them what it would of others, and they notice nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/node_lib.sh"
adapter=$BUILD_ROOT/adapters/node
bugs=$SOURCE_ROOT/examples/bugs/node

# record TRACE ARGUMENT...: of node
record() {
    local trace=$1
    shift
    "$WEFT" record --force --size 1M -o "$trace" -- "$node" "$@"
}

# facts TRACE EXPRESSION: see facts.py
facts() {
    "$WEFT" dump "$1" >dump
    python3 "$SOURCE_ROOT/tests/e2e/facts.py" --renamed "$2" <dump
}

# ---- What hangs is explained ----
run 0 record pool.weft "$bugs/pool.js"
says "$tmp/err" '^weft: pool.weft: [0-9]+ events, .*'
run 0 "$WEFT" explain --json pool.weft
equal 'the first finding' 'hang-root certain acquire pool.js:16' "$(findings pool.weft | head -n 1)"
says "$tmp/out" 'which got it last and has not passed it on, failed at .*Error: bad row 6'
equal 'calls of an async function' 12 "$(facts pool.weft 'len([r for r in p if r[:2] == ("call", "handle pool.js:34")])')"
run 0 record good.weft "$bugs/pool.js" good
equal 'what is wrong with the good one' '' "$(findings good.weft)"
equal 'what is pending' 0 "$(facts good.weft 'len([r for r in p if r[2] == "pending"])')"

# ---- The program is the same ----
cat >same.mjs <<'END'
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { once, EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { exec } from 'node:child_process';
import { promisify } from 'node:util';

async function* numbers() {
  for (let i = 0; i < 2; i++) {
    await delay(1);
    yield i;
  }
}
async function fail() {
  await null;
  throw new TypeError('no');
}
for await (const n of numbers()) console.log(n);
try {
  await fail();
} catch (e) {
  console.log(e.stack);
}
console.log(Promise.resolve(1), new Promise(() => {}), Object.getOwnPropertySymbols(fail().catch(String)));
console.log((await readFile(new URL(import.meta.url), 'utf8')).length);
console.log((await promisify(exec)('echo child')).stdout);
const worker = new Worker('require("worker_threads").parentPort.postMessage(5)', { eval: true });
console.log(await once(worker, 'message'));
await worker.terminate();
const order = [];
process.nextTick(() => order.push('tick'));
queueMicrotask(() => order.push('microtask'));
setImmediate(() => order.push('immediate'));
await delay(5);
const e = new EventEmitter();
setTimeout(() => e.emit('x'), 1);
await once(e, 'x');
await Promise.race([delay(1), delay(100000, 0, { ref: false })]);
process.on('unhandledRejection', (reason) => console.log('unhandled', reason.message));
fail();
await delay(1);
console.log(order, process.listenerCount('exit'), Object.keys(process.env).filter((k) => k.startsWith('WEFT_')).length > 11,
  process.execArgv);
process.exitCode = 3;
END
run 3 "$node" same.mjs
cp "$tmp/out" alone.out
cp "$tmp/err" alone.err
run 3 record same.weft same.mjs
cp "$tmp/out" same.out
grep -v '^weft: same[-.]' "$tmp/err" >same.err || :
same 'what the program prints' alone.out same.out
same 'what it says' alone.err same.err
equal 'what is pending' "[('worker', 'Worker same.mjs:27')]" "$(facts same.weft '[r[:2] for r in p if r[2] == "pending" and r[0] not in ("promise", "timer")]')"
run 0 "$WEFT" explain --json same.weft
says "$tmp/out" "'fail same.mjs:14' .* with 'unhandled rejection: TypeError: no'"

# ---- Files ----
cat >files.js <<'END'
const fs = require('fs');
fs.stat('config.json', () => {});
fs.open(__filename, (e, fd) => fs.fstat(fd, () => {}));
fs.promises.readdir('/none').catch(() => fs.promises.rename('old', 'new').catch(() => {}));
fs.access(`/${'x'.repeat(100)}`, () => {});
(async () => await fs.promises.truncate('package.json'))().catch(() => {});
END
run 0 record files.weft files.js
equal 'operations on files' \
    "['access …$(printf 'x%.0s' {1..79})', 'fstat files.js:3', 'open $tmp/files.js', 'readdir /none', 'rename old', 'stat config.json', 'truncate package.json']" \
    "$(facts files.weft 'sorted(r[1] for r in p if r[0] in ("fs", "call") and r[1] != "files.js:6")')"

# ---- How a program ends ----
cat >ends.js <<'END'
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function main(how) {
  if (how === 'exit') {
    await sleep(1);
    process.exit(4);
  }
  if (how === 'thrown') setTimeout(() => { throw new Error('thrown'); }, 1);
  await sleep(100);
}
async function now() {
  throw new Error('now');
}
process.argv[2] === 'now' ? now() : main(process.argv[2]);
END
run 4 record e.weft ends.js exit
equal 'what exits' '' "$(findings e.weft)"
run 1 record e.weft ends.js thrown
says "$tmp/err" '^Error: thrown$'
equal 'what is thrown' '' "$(findings e.weft)"
equal 'who has thrown' "[('timer', '1 ms ends.js:7', 'fails')]" "$(facts e.weft '[r for r in p if r[2] == "fails"]')"
run 1 record e.weft ends.js now
equal 'what fails at once' 'swallowed-failure likely now ends.js:10' "$(findings e.weft | head -n 1)"
echo 'await new Promise(() => {});' >never.mjs
run 13 record e.weft never.mjs
equal 'an await that never ends' 'hang-root certain never.mjs:1' "$(findings e.weft | head -n 1)"

# ---- Requests ----
cat >server.js <<'END'
const http = require('http');
async function user(id) {
  if (id === '7') await new Promise(() => {});
  await new Promise((resolve) => setTimeout(resolve, 1));
  return id;
}
const server = http.createServer(async (request, response) => {
  const id = request.url.split('/').pop();
  response.statusCode = id === '5' ? 500 : 200;
  response.end(await user(id));
});
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address();
  const get = (path) => new Promise((resolve) => http.get({ port, path }, (r) => r.resume().on('end', resolve)));
  await get('/users/4');
  await get('/users/5');
  setTimeout(() => process.kill(process.pid, 'SIGINT'), 300);
  get('/users/7');
});
END
run 130 "$WEFT" record --force --size 1M -o s.weft -- "$OWN_CLOCK" "$node" server.js
equal 'requests' "['fulfills', 'fails', 'pending']" "$(facts s.weft '[r[2] for r in p if r[0] == "request"]')"
equal 'their labels' "['GET /users/4 200', 'GET /users/5 500', 'GET /users/7']" "$(facts s.weft '[r[1] for r in p if r[0] == "request"]')"
run 0 "$WEFT" explain --all --json s.weft
equal 'what hangs' 'hang-root user server.js:3' "$(json "$tmp/out" '"{name} {label}".format(**[f for f in d["findings"] if f["name"] != "loop-blocked"][0])')"

# ---- Processes ----
cat >children.js <<'END'
const { spawnSync, fork } = require('child_process');
(async () => await null)();
if (process.argv[2] !== 'child') {
  spawnSync(process.execPath, [__filename, 'child']);
  fork(__filename, ['child']);
}
END
run 0 record f.weft children.js
equal 'traces of children' 2 "$(find . -name 'f-*.weft' | wc -l)"
equal 'lines about them' 2 "$(grep -Ec '^weft: f-[0-9]+.weft: [0-9]+ events, 1 promise, of process [0-9]+' "$tmp/err")"
printf '#!/usr/bin/env node\nrequire("./children.js");\n' >script
chmod +x script
run 0 env PATH="$(dirname "$node"):$PATH" "$WEFT" record --force --size 1M -o script.weft -- ./script child
says "$tmp/err" '^weft: script.weft: [0-9]+ events, 1 promise'
run 0 record twice.weft --require "$adapter/weft.js" children.js child
equal 'lines, though its node was told twice to load us, as by node --test' 1 "$(grep -c '^' "$tmp/err")"

# ---- On and off ----
cat >switched.js <<'END'
const tick = async () => await new Promise((resolve) => setTimeout(resolve, 1));
let open;
const gate = new Promise((resolve) => { open = resolve; });
const pass = async () => { await gate; };
(async () => {
  const waiting = [pass(), pass(), pass()];
  await tick();
  console.log(process.pid);
  while (!require('fs').existsSync('off')) await tick();
  open();
  await Promise.all(waiting);
  require('fs').renameSync('off', 'passed');
  while (!require('fs').existsSync('enough')) await tick();
})();
END
record w.weft switched.js >pid 2>err &
wait_for grep -q . pid
run 0 "$WEFT" ctl "$(cat pid)" off
run 0 "$WEFT" save -o off.weft "$(cat pid)"
touch off
wait_for test -e passed
run 0 "$WEFT" ctl "$(cat pid)" on
run 0 "$WEFT" save -o on.weft "$(cat pid)"
touch enough
wait
equal 'what ended while it was off is no hang' '' "$(findings w.weft)"
equal 'though pending in the trace' 3 "$(facts w.weft 'sum(r[1].startswith("pass ") and r[2] == "pending" for r in p)')"
run 0 "$WEFT" info w.weft
equal 'calls before it was off' True "$(facts off.weft 'len([r for r in p if r[:2] == ("call", "tick switched.js:1")]) > 0')"

# ---- What cannot be recorded, and what shall not ----
run 0 record n.weft --no-addons -e '0'
says "$tmp/err" '^weft: node loads no addons here \(ERR_DLOPEN_DISABLED\); the program runs on without recording$'
says "$tmp/err" 'nothing was recorded: it is a Node.js program, but its node is older than 18, or may not load addons$'
run 0 "$WEFT" record --runtimes none -o n.weft -- "$node" -p 'process.env.NODE_OPTIONS'
equal 'NODE_OPTIONS without runtimes' undefined "$(cat "$tmp/out")"
says "$tmp/err" 'nothing was recorded: it is a Node.js program, and --runtimes leaves Node.js out$'
run 0 env NODE_OPTIONS=--no-deprecation "$WEFT" record --force -o n.weft -- "$node" -p 'process.noDeprecation'
equal 'NODE_OPTIONS of its own' true "$(cat "$tmp/out")"
run 0 "$WEFT" record --list-runtimes
says "$tmp/out" '^node  Node.js 18'
says "$tmp/out" "^        $adapter\$"
finish
