// SPDX-License-Identifier: ISC
// Passes what V8 reports about promises to weft. A call of an async function is a promise; so are new Promise, then and what
// combines promises. A promise that V8 creates for an await is not shown; it only reveals what waits for what.
'use strict';

const { promiseHooks } = require('v8');
const { executionAsyncId } = require('async_hooks');
const { CALL, NEW, THEN, COMBINE, MEMBER, NEXT, PROGRAM, INTERNAL, describe } = require('./places.js');
const resources = require('./resources.js');
const http = require('./http.js');
const program = require('./said.js');

const AWAIT = 20, WRAPPER = 21, JOB = 22;
const NOBODY = 0;
const SAY = 0, HOLD = 1, UNHANDLED = 2; // what to do with a failure
const SURE = 16; // this many awaits show what a function does
const NESTED = 1024;

// What we know about a promise is stored in the promise itself, hidden from other code, and freed with it.
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

// What runs: a call that has not been suspended, otherwise whatever the loop called.
let calls = [], base = 0, current = null;
const bases = [], currents = [], entered = []; // entered: its async_hooks id, or 0
const loop = { id: NOBODY, own: false, kind: 0, done: false, steps: 0, waiter: null };

let lastEnded; // ended, but not yet known how
const failed = []; // recently
let lastId = 0, lastBy = 0;
let wrapper = null; // the promise V8 has just created for an await
let turn = 0;
let lastMade = null; // the last one created by new Promise
let lastMember = null; // the last one created inside Promise.all and the like
let nextRequest = null; // the name that the program gives to its next call
let serving = false;
const roots = [], modules = new Map();

let said = -1, saidTurn = 0; // what runs, as last reported to weft, and in which turn of the loop

function runs(id) {
  if (id === said && saidTurn === shared[1]) return;
  isSaid(id);
  native.run(id);
}

function isSaid(id) {
  said = id;
  saidTurn = shared[1];
}

function running() {
  if (entered.length > 0) lookForReturned();
  while (calls.length > base && calls[calls.length - 1].done) calls.pop();
  return calls.length > base ? calls[calls.length - 1] : current;
}

// V8 reports that a promise ends before it is known how.
function settle() {
  if (wrapper !== null) wasNone();
  const promise = lastEnded;
  if (promise === undefined) return;
  lastEnded = undefined;
  const r = Known.of(promise);
  if (!native.settle(lastId, promise, lastBy, r.waiter === null ? HOLD : SAY)) {
    if (r.request) native.read(r.request, r.id);
    return;
  }
  if (r.older && r.waiter === loop) native.read(NOBODY, r.id); // somebody hangs on it
  if (r.waiter !== null) return;
  r.failed = { promise, by: lastBy };
  failed.push(r);
}

// If nothing has waited for a failure by the end of the turn, node calls it unhandled.
function lookAtFailed() {
  if (failed.length === 0) return;
  for (const r of failed.splice(0)) tellFailure(r, UNHANDLED);
}

function tellFailure(r, how) {
  if (r.failed === null) return;
  const { promise, by } = r.failed;
  r.failed = null;
  native.settle(r.id, promise, by, how);
}

function isWaitedFor(q, reader) {
  q.waiter = reader;
  if (q.failed) tellFailure(q, SAY);
}

// The caller must have called native.here().
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
  native.learn(known.index, s.deep ? 1 : 0);
  return known;
}

function toRequest(r, parent) {
  r.id = native.make(parent.id, 'request', nextRequest, true);
  r.own = r.id !== 0;
  nextRequest = null;
}

function make(promise, s, parent, starts = false) {
  const r = { id: parent.id, own: false, kind: s.kind, site: s, done: false, fn: s.fn, on: undefined, waiter: null, steps: 0, failed: null, request: 0 };
  if (nextRequest === null && s.visible && !(s.owner !== PROGRAM && parent.kind === CALL && parent.site.owner !== PROGRAM)) {
    r.id = starts ? native.begin(parent.id, s.index) : native.create(parent.id, s.index);
    r.own = r.id !== 0;
    if (starts && r.own) isSaid(r.id);
  }
  if (s.kind === NEW) lastMade = r;
  new Known(promise, r);
  return r;
}

