// SPDX-License-Identifier: ISC
// Begins to record in a program that runs already. weft ctl loads it through node's inspector and calls begin, share and
// record. It leaves no trace in the program.
'use strict';

const { isPromise } = require('util').types;
const v8 = require('v8');
const timers = require('timers');
const { Session } = require('inspector');
const { Worker } = require('worker_threads');
const beginning = require('./begin.js');
const promises = require('./promises.js');
const resources = require('./resources.js');
const http = require('./http.js');

let native;
const one = timers.setTimeout(() => {}, 1); // to find all others by
timers.clearTimeout(one);
const BEFORE = ' (before the recording)';

// Returns { error } with an errno, { why } with a reason in words, or {}.
function begin(path, bytes) {
  const unfit = beginning.unfit();
  if (unfit) return { why: unfit };
  try {
    native = beginning.load();
  } catch (why) {
    return { why: String(why) };
  }
  if (native.watched()) return { why: 'it is recorded already' };
  const error = native.start(path, bytes);
  if (error) return { error };
  try {
    promises.install(native);
  } catch (e) {
    return { why: `node ${process.versions.node}: ${String(e && e.message).split('\n')[0]}` };
  }
  return {};
}

// ---- Memory that weft ctl reads and writes while record() does ----

// Bytes 0 to 7: its address, 8: what is done, 12: how many numbers or bytes there are, from 16 on: these.
const ROOM = 8 << 20, STEP = 2, COUNT = 3, DATA = 16;
const LOOK = 1, LOOKED = 2, LISTED = 3, RECORDS = 4; // what is done; more: nothing comes
const PATIENCE_MS = 20000;
let room, words;

// Returns its address.
function share() {
  room = native.room(ROOM);
  words = new Int32Array(room);
  return Number(new BigUint64Array(room, 0, 1)[0]);
}

// Stops this thread until weft ctl has done its step. Returns whether it has.
function expect(own, other) {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  Atomics.store(words, STEP, own);
  for (let ms = 0; ms < PATIENCE_MS && Atomics.load(words, STEP) === own; ms++) Atomics.wait(nothing, 0, 0, 1);
  return Atomics.load(words, STEP) === other;
}

// ---- What the heap has ----

// What the inspector can name is global. It is there while nothing of the program runs.
const BRIDGE = Symbol.for('weft late'), HERE = "globalThis[Symbol.for('weft late')]";

// All objects with that prototype. The inspector collects garbage first.
function query(session, prototype) {
  let found = [];
  const post = (method, params) => {
    let result;
    session.post(method, params, (error, answer) => (result = error ? undefined : answer));
    return result || {};
  };
  try {
    Object.defineProperty(globalThis, BRIDGE, { configurable: true, value: { prototype, take: (all) => (found = all) } });
    const { result } = post('Runtime.evaluate', { expression: `${HERE}.prototype` });
    const { objects } = post('Runtime.queryObjects', { prototypeObjectId: result.objectId });
    post('Runtime.callFunctionOn', { objectId: objects.objectId, functionDeclaration: `function () { ${HERE}.take(this) }` });
  } finally {
    delete globalThis[BRIDGE];
  }
  return found;
}

// The addresses of those that are pending, 0 for each other.
function tell(all) {
  const to = new BigUint64Array(room, DATA, Math.min(all.length, (ROOM - DATA) / 8));
  for (let i = 0; i < to.length; i++) to[i] = native.state(all[i]) === 0 ? BigInt(native.address(all[i])) : 0n;
  words[COUNT] = to.length;
}

function each(list, adopt) {
  let count = 0;
  for (const it of list) {
    try {
      count += adopt(it, BEFORE);
    } catch {
      // its fields are the program's, and may be anything
    }
  }
  return count;
}

// What weft ctl has seen of promises from outside: [index among the promises, or -1: nobody can reach it; type; label;
// state; indices of the records that it waits for].
function adoptRecords(records, all, reached) {
  const made = records.map(([index, type, label, state]) =>
    index < 0 && !reached ? null : promises.adopt(all[index], type, `${label}${state ? `, ${state.split(': ')[0]}` : ''}${BEFORE}`));
  records.forEach((record, i) => {
    for (const k of record[4]) if (made[i] && made[k]) promises.adoptWait(made[i], made[k]);
  });
  records.forEach(([index, type], i) => index < 0 && type === 'call' && made[i] && promises.adoptHanging(made[i]));
  return made.filter((r) => r !== null).length;
}

// A worker thread; not the prototype of another class.
const runs = (worker) => !Object.hasOwn(worker, 'constructor') && worker.threadId !== -1;

// Records what is pending. Nothing of the program runs meanwhile: all of this is one call. Returns how many promises.
function record() {
  const session = new Session();
  session.connect();
  const looked = expect(LOOK, LOOKED);
  const all = query(session, Promise.prototype).filter(isPromise);
  tell(all);
  const told = looked && expect(LISTED, RECORDS);
  const { complete, records } = told ? JSON.parse(Buffer.from(room, DATA, words[COUNT]).toString()) : { complete: false, records: [] };
  // Otherwise weft ctl may still write there.
  if (told) native.room(0);
  // What is not listed is of this heap and context only if there are no others.
  const alone = looked && v8.getHeapStatistics().number_of_native_contexts === 1 &&
    (!records.some((r) => r[0] < 0) || !query(session, Worker.prototype).some(runs));
  const allTimers = query(session, Object.getPrototypeOf(one));
  session.disconnect();
  room = words = undefined;
  const handles = process._getActiveHandles ? process._getActiveHandles() : [];
  // V8 makes a promise for an await that nobody ever waits for, and marks it as handled. Servers first: what a program that serves waits for need not end.
  return each(handles, resources.adoptHandle) +
    adoptRecords(records, all, alone) +
    each(all, (it) => (complete && native.handled(it) ? 0 : promises.adopt(it, 'promise', `promise${BEFORE}`) ? 1 : 0)) +
    each(allTimers, resources.adoptTimer) +
    each(process._getActiveRequests ? process._getActiveRequests() : [], resources.adoptRequest) +
    each(handles, http.adopt);
}

beginning.forget(module);
module.exports = { begin, share, record };
