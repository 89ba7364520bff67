// SPDX-License-Identifier: ISC
// Events in, pictures and texts out. What they mean is the explorer's business (explore/explore.h).

const darkScreen = matchMedia("(prefers-color-scheme: dark)");
let theme = ""; // "light", "dark"; "": the system's setting
let textPercent = 100;
let ready = false, stopped = false, awake = false;
let ratio = 1;
const times = []; // ms of the last pictures

const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
const moreContrast = [matchMedia("(prefers-contrast: more)"), matchMedia("(forced-colors: active)")];
const isDark = () => !printing && (theme ? theme === "dark" : darkScreen.matches);

// Which of a colour's values is shown.
function inkTheme() {
  // Where the browser forces colours, the ground is the system's.
  const dark = moreContrast[1].matches && !printing ? darkScreen.matches : isDark();
  return (dark ? 1 : 0) + (moreContrast.some(query => query.matches) ? 2 : 0);
}

// ---- Drawing ----

// A crash in C ends everything: its memory can no longer be trusted.
function stop(error) {
  if (stopped)
    return;
  stopped = true;
  busy("");
  say(`This page cannot go on: ${error instanceof WebAssembly.RuntimeError ? "it has a mistake, or no memory is left" : error.message}. Load it again.`, true);
  throw error;
}

addEventListener("error", event => {
  if (event.error instanceof WebAssembly.RuntimeError && !stopped)
    try { stop(event.error); } catch { /* the error has been reported */ }
});

let queue = Promise.resolve();

// Runs slow jobs one after another.
function run(work) {
  queue = queue.then(work).catch(error => { busy(""); stop(error); });
  return queue;
}

function wake() {
  if (awake || !ready || stopped)
    return;
  awake = true;
  requestAnimationFrame(frame);
}

let redraw = true;
let printing = false; // the picture is being made for paper
let visibleTimer = 0, placeTimer = 0, restTimer = 0;

function frame() {
  awake = false;
  if (stopped)
    return;
  try {
    flushInput();
    const more = C.weft_work();
    update(C.weft_changed());
    if (more)
      wake();
  } catch (error) {
    stop(error);
  }
}

// Closes what is to be closed, and brings the scroll bar to where the panes are.
function showPanes() {
  let closed = false;
  for (let pane; (pane = C.weft_closing() >>> 0) !== L.WEFT_NONE; closed = true)
    closePane(pane);
  const bar = $("scroller"), height = C.weft_panes_height(), seen = C.weft_panes_seen();
  const shown = C.weft_panes() > 0 && height > seen;
  bar.style.top = `${C.weft_panes_above()}px`;
  bar.style.height = `${seen}px`;
  bar.firstElementChild.style.height = `${height}px`;
  if (bar.hidden === shown) {
    bar.hidden = !shown;
    resize();
  }
  bar.scrollTop = C.weft_panes_top();
  if (closed)
    tracesChanged();
  if (C.weft_wants_diff())
    run(explainNow);
}
$("scroller").addEventListener("scroll", () => {
  const top = Math.round($("scroller").scrollTop);
  if (ready && !stopped && !$("scroller").hidden && top !== C.weft_panes_top())
    C.weft_panes_scroll(top);
  wake();
});

function update(changed) {
  if (changed & L.WEFT_CHANGED_PANES)
    showPanes();
  if (changed & (L.WEFT_CHANGED_TOUR | L.WEFT_CHANGED_PANES))
    showCard();
  if (changed & L.WEFT_CHANGED_PICTURE || redraw) {
    redraw = false;
    const begun = performance.now();
    if (!lessMotion.matches && !document.hidden)
      C.weft_frame(begun);
    if (!drawPicture(inkTheme(), ratio))
      throw new Error("out of memory");
    times.push(performance.now() - begun);
    if (times.length > 1000)
      times.shift();
    if (C.weft_glides()) {
      redraw = true;
      wake();
    }
  }
  if (changed & L.WEFT_CHANGED_NOTES)
    showNotes();
  if (changed & L.WEFT_CHANGED_TIP)
    showTip();
  if (changed & L.WEFT_CHANGED_FACTS)
    showFacts();
  if (changed & L.WEFT_CHANGED_SEARCH)
    showSearch();
  if (changed & L.WEFT_CHANGED_TABLE)
    showTable();
  if (changed & (L.WEFT_CHANGED_VISIBLE | L.WEFT_CHANGED_FACTS)) {
    clearTimeout(visibleTimer);
    visibleTimer = setTimeout(listVisible, 150);
  }
  if (changed & L.WEFT_CHANGED_PLACE) {
    clearTimeout(placeTimer);
    placeTimer = setTimeout(keepPlace, 250);
    clearTimeout(restTimer);
    restTimer = setTimeout(rest, 500);
  }
  if (changed & L.WEFT_CHANGED_STEP)
    endStep();
}

