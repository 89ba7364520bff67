// SPDX-License-Identifier: ISC
// The server refuses for a while, and the client tries again at once.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let refusals = good ? 5 : 300;

async function connect() {
  await new Promise((resolve) => setImmediate(resolve));
  if (--refusals >= 0) throw new Error('refused');
}

async function session() {
  for (let pause = 2; ; pause *= 2) {
    try {
      return await connect();
    } catch (error) {
      if (good) await sleep(pause);
    }
  }
}

session().then(() => console.log('connected'));
