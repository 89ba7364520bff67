// SPDX-License-Identifier: ISC
// Whether an export is done is looked at now and then. It is soon after one has looked for the second time.
const good = process.argv.includes('good');
const PAUSE = 200;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function exportAll(job, asked) {
  await asked;
  job.done = true;
}

async function download() {
  let ask;
  const asked = new Promise((resolve) => { ask = resolve; });
  const job = { done: false };
  const done = exportAll(job, asked);
  if (good) {
    ask();
    await done;
  }
  for (let looks = 1; !job.done; looks++) {
    if (looks === 2) ask();
    await sleep(PAUSE);
  }
}

Promise.all(Array.from({ length: 8 }, download)).then(() => console.log('all there'));
