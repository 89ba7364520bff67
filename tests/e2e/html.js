// SPDX-License-Identifier: ISC
// Drives the pages that html.sh has made, as somebody with a mouse, a finger or a keyboard does.
// usage: node html.js FOLDER SOURCE_ROOT, with WEFT and BROWSER in the environment
"use strict";

const { chromium } = require("playwright-core");
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const [folder, sourceRoot] = process.argv.slice(2);
const PATIENCE_MS = 180000; // after which something will not come
let checks = 0, failures = 0;

function check(what, good, ...found) {
  checks++;
  if (good)
    return;
  failures++;
  console.log(`FAILED: ${what}`, ...found);
}

const equal = (what, expected, found) => check(what, JSON.stringify(expected) === JSON.stringify(found),
  `\n  expected ${JSON.stringify(expected)}\n  found    ${JSON.stringify(found)}`);

// Before the page's own script: messages, which do not stay, are noted.
// A finger stays long where a test says so (patient), not where the machine is slow.
function spy() {
  window.ran = [];
  window.alert = text => window.ran.push(text);
  window.said = "";
  window.patient = false;
  const later = window.setTimeout;
  window.setTimeout = (work, ms, ...rest) => ms === 500 && !window.patient ? 0 : later(work, ms, ...rest);
  new MutationObserver(() => {
    const box = document.querySelector("#message");
    if (box && !box.hidden)
      window.said = box.innerText;
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["hidden"] });
}

const problems = []; // on the console, thrown, or asked of the network
let browser;

