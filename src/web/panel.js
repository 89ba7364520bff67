// SPDX-License-Identifier: ISC
// Beside the picture: facts, the list of visible promises, menus and the keys.

// ---- Facts ----

const LONG = 90; // characters

function showFacts() {
  const address = C.weft_facts();
  const facts = structures(address, word(C.page_count.value), "weft_fact",
    { name: "text", text: "text", link: "word", heading: "flag", bad: "flag" });
  const box = $("facts"), focused = box.contains(document.activeElement);
  const parts = [];
  let list = null;
  facts.forEach((fact, index) => {
    if (fact.heading) {
      parts.push(make("h3", { className: fact.bad ? "bad" : "", dir: "auto" }, fact.name));
      list = null;
      return;
    }
    if (!list)
      parts.push(list = make("dl"));
    const wide = fact.text.length > LONG ? "wide" : ""; // a sentence is shown below its name
    if (fact.name)
      list.append(make("dt", { className: wide }, fact.name));
    const follow = () => {
      C.weft_follow(index);
      wake();
      $("picture").focus();
    };
    list.append(make("dd", { className: `${fact.bad ? "bad " : ""}${wide}`.trim() }, fact.link === L.WEFT_LINK_NONE ? fact.text
      : make("button", { type: "button", onclick: follow }, fact.text)));
  });
  box.replaceChildren(...parts);
  if (focused)
    $("picture").focus();
  const selected = C.weft_selected() >>> 0;
  if (selected !== L.WEFT_NONE && $("side").hidden && sideIsWanted) { // a small screen
    const pane = C.weft_selected_pane();
    toggleSide();
    requestAnimationFrame(() => requestAnimationFrame(() => { // once the picture has its new size
      C.weft_select(pane, selected);
      wake();
    }));
  }
  if (selected !== L.WEFT_NONE)
    announce(facts.filter(fact => fact.text || fact.heading).slice(0, 4)
      .map(fact => `${fact.name} ${fact.text}`.trim()).join(", "));
}

// ---- The visible promises ----

let visible = [], active = 0;

function showVisible() {
  const address = C.weft_visible();
  const all = word(C.page_all.value), before = visible[active];
  visible = structures(address, word(C.page_count.value), "weft_visible", { text: "text", pane: "word", promise: "word" });
  const selected = C.weft_selected(), pane = C.weft_selected_pane();
  active = Math.max(0, visible.findIndex(v => before && v.pane === before.pane && v.promise === before.promise));
  $("visible-all").textContent = all > visible.length ? `the ${visible.length} largest of ${all.toLocaleString("en")}`
    : all === 0 ? "none" : "";
  $("visible").replaceChildren(...visible.map((v, index) => make("li", {
    id: `visible-${index}`,
    role: "option",
    "aria-selected": String(v.promise === selected && v.pane === pane),
    title: v.text,
    onclick: () => choose(index),
  }, v.text)));
  activate(active, false);
}

function activate(index, scroll) {
  const list = $("visible");
  list.children[active]?.classList.remove("active");
  active = Math.max(0, Math.min(index, visible.length - 1));
  const item = list.children[active];
  if (!item) {
    list.removeAttribute("aria-activedescendant");
    return;
  }
  item.classList.add("active");
  list.setAttribute("aria-activedescendant", item.id);
  if (scroll)
    item.scrollIntoView({ block: "nearest" });
}

function choose(index) {
  activate(index, true);
  const one = visible[active];
  if (one)
    C.weft_select(one.pane, one.promise);
  wake();
}

$("visible").addEventListener("keydown", event => {
  const page = 10, moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.ctrlKey || event.altKey || event.metaKey)
    return;
  if (event.key in moves)
    activate(active + moves[event.key], true);
  else if (event.key === "Enter" || event.key === " ")
    choose(active);
  else
    return;
  event.preventDefault();
  event.stopPropagation();
});

// ---- Menus ----

// "menu" belongs to "menu-button", "counters-menu" to "counters-button".
function buttonOf(menu) {
  return $(menu.id === "menu" ? "menu-button" : menu.id.replace("-menu", "-button"));
}

function closeMenus() {
  for (const menu of document.querySelectorAll(".menu")) {
    menu.hidden = true;
    buttonOf(menu).setAttribute("aria-expanded", "false");
  }
}

function openMenu(menu, button, items) {
  closeMenus();
  menu.replaceChildren(...items);
  menu.hidden = false;
  button.setAttribute("aria-expanded", "true");
  const below = button.getBoundingClientRect();
  menu.style.top = `${below.bottom + 4}px`;
  const room = document.documentElement.clientWidth;
  menu.style.right = `${Math.max(4, Math.min(room - below.right, room - menu.offsetWidth - 4))}px`;
  menu.querySelector("button")?.focus();
}

