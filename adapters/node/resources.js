// SPDX-License-Identifier: ISC
// What node itself waits for: timers, files, name lookups, connections, processes. async_hooks reports when such a resource
// is created and when node calls back for it. Whatever runs at its creation is its creator.
'use strict';

const hooks = require('async_hooks');
const { basename } = require('path');
const { INTERNAL, caller, place } = require('./places.js');

const RESOURCE = 40;

// Resources that are named only once their name is known, because the first name is the one that is shown.
const LATE = new Set(['fs', 'dns', 'connect', 'process']);

// [type, one callback ends it]; types that are not listed run as their creator.
const KINDS = new Map([
  ['Timeout', ['timer', true]],
  ['FSREQCALLBACK', ['fs', true]],
  ['GETADDRINFOREQWRAP', ['dns', true]],
  ['GETNAMEINFOREQWRAP', ['dns', true]],
  ['QUERYWRAP', ['dns', true]],
  ['TCPCONNECTWRAP', ['connect', true]],
  ['PIPECONNECTWRAP', ['connect', true]],
  ['PROCESSWRAP', ['process', true]],
  ['ZLIB', ['zlib', true]],
  ['WORKER', ['worker', false]],
  ['TCPSERVERWRAP', ['server', false]],
  ['PIPESERVERWRAP', ['server', false]],
  ['TCPWRAP', ['socket', false]],
  ['TLSWRAP', ['socket', false]],
  ['UDPWRAP', ['socket', false]],
]);
for (const name of ['RANDOMBYTES', 'RANDOMPRIME', 'CHECKPRIME', 'PBKDF2', 'SCRYPT', 'HKDF', 'KEYPAIRGEN', 'KEYGEN', 'KEYEXPORT',
  'SIGN', 'VERIFY', 'CIPHER', 'HASH', 'DERIVEBITS'])
  KINDS.set(`${name}REQUEST`, ['crypto', true]);

// node's own types, called by the loop; the others are functions that code has deferred.
const OF_NODE = /^[A-Z0-9_]+$/;

let native, core;
const NAMES = new Map([['asyncBufferWrapper', 'zlib'], ['processChunk', 'zlib']]);