async function open(name, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 700 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  await page.addInitScript(spy);
  const url = `file://${path.join(folder, name).split("/").map(encodeURIComponent).join("/")}`;
  page.on("console", message => problems.push(`${name}: ${message.type()}: ${message.text()}`));
  page.on("pageerror", error => problems.push(`${name}: ${error.stack}`));
  page.on("dialog", dialog => { problems.push(`${name}: dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", request => {
    if (request.url().split("#")[0] !== url && !/^(data|blob):/.test(request.url()))
      problems.push(`${name}: request of ${request.url()}`);
  });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(url + hash);
  await page.evaluate(() => weft.ready);
  await settle(page);
  return page;
}

const settle = page => page.evaluate(() => weft.quiet());
const said = page => page.evaluate(() => window.said);
const place = page => page.evaluate(() => Object.fromEntries(new URLSearchParams(weft.place())));
const drawn = page => page.evaluate(() => weft.texts());
const factsOf = page => page.locator("#facts").innerText();
const span = p => ({ from: Number(p.from), to: Number(p.to) });

// Not page.waitForFunction, which evaluates texts: the page's policy forbids that.
async function until(page, condition, given) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    if (await page.evaluate(condition, given))
      return;
    await page.waitForTimeout(50);
  }
  throw new Error(`does not come about: ${condition}`);
}

async function stage(page) {
  return page.locator("#picture").boundingBox();
}

// Where a label is drawn, on the screen, at its line.
async function labelAt(page, text) {
  const box = await stage(page), found = (await drawn(page)).find(d => d.text === text);
  check(`"${text}" is drawn`, found);
  return found && { x: box.x + found.x + 3, y: box.y + found.y + 3 };
}

async function clickLabel(page, text, options) {
  const at = await labelAt(page, text);
  if (at)
    await page.mouse.click(at.x, at.y, options);
  await settle(page);
}

// ---- What is shown ----

async function looks() {
  const page = await open("bad.html");
  await settle(page);
  const texts = (await drawn(page)).map(d => d.text);
  for (const text of ["bad.weft", "ARP response", "TCP connect", "never resolved"])
    check(`"${text}" is drawn`, texts.includes(text), texts.join("|"));
  equal("title", "bad.weft — weft", await page.title());
  equal("heading", "bad.weft", await page.locator("h1").innerText());
  check("facts of the trace", /promises/.test(await factsOf(page)), await factsOf(page));
  const options = page.locator("#visible li");
  check("visible promises", await options.count() >= 8, await options.count());
  check("… with their labels", /ARP response/.test(await page.locator("#visible").innerText()), await page.locator("#visible").innerText());
  const wide = (await drawn(page)).filter(d => d.x + d.width > 1200);
  equal("texts that leave the picture", [], wide);
  await page.context().close();
}

async function overview() {
  const page = await open("bad.html"), box = await stage(page);
  const whole = span(await place(page)), x = share => box.x + 8 + share * (box.width - 16);
  const at = time => (time - whole.from) / (whole.to - whole.from);
  await page.mouse.move(x(0.25), box.y + 30);
  await settle(page);
  check("the overview says what is there", /: running /.test(await page.locator("#tip").innerText()), await page.locator("#tip").innerText());
  await page.mouse.down();
  await page.mouse.move(x(0.5), box.y + 30, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  let now = span(await place(page));
  check("what is brushed in it is the view", Math.abs(at(now.from) - 0.25) < 0.01 && Math.abs(at(now.to) - 0.5) < 0.01, now, whole);
  await page.mouse.move(x(0.5), box.y + 30);
  await page.mouse.down();
  await page.mouse.move(x(0.75), box.y + 30, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  now = span(await place(page));
  check("an edge can be dragged", Math.abs(at(now.from) - 0.25) < 0.01 && Math.abs(at(now.to) - 0.75) < 0.01, now, whole);
  await until(page, () => / in view\. Busiest from /.test(document.querySelector("#where").textContent));
  await page.keyboard.press("v");
  await settle(page);
  equal("it can be switched off", "0", (await place(page)).overview);
  await page.context().close();
}

async function themes() {
  const colours = {};
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("bad.html", { colorScheme });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const ink = async () => (await drawn(page)).find(d => d.text === "ARP response").colour;
    colours[colorScheme] = [await ground(), await ink()];
    await page.keyboard.press("t");
    await settle(page);
    colours[`${colorScheme}, switched`] = [await ground(), await ink()];
    await page.context().close();
  }
  check("dark is not light", colours.light[0] !== colours.dark[0] && colours.light[1] !== colours.dark[1], colours);
  equal("t makes it dark", colours.dark, colours["light, switched"]);
  equal("t makes it light", colours.light, colours["dark, switched"]);

  const page = await open("bad.html", { reducedMotion: "reduce", deviceScaleFactor: 2 });
  equal("pixels on a fine screen", await page.evaluate(() => [2 * picture.clientWidth, 2 * picture.clientHeight]),
    await page.evaluate(() => [picture.width, picture.height]));
  const size = async () => parseFloat((await drawn(page)).find(d => d.text === "ARP response").font.replace(/^bold /, ""));
  const before = await size();
  await page.keyboard.press(">");
  await page.keyboard.press(">");
  await settle(page);
  check("> makes texts larger", Math.abs(await size() / before - 1.2) < 0.05, before, await size());
  await page.context().close();
}

// ---- Pointer ----

async function mouse() {
  const page = await open("bad.html", { hash: "#fold=0" }), box = await stage(page); // time is as long as it is
  // Of each place under the pointer: which part of what is seen lies left of what stays where it is.
  const parts = [];
  for (const x of [200, 400, 600]) {
    await page.evaluate(() => weft.command("fit"));
    await settle(page);
    const before = span(await place(page));
    await page.mouse.move(box.x + x, box.y + 200);
    await page.mouse.wheel(0, -300);
    await settle(page);
    const after = span(await place(page));
    check("the wheel zooms", after.to - after.from < 0.75 * (before.to - before.from), before, after);
    parts.push((before.from - after.from) / ((after.to - after.from) - (before.to - before.from)));
  }
  check("the wheel keeps the time under the pointer", Math.abs(parts[2] - parts[1] - (parts[1] - parts[0])) < 0.01 &&
    parts[0] > 0.1 && parts[2] - parts[0] > 0.3 && parts[2] < 1, parts);

  const before = span(await place(page)), length = before.to - before.from;
  const label = await labelAt(page, "TCP connect");
  await page.mouse.move(box.x + 500, box.y + 300);
  await page.mouse.down();
  for (let i = 1; i <= 10; i++)
    await page.mouse.move(box.x + 500 + 10 * i, box.y + 300);
  await page.mouse.up();
  await settle(page);
  const after = span(await place(page));
  const perPixel = (parts[2] - parts[0]) / 400; // of what is seen
  check("a drag moves what is seen with the pointer", Math.abs((before.from - after.from) / length - 100 * perPixel) < 0.01, before, after);
  check("… and keeps its length", Math.abs(after.to - after.from - length) <= 2, length, after);
  check("… and selects nothing", !("select" in await place(page)), await place(page), label);
  await page.evaluate(() => weft.command("fit"));
  await settle(page);

  await clickLabel(page, "ARP query");
  check("a click selects", "select" in await place(page), await place(page));
  check("… and says what it is", /ARP query/.test(await factsOf(page)), await factsOf(page));
  check("… to those who listen, too", /ARP query/.test(await page.locator("#live").textContent()), await page.locator("#live").textContent());
  equal("the list marks it", 1, await page.locator("#visible [aria-selected=true]").count());
  check("… and it alone", /ARP query/.test(await page.locator("#visible [aria-selected=true]").innerText()));
  const links = page.locator("#facts button"), first = await links.first().innerText(), was = (await place(page)).select;
  await links.first().click();
  await settle(page);
  const now = await place(page);
  check(`the link "${first}" leads somewhere`, now.select !== was || now.from !== String(before.from), now);

  // What lies under the pointer
  const at = await labelAt(page, "TCP connect");
  await page.mouse.move(at.x, at.y);
  await page.mouse.move(at.x + 1, at.y);
  await settle(page);
  check("pointing describes", /TCP connect/.test(await page.locator("#tip").textContent()), await page.locator("#tip").textContent());
  await page.mouse.move(box.x + 10, box.y - 20);
  await settle(page);
  check("… and leaving ends it", !await page.locator("#tip").isVisible());

  // A range on the ruler
  await page.evaluate(() => weft.command("fit"));
  await settle(page);
  const ruler = (await drawn(page)).find(d => /^100 ms$/.test(d.text));
  await page.mouse.move(box.x + 200, box.y + ruler.y - 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + ruler.y - 2, { steps: 5 });
  await page.mouse.move(box.x + 420, box.y + ruler.y - 2, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  check("a range is measured", /range/i.test(await factsOf(page)), await factsOf(page));
  check("… and is a part of the place", Object.keys(await place(page)).some(key => /range/.test(key)), await place(page));
  await page.context().close();
}

async function touch() {
  const page = await open("bad.html", { hash: "#fold=0", hasTouch: true, viewport: { width: 800, height: 900 } });
  const box = await stage(page), cdp = await page.context().newCDPSession(page);
  const send = (type, ...points) => cdp.send("Input.dispatchTouchEvent",
    { type, touchPoints: points.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })) });
  const before = span(await place(page));

  await send("touchStart", [300, 300], [400, 300]);
  for (let i = 1; i <= 10; i++) {
    await send("touchMove", [300 - 10 * i, 300], [400 + 10 * i, 300]);
    await settle(page);
  }
  await send("touchEnd");
  await settle(page);
  const pinched = span(await place(page));
  check("two fingers zoom", Math.abs((before.to - before.from) / (pinched.to - pinched.from) - 3) < 0.1, before, pinched);
  const part = (pinched.from - before.from) / ((before.to - before.from) - (pinched.to - pinched.from));
  check("… about their middle", Math.abs(part - 350 / box.width) < 0.03, part, box.width);

  await send("touchStart", [400, 300]);
  for (let i = 1; i <= 10; i++) {
    await send("touchMove", [400 - 10 * i, 300]);
    await settle(page);
  }
  await send("touchEnd");
  await settle(page);
  const moved = span(await place(page));
  check("one finger moves", moved.from > pinched.from, pinched, moved);
  check("… and selects nothing", !("select" in await place(page)), await place(page));

  await page.evaluate(() => weft.command("fit"));
  await settle(page);
  const at = await labelAt(page, "TCP connect");
  await send("touchStart", [at.x - box.x, at.y - box.y]);
  await send("touchEnd");
  await settle(page);
  check("a tap selects", /TCP connect/.test(await factsOf(page)), await factsOf(page));
  await page.evaluate(() => { window.patient = true; });
  await send("touchStart", [at.x - box.x, at.y - box.y]);
  await until(page, () => /TCP connect/.test(document.querySelector("#tip").textContent));
  check("a long touch describes", await page.locator("#tip").isVisible(), await page.locator("#tip").textContent());
  await send("touchEnd");
  await page.context().close();
}

// A small screen: what is selected makes the panel appear, until somebody closes it.
async function phone() {
  const page = await open("bad.html", { hasTouch: true, isMobile: true, viewport: { width: 390, height: 780 } });
  const side = () => page.locator("#side").isVisible();
  const tap = async text => {
    const at = await labelAt(page, text);
    await page.touchscreen.tap(at.x, at.y);
    await settle(page);
  };
  check("the picture has all the room", !await side());
  await tap("TCP connect");
  check("a tap shows the facts", await side() && /TCP connect/.test(await factsOf(page)), await factsOf(page));
  check("… and the promise still", (await drawn(page)).some(d => d.text === "TCP connect"));
  await page.locator("#side-button").tap();
  await settle(page);
  await tap("ARP query");
  check("what was closed stays closed", !await side());
  equal("nothing is wider than the screen", 390, await page.evaluate(() => document.documentElement.scrollWidth));
  for (const name of ["legend", "counters", ""]) {
    const id = name ? `${name}-menu` : "menu";
    await page.locator(`#${name || "menu"}-button`).tap();
    const box = await page.locator(`#${id}`).boundingBox();
    check(`all of #${id} is on the screen`, box.x >= 0 && box.x + box.width <= 390, box);
    await page.locator(`#${name || "menu"}-button`).tap();
  }
  await page.context().close();
}

// ---- Keys ----

async function keys() {
  const page = await open("bad.html");
  const press = async (...names) => {
    for (const name of names) {
      await page.keyboard.press(name);
      await settle(page);
    }
  };
  const all = span(await place(page));
  await press("+", "+");
  const zoomed = span(await place(page));
  check("+ zooms in", zoomed.to - zoomed.from < 0.8 * (all.to - all.from), all, zoomed);
  await press("ArrowRight");
  check("an arrow moves", span(await place(page)).from > zoomed.from, zoomed, await place(page));
  await press("0");
  equal("0 shows everything", all, span(await place(page)));

  await clickLabel(page, "ARP query");
  const query = (await place(page)).select;
  await press("c");
  const creator = (await place(page)).select;
  check("c leads to the creator", creator && creator !== query, query, creator);
  await press("Backspace");
  equal("Backspace leads back", query, (await place(page)).select);
  await press("W");
  await settle(page);
  check("W leads to what it waited for", /ARP response|ring.write/.test(await factsOf(page)), await factsOf(page));
  await press("Escape");
  check("Escape selects nothing", !("select" in await place(page)), await place(page));

  await press("/");
  equal("/ leads to the search", "query", await page.evaluate(() => document.activeElement.id));
  await page.keyboard.type("arp");
  await settle(page);
  check("hits are counted", /\b2\b/.test(await page.locator("#found").innerText()), await page.locator("#found").innerText());
  equal("… in the place", "arp", (await place(page)).search);
  await press("Enter");
  await settle(page);
  const first = (await place(page)).select;
  await press("Enter");
  await settle(page);
  const second = (await place(page)).select;
  check("Enter walks the hits", first && second && first !== second, first, second);
  await press("Shift+Enter");
  equal("Shift+Enter walks back", first, (await place(page)).select);
  equal("Enter leaves the search", "picture", await page.evaluate(() => document.activeElement.id));
  await press("n");
  equal("n walks, too", second, (await place(page)).select);

  await press("?");
  check("? shows the keys", await page.locator("#help").isVisible());
  const help = await page.locator("#keys").innerText(), definition = fs.readFileSync(path.join(sourceRoot, "src/explore/command.def"), "utf8");
  const texts = [...definition.matchAll(/^COMMAND\(.*"([^"]*)"\)$/gm)].map(m => m[1]);
  check("… all of them", texts.length > 20 && texts.every(text => help.includes(text)), texts.filter(text => !help.includes(text)));
  await press("Escape");
  check("Escape closes them", !await page.locator("#help").isVisible());

  // Everything can be reached, in an order, and says what it is.
  await page.evaluate(() => document.activeElement.blur());
  const reached = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const one = await page.evaluate(() => document.activeElement === document.body ? "" :
      document.activeElement.getAttribute("aria-label") || document.activeElement.id || document.activeElement.textContent);
    if (reached.includes(one) && reached.includes("visible"))
      break;
    reached.push(one);
  }
  for (const one of ["open", "Search promises", "Next hit", "Zoom in", "Menu", "visible"])
    check(`Tab reaches "${one}"`, reached.includes(one), reached.join("|"));
  check("Tab reaches the picture", reached.some(one => /^Picture of the promises/.test(one)), reached.join("|"));

  await page.locator("#visible").focus();
  await press("Home", "ArrowDown", "Enter");
  await settle(page);
  equal("the list selects", 1, await page.locator("#visible [aria-selected=true]").count());
  equal("… and stays where it is", "visible", await page.evaluate(() => document.activeElement.id));
  await page.locator("#menu-button").focus();
  await press("Enter");
  check("the menu opens", await page.locator("#menu").isVisible());
  await press("ArrowDown", "Escape");
  equal("… and closes", "menu-button", await page.evaluate(() => document.activeElement.id));
  await page.context().close();
}

// ---- Figures ----

const UNITS = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };

// Of each promise, weft explain and the page say the same, and weft stats as much of all.
async function figures() {
  const weft = (...options) => execFileSync(process.env.WEFT, options, { encoding: "utf8" });
  let seen = 0;
  for (const trace of ["waits.ctf", "bad.weft"]) {
    const file = path.join(folder, trace);
    if (!fs.existsSync(file))
      continue;
    const page = await open(trace.replace(/\.[a-z]*$/, ".html")), sum = {};
    for (const id of weft("promises", file).trim().split("\n").slice(1).map(line => line.split("\t")[0])) {
      const story = JSON.parse(weft("explain", "--json", "--promise", id, file));
      await page.evaluate(place => { location.hash = place; }, `select=${id}`);
      await settle(page);
      const facts = await factsOf(page);
      check(`${trace}, promise ${id}: is selected`, facts.includes(`#${id} `) && (await place(page)).select === id, facts, await place(page));
      for (const [what, said, ns] of [["waiting", /Wait(?:s|ed) for\s+in all:?\s+([\d.]+) (\S+) in /, story.waits ? story.waiting_ns : 0],
        ["blocked", /blocked:?\s+([\d.]+) (\S+) of that/, story.blocked_ns], ["ready", /ready:?\s+([\d.]+) (\S+): it could/, story.ready_ns],
        ["collecting", /paused:?\s+([\d.]+) (\S+): garbage/, story.collecting_ns],
        ["running", /Running\s+in all:?\s+([\d.]+) (\S+) in /, story.running_ns]]) {
        const [, number, unit] = said.exec(facts) || [null, 0, "ns"], found = number * UNITS[unit];
        check(`${trace}, promise ${id}: ${what}`, Math.abs(found - ns) <= ns / 200, `${found} instead of ${ns}`, facts);
        if (what !== "collecting")
          sum[what] = (sum[what] || 0) + story[`${what}_ns`];
        seen += ns > 0;
      }
    }
    const all = JSON.parse(weft("stats", "--json", "--top", "0", file)).rows;
    for (const what of Object.keys(sum))
      equal(`${trace}, all of ${what}`, sum[what], all.reduce((ns, row) => ns + row[`${what}_ns`], 0));
    await page.context().close();
  }
  check("there are figures of all kinds", seen >= 10, seen);
}

// ---- Places, and what is sent ----

async function places() {
  let page = await open("bad.html");
  await clickLabel(page, "ARP query");
  await page.keyboard.press("+");
  await page.locator("#query").fill("arp");
  await settle(page);
  const text = await page.evaluate(() => weft.place());
  equal("the address says the place", `#${text}`, new URL(page.url()).hash);
  const picture = await drawn(page);
  await page.context().close();

  page = await open("bad.html", { hash: `#${text}` });
  await settle(page);
  equal("the place again", text, await page.evaluate(() => weft.place()));
  equal("the same picture", picture, await drawn(page));
  equal("the search again", "arp", await page.locator("#query").inputValue());
  await page.evaluate(() => { location.hash = "from=1000000&to=2000000"; });
  await settle(page);
  equal("another place", { from: 1000000, to: 2000000 }, span(await place(page)));
  await page.context().close();

  page = await open("at.html");
  equal("--at", { from: 1000000, to: 2000000 }, span(await place(page)));
  for (const hash of ["#from=x&to=%", "#select=99999999999999999999&search=%ff", `#search=${"a".repeat(20000)}`, "#from=5&to=1"]) {
    await page.evaluate(text => { location.hash = text; }, hash);
    await settle(page);
  }
  check("places that make no sense are borne", (await drawn(page)).length > 5);
  await page.context().close();
}

// What went wrong, and what two runs differ in.
async function findings() {
  let page = await open("bad.html");
  check("findings come first", /^Findings\nlost-wakeup\nThe signal of 'ARP response'/.test(await factsOf(page)), await factsOf(page));
  await page.keyboard.press("e");
  await settle(page);
  equal("the finding", "1", (await place(page)).finding);
  check("… in words", /^Finding 1 of 1: lost-wakeup\ncertain\n/.test(await factsOf(page)), await factsOf(page));
  const flag = (await drawn(page)).find(d => d.text === "4");
  check("… in the picture", flag, await drawn(page));
  const evidence = page.locator("#facts button").filter({ hasText: "nobody waits for it" });
  await evidence.click();
  await settle(page);
  check("evidence leads to a promise", /Finding 1 of 1[^]*ARP response/.test(await factsOf(page)));
  const link = await page.evaluate(() => weft.place());
  await page.keyboard.press("Escape");
  await settle(page);
  equal("no finding", undefined, (await place(page)).finding);
  check("… no flag", !(await drawn(page)).some(d => d.text === "4"));
  check("… facts of the trace", /^Findings/.test(await factsOf(page)));
  await page.context().close();
  check("the link is to what is seen, with its folds", /&fold=1/.test(link), link);
  page = await open("bad.html", { hash: `#${link.replace("&fold=1", "")}` }); // there, all labels have room
  await settle(page);
  equal("a link to a finding", "1", (await place(page)).finding);
  check("… with its flags", (await drawn(page)).some(d => d.text === "4"));
  await clickLabel(page, "TCP connect");
  await settle(page);
  equal("no path unless it is asked for", undefined, (await place(page)).path);
  check("… but in words", /Critical path\nin all\n/.test(await factsOf(page)), await factsOf(page));
  await page.keyboard.press("p");
  await settle(page);
  equal("the path", "1", (await place(page)).path);
  await page.keyboard.press("p");
  await settle(page);
  equal("no path again", undefined, (await place(page)).path);
  await page.click("#legend-button");
  await page.locator("#legend-menu button", { hasText: "running" }).first().click();
  await settle(page);
  equal("a kind is switched off", "running", (await place(page)).hide);
  equal("… and not checked", "false", await page.locator("#legend-menu button", { hasText: "running" }).first().getAttribute("aria-checked"));
  await page.keyboard.press("Escape");
  await page.context().close();
  page = await open("finding.html");
  await settle(page);
  check("--finding", /^Finding 1 of 1/.test(await factsOf(page)), await factsOf(page));
  await page.context().close();
  page = await open("diff.html");
  await until(page, () => /^Difference\ndiverges\nIn the good run 'ring.write'/.test(document.getElementById("facts").innerText));
  await until(page, () => weft.texts().some(d => d.text === "alike until here"));
  const captions = (await drawn(page)).filter(d => d.text === "alike until here");
  equal("where two runs diverge", 2, captions.length);
  check("… one below the other", captions[0]?.x === captions[1]?.x && captions[0]?.y < captions[1]?.y, captions);
  await page.context().close();
}

// The picture that the page saves is what weft render makes of the page's place.
async function likeRender(page, name, traces) {
  const file = suffix => path.join(folder, `${name}${suffix}`);
  const there = await page.evaluate(() => weft.place());
  const saved = page.waitForEvent("download");
  await page.mouse.move(0, 0);
  await page.keyboard.press("Control+s");
  await (await saved).saveAs(file(".svg"));
  const { width, height } = await page.locator("#picture").boundingBox();
  execFileSync(process.env.WEFT, ["render", "--at", there, "--size", `${Math.floor(width)}x${Math.floor(height)}`, "-o", file("-render.svg"),
    ...traces.map(trace => path.join(folder, `${trace}.weft`))]);
  check("… as weft render draws it", fs.readFileSync(file(".svg"), "utf8") === fs.readFileSync(file("-render.svg"), "utf8"), there);
}

async function groups() {
  const page = await open("bad.html");
  const names = async () => (await drawn(page)).map(d => d.text).filter(text => /^[–+] .* × /.test(text));
  await page.keyboard.press("g");
  await settle(page);
  equal("in groups", "label", (await place(page)).group);
  const open_ = await names();
  check("… with their names", open_.some(text => text === "– ARP query × 1"), open_);
  await page.keyboard.press("x"); // nothing is selected
  await settle(page);
  equal("all closed", "*", (await place(page)).closed);
  equal("… and so they are called", open_.length, (await names()).filter(text => text[0] === "+").length);
  const { x, y } = (await drawn(page)).find(d => d.text === "+ ARP query × 1"), box = await stage(page);
  await page.mouse.click(box.x + x + 3, box.y + y - 3);
  await settle(page);
  check("one is opened by a click", (await names()).includes("– ARP query × 1"), await names());
  await likeRender(page, "grouped", ["bad"]);
  await clickLabel(page, "ARP query");
  await page.keyboard.press("h");
  await settle(page);
  equal("hidden", "ARP query", decodeURIComponent((await place(page)).hidden ?? "").replace("+", " "));
  check("… and not drawn", !(await names()).some(text => /ARP query/.test(text)), await names());
  await page.keyboard.press("Escape");
  await settle(page);
  check("… but counted", /\nhidden\n1 promise\n/.test(await factsOf(page)), await factsOf(page));
  const there = await page.evaluate(() => weft.place());
  const again = await open("bad.html", { hash: `#${there}` });
  equal("a link to that", there, await again.evaluate(() => weft.place()));
  await again.context().close();
  await page.keyboard.press("H");
  await settle(page);
  equal("nothing is hidden", undefined, (await place(page)).hidden);
  await page.context().close();
}

async function pictures() {
  const page = await open("bad.html");
  await clickLabel(page, "ARP query");
  await page.mouse.move(0, 0);
  await settle(page);
  const box = await stage(page);
  const saved = page.waitForEvent("download");
  await page.keyboard.press("Control+s");
  const svg = path.join(folder, "page.svg");
  await (await saved).saveAs(svg);
  equal("its name", "bad.svg", (await saved).suggestedFilename());
  const text = fs.readFileSync(svg, "utf8");
  check("a picture is saved", text.startsWith("<svg ") && text.includes("ARP response"));
  let rendered = null;
  try {
    execFileSync(process.env.WEFT, ["render", "--at", await page.evaluate(() => weft.place()), "--size", `${Math.floor(box.width)}x${Math.floor(box.height)}`,
      "-o", path.join(folder, "render.svg"), path.join(folder, "bad.weft")], { stdio: ["ignore", "ignore", "pipe"] });
    rendered = fs.readFileSync(path.join(folder, "render.svg"), "utf8");
  } catch (error) {
    if (/no option/.test(error.stderr))
      console.log("not compared: weft render has no --at");
    else
      check("weft render --at", false, String(error.stderr));
  }
  if (rendered !== null)
    check("… as weft render draws it", rendered === text, rendered.length, text.length);

  await page.locator("#menu-button").click();
  const png = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "PNG" }).click();
  check("a PNG is saved", fs.readFileSync(await (await png).path()).subarray(1, 4).toString() === "PNG");
  await page.keyboard.press("y");
  await until(page, () => /copied|#from=/.test(window.said)); // the link is copied, or shown
  await page.context().close();
}

