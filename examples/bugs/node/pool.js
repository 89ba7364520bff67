// SPDX-License-Identifier: ISC
// A pool of two connections. A query that fails does not give its connection back.
const good = process.argv.includes('good');

class Pool {
  constructor(size) {
    this.free = size;
    this.queue = [];
  }

  acquire() {
    if (this.free > 0) {
      this.free--;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.queue.push(resolve));
  }

  release() {
    const next = this.queue.shift();
    if (next) next();
    else this.free++;
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function query(n) {
  await sleep(5);
  if (n === 3 || n === 6) throw new Error(`bad row ${n}`);
  return n;
}

async function handle(pool, n) {
  await pool.acquire();
  if (good) {
    try {
      return await query(n);
    } finally {
      pool.release();
    }
  }
  const row = await query(n);
  pool.release();
  return row;
}

async function main() {
  const pool = new Pool(2);
  const all = [];
  for (let n = 0; n < 12; n++) all.push(handle(pool, n));
  const rows = await Promise.allSettled(all);
  console.log(rows.filter((r) => r.status === 'fulfilled').length, 'rows');
}

main();
