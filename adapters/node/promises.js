// SPDX-License-Identifier: ISC
// What V8 says of promises, told to weft. A call of an async function is a promise; so are new Promise, then and all that
// combines. What V8 makes for an await is none: it says who waits for what.
'use strict';

const { promiseHooks } = require('v8');
const { CALL, NEW, THEN, COMBINE, MEMBER, NEXT, PROGRAM, describe } = require('./places.js');

const AWAIT = 20, WRAPPER = 21, JOB = 22;
const NOBODY = 0;

// What is known of a promise stands in the promise, where nobody else can see it, and goes with it.
class Known extends class { constructor(object) { return object; } } {
  #of;
  constructor(promise, of) {
    super(promise);
    this.#of = of;
  }
  static of(promise) {
    return #of in promise ? promise.#of : undefined;
  }
}

let native, shared;
const sites = [];
const sitesByKey = new Map();
let on = false;

// Who runs: a call that has not been suspended, else what the loop has called.
let calls = [], base = 0, current = null;
const bases = [], currents = [];
const loop = { id: NOBODY, own: false, kind: 0, done: false };

let lastEnded; // of which it is not known yet how
let lastId = 0, lastBy = 0;
let lastMember = null; // what Promise.all and the like are making
let serving = false;
const roots = [];

function running() {
  while (calls.length > base && calls[calls.length - 1].done) calls.pop();
  return calls.length > base ? calls[calls.length - 1] : current;
}

// How a promise has ended is known only after V8 has said that it ends.
function settle() {
  const promise = lastEnded;
  if (promise === undefined) return;
  lastEnded = undefined;
  native.settle(lastId, promise, lastBy);
}

// The caller is to have asked native.here().
function learn() {
  const s = describe();
  const key = `${s.kind} ${s.fn} ${s.label} ${s.visible} ${s.top}`;
  let known = sitesByKey.get(key);
  if (!known) {
    known = s;
    s.index = native.site(s.type, s.label);
    sites[s.index] = s;
    sitesByKey.set(key, s);
  }
  native.learn(known.index, s.deep);
  return known;
}

function make(promise, s, parent) {
  const r = { id: parent.id, own: false, kind: s.kind, site: s, done: false, fn: s.fn, on: undefined };
  if (s.visible && !(s.owner !== PROGRAM && parent.kind === CALL && parent.site.owner !== PROGRAM)) {
    r.id = native.create(parent.id, s.index);
    r.own = r.id !== 0;
  }
  new Known(promise, r);
  return r;
}

// The number of what somebody waits for. What is not shown of a library is, once somebody else waits for it.
function numberFor(q, reader) {
  if (q.own || q.done || q.id === reader.id) return q.own ? q.id : 0;
  if (!q.site) return 0;
  q.id = native.create(q.id, q.site.index);
  q.own = q.id !== 0;
  return q.id;
}

function mayHang(r) {
  if (serving) native.background(r.id);
  else {
    native.should(r.id);
    roots.push(r.id);
  }
}

function begun(promise, s) {
  const parent = running();
  const r = make(promise, s, parent);
  if (r.own) {
    if ((s.top || s.main) && (parent.id === NOBODY || (parent.site && parent.site.main))) mayHang(r);
    native.run(r.id);
  }
  calls.push(r);
}

// Whose call it is that awaits at that place. What lies above it has returned.
function suspended(s) {
  for (let i = calls.length - 1; i >= base; i--) {
    const r = calls[i];
    if (!r.done && (r.fn === s.fn || r.kind === NEXT)) {
      calls.length = i;
      return r;
    }
  }
  return null;
}

