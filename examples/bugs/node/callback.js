// SPDX-License-Identifier: ISC
// A callback that is never called: where the answer stands in the cache, nobody resolves the promise.
const good = process.argv.includes('good');
const cache = new Map();

function fetchRow(name, done) {
  setTimeout(() => done({ name }), 5);
}

function lookup(name) {
  return new Promise((resolve) => {
    if (cache.has(name)) {
      if (good) resolve(cache.get(name));
      return;
    }
    fetchRow(name, (row) => {
      cache.set(name, row);
      resolve(row);
    });
  });
}

async function show(name) {
  const row = await lookup(name);
  console.log(row.name);
}

async function main() {
  for (const name of ['ann', 'bob', 'ann']) await show(name);
}

main();
