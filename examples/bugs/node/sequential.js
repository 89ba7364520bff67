// SPDX-License-Identifier: ISC
// Eight pictures that have nothing to do with each other are fetched one after another.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function fetchPicture(name) {
  await sleep(10);
  return name;
}

async function page() {
  const names = Array.from({ length: 8 }, (_, n) => `${n}.jpg`);
  if (good) return Promise.all(names.map(fetchPicture));
  const pictures = [];
  for (const name of names) pictures.push(await fetchPicture(name));
  return pictures;
}

async function main() {
  console.log((await page()).length, 'pictures');
}

main();