// The browser's Back and undo
async function steps() {
  const page = await open("bad.html");
  const press = async name => {
    await page.keyboard.press(name);
    await settle(page);
  };
  const back = async step => {
    const before = await page.evaluate(() => weft.place());
    await page.evaluate(step => history.go(step), step);
    await until(page, before => weft.place() !== before, before);
    await settle(page);
    return page.evaluate(() => weft.place());
  };
  const box = await stage(page), seen = [await page.evaluate(() => weft.place())];
  const note = async () => seen.push(await page.evaluate(() => weft.place()));
  const length = await page.evaluate(() => history.length);
  for (let i = 0; i < 3; i++) { // many small movements are one step
    await page.mouse.move(box.x + 300, box.y + 200);
    await page.mouse.wheel(0, -100);
  }
  await until(page, before => weft.place() !== before, seen[0]);
  await settle(page);
  await note();
  await clickLabel(page, "ARP query");
  await note();
  await press("c");
  await note();
  equal("entries of the history", length + 3, await page.evaluate(() => history.length));
  equal("Back undoes the jump", seen[2], await back(-1));
  equal("Back undoes the click", seen[1], await back(-1));
  equal("Back undoes the zoom", seen[0], await back(-1));
  equal("Forward, twice", seen[2], await back(2));
  const was = await page.evaluate(() => weft.place());
  await press("d");
  check("d moves", was !== await page.evaluate(() => weft.place()));
  await press("z");
  equal("z undoes it", was, await page.evaluate(() => weft.place()));
  await press("Control+Shift+Z");
  check("… and that again", was !== await page.evaluate(() => weft.place()));
  await drop(page, ["good.weft"]);
  const other = await page.evaluate(() => weft.place());
  await page.evaluate(() => history.back());
  await until(page, () => /other traces/.test(window.said));
  equal("views of other traces stay theirs", other, await page.evaluate(() => weft.place()));
  await page.context().close();
}

