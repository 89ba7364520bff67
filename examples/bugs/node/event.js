// SPDX-License-Identifier: ISC
// An event is emitted before anybody listens.
const { EventEmitter, once } = require('events');
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function worker(database) {
  if (!good) await sleep(20); // reads its configuration
  await once(database, 'ready');
  if (good) await sleep(20);
  console.log('working');
}

async function connect(database) {
  await sleep(5);
  database.emit('ready');
}

async function main() {
  const database = new EventEmitter();
  await Promise.all([worker(database), connect(database)]);
}

main();