// The frame of this function is the only one of ours that is there when V8 is asked for the place: nothing of it is
// to be moved into others.
function onInit(promise, parent) {
  try {
    settle();
    const q = parent === undefined ? undefined : Known.of(parent), who = running();
    if (q !== undefined && q === who && (q.kind === CALL || q.kind === NEXT)) {
      new Known(promise, { kind: WRAPPER, id: 0, own: false, done: true }); // await of no promise
      return;
    }
    if (q !== undefined && q.kind === WRAPPER) {
      if (calls.length > base) calls.pop();
      suspend(promise, who, undefined);
      return;
    }
    const index = native.here();
    const s = index >= 0 ? sites[index] : learn();
    if (parent === undefined) {
      if (s.kind === CALL || s.kind === NEXT) begun(promise, s);
      else if (s.kind === COMBINE) lastMember = make(promise, s, who);
      else make(promise, s, who);
    } else if (s.kind === CALL) suspend(promise, suspended(s) || who, q);
    else hangOn(promise, s, who, q);
  } catch (e) {
    stepAside(e);
  }
}

// A call is suspended until q has ended.
function suspend(promise, owner, q) {
  const on = q === undefined ? 0 : numberFor(q, owner);
  new Known(promise, { kind: AWAIT, id: owner.id, own: false, done: false, owner, on });
  native.suspend(owner.id, on, running().id);
}

// What then makes, or what the like of it is made for.
function hangOn(promise, s, who, q) {
  let owner = null;
  if (s.kind === MEMBER) owner = lastMember;
  // It has been resolved with a promise, and becomes what that becomes.
  else if (s.kind === THEN && !s.visible && who.own && current === who) owner = who;
  if (owner) {
    const on = q === undefined ? 0 : numberFor(q, owner);
    new Known(promise, { kind: s.kind === MEMBER ? MEMBER : JOB, id: owner.id, own: false, done: false, owner, on });
    if (on) native.wait(owner.id, on);
    return;
  }
  const r = make(promise, s, who);
  if (q === undefined) return;
  r.on = numberFor(q, r);
  if (r.on && r.id) native.wait(r.id, r.on);
}

function onBefore(promise) {
  settle();
  bases.push(base);
  currents.push(current);
  base = calls.length;
  const r = Known.of(promise);
  if (r === undefined) {
    current = loop;
    native.run(NOBODY);
    return;
  }
  if (r.kind === AWAIT) {
    current = loop;
    calls.push(r.owner);
  } else {
    current = r.kind === MEMBER || r.kind === JOB ? r.owner : r;
  }
  if (r.on) native.wake(r.id, r.on);
  else native.run(r.id);
}

function onAfter() {
  settle();
  calls.length = base;
  base = bases.pop() || 0;
  current = currents.pop() || loop;
  if (currents.length > 0) native.run(running().id);
}

function onSettled(promise) {
  settle();
  const r = Known.of(promise);
  if (r === undefined || r.done) return;
  r.done = true;
  if (r.kind >= AWAIT || r.kind === MEMBER) return;
  const top = calls.length > base ? calls[calls.length - 1] : null;
  if (r.own) {
    lastEnded = promise;
    lastId = r.id;
    lastBy = r.kind === CALL || r.kind === COMBINE ? r.id : running().id;
    if (top === r) lastBy = r.id;
    shared[0] = 1;
  }
  if (top === r) {
    calls.pop();
    const next = running();
    if (next.id !== r.id) native.run(next.id);
  }
}

// A hook that fails is not to be seen by the program.
function guard(hook) {
  return (promise, parent) => {
    try {
      hook(promise, parent);
    } catch (e) {
      stepAside(e);
    }
  };
}

let stops = [];
function stepAside(e) {
  off();
  require('fs').writeSync(2, `weft: ${e && e.message}; the program runs on without recording\n`);
}

function start() {
  if (on) return;
  on = true;
  stops = [
    promiseHooks.createHook({ init: onInit, before: guard(onBefore), after: guard(onAfter), settled: guard(onSettled) }),
  ];
}

function off() {
  on = false;
  for (const stop of stops) stop();
  stops = [];
  calls = [];
  base = bases.length = currents.length = 0;
  current = loop;
  lastEnded = undefined;
}

function flush() {
  shared[0] = 0;
  settle();
}

function install(addon) {
  native = addon;
  current = loop;
  const buffer = native.watch(flush, (is) => (is ? start() : off()));
  if (!buffer) throw new Error('its event loop cannot be watched');
  shared = new Uint32Array(buffer);
  start();
}

module.exports = { install };