async function reasons() {
  const page = await open("bad.html");
  const press = async name => {
    await page.evaluate(() => { window.said = ""; });
    await page.keyboard.press(name);
    await settle(page);
    return (await said(page)).replace(/\s*×$/, "");
  };
  await page.evaluate(() => document.activeElement.blur());
  equal("a key that can do nothing says why", "Nothing is selected: click a promise, or press j", await press("c"));
  equal("… in an element that is read out", "alert", await page.locator("#message").getAttribute("role"));
  equal("an unknown key says so", "q is no command: ? shows the keys, : all commands", await press("q"));
  equal("a key that does something is silent", "", await press("+"));
  equal("… and one that has no character", "", await press("Shift"));
  equal("the only trace", "There is only one trace", await press("l"));
  await page.context().close();
  const empty = await open("empty.html");
  await empty.keyboard.press("Control+s");
  await settle(empty);
  check("nothing can be saved", /No trace is open/.test(await said(empty)), await said(empty));
  await empty.context().close();
}

const definitions = () => [...fs.readFileSync(path.join(sourceRoot, "src/explore/command.def"), "utf8")
  .matchAll(/^COMMAND\(\w+, *"([^"]*)".*"([^"]*)"\)$/gm)].map(m => ({ name: m[1], help: m[2] }));

