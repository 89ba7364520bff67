// SPDX-License-Identifier: ISC
// Two tasks wait for each other: each for what the other one gives when it has ended.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const tasks = {};

async function readConfiguration() {
  await sleep(5);
  if (!good) await tasks.log; // to log that it was read
  return 'configuration';
}

async function openLog() {
  await sleep(2);
  await tasks.configuration; // says where the log is
  return 'log';
}

async function main() {
  tasks.configuration = readConfiguration();
  tasks.log = openLog();
  console.log(await Promise.all([tasks.configuration, tasks.log]));
}

main();
