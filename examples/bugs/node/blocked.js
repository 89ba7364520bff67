// SPDX-License-Identifier: ISC
// A hash of a password is computed where the event loop runs, so that everybody waits for it.
const crypto = require('crypto');
const { promisify } = require('util');
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const rounds = 400000;

async function login(name) {
  await sleep(5);
  const hash = good
    ? await promisify(crypto.pbkdf2)(name, 'salt', rounds, 64, 'sha512')
    : crypto.pbkdf2Sync(name, 'salt', rounds, 64, 'sha512');
  return hash.length;
}

async function ticker() {
  for (let n = 0; n < 20; n++) await sleep(5);
}

async function main() {
  await Promise.all([ticker(), login('ann')]);
  console.log('done');
}

main();
