// Two services under load. One is killed while a request is open. What was slow, why, and what was open?
//
//   node examples/killed-service.mjs [DIRECTORY]
//   npx tracewright report DIRECTORY
//
// Each service records into a directory of its own. They need a Node on which requests have context, or
// TRACEWRIGHT_CONTEXT=on, which this program sets.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setRoute, withSpan } from 'tracewright/spans';

const REQUESTS = 400;
const [, , directory = 'traces/killed-service', role] = process.argv;

/** A database that is slow now and then. */
async function loadOrder(id) {
  await pause(id % 20 === 0 ? 80 : 6);
  return { id, item: 'tea' };
}

function shop() {
  return createServer(async (request, response) => {
    setRoute(request, '/orders/:id');
    const id = request.url.split('/').at(-1);
    const order = await withSpan('load order', { id }, () => loadOrder(id));
    if (id === '8') return; // never answered
    const stock = await fetch(process.env.STOCK).then((answer) => answer.text());
    response.end(JSON.stringify({ ...order, stock }));
  });
}

function stock() {
  return createServer((request, response) => {
    setRoute(request, '/stock');
    let digest = request.url;
    for (let i = 0; i < 1000; i++) digest = createHash('sha256').update(digest).digest('hex');
    response.end(String(digest.charCodeAt(0)));
  });
}

/** Starts a service with the hook; resolves to its process and the port that it listens on. */
async function start(name, env = {}) {
  const child = spawn(
    process.execPath,
    ['--import', 'tracewright/register', fileURLToPath(import.meta.url), directory, name],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        OTEL_SERVICE_NAME: name,
        TRACEWRIGHT_DIR: join(directory, name),
        TRACEWRIGHT_CONTEXT: 'on',
        ...env,
      },
    },
  );
  const [port] = await once(child, 'message');
  return { child, port };
}

async function run() {
  const answering = await start('stock');
  const { child, port } = await start('shop', {
    STOCK: `http://127.0.0.1:${answering.port}/stock`,
  });
  const ask = (id) =>
    fetch(`http://127.0.0.1:${port}/orders/${id}`).then((answer) => answer.text());
  let next = 9;
  const client = async () => {
    while (next < 9 + REQUESTS) await ask(next++);
  };
  await Promise.all([client(), client()]);
  const neverAnswered = ask(8).catch((error) => error.message);
  await pause(1000);
  child.kill('SIGKILL');
  await neverAnswered;
  answering.child.kill('SIGTERM');
  await once(answering.child, 'exit');
  console.log(`${REQUESTS} requests were answered, then the shop was killed`);
}

if (role === undefined) {
  await run();
} else {
  const server = (role === 'shop' ? shop() : stock()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send(server.address().port);
}
