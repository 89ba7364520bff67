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

function onRequest({ request, response }) {
  const r = resources.row('request', core.loop, `${request.method} ${path(request.url)}`, true);
  if (!r.own) return;
  rows.set(request, r);
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
  if (r.own) rows.set(request, r);
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

const listeners = [
  ['http.server.request.start', onRequest],
  ['http.server.response.finish', onAnswer],
  ['http.client.request.start', onSend],
  ['http.client.response.finish', ({ request }) => end(request, FULFILLED, '')],
  ['http.client.request.error', ({ request, error }) => end(request, FAILED, String(error && error.message))],
  ['undici:request:create', onFetch],
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

module.exports = { install, start };