async function palette() {
  const page = await open("bad.html"), all = definitions();
  const press = async name => {
    await page.keyboard.press(name);
    await settle(page);
  };
  const names = () => page.locator("#commands li span:nth-child(2)").allInnerTexts();
  await press("Control+Shift+P");
  const own = ["Save it as a PNG", "Save the page again, with notes"];
  equal("it has every command", [...all.map(c => c.name), "save-png", "save-page"].sort(), (await names()).sort());
  equal("… and what it does", [...all.map(c => c.help), ...own].map(text => text.toLowerCase()).sort(),
    (await page.locator("#commands li span:first-child").allInnerTexts()).map(text => text.toLowerCase()).sort());
  equal("the field is where one types", "wanted", await page.evaluate(() => document.activeElement.id));
  await page.keyboard.type("finding");
  await settle(page);
  equal("typing makes it shorter", ["next-finding", "previous-finding"], await names());
  await press("ArrowDown");
  equal("the arrows choose", "command-1", await page.locator("#wanted").getAttribute("aria-activedescendant"));
  await press("ArrowUp");
  check("the key is said", /\be\b/.test(await page.locator("#command-0 kbd").innerText()));
  await press("Enter");
  check("Enter does it", !await page.locator("#palette").isVisible() && (await place(page)).finding === "1", await place(page));
  await press(":");
  await page.keyboard.type("no such thing");
  check("nothing fits", await page.locator("#commands-none").isVisible() && (await names()).length === 0, await names());
  await press("Enter");
  await press(":");
  await press("Escape");
  check("Escape closes it", !await page.locator("#palette").isVisible());
  await press(":");
  await page.keyboard.type("notes page");
  equal("what only the page can do", ["save-page"], await names());
  const [saved] = await Promise.all([page.waitForEvent("download"), press("Enter")]);
  equal("… is done", "bad.html", saved.suggestedFilename());

  await page.locator("#menu-button").click();
  const items = (await page.locator("#menu [role=menuitem] span:first-child").allInnerTexts()).map(text => text.toLowerCase());
  equal("what the menu does not have", [], [...all.map(c => c.help), ...own].filter(text => !items.includes(text.toLowerCase())));
  await page.context().close();
}

// On paper: all of the picture, on a light ground, then the facts.
async function paper() {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("bad.html", { colorScheme });
    const screen = await stage(page);
    await page.setViewportSize({ width: 700, height: 990 }); // as the paper's inside
    await settle(page);
    const before = await stage(page);
    await page.emulateMedia({ media: "print", colorScheme });
    const box = await stage(page), facts = await page.locator("#facts").boundingBox();
    check(`the picture fits the paper (${colorScheme})`, box.x >= 0 && box.x + box.width <= 700.5 && box.y + box.height <= 990, box, screen);
    check("… in its proportions", Math.abs(box.width / box.height - before.width / before.height) < 0.02, box, before);
    check("the facts follow", facts.y >= box.y + box.height && facts.height > 50, facts, box);
    check("… all of them", await page.evaluate(() => [...document.querySelectorAll("#facts, #side, #side section, body")]
      .every(one => getComputedStyle(one).overflowY === "visible")));
    equal("the ground is light", [255, 255, 255], await page.evaluate(() =>
      [...picture.getContext("2d").getImageData(2, picture.height >> 1, 1, 1).data].slice(0, 3)));
    check("there are pixels enough", await page.evaluate(() => picture.width) >= 3 * before.width - 2);
    check("nothing else is printed", !await page.locator("#open").isVisible() && !await page.locator("#visible").isVisible());
    const pdf = await page.pdf({ format: "A4" });
    check("a PDF", pdf.subarray(0, 4).toString() === "%PDF" && pdf.length > 20000, pdf.length);
    fs.writeFileSync(path.join(folder, `paper-${colorScheme}.pdf`), pdf);
    await page.emulateMedia({ media: "screen", colorScheme });
    await settle(page);
    equal("afterwards it is as before", before, await stage(page));
    await page.context().close();
  }
}

// ---- Files ----

async function drop(page, names, shiftKey = false, prefix = "") {
  const files = names.map(name => ({ name: prefix + name, data: fs.readFileSync(path.join(folder, name)).subarray(0, 1 << 20).toString("base64") }));
  await page.evaluate(({ files, shiftKey }) => {
    const data = new DataTransfer();
    for (const file of files)
      data.items.add(new File([Uint8Array.from(atob(file.data), c => c.charCodeAt(0))], file.name));
    const send = type => document.querySelector("#stage").dispatchEvent(new DragEvent(type,
      { dataTransfer: data, bubbles: true, cancelable: true, shiftKey }));
    send("dragover");
    send("drop");
  }, { files, shiftKey });
  await settle(page);
}

// The steps as explore/tour.def has them: title, text and the fields of the place.
function tourSteps() {
  const table = fs.readFileSync(path.join(sourceRoot, "src/explore/tour.def"), "utf8");
  const texts = /"(?:[^"\\]|\\.)*"/g, parts = table.split(/^STEP\(/m).slice(1);
  const joined = text => text.match(texts).map(piece => JSON.parse(piece)).join("");
  return parts.map(part => {
    const [title, text, place] = part.replace(/\)\s*(\/\*.*\*\/\s*#undef STEP\s*)?$/s, "").split(/",\n/).map((one, i, all) => joined(i < all.length - 1 ? `${one}"` : one));
    return { title, text, place: Object.fromEntries(new URLSearchParams(place)) };
  });
}

