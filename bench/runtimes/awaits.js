// SPDX-License-Identifier: ISC
// For bench/run-runtimes: 100 000 awaits, of each sort. Prints the CPU time of one, in ns. Waits for a line first.
'use strict';

const COUNT = 100_000;

async function nothing(i) {
  return i;
}

async function value() {
  for (let i = 0; i < COUNT; i++) await i;
}

async function call() {
  for (let i = 0; i < COUNT; i++) await nothing(i);
}

async function main() {
  clearInterval(turns);
  for (const what of [value, call]) {
    const begun = process.cpuUsage();
    await what();
    const { user, system } = process.cpuUsage(begun);
    console.log(what.name, ((user + system) * 1000) / COUNT);
  }
  process.exit();
}

const turns = setInterval(() => {}, 1); // weft switches when the loop turns
process.stdin.once('data', main);
console.log('ready');
