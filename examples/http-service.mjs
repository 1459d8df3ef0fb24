// A small service that knows nothing of tracing, but names its routes. Try it with and without:
//
//   node examples/http-service.mjs
//   node --require tracewright/register examples/http-service.mjs
//
// PORT is where it listens (default 3000; 0: any free port), WORKERS how many threads compute.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { setRoute } from 'tracewright/spans';
import { PrimeWorkers } from './prime-workers.mjs';

const books = new Map(
  ['A Pattern Language', 'Gödel, Escher, Bach', 'The Design of Everyday Things'].map(
    (title, index) => [index + 1, { id: index + 1, title }],
  ),
);
const MAX_BODY_BYTES = 64 * 1024;
const workers = new PrimeWorkers(Number(process.env.WORKERS ?? 2));

/** An answer that is not the one that was hoped for. */
class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function answer(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

async function readJson(request) {
  let text = '';
  for await (const part of request.setEncoding('utf8')) {
    text += part;
    if (text.length > MAX_BODY_BYTES) throw new Refusal(413, 'the body is too large');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'the body is no JSON');
  }
}

/** A number of the query, within bounds. */
function numberIn(url, name, otherwise, low, high) {
  const value = Number(url.searchParams.get(name) ?? otherwise);
  if (value >= low && value <= high) return value;
  throw new Refusal(400, `${name} must be a number from ${low} to ${high}`);
}

const routes = [
  ['GET', '/books', /^\/books$/, (_, response) => answer(response, 200, [...books.values()])],
  [
    'GET',
    '/books/:id',
    /^\/books\/(\d+)$/,
    (_, response, { id }) => {
      const book = books.get(id);
      if (book === undefined) throw new Refusal(404, `there is no book ${id}`);
      answer(response, 200, book);
    },
  ],
  [
    'POST',
    '/books',
    /^\/books$/,
    async (request, response) => {
      const { title } = await readJson(request);
      if (typeof title !== 'string') throw new Refusal(400, 'a book has a title');
      const book = { id: books.size + 1, title };
      books.set(book.id, book);
      answer(response, 201, book);
    },
  ],
  // Heavy for a CPU, so a worker thread does it.
  [
    'GET',
    '/primes',
    /^\/primes$/,
    async (_, response, { url }) => {
      const below = Math.floor(numberIn(url, 'below', 20_000, 0, 10_000_000));
      answer(response, 200, { below, primes: await workers.count(below) });
    },
  ],
  // Sent piece by piece, as each is made.
  [
    'GET',
    '/countdown',
    /^\/countdown$/,
    (_, response, { url }) => {
      const from = numberIn(url, 'from', 10, 1, 10_000);
      response.writeHead(200, { 'content-type': 'text/plain' });
      const lines = function* () {
        for (let n = from; n > 0; n--) yield `${n}\n`;
        yield 'lift-off\n';
      };
      Readable.from(lines()).pipe(response);
    },
  ],
  // Slow for no reason of ours, like any service behind a service.
  [
    'GET',
    '/slow',
    /^\/slow$/,
    async (_, response, { url }) => {
      const ms = numberIn(url, 'ms', 100, 0, 10_000);
      await sleep(ms);
      answer(response, 200, { waited: ms });
    },
  ],
];

async function serve(request, response) {
  const url = new URL(request.url, 'http://service');
  for (const [method, route, pattern, handle] of routes) {
    const match = pattern.exec(url.pathname);
    if (match === null || method !== request.method) continue;
    setRoute(request, route);
    return handle(request, response, { url, id: Number(match[1]) });
  }
  throw new Refusal(404, `there is nothing at ${url.pathname}`);
}

const server = createServer((request, response) => {
  serve(request, response).catch((error) => {
    const { status = 500, message } = error;
    if (response.headersSent) response.destroy();
    else answer(response, status, { error: status === 500 ? 'internal error' : message });
    if (status === 500) console.error(error);
  });
});

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
await once(server, 'listening');
console.log(`listening on http://127.0.0.1:${server.address().port}`);
