// What bench/instructions.mjs counts: one path, again and again. Arguments: the path, operations until it is warm,
// operations that are counted, and the directory with the packages.

import { once } from 'node:events';
import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const BODY = JSON.stringify({ pieces: 3 });
/** Two of each, so that no constant is folded into the code. */
const methods = ['GET', 'POST'];
const statuses = [200, 404];
/** Until what is compiled in the background is compiled. */
const SETTLE_MS = 300;
/** After so many operations the thread rests: a ring that is full would have it write. */
const PART = 5000;
const REST_MS = 20;

/** A thread of its own, which is not counted: it answers requests, or sends them. */
async function otherThread(role, port, sent) {
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: { role, port, sent },
    // It has the hook otherwise.
    execArgv: [],
    env: { ...process.env, TRACEWRIGHT: 'off' },
  });
  const [message] = await once(worker, 'message');
  worker.unref();
  return { worker, port: message };
}

async function answerRequests() {
  const { createServer } = await import('node:http');
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': BODY.length });
    response.end(BODY);
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}

/** One connection, one request after the other. */
async function sendRequests() {
  const { connect } = await import('node:net');
  const { port, sent } = workerData;
  const target = `/orders/7 HTTP/1.1\r\nhost: localhost:${port}\r\n`;
  const request =
    sent === undefined
      ? `GET ${target}\r\n`
      : `POST ${target}content-length: ${sent.length}\r\n\r\n${sent}`;
  let left = 0;
  let end = '';
  const socket = connect(port, '127.0.0.1', () => parentPort.postMessage('ready'));
  socket.on('data', (data) => {
    end = (end + data.toString('latin1')).slice(-BODY.length);
    if (end !== BODY) return;
    end = '';
    left -= 1;
    if (left > 0) socket.write(request);
    else parentPort.postMessage('done');
  });
  parentPort.on('message', (count) => {
    left = count;
    socket.write(request);
  });
}

const paths = {
  async 'ovni event'() {
    const { event, procInit, threadInit } = await import('tracewright/ovni');
    procInit(1, 'bench', process.pid, { traceDir: join(process.env.TRACEWRIGHT_DIR, 'ovni') });
    threadInit();
    const emit = event('XYZ(i32 a, i32 b, u64 c)');
    return (count) => {
      for (let i = 0; i < count; i++) emit(i, 7, 9);
    };
  },
  async 'Heph span'() {
    const { openTrace } = await import('tracewright/heph');
    const stream = openTrace(join(process.env.TRACEWRIGHT_DIR, 'bench.heph')).stream();
    const span = stream.span('request', { method: 'string', status: 'u64' });
    return (count) => {
      for (let i = 0; i < count; i++) {
        span.finish(stream.startTrace(), methods[i & 1], statuses[i & 1]);
      }
    };
  },
  async startSpan() {
    const { configure, startSpan } = await import('tracewright/spans');
    configure({ target: { file: join(process.env.TRACEWRIGHT_DIR, 'bench.heph') } });
    return (count) => {
      for (let i = 0; i < count; i++) {
        startSpan('request', { method: methods[i & 1], status: statuses[i & 1] }).end();
      }
    };
  },
  async 'request with context'() {
    const { createServer } = await import('node:http');
    const server = createServer(async (_, response) => {
      await undefined;
      response.writeHead(200, { 'content-length': BODY.length });
      response.end(BODY);
    });
    // Valgrind takes its time between the requests.
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return requestsOf(server.address().port);
  },
  async 'request with a body and context'() {
    const { createServer } = await import('node:http');
    const server = createServer((request, response) => {
      let bytes = 0;
      request.on('data', (chunk) => (bytes += chunk.length));
      request.on('end', () => {
        response.writeHead(200, { 'content-length': BODY.length });
        response.end(bytes === BODY.length ? BODY : '');
      });
    });
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return requestsOf(server.address().port, BODY);
  },
  async 'fastify handler'(require) {
    return asked(require('fastify')(), async () => ({ pieces: 3 }));
  },
  async 'fastify, pg, mysql2 and redis'(require) {
    const client = await postgres(require);
    const server = await mariadb(require);
    const redis = await require('redis').createClient().connect();
    return asked(require('fastify')(), async () => {
      await redis.get('tracewright-none');
      await client.query('SELECT 1 AS id');
      await server.query('SELECT 1 AS id');
      return { pieces: 3 };
    });
  },
  async 'express, ioredis, pg and fetch'(require) {
    const { Redis } = require('ioredis');
    const redis = new Redis();
    const client = await postgres(require);
    const { port } = await otherThread('answer');
    const query = { name: 'order', text: 'SELECT $1::int AS id, $2::text AS state' };
    const app = require('express')();
    app.get('/orders/:id', async ({ params: { id } }, response) => {
      await redis.get('tracewright-none');
      await client.query({ ...query, values: [id, 'open'] });
      const answer = await fetch(`http://127.0.0.1:${port}/stock/${id}`);
      response.json(await answer.json());
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.keepAliveTimeout = 0;
    return requestsOf(server.address().port);
  },
  async pg(require) {
    const client = await postgres(require);
    return inSpan(() => client.query('SELECT 1 AS id'));
  },
  async mysql2(require) {
    const connection = await mariadb(require);
    return inSpan(() => connection.query('SELECT 1 AS id'));
  },
  async redis(require) {
    const client = await require('redis').createClient().connect();
    return inSpan(() => client.get('tracewright-none'));
  },
  async ioredis(require) {
    const { Redis } = require('ioredis');
    const client = new Redis();
    return inSpan(() => client.get('tracewright-none'));
  },
  async fetch() {
    const { port } = await otherThread('answer');
    return inSpan(async () => (await fetch(`http://127.0.0.1:${port}/orders/7`)).text());
  },
};

async function postgres(require) {
  const { Client } = require('pg');
  const client = new Client({
    host: '127.0.0.1',
    user: 'postgres',
    database: 'postgres',
    password: 'secret',
  });
  await client.connect();
  return client;
}

async function mariadb(require) {
  const server = { host: '127.0.0.1', user: 'root', database: 'test' };
  return require('mysql2/promise').createConnection(server);
}

/** The requests of an application of Fastify. */
async function asked(app, answer) {
  app.server.keepAliveTimeout = 0;
  app.get('/orders/:id', answer);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return requestsOf(app.server.address().port);
}

/** @param sent the body of each. */
async function requestsOf(port, sent) {
  const { worker } = await otherThread('send', port, sent);
  return async (count) => {
    worker.postMessage(count);
    await once(worker, 'message');
  };
}

/** The calls of a program are below a span. */
async function inSpan(call) {
  const { withSpan } = await import('tracewright/spans');
  return (count) =>
    withSpan('bench', undefined, async () => {
      for (let i = 0; i < count; i++) await call();
    });
}

if (isMainThread) {
  const [, , path, warmUp, counted, place] = process.argv;
  mkdirSync(process.env.TRACEWRIGHT_DIR, { recursive: true });
  const run = await paths[path](createRequire(join(place, 'package.json')));
  const runAll = async (count) => {
    for (let left = count; left > 0; left -= PART) {
      await run(Math.min(left, PART));
      await sleep(REST_MS);
    }
  };
  await runAll(Number(warmUp));
  await sleep(SETTLE_MS);
  process.on('message', async (message) => {
    if (message === 'end') process.exit(0);
    await runAll(message === 'count' ? Number(counted) : PART / 5);
    process.send('done');
  });
  process.send('warm');
} else if (workerData.role === 'answer') {
  await answerRequests();
} else {
  await sendRequests();
}