// The number of an awaited promise. A hidden promise of a library becomes visible when other code waits for it.
function numberFor(q, reader) {
  if (q.own || q.done || q.id === reader.id) return q.own ? q.id : 0;
  if (!q.site || q.site.owner === INTERNAL) return 0;
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
  if (s.main) {
    modules.set(s.fn, { id: NOBODY, own: false, kind: CALL, site: s, done: false, fn: s.fn, waits: false, waiter: null, steps: 0 });
    return;
  }
  const r = make(promise, s, parent, true);
  if (nextRequest !== null) toRequest(r, parent);
  if (r.own) {
    if (parent.type === 'request') { // a call made for it answers it
      r.request = parent.id;
      native.wait(parent.id, r.id);
    }
    if (s.top && (parent.id === NOBODY || (parent.site && parent.site.main))) mayHang(r);
    runs(r.id);
  }
  calls.push(r);
}

// A module that awaits: V8 does not report its end, but once it has ended it no longer awaits.
function moduleOf(s) {
  const r = modules.get(s.fn);
  if (r === undefined) return null;
  if (!r.own) {
    r.id = native.create(NOBODY, r.site.index);
    r.own = r.id !== 0;
    mayHang(r);
  }
  r.waits = true;
  return r;
}

function moduleRan(r) {
  if (r.waits || r.done) return;
  r.done = true;
  native.end(r.id, 1, '', r.id);
}

// The call that awaits at this place. The calls above it have returned.
function suspended(s) {
  for (let i = calls.length - 1; i >= base; i--) {
    const r = calls[i];
    if (!r.done && (r.fn === s.fn || r.kind === NEXT)) {
      while (calls.length > i) calls.pop();
      if (s.main) r.waits = true;
      return r;
    }
  }
  return moduleOf(s);
}

// When V8 is asked for the place, this function must be our only frame on the stack: do not move parts of it into other
// functions.
function onInit(promise, parent) {
  try {
    settle();
    const q = parent === undefined ? undefined : Known.of(parent), who = running();
    const inside = q !== undefined && q === who && (q.kind === CALL || q.kind === NEXT);
    if (inside && q.site.wraps > SURE) {
      wrap(promise, q);
      return;
    }
    if (q !== undefined && q.kind === WRAPPER) {
      if (calls.length > base) calls.pop();
      suspend(promise, who, undefined);
      return;
    }
    // A promise that has already ended delays nothing. For a call that has only awaited so far, the place is not looked up.
    if (parent !== undefined && (q === undefined || q.done) && who.kind === CALL && who.site.awaits > SURE && !who.site.main) {
      calls.pop();
      suspend(promise, who, q, false).guessed = who.steps;
      return;
    }
    const index = native.here();
    const s = index >= 0 ? sites[index] : learn();
    if (inside && s.kind === CALL && (s.fn === q.fn || q.kind === NEXT)) {
      wrap(promise, q);
      q.site.wraps++;
      q.site.awaits++;
    } else if (parent === undefined) {
      if (s.kind === CALL || s.kind === NEXT) begun(promise, s);
      else if (s.kind === COMBINE) lastMember = make(promise, s, who);
      else make(promise, s, who);
    } else if (s.kind === CALL) {
      if (who.fn === s.fn) who.site.awaits++;
      suspend(promise, suspended(s) || (s.owner === PROGRAM ? who : loop), q, s.main);
    } else {
      if (who.kind === CALL) who.site.awaits = -1e9;
      hangOn(promise, s, who, q);
    }
  } catch (e) {
    stepAside(e);
  }
}

// An await of a plain value, in the call that runs: V8 creates a promise for it as a child of the call's own promise, and
// it ends at once. A call that returns a promise looks the same except for its place, so the place is looked up until
// enough awaits of this function have been seen. Even then the next report must be that the promise ends.
function wrap(promise, q) {
  const r = { kind: WRAPPER, id: 0, own: false, done: true, owner: q, on: 0, main: false, guessed: -1 };
  new Known(promise, r);
  if (q.site.wraps <= SURE) return;
  wrapper = r;
  shared[0] = 1;
}

function wasNone() {
  const r = wrapper, q = r.owner;
  wrapper = null;
  q.site.wraps = -1e9;
  const at = calls.lastIndexOf(q);
  if (at >= base) while (calls.length > at) calls.pop();
  const owner = running();
  r.kind = AWAIT;
  r.done = false;
  r.owner = owner;
  r.id = owner.id;
  r.on = numberFor(q, owner);
  if (r.on && owner.id) native.wait(owner.id, r.on);
}

// Suspends a call until q has ended.
function suspend(promise, owner, q, main) {
  if (q !== undefined) isWaitedFor(q, owner);
  const on = q === undefined ? 0 : numberFor(q, owner);
  const r = { kind: AWAIT, id: owner.id, own: false, done: false, owner, on, main: main === true, guessed: -1 };
  owner.steps++;
  new Known(promise, r);
  const next = running().id;
  if (on) {
    native.suspend(owner.id, on, next);
    isSaid(next);
  } else runs(next);
  return r;
}