// All that moved until now is one step, which one undo takes back; not while a button or a finger is still down.
function rest() {
  clearTimeout(restTimer);
  restTimer = 0;
  if (stopped || pointer.down || fingers.size) {
    if (!stopped)
      restTimer = setTimeout(rest, 500);
    return;
  }
  C.weft_rest();
  endStep();
  wake();
}

function listVisible() {
  clearTimeout(visibleTimer);
  visibleTimer = 0;
  if (!stopped)
    showVisible();
}

// Waits until nothing is running any more; postponed work is done at once.
async function quiet() {
  for (let idle = 0; idle < 3 && !stopped;) {
    const last = queue;
    await last;
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    idle = awake || queue !== last ? 0 : idle + 1;
  }
  if (restTimer && !pointer.down && !fingers.size) {
    rest();
    return quiet();
  }
  if (visibleTimer)
    listVisible();
  if (placeTimer)
    keepPlace();
}

function resize() {
  if (printing)
    return;
  const box = $("stage").getBoundingClientRect();
  const bar = $("scroller").hidden ? 0 : $("scroller").offsetWidth;
  const width = Math.max(1, Math.floor(box.width) - bar), height = Math.max(1, Math.floor(box.height));
  ratio = Math.max(1, Math.min(L.RASTER_RATIO_MAX, devicePixelRatio || 1));
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  if (!ready)
    return;
  C.weft_resize(width, height);
  redraw = true;
  if (stopped)
    return;
  try {
    flushInput();
    update(C.weft_changed()); // at once: an empty canvas would flicker
  } catch (error) {
    stop(error);
  }
}

function showTip() {
  const tip = $("tip"), text = textAt(C.weft_tip());
  tip.hidden = !text || pointer.down;
  if (tip.hidden)
    return;
  tip.textContent = text;
  const stage = $("stage").getBoundingClientRect(), box = tip.getBoundingClientRect();
  const x = Math.max(4, Math.min(pointer.x + 14, stage.width - box.width - 4));
  const below = pointer.y + 20 + box.height < stage.height;
  tip.style.left = `${x}px`;
  tip.style.top = `${Math.max(4, below ? pointer.y + 18 : pointer.y - box.height - 10)}px`;
}

function showSearch() {
  const query = textAt(C.weft_query()), found = textAt(C.weft_found());
  if ($("query").value !== query && document.activeElement !== $("query"))
    $("query").value = query;
  $("found").textContent = $("found").title = found;
  $("next-hit").disabled = $("previous-hit").disabled = !query;
  if (query && found)
    announce(found);
}

// ---- Places ----

function place() {
  return textAt(C.weft_place());
}

// Each step of the view is an entry of the browser's history, so that its Back undoes it: the first of several movements
// makes the entry, the others change it, until they rest. An entry belongs to the traces that are open.
let kept = "", opened = 0;
let begun = false; // the page has gone to the place that its address says
let hasEntry = true; // the present step has one
let travels = false; // the browser's history leads to a place, or undo does: that is no new entry

function keepPlace() {
  clearTimeout(placeTimer);
  placeTimer = 0;
  if (stopped || !begun || !C.weft_panes())
    return;
  const before = kept, isNew = !hasEntry && !travels;
  kept = place();
  if (before === kept && location.hash.slice(1) === kept && history.state?.opened === opened)
    return;
  travels = false;
  $("where").textContent = textAt(C.weft_where());
  hasEntry = true;
  try {
    history[isNew ? "pushState" : "replaceState"]({ opened }, "", `#${kept}`);
  } catch { /* a browser may refuse, or limit how often: the link can still be copied */ }
}

