// SPDX-License-Identifier: ISC
// What is cancelled never answers: the signal clears the timer, but nobody tells the one who waits.
const good = process.argv.includes('good');

function download(signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000, 'data');
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      if (good) reject(signal.reason);
    });
  });
}

async function main() {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 20);
  try {
    console.log(await download(controller.signal));
  } catch (error) {
    console.log(error.name);
  }
}

main();