// A promise created by `then`, or one that is created in a similar way.
function hangOn(promise, s, who, q) {
  let owner = null;
  if (s.kind === MEMBER) owner = lastMember;
  // It was resolved with another promise, and ends as that one ends.
  else if (s.kind === THEN && !s.visible && who.own && current === who) owner = who;
  if (q !== undefined && (owner || s.swallows)) isWaitedFor(q, owner || loop);
  if (owner) {
    const on = q === undefined ? 0 : numberFor(q, owner);
    new Known(promise, { kind: s.kind === MEMBER ? MEMBER : JOB, id: owner.id, own: false, done: false, owner, on });
    if (on) native.wait(owner.id, on);
    return;
  }
  if (s.swallows) {
    // A handler that discards a failure has not handled it.
    new Known(promise, { kind: THEN, id: NOBODY, own: false, done: false, site: undefined, on: 0, waiter: null });
    return;
  }
  const r = make(promise, s, who);
  if (q === undefined) return;
  isWaitedFor(q, r);
  r.on = numberFor(q, r);
  if (r.on && r.id) native.wait(r.id, r.on);
}

// The loop calls r: it runs from now on.
function enter(r, id) {
  settle();
  push(id);
  current = r;
  runs(r.id);
}

function push(id) {
  if (shared[1] !== turn) { // these have returned, or an exception left them there
    turn = shared[1];
    while (entered.length > 0) drop();
    if (calls.length > 0) calls = [];
    base = 0;
    current = loop;
  }
  if (entered.length === NESTED) forgetHalf();
  bases.push(base);
  currents.push(current);
  entered.push(id);
  base = calls.length;
}

function drop() {
  const r = current;
  while (calls.length > base) calls.pop();
  base = bases.pop();
  current = currents.pop();
  if (entered.pop() !== 0) resources.returned(r);
}

// No real nesting is this deep: these have returned.
function forgetHalf() {
  const gone = bases[NESTED / 2];
  calls.splice(0, gone);
  for (const list of [bases, currents, entered]) list.splice(0, NESTED / 2);
  for (let i = 0; i < bases.length; i++) bases[i] -= gone;
  base -= gone;
}

// async_hooks is usually not asked to report when node's callback returns: the next callback, or the end of the turn, shows it.
function lookForReturned() {
  const id = executionAsyncId();
  let top = entered[entered.length - 1];
  if (top === 0 || top === id) return;
  do {
    drop();
    top = entered.length > 0 ? entered[entered.length - 1] : 0;
  } while (entered.length > 0 && top !== 0 && top !== id);
  if (entered.length > 0) runs(running().id);
}

function onBefore(promise) {
  settle();
  push(0);
  const r = Known.of(promise);
  if (r === undefined) {
    current = loop;
    runs(NOBODY);
    return;
  }
  if (r.kind === AWAIT) {
    current = loop;
    calls.push(r.owner);
    if (r.main) r.owner.waits = false;
  } else {
    current = r.kind === MEMBER || r.kind === JOB ? r.owner : r;
  }
  if (r.on) {
    native.wake(r.id, r.on);
    isSaid(r.id);
  } else runs(r.id);
}

function onAfter(promise) {
  settle();
  while (entered.length > 0 && entered[entered.length - 1] !== 0) drop();
  if (entered.length > 0) drop();
  if (entered.length > 0) runs(running().id);
  const r = Known.of(promise);
  if (r === undefined || r.kind !== AWAIT) return;
  if (r.main) moduleRan(r.owner);
  // It was a then and not an await: the call has not continued.
  if (r.guessed >= 0 && r.guessed === r.owner.steps && !r.owner.done) r.owner.site.awaits = -1e9;
}

function onSettled(promise) {
  const r = Known.of(promise);
  if (wrapper !== null && r === wrapper) wrapper = null;
  settle();
  if (r === undefined || r.done) return;
  r.done = true;
  if (r.kind >= AWAIT || r.kind === MEMBER) return;
  if (entered.length > 0) lookForReturned();
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
    if (next.id !== r.id) runs(next.id);
  }
}

// The program must not notice when a hook fails.
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
  require('fs').writeSync(2, `weft: node ${process.versions.node}: ${e && e.message}; the program runs on without recording\n`);
}

function start() {
  if (on) return;
  on = true;
  const ours = [onInit, guard(onBefore), guard(onAfter), guard(onSettled)];
  const [init, before, after, settled] = ours;
  stops = [promiseHooks.createHook({ init, before, after, settled }), resources.start(ours), http.start(), program.start()];
}