// What comes from now on is another step.
function endStep() {
  if (!begun)
    return;
  keepPlace();
  hasEntry = false;
}

// Other traces are open: their first place is a new entry, and what came before does not fit them.
function forgetPlaces() {
  opened++;
  hasEntry = false;
}

function go(text) {
  const done = !!withText(text, address => C.weft_go(address));
  if (/(^|&)(diff|finding(\.\d+)?|table=finding)(=|&|$)/.test(text) && C.weft_panes())
    run(explainNow);
  wake();
  return done;
}

addEventListener("hashchange", () => {
  if (!ready || stopped || location.hash.slice(1) === kept)
    return;
  if (history.state && history.state.opened !== opened) {
    say("That view was of other traces");
    travels = true;
    return keepPlace();
  }
  travels = true;
  if (!go(location.hash.slice(1)))
    say("Not all of this link suits this trace", true);
});

function tracesChanged() {
  const panes = C.weft_panes();
  $("empty").hidden = panes > 0;
  document.body.classList.toggle("blank", panes === 0);
  for (const id of ["query", "zoom-in", "zoom-out", "fit", "legend-button", "counters-button", "add", "side-button"])
    $(id).disabled = panes === 0;
  const title = settings("title");
  const names = shownSources().map(source => source.name).join(", ");
  $("title").textContent = title !== null && !shownSources().some(s => s.get) ? title : names || "weft";
  document.title = `${$("title").textContent}${$("title").textContent === "weft" ? "" : " — weft"}`;
  canvas.setAttribute("aria-label", panes ? `Picture of the promises of ${names}` : "No trace");
  redraw = true;
  wake();
}

// ---- Commands of the page ----

