// SPDX-License-Identifier: ISC
// Traces: those in the page, and files that are dropped or chosen.

const settings = name => document.querySelector(`meta[name="weft-${name}"]`)?.content ?? null;
const raw = settings("raw") !== null;

// Of each trace, in the order of the explorer's numbers for them: its name, and get, which reads it again; without that, it
// came with the page. One that came with the page keeps its number when it is closed, so that links stay right.
let sources = [];

const shownSources = () => sources.filter((_, i) => C.weft_find(i + 1) < C.weft_panes());

function busy(text, share) {
  const box = $("busy");
  box.hidden = !text;
  box.firstElementChild.textContent = text || "";
  if (share === undefined)
    box.lastElementChild.removeAttribute("value");
  else
    box.lastElementChild.value = share;
}

// Waits until the browser has painted, so that a message is visible before something slow begins.
function painted() {
  return new Promise(done => {
    const timer = setTimeout(done, 200); // a page that is not visible is not painted
    requestAnimationFrame(() => setTimeout(() => { clearTimeout(timer); done(); }));
  });
}

// Bytes in C's memory, filled from the start.
function reserve(size) {
  const address = size < 2 ** 31 - 1 ? C.weft_room(size) : 0;
  if (!address)
    throw new Error("out of memory");
  let at = 0;
  return {
    address,
    get size() { return at; },
    put(part) {
      if (at + part.length > size)
        throw new Error("larger than it says");
      mem().bytes.set(part, address + at);
      at += part.length;
    },
  };
}

// Shows the trace whose bytes `fill` puts into memory: in place of that pane, below all others, or (alone) instead of
// them.
async function show(name, size, fill, pane, alone = false) {
  busy(`Reading ${name} …`, 0);
  await painted();
  const room = reserve(size);
  try {
    await fill(room);
  } catch (error) {
    C.weft_drop(room.address);
    throw error;
  }
  busy(`Finding promises in ${name} …`);
  await painted();
  if (withText(name, title => C.weft_show(room.address, room.size, title, raw, pane, alone)) < 0)
    throw new Error(textAt(C.page_said.value));
}

const EXPLAINED_AT_ONCE = 2e6; // events: some seconds

// Analyses the traces if that does not take too long; the command does it regardless.
async function explain() {
  let events = 0;
  for (let pane = 0; pane < C.weft_panes(); pane++)
    events += Number(C.weft_events(pane));
  if (events && events <= EXPLAINED_AT_ONCE)
    await explainNow();
  busy("");
}

async function explainNow() {
  busy("Looking for what went wrong …");
  await painted();
  if (C.weft_analyse() < 0)
    say(textAt(C.page_said.value), true);
  busy("");
  wake();
}

let lastPainted = 0;

async function progress(name, share) {
  if (performance.now() - lastPainted < 100)
    return;
  busy(`Reading ${name} …`, share);
  await painted();
  lastPainted = performance.now();
}

async function showFile(file, pane, alone = false) {
  await show(file.name, file.size, async room => {
    const reader = file.stream().getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done)
        return;
      room.put(value);
      await progress(file.name, room.size / file.size);
    }
  }, pane, alone);
}

// ---- In the page ----

async function showEmbedded() {
  const embedded = new Map();
  for (const [at, block] of [...document.querySelectorAll("script[data-trace]")].entries()) {
    const name = block.dataset.trace, text = block.textContent.trim();
    try {
      await show(name, Number(block.dataset.bytes), room => unpack(text, async (part, share) => {
        room.put(part);
        await progress(name, share);
      }), L.WEFT_NONE);
      sources.push({ name, block });
      embedded.set(Number(at), sources.length);
    } catch (error) {
      say(`${name}: ${error.message}`, true);
    }
    block.remove();
  }
  for (const block of document.querySelectorAll("script[data-notes]")) {
    const source = embedded.get(Number(block.dataset.notes));
    if (source && !putNotes(source, block.textContent))
      say("The notes in this page cannot be read", true);
    block.remove();
  }
  await explain();
}

// ---- Dropped or chosen ----

// Shows files ({ name, get() → File }): in place of the current traces, or below them.
async function openFiles(files, below) {
  const problems = [];
  let first = !below;
  for (const one of files) {
    try {
      const file = await one.get();
      if (first) { // as soon as one of them turns out to be a trace, the old ones are gone
        await showFile(file, L.WEFT_NONE, true);
        sources = [];
        forgetPlaces();
        first = false;
      } else {
        await showFile(file, L.WEFT_NONE);
      }
      sources.push(one);
    } catch (error) {
      problems.push(`${one.name}: ${problem(error)}`);
    }
  }
  await explain();
  tracesChanged();
  say(problems.join("\n"), problems.length > 0);
}

function closePane(pane) {
  const source = C.weft_source(pane);
  C.weft_remove(pane);
  if (C.weft_find(source) < C.weft_panes() || !sources[source - 1].get)
    return;
  C.weft_forget_source(source);
  sources.splice(source - 1, 1);
}

function problem(error) {
  return error.name === "NotReadableError" || error.name === "NotFoundError"
    ? "has changed since it was chosen, or is gone; open it again" : error.message;
}

async function refresh() {
  const problems = [];
  let read = 0;
  for (const [i, source] of [...sources.entries()]) {
    const pane = C.weft_find(i + 1);
    if (!source.get || pane >= C.weft_panes())
      continue;
    try {
      await showFile(await source.get(), pane);
      read++;
    } catch (error) {
      problems.push(`${source.name}: ${problem(error)}`);
    }
  }
  await explain();
  tracesChanged();
  if (problems.length)
    say(problems.join("\n"), true);
  else
    say(read ? "Read again" : "This trace is a part of the page and does not change");
}

let pickedBelow = false;

function pick(below) {
  pickedBelow = below;
  $("file").value = "";
  $("file").click();
}
$("file").onchange = () => {
  const files = [...$("file").files].map(file => ({ name: file.name, get: async () => file }));
  if (files.length)
    run(() => openFiles(files, pickedBelow));
};

// Where the browser offers file handles, they read the file's current content.
function dropped(item) {
  const file = item.getAsFile();
  const handle = item.getAsFileSystemHandle?.().catch(() => null);
  return file && {
    name: file.name,
    get: async () => {
      const found = await handle;
      return found?.kind === "file" ? found.getFile() : file;
    },
  };
}

const isFiles = event => event.dataTransfer?.types.includes("Files");

addEventListener("dragover", event => {
  if (!isFiles(event))
    return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
  $("drop").hidden = false;
});
addEventListener("dragleave", event => {
  if (!event.relatedTarget)
    $("drop").hidden = true;
});
addEventListener("drop", event => {
  $("drop").hidden = true;
  if (!isFiles(event))
    return;
  event.preventDefault();
  const files = [...event.dataTransfer.items].filter(item => item.kind === "file").map(dropped).filter(Boolean);
  if (files.length)
    run(() => openFiles(files, event.shiftKey));
});
