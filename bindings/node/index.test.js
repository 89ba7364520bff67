// SPDX-License-Identifier: ISC
'use strict';
const assert = require('node:assert');
const test = require('node:test');
const { subscribe, unsubscribe } = require('node:diagnostics_channel');
const weft = require('./index.js');

test('without a recording nothing happens', async () => {
  const order = [];
  assert.strictEqual(weft.recording, false);
  weft.label('x');
  weft.mark(Promise.resolve());
  weft.traceparent('00-1-2-01');
  weft.snapshot('why');
  weft.counter('n').add();
  weft.resource('pool').acquire();
  const r = weft.request('GET /', () => order.push('work'));
  order.push('after');
  assert.ok(r instanceof Promise);
  assert.strictEqual(await r, 1);
  assert.deepStrictEqual(order, ['work', 'after']);
});

test('a request ends as its work', async () => {
  await assert.rejects(weft.request('GET /', () => { throw new Error('at once'); }), /at once/);
  await assert.rejects(weft.request('GET /', async () => { throw new Error('later'); }), /later/);
  assert.strictEqual(await weft.request('GET /', async () => 7), 7);
});

test('a recording hears what is said', async () => {
  const heard = [];
  const listen = (message, name) => heard.push([name, message]);
  const names = ['label', 'mark', 'traceparent', 'snapshot', 'request', 'hold', 'counter'].map((n) => `weft:${n}`);
  const p = Promise.resolve();
  names.forEach((n) => subscribe(n, listen));
  assert.strictEqual(weft.recording, true);
  weft.label(5, p);
  weft.mark();
  weft.traceparent('00-1-2-01', p);
  weft.traceparent(5, undefined, { sent: true });
  weft.snapshot(7);
  await weft.request('GET /', () => 1);
  const pool = weft.resource('pool');
  pool.wait(p);
  pool.acquire();
  pool.release();
  const queued = weft.counter('queued');
  queued.add();
  queued.set(3);
  names.forEach((n) => unsubscribe(n, listen));
  queued.add();
  assert.deepStrictEqual(heard, [
    ['weft:label', { text: '5', promise: p }],
    ['weft:mark', { promise: undefined }],
    ['weft:traceparent', { header: '00-1-2-01', promise: p, sent: false }],
    ['weft:traceparent', { header: '5', promise: undefined, sent: true }],
    ['weft:snapshot', { reason: '7' }],
    ['weft:request', { text: 'GET /' }],
    ['weft:hold', { name: 'pool', what: 'wait', promise: p }],
    ['weft:hold', { name: 'pool', what: 'acquire', promise: undefined }],
    ['weft:hold', { name: 'pool', what: 'release', promise: undefined }],
    ['weft:counter', { name: 'queued', value: 1, add: true }],
    ['weft:counter', { name: 'queued', value: 3, add: false }],
  ]);
});
