// SPDX-License-Identifier: ISC
/* How long a page takes to open and to draw, in a browser without a GPU:
 *
 *     NODE_PATH=... node page-tour.js BROWSER PAGE [WIDTH HEIGHT]
 *
 * opens the page from disk, at 1600 x 900 if nothing is given, and flies the same ten-second tour as `weft-view --measure`, with real
 * wheel and mouse events. Prints name=value for: open_s (from the start of loading to the first picture),
 * picture_*_ms (draw list and canvas calls, by the page's own clock), task_*_ms (all that the main thread did
 * in a frame: events, script, layout, raster), both also for frames in which a canvas of that size is only filled
 * (empty_*_ms, empty_task_*_ms: the limit), frames, seconds. */
"use strict";

const { chromium } = require("playwright-core");
const path = require("path");

const FRAMES = 600, EMPTY = 100;
const PLACES = [[0.3, 0.3], [0.7, 0.6], [0.5, 0.8], [0.15, 0.45]];

function say(name, values) {
  values.sort((a, b) => a - b);
  for (const [what, share] of [["median", 0.5], ["95", 0.95], ["99", 0.99]])
    console.log(`${name}_${what}_ms=${values[Math.floor(values.length * share)].toFixed(2)}`);
  console.log(`${name}_max_ms=${values[values.length - 1].toFixed(2)}`);
}

async function main(browserPath, file, width = 1600, height = 900) {
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--disable-quic"].concat(process.getuid() === 0 ? ["--no-sandbox"] : []),
  });
  const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
  const metrics = await page.context().newCDPSession(page);
  await metrics.send("Performance.enable");
  const busy = async () =>
    (await metrics.send("Performance.getMetrics")).metrics.find(m => m.name === "TaskDuration").value * 1000;
  const frame = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done))));

  const begun = process.hrtime.bigint();
  await page.goto(`file://${path.resolve(file)}`);
  await page.evaluate(() => weft.ready);
  await frame();
  console.log(`open_s=${(Number(process.hrtime.bigint() - begun) / 1e9).toFixed(3)}`);

  const canvas = await page.locator("canvas").first().boundingBox();
  const at = ([x, y]) => [canvas.x + canvas.width * x, canvas.y + canvas.height * y];
  const drag = async (place, dx, dy) => {
    const [x, y] = at(place);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + dx, y + dy);
    await page.mouse.up();
  };
  const wheel = async ([x, y], notches) => {
    await page.mouse.move(...at([x, y]));
    await page.mouse.wheel(0, notches * 100);
  };
  const pictures = [], tasks = [], start = process.hrtime.bigint();
  let before = await busy();
  for (let i = 0; i < FRAMES; i++) {
    const place = PLACES[Math.floor(i * PLACES.length / FRAMES)], step = i % (FRAMES / PLACES.length);
    const seen = await page.evaluate(() => weft.times().length);
    if (step < 50)
      await wheel(place, -1);
    else if (step < 100)
      await drag(place, step % 2 ? -40 : -25, step % 2 ? 6 : -9);
    else
      await wheel([1 - place[0], place[1]], 1);
    await frame();
    const drawn = await page.evaluate(n => weft.times().slice(n), seen), now = await busy();
    pictures.push(...drawn);
    tasks.push((now - before) / Math.max(1, drawn.length));
    before = now;
  }
  console.log(`frames=${pictures.length}`);
  console.log(`seconds=${(Number(process.hrtime.bigint() - start) / 1e9).toFixed(1)}`);
  say("picture", pictures);
  say("task", tasks);
  await page.evaluate(() => {
    const canvas = document.getElementById("picture").cloneNode();
    document.body.replaceChildren(canvas);
    canvas.style.cssText = "position:fixed;inset:0;width:100vw;height:100vh";
    const context = canvas.getContext("2d", { alpha: false });
    let shade = 0;
    window.fillAll = () => {
      const begun = performance.now();
      context.fillStyle = `rgb(${shade++ % 256},255,255)`;
      context.fillRect(0, 0, canvas.width, canvas.height);
      return performance.now() - begun;
    };
  });
  const fills = [], fillTasks = [];
  before = await busy();
  for (let i = 0; i < EMPTY; i++) {
    fills.push(await page.evaluate(() => new Promise(done =>
      requestAnimationFrame(() => { const took = fillAll(); setTimeout(() => done(took)); }))));
    const now = await busy();
    fillTasks.push(now - before);
    before = now;
  }
  say("empty", fills);
  say("empty_task", fillTasks);
  await browser.close();
}

main(...process.argv.slice(2)).catch(error => {
  console.error(`page-tour: ${error.message}`);
  process.exit(1);
});
