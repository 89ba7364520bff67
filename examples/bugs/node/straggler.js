// SPDX-License-Identifier: ISC
// A search asks four shards. One of them is slow each time.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Shard {
  constructor(number) {
    this.number = number;
  }

  async find() {
    await sleep(this.number === 2 && !good ? 200 : 5);
  }
}

async function search(shards) {
  await Promise.all(shards.map((shard) => shard.find()));
}

async function main() {
  const shards = [0, 1, 2, 3].map((number) => new Shard(number));
  for (let n = 0; n < 6; n++) await search(shards);
  console.log('all found');
}

main();
