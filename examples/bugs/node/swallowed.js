// SPDX-License-Identifier: ISC
// A failure that nobody sees: who starts the work throws its failure away.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function writeReport(n) {
  await sleep(5);
  if (n === 2) throw new Error(`disk full at report ${n}`);
}

async function main() {
  for (let n = 0; n < 4; n++) {
    if (good)
      await writeReport(n).catch((error) => console.log(error.message));
    else
      writeReport(n).catch(() => {});
  }
  await sleep(50);
  console.log('done');
}

main();