// The card, as the steps say it.
async function cardShows(page, steps, number) {
  await settle(page);
  const { title, text, place: wanted } = steps[number - 1], where = await place(page);
  equal(`the card of step ${number}`, [`${number} of ${steps.length}: ${title}`, text],
    [await page.locator("#card-title").innerText(), await page.locator("#card-text").innerText()]);
  equal(`the place of step ${number}`, { ...wanted, tour: String(number) },
    Object.fromEntries(Object.keys({ ...wanted, tour: "" }).map(key => [key, where[key]])));
}

// A page without a trace offers the tour; one with traces keeps them.
async function tour() {
  const steps = tourSteps(), page = await open("empty.html");
  equal("the steps of the tour", 5, steps.length);
  await page.locator("#tour").click();
  await until(page, () => document.querySelector("#empty").hidden);
  for (let number = 1; number <= steps.length; number++) {
    await cardShows(page, steps, number);
    const canvas = await stage(page), download = page.waitForEvent("download");
    await page.keyboard.press("Control+s");
    await (await download).saveAs(path.join(folder, "step.svg"));
    execFileSync(process.env.WEFT, ["render", "--at", `tour=${number}`, "--size", `${Math.floor(canvas.width)}x${Math.floor(canvas.height)}`,
      "-o", path.join(folder, "render.svg"), path.join(sourceRoot, "data/example.weft")]);
    check(`step ${number} is what weft render draws`, fs.readFileSync(path.join(folder, "step.svg"), "utf8") === fs.readFileSync(path.join(folder, "render.svg"), "utf8"));
    if (number % 2)
      await page.keyboard.press("PageDown");
    else
      await page.locator("#tour-next").click();
  }
  check("the last step has no next one", await page.locator("#tour-next").isHidden());
  check("… and a key says so", /last step/.test(await said(page)), await said(page));
  check("the table is open", await page.locator("#table tbody tr").first().innerText().then(row => row.startsWith("GET /report")));
  await page.locator("#tour-previous").click();
  await cardShows(page, steps, 4);
  await page.keyboard.press("PageUp");
  await cardShows(page, steps, 3);
  await page.goBack(); // the view before: step 4
  await cardShows(page, steps, 4);
  await page.reload();
  await page.evaluate(() => weft.ready);
  check("without its traces, the page is empty again", await page.locator("#empty").isVisible());
  await page.locator("#tour").click();
  await until(page, () => document.querySelector("#empty").hidden);
  await cardShows(page, steps, 1);
  await page.keyboard.press("Escape");
  await settle(page);
  check("Escape leaves the tour", await page.locator("#card").isHidden());
  equal("… and not the example", "example.weft — weft", await page.title());
  await page.keyboard.press("F1");
  await cardShows(page, steps, 1);
  await page.locator("#tour-leave").click();
  await settle(page);
  check("so does its button", await page.locator("#card").isHidden());
  await page.keyboard.press("F1");
  await drop(page, ["bad.weft"]);
  check("what is dropped takes its place", await page.locator("#card").isHidden());
  equal("… and is shown", "bad.weft — weft", await page.title());

  // With traces, it gets a tab of its own.
  const before = await place(page), tab = page.context().waitForEvent("page");
  await page.keyboard.press("F1");
  const other = await tab;
  await other.waitForURL(/\?tour/, { waitUntil: "load" });
  await other.evaluate(() => weft.ready);
  await cardShows(other, steps, 1);
  await other.keyboard.press("PageDown");
  await cardShows(other, steps, 2);
  await other.reload();
  await other.evaluate(() => weft.ready);
  await cardShows(other, steps, 2);
  equal("the traces stay", before, await place(page));
  check("… and the page says so", /^The tour is in a tab of its own/.test(await said(page)), await said(page));
  await page.context().close();
  const own = await open("bad.html", { hash: "#tour=2" });
  check("a step of the tour is none of another trace", /Not all of this link/.test(await said(own)), await said(own));
  await own.context().close();
}

async function files() {
  const page = await open("empty.html");
  equal("its title", "weft", await page.title());
  check("the empty page says what to do", /Drop a trace/.test(await page.locator("#empty").innerText()));
  const chooser = page.waitForEvent("filechooser");
  await page.locator("#choose").click();
  await (await chooser).setFiles(path.join(folder, "good.weft"));
  await until(page, () => document.querySelector("#empty").hidden);
  await settle(page);
  check("a file is chosen", (await drawn(page)).some(d => d.text === "TCP connect"), (await drawn(page)).map(d => d.text));
  equal("its name is the title", "good.weft — weft", await page.title());

  await drop(page, ["none.ctf"]);
  const message = await said(page);
  check("what is no trace is refused", /none\.ctf: is not a trace: it .* offset 0/.test(message), message);
  equal("… and the old one stays", "good.weft — weft", await page.title());
  // What is opened instead is shown from the start, wherever the old one was looked at.
  const fresh = await open("bad.html"), whole = span(await place(fresh));
  await fresh.context().close();
  await page.evaluate(() => weft.go("from=1000000&to=1001000&search=x"));
  await settle(page);
  await drop(page, ["bad.weft"]);
  equal("a file is dropped", "bad.weft — weft", await page.title());
  equal("… and shown whole", whole, span(await place(page)));
  equal("… without the old search", undefined, (await place(page)).search);
  check("… and shown", (await drawn(page)).some(d => d.text === "never resolved"), (await drawn(page)).map(d => d.text), await place(page));
  await drop(page, ["good.weft"], true);
  const titles = (await drawn(page)).filter(d => /^(good|bad)\.weft$/.test(d.text)).map(d => d.text);
  equal("one is added", ["bad.weft", "good.weft"], titles);
  await page.keyboard.press("F5");
  await until(page, () => /Read again/.test(window.said));
  equal("both are read again", ["bad.weft", "good.weft"],
    (await drawn(page)).filter(d => /^(good|bad)\.weft$/.test(d.text)).map(d => d.text));
  await page.context().close();

  const both = await open("both.html");
  equal("--title", "A good <b>and</b> a bad run — weft", await both.title());
  equal("two traces", ["good.weft", "bad.weft"], (await drawn(both)).filter(d => /^(good|bad)\.weft$/.test(d.text)).map(d => d.text));
  await both.context().close();
}

// ---- The table, and why they waited ----