function copyText(text) {
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text);
  const area = make("textarea", { value: text, className: "unseen" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done ? Promise.resolve() : Promise.reject(new Error("not allowed"));
}

async function copyLink() {
  const link = `${location.href.split("#")[0]}#${place()}`;
  try {
    await copyText(link);
    say("Link copied");
  } catch {
    say(link); // to be copied by hand
  }
}

function pictureName(suffix) {
  const name = ($("title").textContent || "weft").replace(/\.(ctf|weft|trace|events|fxt)$/, "").replace(/[^\p{L}\p{N}._-]+/gu, "-");
  return `${name.slice(0, 100) || "weft"}.${suffix}`;
}

function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function svgPicture() {
  const address = C.weft_picture();
  if (!address)
    throw new Error("out of memory");
  return mem().bytes.slice(address, address + word(C.page_svg_bytes.value));
}

function savePicture() {
  if (C.weft_panes())
    download(new Blob([svgPicture()], { type: "image/svg+xml" }), pictureName("svg"));
}

function savePng() {
  if (C.weft_panes())
    canvas.toBlob(blob => blob ? download(blob, pictureName("png")) : say("There is no memory for the picture", true));
}

function remember() {
  try {
    localStorage.setItem("weft", JSON.stringify({ theme, textPercent }));
  } catch { /* not everywhere */ }
}

function setTheme(wanted) {
  theme = wanted;
  if (theme)
    document.documentElement.dataset.theme = theme;
  else
    delete document.documentElement.dataset.theme;
  redraw = true;
  wake();
}
for (const query of [darkScreen, ...moreContrast])
  query.addEventListener("change", () => { redraw = true; wake(); });

function setTextSize(percent) {
  textPercent = Math.max(50, Math.min(300, percent));
  document.documentElement.style.fontSize = `${14 * textPercent / 100}px`;
  if (ready)
    C.weft_text_size(textPercent);
  wake();
}

let sideIsWanted = true; // unless the user closes it

function toggleSide() {
  const shown = $("side").hidden;
  $("side").hidden = !shown;
  $("side-button").setAttribute("aria-expanded", String(shown));
}

// ---- On paper ----

const PRINT_RATIO = 3; // pixels of the picture for each of the screen's

// The picture for paper is the one that is seen, on a light ground, with more pixels; page.css makes it fit.
function print(on) {
  if (!ready || stopped || printing === on)
    return;
  printing = on;
  document.documentElement.dataset.theme = on ? "light" : theme;
  if (!on && !theme)
    delete document.documentElement.dataset.theme;
  if (!on)
    return resize();
  const scale = Math.max(ratio, PRINT_RATIO), width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  if (!drawPicture(inkTheme(), scale))
    stop(new Error("out of memory"));
}

addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", event => print(event.matches));

const front = {
  search() { $("query").focus(); $("query").select(); },
  open() { pick(false); },
  add() { pick(true); },
  refresh() { run(refresh); },
  note: writeNote,
  "copy-link": copyLink,
  "save-picture": savePicture,
  print() { window.print(); },
  theme() { setTheme(isDark() ? "light" : "dark"); remember(); },
  "text-larger"() { setTextSize(textPercent + 10); remember(); },
  "text-smaller"() { setTextSize(textPercent - 10); remember(); },
  tour: takeTour,
  palette: showPalette,
  help: showHelp,
};
const needTrace = ["search", "add", "refresh", "copy-link", "save-picture", "print"];

// Why the latest command did nothing, or what it did with the axes, for eyes and ears.
let why = "";

function sayWhy() {
  const before = why;
  why = textAt(C.weft_why());
  if (why || $("message").firstElementChild.textContent === before)
    say(why);
}

function command(name) {
  const number = commands.findIndex(c => c.name === name);
  if (number < 0 || !ready || stopped)
    return false;
  if (commands[number].where === L.WEFT_COMMAND_FRONT) {
    if (needTrace.includes(name) && !C.weft_panes()) {
      say("No trace is open");
      return false;
    }
    front[name]?.();
    return name in front;
  }
  flushInput();
  if (commands[number].group !== "Move")
    endStep();
  travels = name === "undo" || name === "redo";
  const done = !!C.weft_command(number);
  travels = travels && done;
  sayWhy();
  wake();
  return done;
}

// ---- Keys ----

function mods(event) {
  return (event.shiftKey ? L.WEFT_SHIFT : 0) | (event.ctrlKey || event.metaKey ? L.WEFT_CTRL : 0) |
    (event.altKey ? L.WEFT_ALT : 0);
}

let controlDown = false; // the key itself: a pinch on a touchpad sets ctrlKey, too

addEventListener("keyup", event => { controlDown = event.ctrlKey; });
addEventListener("blur", () => { controlDown = false; });
addEventListener("keydown", event => {
  controlDown = event.ctrlKey;
  const at = event.target;
  if (!ready || stopped || event.isComposing || document.querySelector("dialog[open]") || at.closest?.(".menu"))
    return;
  if (at === $("query") && !event.ctrlKey && !event.metaKey)
    return;
  if (at.tagName === "SELECT" && /^(Arrow|Page|Home|End)/.test(event.key)) // letters are commands: each choice begins with "By"
    return;
  // Keys that a button or a list handles itself.
  if (at !== canvas && at !== document.body && (/^(Enter|Tab| )$/.test(event.key) || at.closest("section") && /^(Arrow|Page|Home|End)/.test(event.key)))
    return;
  const number = withText(event.key, key => C.weft_command_of_key(key, mods(event)));
  const name = commands[number]?.name;
  if (name === "refresh" && !sources.some(s => s.get))
    return;
  if (!name) { // the browser's, or none
    withText(event.key, key => C.weft_key(key, mods(event)));
    return event.key.length > 2 ? undefined : sayWhy();
  }
  command(name);
  event.preventDefault();
});

$("query").addEventListener("keydown", event => {
  if (event.isComposing)
    return;
  if (event.key === "Enter") {
    command(event.shiftKey ? "previous-hit" : "next-hit");
    canvas.focus(); // from then on keys are commands, so that n goes to the next hit
  } else if (event.key === "Escape")
    canvas.focus();
  else
    return;
  event.preventDefault();
  event.stopPropagation();
});
$("query").addEventListener("input", () => {
  withText($("query").value, query => C.weft_search(query));
  wake();
});

// ---- Pointer ----

// Events that arrive between two frames are combined; positions are relative to the picture.
const pointer = { x: 0, y: 0, down: false };
let pointed = null, dragged = false, wheel = null, pinched = null;

function flushInput() {
  if (wheel) {
    if (wheel.factor !== 1)
      C.weft_pinch(wheel.x, wheel.y, 0, 0, wheel.factor);
    if (wheel.dx || wheel.dy)
      C.weft_scroll(wheel.x, wheel.y, wheel.dx, wheel.dy, wheel.mods);
    wheel = null;
  }
  if (pinched) {
    C.weft_pinch(pinched.x, pinched.y, pinched.dx, pinched.dy, pinched.factor);
    pinched = null;
  }
  if (dragged)
    C.weft_drag(pointer.x, pointer.y);
  else if (pointed)
    C.weft_point(pointer.x, pointer.y);
  dragged = false;
  pointed = null;
}

function locate(event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function press(x, y, clicks, modifiers) {
  flushInput();
  endStep(); // what moved before is another one
  Object.assign(pointer, { x, y, down: true });
  $("tip").hidden = true;
  C.weft_press(x, y, clicks, modifiers);
  wake();
}

function release(x, y) {
  Object.assign(pointer, { x, y });
  flushInput();
  pointer.down = false;
  C.weft_release(x, y);
  wake();
}

let last = { time: -1e9, x: 0, y: 0, clicks: 0 };

function clicksAt(event, x, y) {
  const again = event.timeStamp - last.time < 400 && Math.hypot(x - last.x, y - last.y) < 6;
  last = { time: event.timeStamp, x, y, clicks: again ? last.clicks + 1 : 1 };
  return last.clicks;
}

canvas.addEventListener("pointerdown", event => {
  if (!ready || stopped || !C.weft_panes())
    return;
  canvas.focus({ preventScroll: true });
  const { x, y } = locate(event);
  if (event.pointerType === "touch")
    return touchBegins(event, x, y);
  if (event.button !== 0)
    return;
  canvas.setPointerCapture(event.pointerId);
  press(x, y, clicksAt(event, x, y), mods(event));
});

canvas.addEventListener("pointermove", event => {
  if (!ready || stopped)
    return;
  const { x, y } = locate(event);
  if (event.pointerType === "touch")
    return touchMoves(event, x, y);
  Object.assign(pointer, { x, y });
  if (pointer.down)
    dragged = true;
  else
    pointed = true;
  wake();
});

function pointerEnds(event) {
  if (!ready || stopped)
    return;
  const { x, y } = locate(event);
  if (event.pointerType === "touch")
    touchEnds(event, x, y);
  else if (pointer.down && (event.type === "pointercancel" || event.button === 0))
    release(x, y);
}
canvas.addEventListener("pointerup", pointerEnds);
canvas.addEventListener("pointercancel", pointerEnds);
canvas.addEventListener("pointerleave", event => {
  if (ready && !stopped && !pointer.down && event.pointerType !== "touch") {
    pointed = null;
    C.weft_leave();
    wake();
  }
});

canvas.addEventListener("wheel", event => {
  event.preventDefault();
  if (!ready || stopped)
    return;
  const { x, y } = locate(event), notch = [100, 3, 1][event.deltaMode] || 100;
  const modifiers = mods(event);
  if (wheel && wheel.mods !== modifiers)
    flushInput();
  wheel = wheel || { dx: 0, dy: 0, factor: 1, mods: modifiers };
  Object.assign(wheel, { x, y });
  if (event.ctrlKey && !controlDown) {
    wheel.mods = 0;
    wheel.factor *= Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 100);
  } else {
    wheel.dx += event.deltaX / notch;
    wheel.dy += event.deltaY / notch;
  }
  wake();
}, { passive: false });

// ---- Touch: one finger pans, taps or, if held, shows the tip; two fingers zoom ----

const SLOP = 8; // pixels that a finger may move in a tap
const fingers = new Map();
let held = 0; // timer of a long touch

function touchBegins(event, x, y) {
  canvas.setPointerCapture(event.pointerId);
  clearTimeout(held);
  for (const finger of fingers.values())
    if (finger.pressed) { // a second finger cancels what the first one began
      release(finger.x, finger.y);
      finger.pressed = false;
    }
  fingers.set(event.pointerId, { x, y, x0: x, y0: y, pressed: false, tap: fingers.size === 0 });
  for (const finger of fingers.values())
    finger.tap = fingers.size === 1;
  if (fingers.size === 1)
    held = setTimeout(() => {
      const finger = fingers.get(event.pointerId);
      if (!finger?.tap)
        return;
      finger.tap = false;
      Object.assign(pointer, { x: finger.x, y: finger.y });
      pointed = true;
      wake();
    }, 500);
  else
    C.weft_leave();
}

// Where the middle of two fingers is, and how far they are apart.
function span() {
  const [a, b] = fingers.values();
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, distance: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)) };
}