for (const menu of document.querySelectorAll(".menu"))
  menu.addEventListener("keydown", event => {
    const items = [...menu.querySelectorAll("button")], at = items.indexOf(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp")
      items[(at + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab")
      closeMenus();
    else
      return;
    if (event.key === "Escape")
      buttonOf(menu).focus();
    event.stopPropagation();
    if (event.key !== "Tab")
      event.preventDefault();
  });

addEventListener("pointerdown", event => {
  if (!event.target.closest(".menu, [aria-haspopup]"))
    closeMenus();
}, true);

function toggleMenu(id, items) {
  const menu = $(id), button = buttonOf(menu);
  if (menu.hidden)
    openMenu(menu, button, items());
  else
    closeMenus();
}

function menuItem(text, keys, act) {
  return make("button", { type: "button", role: "menuitem", onclick: () => { closeMenus(); act(); } },
    make("span", null, text), keys ? make("span", { className: "faint" }, keys) : null);
}

// An item with a check mark; isShown() says whether it has one, show(on) sets it.
function checkItem(text, isShown, show) {
  const item = make("button", { type: "button", role: "menuitemcheckbox" }, make("span", { dir: "auto" }, text),
    make("span", { "aria-hidden": "true" }));
  const mark = () => {
    const shown = isShown();
    item.setAttribute("aria-checked", String(shown));
    item.lastElementChild.textContent = shown ? "✓" : "";
  };
  item.onclick = () => {
    show(isShown() ? 0 : 1);
    mark();
    wake();
  };
  mark();
  return item;
}

function kindItems() {
  const items = [];
  for (let i = 0; i < L.WEFT_KINDS; i++) {
    const text = C.weft_kind(i);
    if (text)
      items.push(checkItem(textAt(text), () => !!C.weft_kind_shown(i), on => C.weft_show_kind(i, on)));
  }
  return items.length ? items : [make("p", null, "Nothing is on screen.")];
}

function counterItems() {
  const items = [];
  for (let i = 0, n = C.weft_counters(); i < n; i++)
    items.push(checkItem(textAt(C.weft_counter(i)), () => !!C.weft_counter_shown(i), on => C.weft_show_counter(i, on)));
  return items.length ? items : [make("p", null, "The trace has no counters.")];
}

// All commands, by group.
function menuItems() {
  const groups = new Map();
  for (const one of commands) {
    const list = groups.get(one.group) || make("div", { role: "group", "aria-label": one.group }, make("p", { "aria-hidden": "true" }, one.group));
    groups.set(one.group, list);
    list.append(menuItem(sentence(one.help), firstKey(one.name), () => command(one.name)));
    if (one.name === "save-picture")
      list.append(...PAGE_COMMANDS.map(own => menuItem(own.help, "", own.act)));
    for (let pane = 0; one.name === "close-trace" && C.weft_panes() > 1 && pane < C.weft_panes(); pane++)
      list.append(menuItem(`Close ${textAt(C.weft_title(pane))}`, "", () => {
        closePane(pane);
        tracesChanged();
      }));
  }
  return [...groups.values()];
}

// ---- Commands and their keys ----

let commands = []; // as in command.def

function loadCommands() {
  commands = structures(C.weft_commands.value, L.WEFT_COMMANDS, "weft_command_info",
    { name: "text", where: "word", group: "text", keys: "text", help: "text" });
}

const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

function keyName(key) {
  return key.replace(/Arrow\w+/, name => KEY_NAMES[name]).replace("Escape", "Esc");
}

const sentence = text => text.charAt(0).toUpperCase() + text.slice(1);

function firstKey(name) {
  const command = commands.find(c => c.name === name);
  return command ? keyName(command.keys.split(" ")[0]) : "";
}

function showHelp() {
  const groups = new Map();
  for (const command of commands) {
    const list = groups.get(command.group) || make("dl");
    groups.set(command.group, list);
    const keys = command.keys.split(" ").flatMap((key, i) => [i ? " " : "", make("kbd", null, keyName(key))]);
    list.append(make("dt", null, command.help), make("dd", null, ...keys));
  }
  $("keys").replaceChildren(...[...groups].map(([group, list]) =>
    make("section", null, make("h3", null, group), list)));
  if (!$("help").open)
    $("help").showModal();
}
$("help").addEventListener("click", event => {
  if (event.target === $("help"))
    $("help").close();
});
