// SPDX-License-Identifier: ISC
// One lock for all accounts is held while the database is asked.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Lock {
  constructor() {
    this.taken = false;
    this.queue = [];
  }

  acquire() {
    if (!this.taken) {
      this.taken = true;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.queue.push(resolve));
  }

  release() {
    const next = this.queue.shift();
    if (next) next();
    else this.taken = false;
  }
}

async function readBalance() {
  await sleep(10);
  return 1;
}

async function deposit(lock) {
  await lock.acquire();
  try {
    await readBalance();
  } finally {
    lock.release();
  }
}

async function client(lock) {
  for (let n = 0; n < 6; n++) {
    await deposit(lock);
    await sleep(5);
  }
}

async function main() {
  const common = new Lock();
  await Promise.all(Array.from({ length: 8 }, () => client(good ? new Lock() : common)));
  console.log('all booked');
}

main();
