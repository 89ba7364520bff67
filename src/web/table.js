// SPDX-License-Identifier: ISC
// The table below the picture: what explore/table.h says, with a histogram of the chosen row.

let tableState = null;

function tableNow() {
  return structures(C.weft_table(), 1, "weft_table_view", {
    open: "flag", working: "flag", by: "word", sort: "word", ascending: "flag", has_cpu: "flag", pinned: "flag", about: "text",
    row: "word", rows: "word", all: "word", bars_about: "text", bar: "word", bars: "word", bar_max: "word" })[0];
}

// The texts of a row's cells.
function cellsAt(address) {
  const cells = [];
  for (let c = 0; c < L.WEFT_TABLE_COLUMNS; c++)
    cells.push(textAt(word(address + L["weft_table_row.cell"] + 4 * c)));
  return cells;
}

function tableHead(t) {
  const heads = [];
  for (let c = 0; c < L.WEFT_TABLE_COLUMNS; c++) {
    if (c === L.WEFT_TABLE_CPU && !t.has_cpu)
      continue;
    const up = t.ascending === (c !== 0), sorted = c === t.sort; // names are sorted from A to Z at first
    const sort = () => { C.weft_table_sort(c); wake(); };
    heads.push(make("th", { scope: "col", "aria-sort": sorted ? up ? "ascending" : "descending" : "none" },
      make("button", { type: "button", onclick: sort }, `${textAt(C.weft_table_heading(c))}${sorted ? up ? " ▲" : " ▼" : ""}`)));
  }
  return heads;
}

function goToRow(index) {
  C.weft_table_go(index);
  wake();
}

function tableRow(t, address, index) {
  const cells = cellsAt(address).filter((_, c) => c !== L.WEFT_TABLE_CPU || t.has_cpu);
  const chosen = mem().bytes[address + L["weft_table_row.chosen"]] !== 0;
  return make("tr", { "aria-current": String(chosen), onclick: () => goToRow(index) }, ...cells.map((text, c) =>
    make("td", c ? null : { title: text }, c ? text : make("button", { type: "button", title: "Go to the slowest, then to the next slowest" }, text))));
}

function showTable() {
  const t = tableState = tableNow(), box = $("table-box");
  if (box.hidden === t.open)
    box.hidden = !t.open;
  if (!t.open)
    return;
  const focused = box.contains(document.activeElement) ? document.activeElement : null;
  const head = focused?.closest("th"), row = focused?.closest("tbody tr");
  const at = head ? [...head.parentElement.children].indexOf(head) : row ? row.sectionRowIndex : -1;
  $("table-by").selectedIndex = t.by;
  $("table-pin").setAttribute("aria-pressed", String(t.pinned));
  $("table-about").textContent = t.all > t.rows ? `${t.about} (the first ${t.rows})` : t.about;
  $("table").tHead.rows[0].replaceChildren(...tableHead(t));
  const rows = [];
  for (let i = 0; i < t.rows; i++)
    rows.push(tableRow(t, t.row + i * L.weft_table_row, i));
  $("table").tBodies[0].replaceChildren(...rows);
  if (head)
    $("table").tHead.rows[0].children[at]?.querySelector("button")?.focus();
  else if (row)
    $("table").tBodies[0].rows[at]?.querySelector("button")?.focus();
  showBars(t);
}

// ---- The histogram ----

let brushFrom = -1, brushTo = -1;

function markBrush() {
  [...$("bars").children].forEach((bar, i) => bar.classList.toggle("brushed",
    brushFrom >= 0 && i >= Math.min(brushFrom, brushTo) && i <= Math.max(brushFrom, brushTo)));
}

function brush(from, to) {
  C.weft_table_brush(from, to);
  wake();
}

function showBars(t) {
  $("bars-box").hidden = !t.bars_about;
  $("bars-about").textContent = t.bars_about;
  const bars = structures(t.bar, t.bars, "weft_table_bar", { count: "word", text: "text" });
  $("bars").replaceChildren(...bars.map((bar, i) => {
    const part = make("span");
    part.style.height = bar.count ? `max(2px, ${100 * bar.count / t.bar_max}%)` : "0";
    return make("button", { type: "button", title: bar.text, "aria-label": bar.text, onkeydown: event => {
      if (event.key === "Enter" || event.key === " ") {
        brush(i, i);
        event.preventDefault();
      }
    } }, part);
  }));
}

function barAt(event) {
  const box = $("bars").getBoundingClientRect(), bars = tableState?.bars || 0;
  return Math.max(0, Math.min(bars - 1, Math.floor((event.clientX - box.left) * bars / box.width)));
}

$("bars").addEventListener("pointerdown", event => {
  if (event.button !== 0)
    return;
  $("bars").setPointerCapture(event.pointerId);
  brushFrom = brushTo = barAt(event);
  markBrush();
});
$("bars").addEventListener("pointermove", event => {
  if (brushFrom < 0)
    return;
  brushTo = barAt(event);
  markBrush();
});
$("bars").addEventListener("pointerup", event => {
  const from = brushFrom;
  brushFrom = -1;
  markBrush();
  if (from >= 0)
    brush(from, barAt(event));
});
$("bars").addEventListener("pointercancel", () => { brushFrom = -1; markBrush(); });

// ---- Around it ----

function tableText() {
  return textAt(C.weft_table_tsv());
}

$("table-by").onchange = () => { C.weft_table_show($("table-by").selectedIndex); wake(); };
$("table-pin").onclick = () => command("table-pin");
$("table-why").onclick = () => command("why-waiting");
$("table-close").onclick = () => command("table");
$("table-copy").onclick = () => copyText(tableText()).then(() => say("Table copied"), () => say("The browser does not allow that", true));
$("table-save").onclick = () => download(new Blob([tableText()], { type: "text/tab-separated-values" }), pictureName("tsv"));