function touchMoves(event, x, y) {
  const finger = fingers.get(event.pointerId);
  if (!finger)
    return;
  const before = fingers.size === 2 ? span() : null;
  Object.assign(finger, { x, y });
  if (before) {
    const after = span();
    pinched = pinched || { dx: 0, dy: 0, factor: 1 };
    pinched.x = after.x;
    pinched.y = after.y;
    pinched.dx += after.x - before.x;
    pinched.dy += after.y - before.y;
    pinched.factor *= after.distance / before.distance;
  } else if (fingers.size === 1) {
    if (!finger.pressed && Math.hypot(x - finger.x0, y - finger.y0) > SLOP) {
      clearTimeout(held);
      C.weft_leave();
      finger.pressed = true;
      finger.tap = false;
      press(finger.x0, finger.y0, 1, 0);
    }
    if (finger.pressed) {
      Object.assign(pointer, { x, y });
      dragged = true;
    }
  }
  wake();
}

function touchEnds(event, x, y) {
  const finger = fingers.get(event.pointerId);
  clearTimeout(held);
  fingers.delete(event.pointerId);
  if (!finger)
    return;
  if (finger.pressed) {
    release(x, y);
  } else if (finger.tap && event.type === "pointerup") {
    press(x, y, clicksAt(event, x, y), 0);
    release(x, y);
    C.weft_leave();
  }
  flushInput();
  for (const rest of fingers.values()) // the remaining finger may go on panning
    Object.assign(rest, { x0: rest.x, y0: rest.y, tap: false });
  wake();
}