// What runs when node calls back is stored in the resource itself, hidden from other code, and freed with it.
class Mine extends class { constructor(object) { return object; } } {
  #of;
  static of(thing) {
    return typeof thing === 'object' && thing !== null && #of in thing ? thing.#of : undefined;
  }
  static set(thing, r) {
    if (!Object.isExtensible(thing)) return;
    if (!(#of in thing)) new Mine(thing);
    thing.#of = r;
  }
}

// A resource that runs once and soon is stored by its number, if that slot is free.
const SOON = 1024;
const soonIds = new Float64Array(SOON), soon = new Array(SOON).fill(undefined);

const late = []; // named once the function that creates them has returned
const watched = []; // may be abandoned without a report: [resource, its row, a function that tells whether it has ended]
let hand = 0;
let owner; // node's symbol for the owner of a handle

const sites = [], sitesByKey = new Map();

function learn() {
  const { user, called, list } = caller();
  const outer = called && called.file === 'node:timers/promises' ? 'promise' : called ? called.name : '';
  const key = `${user ? place(user, user.line) : ''} ${outer} ${user ? user.file : ''} ${list.length > 0 && list[0].name}`;
  let s = sitesByKey.get(key);
  if (!s) {
    s = { index: native.site('', ''), user, called: outer, where: user ? place(user, user.line) : '' };
    // Node's own timers, for sockets and dates, do not belong to the program.
    const inner = list.find((f) => f.file && f.file !== 'node:internal/async_hooks');
    s.direct = !!called && called.owner === INTERNAL && !!user;
    s.own = !!inner && /^node:(internal\/)?timers$/.test(inner.file) && !!called && /^node:timers$/.test(called.file);
    sites[s.index] = s;
    sitesByKey.set(key, s);
  }
  native.learn(s.index, 1);
  return s;
}

function row(type, parent, label, should = false) {
  const id = native.make(parent.id, type, label, should);
  return { id, own: id !== 0, kind: RESOURCE, site: undefined, done: false, once: false, parts: 1, type };
}

function watch(thing, r, over) {
  watched.push([thing, r, over]);
  look(2);
}

// Checks some of those in `watched`.
function look(most) {
  for (let n = Math.min(most, watched.length); n > 0 && watched.length > 0; n--) {
    if (hand >= watched.length) hand = 0;
    const [thing, r, over] = watched[hand];
    if (!r.done && (!over(thing) || core.running() === r)) {
      hand++;
      continue;
    }
    if (!r.done) {
      r.done = true;
      native.end(r.id, 3, '', core.running().id);
    }
    watched[hand] = watched[watched.length - 1];
    watched.pop();
  }
}

function onInit(id, type, trigger, resource) {
  try {
    const who = core.running();
    if ((type === 'TickObject' || type === 'Immediate') && soonIds[id % SOON] === 0) {
      soonIds[id % SOON] = id;
      soon[id % SOON] = who;
      return;
    }
    const kind = KINDS.get(type);
    if (kind === undefined) {
      if (type === 'PROMISE') return; // the program uses async_hooks itself
      if (type === 'FSREQPROMISE') nameCall(resource);
      if (type === 'HTTPCLIENTREQUEST') Mine.set(resource, core.rowOf(resource.req) || who);
      else if (!OF_NODE.test(type)) Mine.set(resource, who);
      return;
    }
    // A timer that has never kept the loop alive is node's own, for a socket or a date.
    if (type === 'Timeout' && resource.hasRef && !resource.hasRef()) return;
    const index = native.here();
    const s = index >= 0 ? sites[index] : learn();
    const r = made(kind[0], kind[1], s, who, resource);
    if (r !== null) Mine.set(resource, r);
  } catch (e) {
    core.stepAside(e);
  }
}

function made(type, once, s, who, resource) {
  if (type === 'timer') return timer(s, who, resource);
  if (type === 'fs' && !s.user) {
    if (who.type === 'fs') who.parts++;
    return who;
  }
  if (type === 'socket') return null;
  if (type === 'server') {
    core.serves();
    const r = row(type, who, '');
    native.background(r.id);
    return named(r, resource, (server) => {
      const at = server && server.address && server.address();
      return !at ? '' : typeof at === 'string' ? `server ${at}` : `server :${at.port}`;
    });
  }
  if (!s.user && type !== 'connect' && type !== 'dns') return null;
  const label = s.user ? `${NAMES.get(s.called) || s.called || type} ${s.where}` : type;
  const r = row(type, who, LATE.has(type) ? '' : label);
  r.label = label;
  r.once = once;
  if (type === 'worker') native.background(r.id);
  if (type === 'fs')
    return named(r, resource, () => {
      const path = native.path(resource);
      return path && `${s.called || type} ${short(path)}`;
    });
  if (type === 'dns') return named(r, resource, () => resource.hostname && `lookup ${resource.hostname}`);
  if (type === 'connect')
    return named(r, resource, () =>
      resource.address ? `connect ${resource.address}${resource.port ? `:${resource.port}` : ''}` : '');
  if (type === 'process')
    return named(r, resource, (child) =>
      child && child.spawnfile ? [basename(child.spawnfile), ...(child.spawnargs || []).slice(1)].join(' ').slice(0, 80) : '');
  return r;
}

const short = (path) => (path.length > 80 ? `…${path.slice(-79)}` : path);

// fs.promises: the program's call already has a promise, named by the function and the line.
function nameCall(resource) {
  const r = core.shownCall();
  if (r === null || !r.own || r.site.owner !== INTERNAL || r.named) return;
  r.named = true;
  named(r, resource, () => {
    const path = native.path(resource);
    return path ? `${r.site.label.split(' ')[0]} ${short(path)}` : r.site.label;
  });
}

function timer(s, who, resource) {
  if (s.called === 'promise') {
    // timers/promises: the promise it returns has just been created.
    core.renameLast(`${resource._idleTimeout} ms ${s.where}`);
    return null;
  }
  if (!s.own) return core.loop;
  const r = row('timer', who, `${resource._idleTimeout} ms ${s.where}`);
  if (resource._repeat) native.background(r.id);
  else r.once = true;
  watch(resource, r, (t) => t._destroyed);
  return r;
}

function named(r, resource, name) {
  late.push([r, resource, name]);
  core.dirty();
  return r;
}

function nameLate() {
  if (late.length === 0) return;
  for (const [r, resource, name] of late.splice(0)) {
    if (owner === undefined) owner = Object.getOwnPropertySymbols(resource).find((s) => String(s) === 'Symbol(owner_symbol)');
    let label = '';
    try {
      label = name(owner && resource[owner]);
    } catch {
      // it no longer exists
    }
    native.label(r.id, label || r.label || r.type);
  }
}

function onBefore(id) {
  try {
    if (soonIds[id % SOON] === id) {
      const r = soon[id % SOON];
      soonIds[id % SOON] = 0;
      soon[id % SOON] = undefined;
      core.enter(r, id);
      return;
    }
    const thing = hooks.executionAsyncResource();
    if (thing instanceof Promise && core.known(thing) !== undefined) return;
    const r = Mine.of(thing) || core.loop;
    core.enter(r, id);
    entered(r);
  } catch (e) {
    core.stepAside(e);
  }
}

function onAfter(id) {
  try {
    core.leave(id);
  } catch (e) {
    core.stepAside(e);
  }
}

// A resource that ends with its callback has ended when the callback returns; only for these async_hooks reports returns.
let returns = null, ask = 0; // async_hooks' counters of subscribers, and the index of the one for returns
let asking = 0;

function entered(r) {
  if (r.kind === RESOURCE && r.once && returns !== null && asking++ === 0) returns[ask]++;
}

function returned(r) {
  if (r.kind !== RESOURCE || !r.once) return;
  if (returns !== null && --asking === 0) returns[ask]--;
  if (--r.parts > 0 || r.done) return;
  r.done = true;
  native.end(r.id, r.type === 'timer' ? 1 : 0, '', r.id);
}

// async_hooks also sees promises. That costs three times as much as V8's own hooks, and leaves visible marks on them. Newer
// versions can leave promises out; in older ones we restore V8's hooks to ours alone, until the program asks for others.
function start(ours) {
  const hook = hooks.createHook({ init: onInit, before: onBefore, after: onAfter, trackPromises: false });
  const wrap = binding();
  const { async_hook_fields: counts, constants } = wrap || {};
  const before = counts && counts[constants.kAfter];
  hook.enable();
  if (counts && counts[constants.kAfter] === before + 1) {
    returns = counts;
    ask = constants.kAfter;
    returns[ask]--;
  }
  if (Number(process.versions.node.split('.')[0]) < 24) wrap.setPromiseHooks(...ours);
  return () => {
    if (returns !== null) returns[ask]++;
    returns = null;
    hook.disable();
  };
}

function binding() {
  const before = process.noDeprecation;
  try {
    process.noDeprecation = true;
    return process.binding('async_wrap');
  } catch {
    return null;
  } finally {
    if (before === undefined) delete process.noDeprecation;
    else process.noDeprecation = before;
  }
}

// ---- What there is already when the recording begins ----

const at = (address, port) => `${address || ''}${port ? `:${port}` : ''}`;

// Requests that node has under way: how they are called, from their fields.
const REQUESTS = {
  FSREQCALLBACK: (it) => `fs ${short(native.path(it))}`.trim(),
  GETADDRINFOREQWRAP: (it) => `lookup ${it.hostname || ''}`,
  GETNAMEINFOREQWRAP: (it) => `lookup ${it.host || ''}`,
  QUERYREQWRAP: (it) => `lookup ${it.hostname || ''}`,
  TCPCONNECTWRAP: (it) => `connect ${at(it.address, it.port)}`,
  PIPECONNECTWRAP: (it) => `connect ${it.address || ''}`,
};

function adopted(thing, type, label, once) {
  const r = row(type, core.loop, label);
  if (!r.own) return 0;
  r.once = once;
  if (!once) native.background(r.id);
  Mine.set(thing, r);
  return 1;
}

// One callback ends a request; async_hooks reports it, whenever the request was made. Returns how many promises it is.
function adoptRequest(it, before) {
  const name = it.constructor ? it.constructor.name.toUpperCase() : '', label = REQUESTS[name];
  const kind = KINDS.get(name === 'QUERYREQWRAP' ? 'QUERYWRAP' : name);
  return label && kind && !Mine.of(it) ? adopted(it, kind[0], label(it) + before, true) : 0;
}

function adoptTimer(it, before) {
  // Those that do not keep the loop alive are node's own, or in the background.
  if (it._destroyed || typeof it._onTimeout !== 'function' || !it.hasRef || !it.hasRef() || Mine.of(it)) return 0;
  const name = it._onTimeout.name ? ` ${it._onTimeout.name}` : '';
  if (!adopted(it, 'timer', `${Math.round(it._repeat || it._idleTimeout)} ms${name}${before}`, !it._repeat)) return 0;
  watch(it, Mine.of(it), (t) => t._destroyed);
  return 1;
}

// A handle lives until it is closed; it is in the background, except for a child process, which ends.
function adoptHandle(it, before) {
  const name = it.constructor ? it.constructor.name : '';
  if (it === process.stdin || it === process.stdout || it === process.stderr) return 0;
  if (name === 'ChildProcess') {
    const label = [basename(it.spawnfile || ''), ...(it.spawnargs || []).slice(1)].join(' ').slice(0, 80);
    return it._handle && !Mine.of(it._handle) ? adopted(it._handle, 'process', label + before, true) : 0;
  }
  if (Mine.of(it)) return 0;
  let own = null, label = name;
  if (typeof it.address === 'function') own = it.address();
  if (typeof own === 'string') label = `server ${own}`;
  else if (typeof it.listen === 'function' && own) label = `server :${own.port}`;
  else if (it.remoteAddress) label = `socket ${at(it.remoteAddress, it.remotePort)}`;
  else if (own && own.port) label = `socket :${own.port}`;
  if (label.startsWith('server')) core.serves();
  if (!adopted(it, label.split(' ')[0].toLowerCase(), label + before, false)) return 0;
  if (typeof it.destroyed === 'boolean') watch(it, Mine.of(it), (socket) => socket.destroyed);
  return 1;
}

function install(addon, promises) {
  native = addon;
  core = promises;
}

module.exports = { install, start, returned, Mine, row, watch, look, nameLate, RESOURCE, adoptRequest, adoptTimer, adoptHandle };
