// SPDX-License-Identifier: ISC
// Places in the program: what creates a promise there, whose code it is, and what it is called.
'use strict';

const { basename, sep } = require('path');
const capture = Error.captureStackTrace;

// What creates a promise: a call of an async function (or an await in one), …
const CALL = 1, NEW = 2, THEN = 3, COMBINE = 4, MEMBER = 5, NEXT = 6, HIDDEN = 7;
const PROGRAM = 0, LIBRARY = 1, INTERNAL = 2;

const COMBINATORS = new Set(['all', 'allSettled', 'race', 'any', 'fromAsync']);
const THENS = new Set(['then', 'catch', 'finally']);
const FRAMES = 24;
const HOOKS = /^node:internal\/(promise_hooks|async_hooks)$/;
const ours = __dirname + sep;

function ownerOf(file) {
  if (file.startsWith('node:')) return INTERNAL;
  return file.includes('/node_modules/') ? LIBRARY : PROGRAM;
}

// The stack from our caller outwards, without our own calls. It calls and changes none of the program's code.
function frames() {
  const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  const limit = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit');
  const at = {};
  let list = [];
  try {
    Object.defineProperty(Error, 'stackTraceLimit', { value: FRAMES, writable: true, configurable: true, enumerable: true });
    Object.defineProperty(Error, 'prepareStackTrace', { value: (e, sites) => sites, writable: true, configurable: true });
    capture(at, frames);
    list = at.stack;
  } finally {
    if (prepare) Object.defineProperty(Error, 'prepareStackTrace', prepare);
    else delete Error.prepareStackTrace;
    if (limit) Object.defineProperty(Error, 'stackTraceLimit', limit);
    else delete Error.stackTraceLimit;
  }
  if (!Array.isArray(list)) return [];
  const waiting = list.findIndex((c) => c.isAsync && c.isAsync()); // these are not callers
  const all = (waiting < 0 ? list : list.slice(0, waiting)).map(frameOf);
  // Our files, and node's files that call us.
  while (all.length > 0 && (all[0].file.startsWith(ours) || HOOKS.test(all[0].file))) all.shift();
  return all;
}

function frameOf(c) {
  let file = c.getFileName();
  if (!file && c.isEval && c.isEval()) file = 'eval';
  if (file && file.startsWith('file://')) {
    try {
      file = decodeURIComponent(new URL(file).pathname);
    } catch {
      // keep it as it is
    }
  }
  const name = c.getFunctionName();
  const line = c.getEnclosingLineNumber ? c.getEnclosingLineNumber() : 0;
  return {
    name: name && name.replace(/^(Object|exports|module\.exports)\./, '').replace(/^async /, ''),
    file: file || '',
    line: c.getLineNumber() || 0,
    column: c.getColumnNumber() || 0,
    start: line,
    // One value for all calls of a function, another for each other function.
    fn: `${file}:${line}:${c.getEnclosingColumnNumber ? c.getEnclosingColumnNumber() : name}`,
    owner: file ? ownerOf(file) : INTERNAL,
    top: !name && line <= 1,
  };
}

const SLEEPS = (f) => f.file === 'node:timers/promises' && f.name === 'setTimeout';
const place = (f, line) => `${basename(f.file)}:${line}`;
const named = (name, where) => (name ? `${name} ${where}` : where);

// The program's innermost frame, and the function it called.
function outward(list, from) {
  for (let i = from; i < list.length; i++)
    if (list[i].file && list[i].owner === PROGRAM) return { user: list[i], called: list[i - 1], at: i };
  return null;
}

function describeCall(list) {
  const f = list[0];
  let k = 1;
  while (k < list.length && !list[k].file) k++;
  const caller = list[k];
  const s = { kind: CALL, fn: f.fn, owner: f.owner, type: 'call', deep: k > 1, visible: true, label: '', top: false, wraps: 0, awaits: 0, swallows: false };
  s.top = f.owner === PROGRAM && !!caller && caller.owner === PROGRAM && caller.top;
  if (f.owner === PROGRAM) {
    s.main = f.top && f.start === 1 && (!caller || caller.owner === INTERNAL);
    s.type = s.main ? 'module' : 'call';
    s.label = s.main ? basename(f.file) : named(f.name, place(f, f.start || f.line));
  } else {
    s.visible = !!caller && caller.owner === PROGRAM;
    s.label = s.visible ? named(f.name, place(caller, caller.line)) : named(f.name, place(f, f.line));
    s.deep = true;
  }
  return s;
}

function describeBuiltin(list) {
  let k = 0;
  while (k < list.length && !list[k].file) k++;
  const inner = list[0].name, outer = k > 0 ? list[k - 1].name : null;
  const s = { kind: HIDDEN, fn: '', owner: INTERNAL, type: 'promise', deep: true, visible: false, label: '', top: false, wraps: 0, awaits: 0, swallows: false };
  if (inner === 'Promise' || inner === 'withResolvers') s.kind = NEW;
  else if (inner === 'then') s.kind = k > 1 && COMBINATORS.has(list[1].name) ? MEMBER : THEN;
  else if (COMBINATORS.has(inner)) s.kind = COMBINE;
  else if (inner === 'next' || inner === 'return' || inner === 'throw') s.kind = NEXT;
  if (s.kind === MEMBER || s.kind === HIDDEN || k === list.length) return s;
  const out = outward(list, k);
  s.owner = list[k].owner;
  if (!out || (s.kind === THEN && (out.at !== k || !THENS.has(outer)))) return s;
  const where = place(out.user, out.user.line);
  s.visible = true;
  s.deep = out.at > 1;
  if (out.at !== k) s.label = SLEEPS(out.called) ? '' : named(out.called.name, where); // its timer names it
  else if (s.kind === NEW) s.label = named(out.user.name, where);
  else if (s.kind === NEXT) s.label = named('next', where);
  else s.label = named(s.kind === COMBINE ? `Promise.${inner}` : outer, where);
  s.swallows = s.kind === THEN && outer === 'catch' && isEmpty(out.user);
  s.type = s.label === '' ? 'timer' : s.kind === THEN ? 'then' : s.kind === COMBINE ? inner : 'promise';
  return s;
}

// Returns true if the handler of a catch does nothing, judged by its source text.
const EMPTY = /^(?:catch)?\s*\(\s*(?:async\s+)?(?:(?:\([\w\s]*\)|\w+)\s*=>\s*(?:\{\s*\}|null|undefined|void 0|false)|function\s*\w*\s*\([\w\s]*\)\s*\{\s*\}|(?:_\.)?noop)\s*\)/;

function isEmpty(f) {
  try {
    const lines = require('fs').readFileSync(f.file, 'utf8').split('\n').slice(f.line - 1, f.line + 2);
    return EMPTY.test(lines.join('\n').slice(f.column - 1));
  } catch {
    return false;
  }
}

function describe() {
  const list = frames();
  if (list.length === 0)
    return { kind: HIDDEN, fn: '', owner: INTERNAL, type: 'promise', deep: false, visible: false, label: '', top: false };
  return list[0].file ? describeCall(list) : describeBuiltin(list);
}

// Where the program creates something other than a promise, and the function it calls to do so.
function caller() {
  const list = frames();
  const k = list.findIndex((f) => f.file && f.owner !== INTERNAL);
  return { user: k < 0 ? null : list[k], called: k > 0 ? list[k - 1] : null, list };
}

module.exports = { CALL, NEW, THEN, COMBINE, MEMBER, NEXT, HIDDEN, PROGRAM, LIBRARY, INTERNAL, describe, caller, place };