// ---- Buttons ----

for (const id of ["open", "add", "tour", "tour-next", "tour-previous", "tour-leave", "zoom-in", "zoom-out", "fit", "next-hit", "previous-hit"])
  $(id).onclick = () => command(id);
$("choose").onclick = () => pick(false);
$("side-button").onclick = () => {
  toggleSide();
  sideIsWanted = !$("side").hidden;
};
$("legend-button").onclick = () => toggleMenu("legend-menu", kindItems);
$("counters-button").onclick = () => toggleMenu("counters-menu", counterItems);
$("menu-button").onclick = () => toggleMenu("menu", menuItems);

// ---- Begin ----

async function begin() {
  try {
    const { theme: wanted, textPercent: percent } = JSON.parse(localStorage.getItem("weft") || "{}");
    if (wanted === "light" || wanted === "dark")
      theme = wanted;
    if (percent >= 50 && percent <= 300)
      textPercent = percent;
  } catch { /* not everywhere */ }
  if (matchMedia("(max-width: 46em)").matches)
    toggleSide();
  await startCore();
  loadCommands();
  await (isForTour ? openExample() : showEmbedded());
  ready = true;
  new ResizeObserver(resize).observe($("stage"));
  resize();
  setTheme(theme);
  setTextSize(textPercent);
  tracesChanged();
  const wanted = location.hash.slice(1) || (isForTour ? "tour=1" : settings("at"));
  if (wanted && C.weft_panes() && !go(wanted))
    say("Not all of this link suits this trace", true);
  begun = true;
  endStep();
  showSearch();
}

// For scripts in the browser's console.
window.weft = Object.freeze({
  ready: run(begin),
  place: () => place(),
  go: text => go(String(text)),
  command: name => command(String(name)),
  times: () => [...times],
  texts: pictureTexts,
  table: () => tableText(),
  note: text => keepNote(-1, String(text)),
  page: pageText,
  quiet,
});
