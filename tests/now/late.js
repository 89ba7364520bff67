// SPDX-License-Identifier: ISC
// Node.js programs that nobody has prepared, for weft ctl: late.js WHAT. Prints "ready", and a number if it has a port.
'use strict';

const http = require('http');
const say = (...words) => process.stdout.write(`${['ready', ...words].join(' ')}\n`);
const kept = [];
const stay = () => setInterval(function stay() {}, 1e9);

function acquire() { // acquire
  return new Promise((resolve, reject) => kept.push({ resolve, reject }));
}

async function query(row) {
  await acquire(); // query
  return row;
}

async function forgotten() {
  await new Promise(() => {}); // forgotten
}

async function handle() {
  await forgotten(); // handle
}

const programs = {
  // Serves; GET /resolve, /reject and /held do what they are called, GET /end ends it.
  idle() {
    kept.push(query(1), query(2));
    acquire().catch(function ignore() {});
    setTimeout(function later() {}, 1e8);
    const server = http.createServer((request, response) => {
      if (request.url === '/held') return kept.push(response);
      if (request.url === '/resolve') kept.find((it) => it.resolve).resolve();
      if (request.url === '/reject') kept.filter((it) => it.reject)[2].reject(new Error('bad row'));
      if (request.url === '/end') kept.pop().end('ended');
      response.end('done');
    });
    server.listen(0, '127.0.0.1', () => say(server.address().port));
  },
  busy() {
    kept.push(query(1));
    setTimeout(() => {
      say();
      for (;;);
    }, 0);
  },
  // Not even the garbage collector's roots lead to what main waits for.
  hang() {
    handle();
    stay();
    setTimeout(say, 0);
  },
  worker() {
    const { Worker } = require('worker_threads');
    new Worker(`(async () => { await new Promise(() => {}) })(); setInterval(() => {}, 1e9)`, { eval: true }).on('online', () => say());
    handle();
  },
  handles() {
    process.on('SIGUSR1', () => say('signal'));
    stay();
    say();
  },
  blocked() {
    say();
    require('child_process').execSync('read line </dev/stdin', { stdio: ['inherit', 'ignore', 'ignore'] });
    say('again');
    stay();
  },
  taken() {
    http.createServer().listen(9229, '127.0.0.1', () => say());
  },
};
programs[process.argv[2]]();
