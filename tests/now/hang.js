// SPDX-License-Identifier: ISC
// hang.js WHAT: hangs in one way, once it has said "hangs". A comment names each line that it waits in.
'use strict';

const never = () => new Promise(() => {});
const { once, EventEmitter } = require('events');
const nobody = new EventEmitter();

// Three functions, one for each other, and nobody has what would resolve the promise of the last.
async function loadUser() {
    await never(); // loadUser
}
async function handle() {
    await loadUser(); // handle
}
async function nested() {
    await handle(); // nested
}

// Each waits for what the other would do afterwards.
function deferred() {
    const d = {};
    d.promise = new Promise((resolve) => {
        d.resolve = resolve;
    });
    return d;
}
const left = deferred(), right = deferred();
async function takeLeft() {
    await right.promise; // takeLeft
    left.resolve();
}
async function takeRight() {
    await left.promise; // takeRight
    right.resolve();
}
function cycle() {
    takeLeft();
    takeRight();
}

// One of three is missing; its resolve function is kept.
const kept = [];
function part(n) {
    return n === 2 ? new Promise((resolve) => kept.push(resolve)) : Promise.resolve(n);
}
async function gather() {
    return await Promise.all([part(1), part(2), part(3)]); // gather
}
function all() {
    gather().then(function report(parts) { // report
        console.log(parts);
    });
}

class Mutex {
    constructor() {
        this.queue = [];
        this.locked = false;
    }
    async acquire() {
        while (this.locked)
            await new Promise((resolve) => this.queue.push(resolve)); // acquire
        this.locked = true;
    }
    release() {
        this.locked = false;
        this.queue.shift()?.();
    }
}
const table = new Mutex();
async function keeper() {
    await table.acquire();
    await once(nobody, 'done'); // keeper
    table.release();
}
async function visitor() {
    await table.acquire(); // visitor
    table.release();
}
function mutex() {
    keeper();
    visitor();
}

// These go on some time.
async function sleeper() {
    await new Promise((resolve) => setTimeout(resolve, 1234567)); // sleeper
}
async function reader() {
    await require('fs').promises.readFile(process.argv[3]); // reader
}
async function* numbers() {
    await never(); // numbers
    yield 1;
}
async function sum() {
    for await (const n of numbers()) // sum
        console.log(n);
}

function spin(n) {
    while (n > 0)
        n += 1; // spin
}
function busy() {
    setImmediate(function turn() {
        spin(1); // turn
    });
}
function deploy() {
    setImmediate(function start() {
        require('child_process').execFileSync('sleep', ['1000000']); // start
    });
}

// Nothing is pending, after much was.
function served() {
    const http = require('http');
    const nap = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    async function answer(response) {
        await Promise.race([nap(1), nap(5)]);
        await Promise.all([nap(1), require('fs').promises.readFile(__filename)]);
        response.end('answered\n');
    }
    const server = http.createServer((request, response) => answer(response));
    const ask = (port) => new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port }, (response) => {
        response.resume().on('end', resolve);
    }).on('error', reject));
    server.listen(0, '127.0.0.1', async () => {
        const { port } = server.address();
        for (let i = 0; i < 10; i++)
            await Promise.all(Array.from({ length: 20 }, () => ask(port)));
        await nap(10);
        setImmediate(() => console.log('hangs', port));
    });
}

const ways = { nested, cycle, all, mutex, sleeper, reader, sum, busy, deploy, served };
const what = process.argv[2];
if (what === 'worker') {
    const { Worker } = require('worker_threads');
    new Worker(__filename, { argv: ['nested'] });
} else {
    if (what !== 'served') {
        setInterval(() => {}, 7654321);
        setImmediate(() => require('fs').writeSync(1, 'hangs\n')); // after all functions have come to their await
    }
    ways[what]();
}
