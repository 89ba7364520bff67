// SPDX-License-Identifier: ISC
// All commands by name: a list that what is typed makes shorter.

let choices = [], choice = 0; // commands, as in command.def

// What only the page can do, below the others.
const PAGE_COMMANDS = [
  { name: "save-png", help: "Save it as a PNG", keys: "", act: () => savePng() },
  { name: "save-page", help: "Save the page again, with notes", keys: "", act: () => savePage() },
];

function isWanted(one, words) {
  const text = `${one.name} ${one.help}`.toLowerCase();
  return words.every(word => text.includes(word));
}

function showPalette() {
  $("wanted").value = "";
  listCommands();
  if (!$("palette").open)
    $("palette").showModal();
  $("wanted").focus();
}

function listCommands() {
  const count = withText($("wanted").value, query => C.weft_find_commands(query)), at = C.page_found.value;
  choices = Array.from({ length: count }, (_, i) => commands[word(at + 4 * i)]);
  const words = $("wanted").value.toLowerCase().split(/\s+/).filter(Boolean);
  choices.push(...PAGE_COMMANDS.filter(one => isWanted(one, words)));
  $("commands").replaceChildren(...choices.map((one, index) => make("li", {
    id: `command-${index}`,
    role: "option",
    onclick: () => execute(index),
  }, make("span", null, sentence(one.help)), make("span", { className: "faint" }, one.name),
    make("kbd", { hidden: !one.keys }, firstKey(one.name)))));
  $("commands-none").hidden = choices.length > 0;
  prefer(0);
}

function prefer(index) {
  const list = $("commands");
  list.children[choice]?.setAttribute("aria-selected", "false");
  choice = Math.max(0, Math.min(index, choices.length - 1));
  const item = list.children[choice];
  if (!item)
    return $("wanted").removeAttribute("aria-activedescendant");
  item.setAttribute("aria-selected", "true");
  item.scrollIntoView({ block: "nearest" });
  $("wanted").setAttribute("aria-activedescendant", item.id);
}

function execute(index) {
  const one = choices[index];
  $("palette").close();
  canvas.focus();
  if (one?.act)
    one.act();
  else if (one)
    command(one.name);
}

$("wanted").addEventListener("input", listCommands);
$("wanted").addEventListener("keydown", event => {
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
  if (event.isComposing)
    return;
  if (event.key in moves)
    prefer(choice + moves[event.key]);
  else if (event.key === "Enter")
    execute(choice);
  else
    return;
  event.preventDefault();
});
$("palette").addEventListener("click", event => {
  if (event.target === $("palette"))
    $("palette").close();
});
