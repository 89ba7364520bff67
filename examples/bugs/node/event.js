// SPDX-License-Identifier: ISC
// An event is emitted before anybody listens.
const { EventEmitter, once } = require('events');
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function worker(database, connected) {
  if (!good) await connected;
  await once(database, 'ready');
  if (good) await connected;
  console.log('working');
}

async function connect(database) {
  await sleep(5);
  database.emit('ready');
}

async function main() {
  const database = new EventEmitter();
  await worker(database, connect(database));
}

main();
