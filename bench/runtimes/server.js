// SPDX-License-Identifier: ISC
// For bench/run-runtimes: a server of node's http, express or fastify, as the argument says. Prints its port; after a line the
// CPU time of each request since, in ns.
'use strict';

const lines = require('readline').createInterface(process.stdin);
const { setImmediate } = require('timers/promises');
let answered = 0;

async function find(number) {
  answered++;
  await setImmediate();
  return { id: Number(number), name: 'somebody' };
}

const servers = {
  http(ready) {
    const server = require('http').createServer(async (request, response) => {
      const body = JSON.stringify(await find(request.url.split('/')[2]));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
    server.listen(0, '127.0.0.1', () => ready(server));
  },
  express(ready) {
    const app = require('express')();
    app.get('/users/:number', async (request, response) => {
      response.json(await find(request.params.number));
    });
    const server = app.listen(0, '127.0.0.1', () => ready(server));
  },
  fastify(ready) {
    const app = require('fastify')();
    app.get('/users/:number', (request) => find(request.params.number));
    app.listen({ port: 0, host: '127.0.0.1' }, () => ready(app.server));
  },
};

servers[process.argv[2]]((server) => {
  console.log('ready', server.address().port);
  lines.once('line', () => {
    answered = 0;
    const begun = process.cpuUsage();
    console.log('begun');
    lines.once('line', () => {
      const { user, system } = process.cpuUsage(begun);
      console.log(process.argv[2], ((user + system) * 1000) / answered);
      process.exit();
    });
  });
});
