// SPDX-License-Identifier: ISC
// HTTP: an incoming request is a promise, and the work for it is its child; an outgoing request is a promise, too. node
// reports both on its own channels.
'use strict';

const { listen } = require('./channels.js');
const hooks = require('async_hooks');

const FULFILLED = 1, FAILED = 2, CANCELLED = 3;
let native, core, resources;
const rows = new Map(); // by request, until it is answered

function path(url) {
  const text = String(url || '/'), end = text.indexOf('?');
  return text.slice(0, Math.min(end < 0 ? text.length : end, 120));
}

// ---- Headers traceparent (W3C's Trace Context) ----

const TRACEPARENT = 'traceparent';

// The value in a list of names and values, as they came; '' if there is none, or more than one: then it is not valid. The names
// alone cost little; request.headers would be made for this.
function traceparentOf(list) {
  let found = '', count = 0;
  for (let i = 0; i + 1 < list.length; i += 2)
    if (list[i].length === TRACEPARENT.length && list[i].toLowerCase() === TRACEPARENT) {
      found = list[i + 1];
      count++;
    }
  return count === 1 ? found : '';
}

// The value in headers as they are sent.
function traceparentIn(text) {
  const lines = text.match(/^traceparent:.*$/gim);
  return lines !== null && lines.length === 1 ? lines[0].slice(TRACEPARENT.length + 1).trim() : '';
}

function trace(r, header, sent) {
  if (typeof header === 'string' && header !== '') native.traced(r.id, header, sent);
}

// ---- Requests ----

function onRequest({ request, response }) {
  const r = resources.row('request', core.loop, `${request.method} ${path(request.url)}`, true);
  if (!r.own) return;
  rows.set(request, r);
  trace(r, traceparentOf(request.rawHeaders), false);
  // Whatever its parser calls from now on belongs to it.
  resources.Mine.set(hooks.executionAsyncResource(), r);
  core.turnInto(r);
  resources.watch(response, r, (it) => it.destroyed && !it.writableFinished && (rows.delete(request), true));
}

function onAnswer({ request, response }) {
  const r = rows.get(request);
  rows.delete(request);
  if (!r || r.done) return;
  r.done = true;
  const status = response.statusCode;
  native.end(r.id, status >= 500 ? FAILED : FULFILLED, status >= 500 ? `status ${status}` : '', r.id,
    `${request.method} ${path(request.url)} ${status}`);
  if (status >= 500) native.read(0, r.id); // the client sees the failure
}

function onSend({ request }) {
  const r = resources.row('http', core.running(), `${request.method} ${request.host}${path(request.path)}`);
  if (!r.own) return;
  rows.set(request, r);
  const header = request.getHeader(TRACEPARENT);
  if (header !== undefined) trace(r, header, true);
  // Headers that were given as a list are written at once.
  else if (typeof request._header === 'string') trace(r, traceparentIn(request._header), true);
}

function end(request, how, why) {
  const r = rows.get(request);
  rows.delete(request);
  if (!r || r.done) return;
  r.done = true;
  native.end(r.id, how, why, r.id);
}

function onFetch({ request }) {
  let host = String(request.origin || '').replace(/^https?:\/\//, '');
  const r = resources.row('http', core.running(), `${request.method} ${host}${path(request.path)}`);
  if (r.own) rows.set(request, r);
}

// Only here the headers are complete: others add theirs when the request is created.
function onFetchSent({ request, headers }) {
  const r = rows.get(request);
  if (r && !r.done && typeof headers === 'string') trace(r, traceparentIn(headers), true);
}

// What a connection is in the middle of, from before the recording. Returns how many promises that is.
function adopt(socket, before) {
  const message = socket._httpMessage;
  if (!message || message.finished && !message.method) return 0;
  const request = message.req || message, answers = request !== message;
  if (rows.has(request)) return 0;
  const label = `${request.method} ${answers ? path(request.url) : `${request.host}${path(request.path)}`}${before}`;
  const r = resources.row(answers ? 'request' : 'http', core.loop, label, answers);
  if (!r.own) return 0;
  rows.set(request, r);
  if (answers) resources.watch(message, r, (it) => it.destroyed && !it.writableFinished && (rows.delete(request), true));
  return 1;
}

const listeners = [
  ['http.server.request.start', onRequest],
  ['http.server.response.finish', onAnswer],
  ['http.client.request.start', onSend],
  ['http.client.response.finish', ({ request }) => end(request, FULFILLED, '')],
  ['http.client.request.error', ({ request, error }) => end(request, FAILED, String(error && error.message))],
  ['undici:request:create', onFetch],
  ['undici:client:sendHeaders', onFetchSent],
  ['undici:request:trailers', ({ request }) => end(request, FULFILLED, '')],
  ['undici:request:error', ({ request, error }) => end(request, error && error.name === 'AbortError' ? CANCELLED : FAILED, String(error && error.message))],
];

function start() {
  return listen(listeners, core.stepAside);
}

function install(addon, promises, things) {
  native = addon;
  core = promises;
  core.rowOf = (request) => rows.get(request);
  resources = things;
}

module.exports = { install, start, adopt };
