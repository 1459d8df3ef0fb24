// A shop that is sick in seven ways, or in those that are named, or in none. Its customers ask for the same all the time.
// By default it runs for six seconds; a report has findings from half a minute on.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { activeSpan, setRoute, startSpan, withSpan } from 'tracewright/spans';

const [seconds = '6', ...named] = process.argv.slice(2);
/** Queries in a loop, a pattern that blocks, a partner that hangs, a small pool, a wrong order, mails, and a leak. */
const known = ['queries', 'pattern', 'partner', 'pool', 'constraint', 'mails', 'leak'];
const sick = new Set(named.length === 0 ? known : named);
if (!(Number(seconds) > 0) || named.some((each) => ![...known, 'repaired'].includes(each))) {
  throw new Error(`usage: busy-shop.mjs [SECONDS] [repaired | ${known.join(' | ')} ...]`);
}

/** Connections that are lent to one after the other. Of a wait it records which span had the connection before. */
class Pool {
  #free;
  #waiting = [];
  #holder;

  constructor(size) {
    this.#free = size;
  }

  async use(work) {
    const span = activeSpan();
    const startTime = Date.now();
    if (this.#free > 0) this.#free -= 1;
    else {
      await new Promise((resolve) => this.#waiting.push(resolve));
      const { span: to, since } = this.#holder;
      const held = Math.round((performance.now() - since) * 1e6);
      // Without the hook no span is active.
      const links = to === undefined ? [] : [{ to, attributes: { 'tracewright.pool.held': held } }];
      startSpan('generic pool', {}, { startTime, links }).end();
    }
    const since = performance.now();
    try {
      return await work();
    } finally {
      this.#holder = { span, since };
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

const pool = new Pool(sick.has('pool') ? 1 : 10);
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
  if (secondsSince() > Number(seconds) / 2 && order % 5 === 0) {
    throw new RangeError(`no credit of customer ${order}`);
  }
}

/** A text without spaces at its end. The sick pattern tries each space within it as the first of the last ones. */
function trimmed(text) {
  return sick.has('pattern') ? text.replace(/\s+$/, '') : text.trimEnd();
}

/** Another service: in this process, so that the example is one. */
const pricing = createServer(async (request, response) => {
  setRoute(request, '/price');
  const isSlow = sick.has('partner') && Math.random() < 0.1;
  await sleep(isSlow ? 700 : 5);
  response.end('12');
});
await new Promise((resolve) => pricing.listen(0, '127.0.0.1', resolve));

const views = [];
const routes = {
  async '/customers/:id/orders'() {
    await query('SELECT orders', 3);
    if (!sick.has('queries')) await query('SELECT products of orders', 4);
    else for (let item = 0; item < 40; item++) await query('SELECT products', 1);
  },
  async '/export'() {
    await pool.use(() => query('SELECT exports', 120));
  },
  async '/buy'(order) {
    await pool.use(() => query('INSERT orders', 5));
    if (!sick.has('constraint')) return;
    reserve(order);
    charge(order);
  },
  '/search'(order) {
    return trimmed(order % 16 === 0 ? `socks${' '.repeat(24_000)}and shoes` : 'socks ');
  },
  async '/shipping'() {
    await (await fetch(`http://127.0.0.1:${pricing.address().port}/price`)).text();
  },
  async '/view'(order) {
    await query('SELECT view', 2);
    if (sick.has('leak')) views.push(Array.from({ length: 10_000 }, (_, at) => order + at));
  },
};

/** A mail of the queue: what the server of mails refuses is sent again. */
async function mail(at) {
  const attributes = { 'messaging.system': 'queue', 'messaging.operation.type': 'process' };
  await withSpan(
    'process mails',
    attributes,
    async () => {
      const refusals = sick.has('mails') && at % 2 === 0 ? 2 : 0;
      for (let attempt = 0; attempt <= refusals; attempt++) {
        const send = startSpan('send mail', { 'rpc.system.name': 'smtp' }, { kind: 'client' });
        await sleep(4);
        (attempt < refusals ? send.fail() : send).end();
      }
    },
    { kind: 'consumer', parent: null },
  );
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://shop');
  const route = pathname.startsWith('/customers') ? '/customers/:id/orders' : pathname;
  setRoute(request, route);
  try {
    await withSpan('handle', {}, () => routes[route](Number(searchParams.get('order'))));
    response.end('done');
  } catch {
    response.writeHead(500).end();
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const shop = `http://127.0.0.1:${server.address().port}`;
/** A customer who gets no answer goes. */
const ask = async (path, method = 'GET') => {
  const answer = await fetch(shop + path, { method }).catch(() => undefined);
  await answer?.text();
};

const asked = [];
for (let order = 0; secondsSince() < Number(seconds); order++) {
  if (order % 20 === 0) asked.push(ask('/export'));
  asked.push(ask(`/buy?order=${order}`, 'POST'));
  if (order % 4 === 0)
    asked.push(ask(`/customers/${order}/orders`), ask('/shipping'), mail(order / 4));
  if (order % 10 === 0) asked.push(ask(`/search?order=${order / 10}`), ask(`/view?order=${order}`));
  await sleep(25);
}
await Promise.all(asked);
for (const each of [server, pricing]) {
  each.close();
  each.closeAllConnections();
}