async function tables() {
  const page = await open("bad.html");
  const rows = page.locator("#table tbody tr"), cell = (row, column) => rows.nth(row).locator("td").nth(column).innerText();
  await page.keyboard.press("T");
  await settle(page);
  equal("the table is in the place", "family", (await place(page)).table);
  check("by labels without numbers", /^\d+ kinds of labels, \d+ promises/.test(await page.locator("#table-about").innerText()),
    await page.locator("#table-about").innerText());
  await page.locator("#table-by").focus();
  await page.keyboard.press("ArrowUp");
  await settle(page);
  equal("by labels", "label", (await place(page)).table);
  const stats = JSON.parse(execFileSync(process.env.WEFT, ["stats", "--json", "--by", "label", path.join(folder, "bad.weft")])).rows;
  const lines = text => text.trimEnd().split("\n").slice(1).map(line => line.split("\t"));
  const told = r => [r.label ?? r.type, r.count, ...r.latencies ? [r.total_ns, r.p50_ns, r.p99_ns, r.max_ns] : ["", "", "", ""],
    r.waiting_ns, r.ready_ns, r.running_ns, r.failed, "", r.type].map(String);
  equal("rows", stats.map(told).sort(), lines(await page.evaluate(() => weft.table())).sort());
  await page.keyboard.press("/");
  equal("a key is a command there, too", "query", await page.evaluate(() => document.activeElement.id));
  await page.keyboard.press("Escape");
  equal("… as elements", stats.length, await rows.count());
  await page.locator("#table th button", { hasText: "p99" }).click();
  await settle(page);
  equal("sorted", ["p99", "descending"], [(await place(page)).sort, await page.locator("#table th").nth(4).getAttribute("aria-sort")]);
  equal("the slowest comes first", Math.max(...stats.map(r => r.p99_ns)), Number(lines(await page.evaluate(() => weft.table()))[0][4]));
  await rows.nth(0).locator("button").press("Enter");
  await settle(page);
  const name = await cell(0, 0);
  equal("Enter goes to the slowest", stats.find(r => (r.label ?? r.type) === name).slowest, Number((await place(page)).select));
  equal("the row is marked", "true", await rows.nth(0).getAttribute("aria-current"));
  const bars = page.locator("#bars button");
  check("a histogram", await bars.count() > 0 && (await page.locator("#bars-about").innerText()).startsWith(`${name}: `));
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#table-save").click()]);
  equal("saved", [await page.evaluate(() => weft.table()), "bad.tsv"], [fs.readFileSync(await download.path(), "utf8"), download.suggestedFilename()]);
  await bars.nth(0).focus();
  await page.keyboard.press("Enter");
  await settle(page);
  check("brushing searches", /<\d+ns$/.test((await place(page)).search), await place(page));
  await page.evaluate(() => weft.go("table=finding"));
  await settle(page);
  check("by finding", await rows.count() > 0 && /^[0-9]+ [a-z-]+: /.test(await cell(0, 0)), await page.locator("#table-box").innerText());
  await page.evaluate(() => weft.go("flame=1&why=1"));
  await settle(page);
  const texts = (await drawn(page)).map(d => d.text);
  check("why they waited", texts.includes("Why promises waited") && texts.includes("all") && !(await page.locator("#table-box").isVisible()), texts);
  await page.context().close();
}

// ---- More traces than fit ----

