// A shop with one connection to its database, in which some requests fail: who holds the pool, and which errors are new?
// It runs for six seconds, and asks itself for what its customers would.
//
//   node --require tracewright/register examples/busy-shop.mjs

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { activeSpan, setRoute, startSpan, withSpan } from 'tracewright/spans';

/** A connection that is lent to one after the other. Of a wait it records which span had the connection before. */
class Pool {
  #waiting = [];
  #holder;

  async use(work) {
    const span = activeSpan();
    const startTime = Date.now();
    if (this.#holder !== undefined) {
      await new Promise((resolve) => this.#waiting.push(resolve));
      const { span: to, since } = this.#holder;
      const held = Math.round((performance.now() - since) * 1e6);
      const links = [{ to, attributes: { 'tracewright.pool.held': held } }];
      startSpan('generic pool', {}, { startTime, links }).end();
    }
    this.#holder = { span, since: performance.now() };
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#holder = undefined;
      else next();
    }
  }
}

const pool = new Pool();
const begin = performance.now();
const secondsSince = () => (performance.now() - begin) / 1000;

/** What a statement of the database would take. */
const query = (name, ms) =>
  withSpan(name, { 'db.system.name': 'postgresql' }, () => sleep(ms), { kind: 'client' });

function reserve(order) {
  if (order % 3 === 0) throw new RangeError(`no stock of ${order} in "north ${order % 2}"`);
}

function charge(order) {
  // A release in the middle of the run, with an error that nobody has seen before.
  if (secondsSince() > 3 && order % 5 === 0) throw new RangeError(`no credit of customer ${order}`);
}

const routes = {
  async '/export'() {
    await pool.use(() => query('SELECT orders', 120));
  },
  async '/buy'(order) {
    await pool.use(() => query('INSERT orders', 5));
    reserve(order);
    charge(order);
  },
};

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://shop');
  const route = routes[pathname];
  setRoute(request, pathname);
  try {
    await withSpan('handle', {}, () => route(Number(searchParams.get('order'))));
    response.end('done');
  } catch {
    response.writeHead(500).end();
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const shop = `http://127.0.0.1:${server.address().port}`;
const ask = async (path, method) => (await fetch(shop + path, { method })).text();

const asked = [];
for (let order = 0; secondsSince() < 6; order++) {
  if (order % 20 === 0) asked.push(ask('/export', 'GET'));
  asked.push(ask(`/buy?order=${order}`, 'POST'));
  await sleep(25);
}
await Promise.all(asked);
server.close();
server.closeAllConnections();
