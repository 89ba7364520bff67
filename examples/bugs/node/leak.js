// SPDX-License-Identifier: ISC
// Each request sets a time limit, and nobody clears it when the answer is there.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function request(n) {
  const limit = setTimeout(() => console.log(`request ${n} took too long`), 30000);
  await sleep(2);
  if (good) clearTimeout(limit);
}

async function main() {
  for (let n = 0; n < 100; n++) await request(n);
  console.log('done');
  process.exit(0);
}

main();