function off() {
  on = false;
  while (entered.length > 0) drop();
  for (const stop of stops.splice(0)) stop();
  calls = [];
  base = 0;
  current = loop;
  lastEnded = undefined;
}

function flush(last) {
  shared[0] = 0;
  settle();
  lookAtFailed();
  resources.nameLate();
  if (last) resources.look(1e9);
}

// What the other files need from this one.
const core = {
  loop,
  running,
  enter,
  // node's callback has returned.
  leave(id) {
    const at = entered.lastIndexOf(id);
    if (at < 0) return;
    settle();
    while (entered.length > at) drop();
    if (entered.length > 0) runs(running().id);
  },
  stepAside,
  dirty() {
    shared[0] = 1;
  },
  serves() {
    serving = true;
    for (const id of roots) native.background(id);
    roots.length = 0;
  },
  renameLast(label) {
    if (lastMade && lastMade.own) native.label(lastMade.id, label);
  },
  known: (thing) => (typeof thing === 'object' && thing !== null ? Known.of(thing) : undefined),
  nameNext(text) {
    nextRequest = text;
  },
  // Gives r that number.
  own(r, id) {
    r.id = id;
    r.own = id !== 0;
    if (running() === r) runs(id);
    return r.own;
  },
  // The innermost running call that has a number.
  shownCall() {
    let i = calls.length - 1;
    while (i > base && !calls[i].own) i--;
    return i >= base ? calls[i] : null;
  },
  // What the loop has called runs on behalf of r.
  turnInto(r) {
    current = r;
    runs(r.id);
  },
};

// The program ends itself: neither the promise that does so nor what waits for it hangs.
function exits(code) {
  let r = running();
  for (let n = 0; r && n < 1000; n++, r = r.waiter) {
    if (r.own && !r.done) native.end(r.id, 0, '', r.id);
    r.done = true;
  }
  if (code === undefined || Number(code) === 0) for (const id of roots) native.background(id);
}

// When an exception ends the program, what is pending does not hang; the call that threw has failed.
function dies(error, rejected) {
  const r = running();
  if (r.own && !r.done && !rejected) {
    r.done = true;
    native.end(r.id, 2, `uncaught ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`, r.id);
    native.read(NOBODY, r.id); // node prints the error
  }
  for (const id of roots) native.background(id);
  roots.length = 0;
}

function quietly(what, ...args) {
  try {
    if (on) what(...args);
  } catch {
    // the program is ending
  }
}

// The end of the program: reports what ended in its last turn. It adds no listener that the program could see.
function watchEnd() {
  const none = () => {};
  const replace = (name, before, after) => {
    const was = Object.getOwnPropertyDescriptor(process, name);
    if (typeof process[name] !== 'function') return;
    const value = native.wrap(process[name], name, before, after);
    if (value) Object.defineProperty(process, name, { value, writable: true, configurable: true, enumerable: !!was && was.enumerable });
  };
  replace('emit', (event) => event === 'exit' && quietly(flush, true), none);
  replace('reallyExit', (code) => (quietly(flush, true), quietly(exits, code)), none);
  replace('_fatalException', () => quietly(flush, true), (handled, ...args) => handled || quietly(dies, ...args));
}

function install(addon) {
  native = addon;
  current = loop;
  resources.install(native, core);
  http.install(native, core, resources);
  program.install(native, core);
  const buffer = native.watch(flush, (is) => (is ? start() : off()));
  if (!buffer) throw new Error('its event loop cannot be watched');
  shared = new Uint32Array(buffer);
  watchEnd();
  start();
}

// A promise from before the recording: V8 reports like any other that it is settled. undefined: one that nobody can settle
// any more, which is known only by its name. Returns what is known of it, or null.
function adopt(promise, type, label) {
  if (promise !== undefined && (native.state(promise) !== 0 || Known.of(promise) !== undefined)) return null;
  const r = { id: native.make(NOBODY, type, label, false), own: true, kind: NEW, site: undefined, done: false, fn: '', on: undefined, waiter: null, steps: 0, failed: null, request: 0, older: true };
  if (r.id === 0) return null;
  if (type === 'internal') native.background(r.id); // node's own, like the one that runs a module
  if (promise === undefined) return r;
  if (native.handled(promise)) r.waiter = loop;
  return new Known(promise, r), r;
}

// A promise from before the recording waits for another one.
function adoptWait(r, q) {
  q.waiter = r;
  native.wait(r.id, q.id);
}

// A call that nobody can resolve any more: if nothing waits for it, it hangs, unless it is what a server does for ever.
function adoptHanging(r) {
  if (r.waiter === null && !serving) native.should(r.id);
}

module.exports = { install, adopt, adoptWait, adoptHanging };
