// SPDX-License-Identifier: ISC
// Reads damaged and hostile traces with the page's WebAssembly, without a browser: a size_t has 32 bits there, so
// that what overflows is not what overflows elsewhere. What should not be touched ends it with a trap, if it is
// far enough from anything else.
// usage: node corpus.js PAGE.html ROUNDS FILE-OR-FOLDER...
"use strict";

const fs = require("fs");
const path = require("path");
const zlib = require("zlib");

const [page, rounds, ...roots] = process.argv.slice(2);
const packed = /id="wasm">([^<]*)</.exec(fs.readFileSync(page, "utf8"))[1];
const wasm = new WebAssembly.Module(zlib.gunzipSync(Buffer.from(packed, "base64")));
let failures = 0;
let C;

function fail(text) {
  failures++;
  console.log(`FAILED: ${text}`);
}

if (WebAssembly.Module.imports(wasm).length)
  fail(`it wants ${JSON.stringify(WebAssembly.Module.imports(wasm))}`);

function begin() {
  C = { ...new WebAssembly.Instance(wasm, {}).exports };
  for (const name in C)
    if (name.startsWith("weft_explorer_")) {
      const f = C[name];
      C[name.replace("explorer_", "")] = (...given) => f(new Uint32Array(C.memory.buffer)[C.page_explorer.value / 4], ...given);
    }
  C.weft_begin(1, 2);
}

function put(bytes) {
  const address = C.weft_room(bytes.length), memory = new Uint8Array(C.memory.buffer);
  memory.set(bytes, address);
  memory[address + bytes.length] = 0;
  return address;
}

function withText(text, f) {
  const address = put(Buffer.from(text));
  f(address);
  C.weft_drop(address);
}

// Letters stay empty here: only a browser can draw them.
function paint(theme, ratio = 1) {
  if (!C.weft_paint(theme, Math.round(900 * ratio), Math.round(500 * ratio), ratio))
    throw new Error("no picture");
  while (C.weft_letters() > 0);
  if (C.weft_pixels() < 0)
    throw new Error("no pixels");
}

function look() {
  C.weft_resize(900, 500);
  paint(0);
  C.weft_facts();
  C.weft_visible();
  C.weft_picture();
  for (let i = 0; i < 3; i++) {
    C.weft_scroll(500, 300, 0, -3, 0);
    C.weft_point(400, 60 + 40 * i);
    C.weft_press(400, 60 + 40 * i, 1, 0);
    C.weft_release(400, 60 + 40 * i);
    paint(1, 1.25 + i / 4);
    C.weft_facts();
  }
  C.weft_analyse();
  for (let i = 0; i < 3; i++) {
    withText("e", key => C.weft_key(key, 0));
    paint(0);
    C.weft_facts();
    C.weft_picture();
  }
  withText("a <1s", C.weft_search);
  while (C.weft_work());
  C.weft_found();
  C.weft_place();
}

let shown = 0;

function bear(bytes, name) {
  try {
    withText("x", title => {
      if (C.weft_show(put(bytes), bytes.length, title, 0, 0) === 0) {
        shown++;
        look();
      }
    });
  } catch (error) {
    fail(`${name}: ${error.message}`);
    fs.writeFileSync("corpus-failure", bytes);
    begin();
  }
}

const files = [];

function walk(at) {
  if (fs.statSync(at).isDirectory())
    fs.readdirSync(at).sort().forEach(name => walk(path.join(at, name)));
  else
    files.push({ name: at, bytes: fs.readFileSync(at) });
}
roots.forEach(walk);

let state = 1;
const random = below => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % below;
const limits = [0xffffffffffffffffn, 0x7fffffffn, 0x80000000n, 0x40000001n, 0x100000001n, 0x4000000000n, 0xffffffffn];

begin();
for (const file of files)
  bear(file.bytes, file.name);
const small = files.filter(file => file.bytes.length > 64 && file.bytes.length < 200000);
for (let round = 0; round < Number(rounds); round++) {
  const file = small[random(small.length)], bytes = Buffer.from(file.bytes);
  for (let i = 1 + random(4); i > 0; i--) {
    const at = random(bytes.length - 8);
    if (random(3))
      bytes[at] = random(256);
    else
      bytes.writeBigUInt64LE(limits[random(limits.length)], at);
  }
  bear(bytes, `${file.name}, round ${round}`);
}
if (shown < files.length / 4)
  fail(`only ${shown} were shown`);
console.log(`${files.length} files and ${rounds} damaged ones, ${shown} shown, ${failures} failed`);
process.exit(failures ? 1 : 0);
