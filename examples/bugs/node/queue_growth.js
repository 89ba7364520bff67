// SPDX-License-Identifier: ISC
// Orders come faster than they are shipped, and nobody refuses any.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const waiting = [];
let free = good ? 24 : 2;

async function ship() {
  await sleep(30);
}

async function order() {
  if (free === 0) await new Promise((resolve) => waiting.push(resolve));
  else free--;
  await ship();
  const next = waiting.shift();
  if (next) next();
  else free++;
}

async function main() {
  const coming = [];
  for (let n = 0; n < 64; n++) {
    coming.push(order());
    await sleep(6);
  }
  await Promise.all(coming);
  console.log('all shipped');
}

main();