async function many() {
  const page = await open("many.html");
  const titles = async () => (await drawn(page)).filter(d => /^(good|bad)\.weft$/.test(d.text));
  const box = await stage(page);
  check("they scroll", await page.locator("#scroller").isVisible());
  await page.locator("#scroller").evaluate(bar => { bar.scrollTop = 250; });
  await settle(page);
  equal("… by the bar", "1250", (await place(page)).top);
  const above = await page.locator("#scroller").evaluate(bar => bar.offsetTop); // the overview
  await page.mouse.move(box.x + 300, box.y + above + 160); // the title of the third
  await page.mouse.wheel(0, 100);
  await settle(page);
  equal("… by the wheel over a title", "1650", (await place(page)).top);
  equal("… with the bar", 330, await page.locator("#scroller").evaluate(bar => bar.scrollTop));
  const first = (await titles()).find(d => d.y > above + 30);
  await page.mouse.move(box.x + 40, box.y + first.y - 4);
  await page.mouse.down();
  await page.mouse.move(box.x + 40, box.y + first.y + 250, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  equal("a title is dragged", "1,2,4,3,5,6", (await place(page)).panes);
  await page.evaluate(() => weft.command("close-trace"));
  await settle(page);
  equal("closed", "1,2,4,5,6", (await place(page)).panes);
  await page.evaluate(() => weft.command("duplicate"));
  await settle(page);
  const there = await page.evaluate(() => weft.place());
  check("shown once more", /(^|&)panes=(\d,)*(\d),\3(,|&|$)/.test(there), there);
  const again = await open("many.html", { hash: `#${there}` });
  equal("a link to that", there, await again.evaluate(() => weft.place()));
  await again.context().close();
  await likeRender(page, "many", ["good", "bad", "good", "bad", "good", "bad"]);
  await page.context().close();
}

// ---- Notes ----

async function notes() {
  const page = await open("bad.html");
  const list = () => page.locator("#notes li button:first-child").allInnerTexts();
  await clickLabel(page, "ARP query");
  await page.keyboard.press("m");
  check("what it is about", /^New note: #\d+ task ARP query$/.test(await page.locator("#note-title").innerText()), await page.locator("#note-title").innerText());
  await page.keyboard.type("it waits </script><b>here");
  await page.keyboard.press("Enter");
  await settle(page);
  const first = await list();
  check("a note", first.length === 1 && /ARP query: it waits <\/script><b>here$/.test(first[0]), first);
  check("… is a flag", (await drawn(page)).some(d => d.text.startsWith("it waits <")), (await drawn(page)).map(d => d.text));
  check("… is in the link", /^\d+~it%20waits/.test((await page.evaluate(() => weft.place())).split("notes=")[1]), await page.evaluate(() => weft.place()));
  await page.keyboard.press("Escape");
  const box = await stage(page);
  await page.mouse.move(box.x + 300, box.y + 86);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 86, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.press("m");
  await page.keyboard.type("busy");
  await page.keyboard.press("Enter");
  await settle(page);
  check("on a range", (await list()).some(text => /^from .* to .*: busy$/.test(text)), await list());
  await page.locator("#notes li", { hasText: "busy" }).getByTitle("Change").click();
  await page.keyboard.press("End");
  await page.keyboard.type(" time");
  await page.keyboard.press("Enter");
  await settle(page);
  check("changed", (await list()).some(text => /: busy time$/.test(text)), await list());
  await page.evaluate(() => weft.note("gone"));
  await settle(page);
  equal("three", 3, (await list()).length);
  await page.locator("#notes li", { hasText: "gone" }).getByTitle("Delete").click();
  await settle(page);
  equal("deleted", 2, (await list()).length);
  await page.keyboard.press("Escape");
  await page.keyboard.press("."); // to the first of them
  await settle(page);
  const there = await page.evaluate(() => weft.place());

  // A picture, and a page that is saved with them.
  await likeRender(page, "noted", ["bad"]);
  let saved = page.waitForEvent("download");
  await page.click("#menu-button");
  await page.getByText("Save the page again").click();
  await (await saved).saveAs(path.join(folder, "saved.html"));
  const before = await list(), texts = (await drawn(page)).map(d => d.text);
  await page.context().close();
  const again = await open("saved.html");
  equal("in the saved page", before, await again.locator("#notes li button:first-child").allInnerTexts());
  equal("… at the same place", there, await again.evaluate(() => weft.place()));
  equal("… and the same texts in it", texts, (await drawn(again)).map(d => d.text));
  saved = again.waitForEvent("download"); // once more
  await again.click("#menu-button");
  await again.getByText("Save the page again").click();
  await (await saved).saveAs(path.join(folder, "again.html"));
  equal("saved again, it is the same", fs.readFileSync(path.join(folder, "saved.html"), "utf8"), fs.readFileSync(path.join(folder, "again.html"), "utf8"));
  await again.context().close();

  // Two ranges beside each other
  const compared = await open("bad.html", { hash: "#with=r1000000-20000000&range=20000000-90000000" });
  check("compared", /^Compared\nfirst\nfrom 1 ms to 20 ms\nsecond\nfrom 20 ms to 90 ms\nduration\n19 ms → 70 ms, \+51 ms\n/.test(await factsOf(compared)), await factsOf(compared));
  check("… with a flag", (await drawn(compared)).some(d => d.text === "compared"));
  await compared.context().close();

  // Those that lie beside a trace
  const beside = await open("noted.html");
  equal("from beside a trace", 2, (await beside.locator("#notes li button:first-child").allInnerTexts()).length);
  await beside.context().close();
  const without = await open("unnoted.html");
  equal("--no-notes", 0, (await without.locator("#notes li button:first-child").allInnerTexts()).length);
  await without.context().close();

  // A trace of a file is packed into the page
  const empty = await open("empty.html");
  await empty.setInputFiles("#file", [path.join(folder, "good.weft"), path.join(folder, "bad.weft")]);
  await until(empty, () => document.querySelectorAll("#visible li").length > 4);
  await settle(empty);
  await empty.evaluate(() => weft.note("of two"));
  await settle(empty);
  fs.writeFileSync(path.join(folder, "packed.html"), await empty.evaluate(() => weft.page()));
  await empty.context().close();
  const two = await open("packed.html");
  check("packed", (await two.locator("#notes").innerText()).includes("of two"), await two.locator("#notes").innerText());
  equal("… both", 2, new Set((await drawn(two)).filter(d => /^(good|bad)\.weft$/.test(d.text)).map(d => d.text)).size);
  await two.context().close();
}

// ---- Samples ----

async function samples() {
  if (!fs.existsSync(path.join(folder, "served.html")))
    return;
  const page = await open("served.html");
  const texts = async () => (await drawn(page)).map(d => d.text);
  check("hot functions", /Hot functions\nin all\nabout 70 ms, 140 samples\n[0-9.]+ %\nwrite_log/.test(await factsOf(page)), await factsOf(page));
  check("a strip for each thread", (await texts()).includes("writer 4712") && (await texts()).includes("kv_server 0"), await texts());
  const strip = await labelAt(page, "writer 4712"), box = await stage(page);
  await page.mouse.move(box.x + box.width * 0.9, strip.y - 3);
  await settle(page);
  check("what it says", /^writer 4712, at [0-9.]+ ms: on a core 100 % of .*; mostly in write_log/.test(await page.locator("#tip").innerText()), await page.locator("#tip").innerText());
  await page.keyboard.press("F");
  await settle(page);
  equal("the flame graph", "1", (await place(page)).flame);
  check("… is drawn", (await texts()).includes("Flame graph of all samples") && (await texts()).includes("handle_request"), await texts());
  const frame = await labelAt(page, "handle_request");
  await page.mouse.move(frame.x, frame.y - 5);
  await settle(page);
  check("… tells of a frame", /^handle_request: [0-9.]+ % \(.*\), itself [0-9.]+ %; \/src\/server.c:140$/.test(await page.locator("#tip").innerText()), await page.locator("#tip").innerText());
  await page.mouse.click(frame.x, frame.y - 5);
  await settle(page);
  check("a click brings it nearer", (await place(page)).frame > 0 && !(await texts()).includes("write_log"), await place(page));
  check("… in words", /^Flame graph\nof\nall samples\nframe\nhandle_request: /.test(await factsOf(page)), await factsOf(page));
  const link = await page.evaluate(() => weft.place());
  await page.keyboard.press("Escape");
  await settle(page);
  check("Escape leads back", (await texts()).includes("write_log"));
  await clickLabel(page, "GET /users/1");
  check("it is of the selection", (await texts()).includes("No sample was taken while it ran; with C, of all that it created"), await texts());
  await page.keyboard.press("C");
  await settle(page);
  check("… and of what that created", (await texts()).includes("Flame graph of #3 GET /users/1 and all that it created"), await texts());
  check("… in the facts", /On a core\nwith all that it created\nabout 4 ms, 8 samples\nHot functions of what it created\n/.test(await factsOf(page)), await factsOf(page));
  await page.keyboard.press("Escape");
  await settle(page);
  equal("Escape closes it", undefined, (await place(page)).flame);
  await page.context().close();
  const again = await open("served.html", { hash: `#${link}` });
  check("a link to a frame", !(await drawn(again)).some(d => d.text === "write_log") && (await drawn(again)).some(d => d.text === "handle_request"));
  await again.context().close();
}

// ---- What is not there ----

async function missing() {
  if (!fs.existsSync(path.join(folder, "junk.html")))
    return;
  const page = await open("junk.html"), found = () => page.locator("#found").innerText();
  await settle(page);
  check("damage comes first among the facts", /^\s*(Facts\s+)?What is missing\s+damaged:?\s+1 place in the file could not be read/.test(await factsOf(page)), await factsOf(page));
  check("… and there is no all-clear", !/nothing that hangs/.test(await factsOf(page)), await factsOf(page));
  await page.locator("#query").fill("outcome:foo");
  await settle(page);
  check("what a key takes is said", /^outcome: takes pending, .* or overdue$/.test(await found()), await found());
  await page.locator("#query").fill("type:foo");
  await settle(page);
  check("… and which types there are", /^not found: no type has 'foo'; types are /.test(await found()), await found());
  await page.context().close();
}

// ---- What would like to be more than text ----

async function hostile() {
  for (const name of ["hostile.html", "title.html", "labels.html"]) {
    if (!fs.existsSync(path.join(folder, name)))
      continue;
    const page = await open(name), texts = (await drawn(page)).map(d => d.text);
    if (name === "labels.html") {
      check("a label that looks like HTML is text", texts.some(text => text.includes("<img src=x onerror=alert(1)>")), texts);
      check("no controls, no turning", !texts.some(text => /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text)), texts);
      await clickLabel(page, "<img src=x onerror=alert(1)>");
      check("… in the facts, too", /<img src=x/.test(await factsOf(page)), await factsOf(page));
      await page.locator("#query").fill("<img src=x onerror=alert(1)>");
      await settle(page);
      check("… and is found", /1/.test(await page.locator("#found").innerText()), await page.locator("#found").innerText());
    } else {
      check(`the title of ${name}`, /^<[_/]script><img src=x onerror=alert\(1\)>"'/.test(await page.title()), await page.title());
      await drop(page, ["none.ctf", "bad.weft"], false, "</script><img src=x onerror=alert(1)>");
      check("a hostile name is shown as it is", /^<\/script><img src=x/.test(await said(page)), await said(page));
      check("… as the title, too", /^<\/script><img src=x/.test(await page.title()), await page.title());
    }
    equal(`images in ${name}`, 0, await page.locator("img").count());
    equal(`scripts that ran in ${name}`, [], await page.evaluate(() => window.ran));
    await page.context().close();
  }
  const page = await open("bad.html");
  const policy = await page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content");
  check("the policy", /^default-src 'none'; script-src 'sha256-[^']*' 'wasm-unsafe-eval'; style-src 'sha256-[^']*';/.test(policy) && !/unsafe-inline|unsafe-eval'? ?'?unsafe/.test(policy), policy);
  const before = problems.length;
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran.push('added')";
    document.body.append(script);
  });
  equal("a script that is added does not run", [], await page.evaluate(() => window.ran));
  check("… and the browser says so", problems.splice(before).every(p => /Content Security Policy/.test(p)));
  await page.context().close();
}

(async () => {
  const only = process.env.ONLY?.split(" ");
  browser = await chromium.launch({
    executablePath: process.env.BROWSER,
    timeout: PATIENCE_MS,
    args: [...(process.getuid() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  for (const test of [looks, overview, themes, mouse, touch, phone, keys, figures, places, findings, groups, many, notes, tables, samples, pictures, steps, reasons, palette, tour, paper, files, missing, hostile].filter(t => !only || only.includes(t.name)))
    try {
      await test();
    } catch (error) {
      check(`${test.name}: ${error.stack}`, false);
    }
  await browser.close();
  equal("what should not have happened", [], problems);
  console.log(`${checks} checks in the browser, ${failures} failed`);
  process.exit(failures ? 1 : 0);
})();
