// SPDX-License-Identifier: ISC
// Tells weft record more than a program shows by itself. Calls publish on channels to which only a recording subscribes, so
// without a recording they do nothing.
'use strict';

const { channel } = require('diagnostics_channel');

const labels = channel('weft:label');
const marks = channel('weft:mark');
const traceparents = channel('weft:traceparent');
const snapshots = channel('weft:snapshot');
const requests = channel('weft:request');
const holds = channel('weft:hold');
const counters = channel('weft:counter');

function label(text, promise) {
  if (labels.hasSubscribers) labels.publish({ text: String(text), promise });
}

function mark(promise) {
  if (marks.hasSubscribers) marks.publish({ promise });
}

function traceparent(header, promise, { sent = false } = {}) {
  if (traceparents.hasSubscribers) traceparents.publish({ header: String(header), promise, sent: Boolean(sent) });
}

function snapshot(reason) {
  if (snapshots.hasSubscribers) snapshots.publish({ reason: String(reason) });
}

async function run(work) {
  return await work();
}

function request(text, work) {
  // This applies to the next call of an async function.
  if (requests.hasSubscribers) requests.publish({ text: String(text) });
  return run(work);
}

function resource(name) {
  const say = (what, promise) => {
    if (holds.hasSubscribers) holds.publish({ name, what, promise });
  };
  name = String(name);
  return {
    acquire: (promise) => say('acquire', promise),
    release: (promise) => say('release', promise),
    wait: (promise) => say('wait', promise),
  };
}

function counter(name) {
  const change = (value, add) => {
    if (counters.hasSubscribers) counters.publish({ name, value: Number(value), add });
  };
  name = String(name);
  return {
    add: (amount = 1) => change(amount, true),
    set: (value) => change(value, false),
  };
}

module.exports = {
  get recording() {
    return labels.hasSubscribers;
  },
  label,
  mark,
  traceparent,
  snapshot,
  request,
  resource,
  counter,
};
