// SPDX-License-Identifier: ISC
// Notes: their list, and a page with traces and notes that is saved.

let notesChanged = false; // since the page was made or saved

function noteList() {
  const address = C.weft_notes();
  return structures(address, word(C.page_count.value), "weft_note", { text: "text", about: "text", at: "text", pane: "word" });
}

function showNotes() {
  const notes = noteList(), list = $("notes"), focused = list.contains(document.activeElement);
  $("notes-section").hidden = notes.length === 0;
  list.replaceChildren(...notes.map((note, index) => {
    const does = (name, text, act) => make("button", { type: "button", "aria-label": `${name} the note: ${note.about}`, title: name, onclick: act }, text);
    return make("li", null,
      make("button", { type: "button", onclick: () => {
        if (!C.weft_note_go(index))
          say("What the note is about is not in this trace", true);
        wake();
        canvas.focus();
      } }, note.text ? `${note.about}: ${note.text}` : note.about),
      does("Change", "✎", () => askNote(index, note.about, note.text)),
      does("Delete", "×", () => {
        C.weft_note_delete(index);
        notesChanged = true;
        wake();
      }));
  }));
  if (focused)
    canvas.focus();
}

function askNote(index, about, text) {
  const dialog = $("note");
  $("note-title").textContent = `${index < 0 ? "New note:" : "Change the note:"} ${about}`;
  $("note-text").value = text;
  dialog.returnValue = "";
  dialog.onclose = () => {
    canvas.focus();
    if (dialog.returnValue !== "keep")
      return;
    keepNote(index, $("note-text").value);
  };
  dialog.showModal();
  $("note-text").focus();
}

function keepNote(index, text) {
  const done = withText(text, at => index < 0 ? C.weft_note_add(at) : C.weft_note_edit(index, at));
  if (!done)
    say("There is no room for more notes", true);
  notesChanged = notesChanged || !!done;
  wake();
}

function writeNote() {
  if (C.weft_panes())
    askNote(-1, textAt(C.weft_note_place()), "");
}

// ---- Kept in the page ----

// The notes of a block of the page, or of a file of notes, are added to those of a trace. Anybody may have written them.
function putNotes(source, text) {
  let kept;
  try {
    kept = JSON.parse(text);
  } catch {
    return false;
  }
  if (kept?.["weft-notes"] !== 1 || !Array.isArray(kept.notes))
    return false;
  for (const note of kept.notes.slice(0, 10000))
    if (typeof note?.at === "string" && typeof note.text === "string")
      withText(String(kept.since).slice(0, 40), since => withText(note.at.slice(0, 100), at =>
        withText(note.text.slice(0, 4000), words => C.weft_note_put(source, since, at, words))));
  return true;
}

// The notes of a trace, as a file of weft view has them.
function notesText(source) {
  const notes = noteList().filter(note => C.weft_source(note.pane) === source).map(({ at, text }) => ({ at, text }));
  return notes.length ? JSON.stringify({ "weft-notes": 1, since: textAt(C.weft_notes_since(source)), notes }).replace(/</g, "\\u003c") : "";
}

// A trace packed for a page: as it came with this one, or from its file.
async function packTrace(source) {
  if (source.block)
    return source.block;
  const file = await source.get();
  const bytes = new Uint8Array(await new Response(file.stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer());
  const parts = [], step = 3 << 15;
  for (let at = 0; at < bytes.length; at += step)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + step))));
  return make("script", { type: "application/gzip", "data-trace": source.name, "data-bytes": String(file.size) }, parts.join(""));
}

// A page with the traces that are shown, their notes, and this view.
async function pageText() {
  const copy = skeleton.cloneNode(true), renumbered = new Map();
  copy.querySelector("#wasm").textContent = packed.find(block => block.id === "wasm").textContent;
  const script = copy.querySelector("script:not([type])"), head = copy.querySelector("meta[name='referrer']");
  let order = [];
  for (const [i, source] of sources.entries()) {
    if (C.weft_find(i + 1) >= C.weft_panes())
      continue;
    renumbered.set(i + 1, renumbered.size + 1);
    script.before((await packTrace(source)).cloneNode(true), "\n");
    const notes = notesText(i + 1);
    if (notes)
      script.before(make("script", { type: "application/json", "data-notes": String(renumbered.size - 1) }, notes), "\n");
  }
  for (let pane = 0; pane < C.weft_panes(); pane++)
    order.push(renumbered.get(C.weft_source(pane)));
  const at = place().split("&").filter(field => !/^(panes|notes(\.\d+)?)=/.test(field));
  if (order.some((source, i) => source !== i + 1) || order.length !== renumbered.size)
    at.push(`panes=${order}`);
  if (raw && !copy.querySelector("meta[name='weft-raw']"))
    head.after(make("meta", { name: "weft-raw", content: "" }));
  head.after(make("meta", { name: "weft-at", content: at.join("&") }));
  if (settings("title") !== null)
    head.after(make("meta", { name: "weft-title", content: settings("title") }));
  head.after(make("title", null, $("title").textContent));
  return `<!DOCTYPE html>\n${copy.outerHTML}\n`;
}

async function savePage() {
  if (!C.weft_panes())
    return;
  busy("Packing …");
  await painted();
  try {
    download(new Blob([await pageText()], { type: "text/html" }), pictureName("html"));
    notesChanged = false;
  } catch (error) {
    say(problem(error), true);
  }
  busy("");
}

addEventListener("beforeunload", event => {
  if (notesChanged && noteList().length)
    event.preventDefault();
});
