// SPDX-License-Identifier: ISC
// What a program reports itself, through the package in bindings/node. The package publishes on channels and does not depend on us.
'use strict';

const { listen } = require('./channels.js');

let native, core;
const counters = new Map(), resources = new Map(); // by name
const HOLD = { acquire: 0, release: 1, wait: 2 };
const NOBODY = 0;

// Which promise is meant: the given one, otherwise what runs. It gets its own number if it needs its own name.
function meant(promise, type, text) {
  const r = promise === undefined ? core.running() : core.known(promise);
  if (r === undefined || r.done || r === core.loop) return 0;
  if (r.own) {
    if (text !== '') native.label(r.id, text);
  } else if (!core.own(r, native.make(r.id, type, text))) return 0;
  return r.id;
}

// Outside any call the loop is the holder; but the loop never waits for a resource.
function onHold({ name, what, promise }) {
  const who = meant(promise, 'promise', '');
  if (!who && (promise !== undefined || what === 'wait')) return;
  let id = resources.get(name);
  if (!id) resources.set(name, (id = native.make(NOBODY, 'resource', name, false)));
  if (id) native.hold(who, id, HOLD[what]);
}

function onCounter({ name, value, add }) {
  let index = counters.get(name);
  if (index === undefined) counters.set(name, (index = native.counter(name)));
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) native.count(index, whole, add ? 1 : 0);
}

const listeners = [
  ['weft:label', ({ text, promise }) => void meant(promise, 'promise', text)],
  ['weft:mark', ({ promise }) => {
    const id = meant(promise, 'promise', '');
    if (id) native.should(id);
  }],
  ['weft:traceparent', ({ header, promise, sent }) => {
    const id = meant(promise, 'promise', '');
    if (id) native.traced(id, header, sent);
  }],
  ['weft:snapshot', ({ reason }) => native.snapshot(reason)],
  ['weft:request', ({ text }) => core.nameNext(text)],
  ['weft:hold', onHold],
  ['weft:counter', onCounter],
];

function start() {
  return listen(listeners, core.stepAside);
}

function install(addon, theCore) {
  native = addon;
  core = theCore;
}

module.exports = { install, start };
