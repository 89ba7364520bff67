// SPDX-License-Identifier: ISC
// The C code that does the work, and what is needed to call it: texts, structures, the elements of the page.

const $ = id => document.getElementById(id);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// The page as it came, without what is packed in it: from that it can be saved again.
const packed = [...document.querySelectorAll("script[data-trace], script[data-notes], #wasm")];
const skeleton = (() => {
  const copy = document.documentElement.cloneNode(true);
  for (const block of copy.querySelectorAll("script[data-trace], script[data-notes]")) {
    if (block.nextSibling?.nodeValue === "\n")
      block.nextSibling.remove();
    block.remove();
  }
  copy.querySelector("#wasm").textContent = "";
  for (const meta of copy.querySelectorAll("meta[name='weft-at'], meta[name='weft-title'], title"))
    meta.remove();
  return copy;
})();

let C; // what page.c exports; and the functions of its explorer, weft_NAME for weft_explorer_NAME
let L; // how its structures are laid out: page.c's table

// Views of its memory, which moves when it grows.
let memory = { bytes: new Uint8Array(0), words: new Int32Array(0) };

function mem() {
  const buffer = C.memory.buffer;
  if (memory.bytes.buffer !== buffer)
    memory = { bytes: new Uint8Array(buffer), words: new Int32Array(buffer) };
  return memory;
}

function textAt(address) {
  if (!address)
    return "";
  const { bytes } = mem();
  return decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
}

function word(address) {
  return mem().words[address >> 2] >>> 0;
}

// Calls f with the address of a text, terminated by a NUL; a NUL inside the text ends it.
function withText(text, f) {
  const bytes = encoder.encode(text);
  const address = C.weft_room(bytes.length);
  if (!address)
    throw new Error("out of memory");
  mem().bytes.set(bytes, address);
  mem().bytes[address + bytes.length] = 0;
  try {
    return f(address);
  } finally {
    C.weft_drop(address);
  }
}

// The array of count structures at an address, as objects of their fields. kinds: field: "text", "word" or "flag".
function structures(address, count, name, kinds) {
  const size = L[name], list = [];
  for (let i = 0; i < count; i++, address += size) {
    const one = {};
    for (const [field, kind] of Object.entries(kinds)) {
      const at = address + L[`${name}.${field}`];
      one[field] = kind === "text" ? textAt(word(at)) : kind === "flag" ? mem().bytes[at] !== 0 : word(at);
    }
    list.push(one);
  }
  return list;
}

// ---- Data in the page ----

function decodeBase64(text) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++)
    bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Unpacks a block of gzip in base64 and passes the bytes to take, piece by piece.
async function unpack(text, take) {
  const step = 4 << 20; // characters, a multiple of 4
  let at = 0;
  const packed = new ReadableStream({
    pull(controller) {
      if (at >= text.length)
        return controller.close();
      controller.enqueue(decodeBase64(text.slice(at, at + step)));
      at += step;
    },
  });
  const reader = packed.pipeThrough(new DecompressionStream("gzip")).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done)
      return;
    await take(value, Math.min(1, at / text.length));
  }
}

async function startCore() {
  const parts = [];
  await unpack($("wasm").textContent.trim(), part => { parts.push(part); });
  $("wasm").remove();
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  const { instance } = await WebAssembly.instantiate(bytes, {});
  C = { ...instance.exports };
  for (const [name, f] of Object.entries(C))
    if (name.startsWith("weft_explorer_"))
      C[name.replace("explorer_", "")] = (...given) => f(word(C.page_explorer.value), ...given);
  L = {};
  for (let at = C.page_layout.value; word(at); at += 8)
    L[textAt(word(at))] = word(at + 4);
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  if (C.weft_begin(high, low) < 0)
    throw new Error(textAt(C.page_said.value));
}

// ---- Elements ----

// An element with these properties and children; texts are never parsed.
function make(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key in element)
      element[key] = value;
    else
      element.setAttribute(key, value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

let messageTimer = 0;

function say(text, bad) {
  const box = $("message");
  box.firstElementChild.textContent = text;
  box.classList.toggle("bad", !!bad);
  box.hidden = !text;
  clearTimeout(messageTimer);
  if (text && !bad)
    messageTimer = setTimeout(() => { box.hidden = true; }, 4000);
}
$("message").lastElementChild.onclick = () => say("");

function announce(text) {
  if ($("live").textContent !== text)
    $("live").textContent = text;
}
