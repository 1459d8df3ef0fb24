// Writes a trace of spans as a service would: requests with queries, some errors, several threads, over
// an hour of given times. `--attributes many`: as many as the hook records for HTTP and PostgreSQL, and more queries.
// `--profile`: with the samples of TRACEWRIGHT_PROFILE=cpu and a record of the event loop each second.
//
//   node bench/look-trace.mjs OUT [--spans N] [--threads N] [--service NAME] [--attributes few|many] [--profile]

import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { configure, flush, shutdown, startSpan } from 'tracewright/spans';
import { internal } from '../scripts/package-layout.mjs';

/** From now to the hour. */
const AHEAD_NS = 60_000_000_000n;
const HOUR_NS = 3600n * 1_000_000_000n;
/** Spans of one request. */
const OF_REQUEST = 8;
/** Requests that are open at once in a thread. */
const CONCURRENT = 6;
const FLUSH_EVERY = 2000;

const ROUTES = ['/users/:id', '/users', '/orders/:id', '/orders', '/search', '/login', '/health'];
const TABLES = ['users', 'orders', 'items', 'sessions'];

/** Numbers that are the same in every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** One request of `OF_REQUEST` spans. Times in ns since 1970. */
function request(next, number, start) {
  const route = ROUTES[Math.floor(next() ** 2 * ROUTES.length)];
  const isSlow = next() < 0.01;
  const length = Math.floor((isSlow ? 400e6 : 8e6) * (0.2 + next()));
  const at = (share) => start + BigInt(Math.floor(length * share));
  const server = startSpan(
    `GET ${route}`,
    {
      'http.request.method': 'GET',
      'http.route': route,
      'url.path': route.replace(':id', String(number)),
      'http.response.status_code': number % 97 === 0 ? 500 : 200,
      'enduser.id': `user-${Math.floor(next() * 500_000)}`,
    },
    { kind: 'server', startTime: start },
  );
  const child = (parent, name, kind, attributes, from, to) => {
    const span = startSpan(name, attributes, { kind, parent, startTime: at(from) });
    span.end(at(to));
    return span;
  };
  child(server, 'authenticate', 'internal', { cached: next() < 0.9 }, 0.01, 0.05);
  for (let i = 0; i < 3; i++) {
    const table = TABLES[Math.floor(next() * TABLES.length)];
    const from = 0.1 + 0.25 * i;
    const query = startSpan(
      `SELECT ${table}`,
      { 'db.system.name': 'postgresql', 'db.collection.name': table, 'db.response.rows': i },
      { kind: 'client', parent: server, startTime: at(from) },
    );
    if (i < 2) child(query, 'parse', 'internal', undefined, from + 0.15, from + 0.2);
    query.end(at(from + 0.22));
  }
  child(server, 'render', 'internal', { bytes: Math.floor(next() * 1e5) }, 0.88, 0.98);
  if (number % 97 === 0) server.fail(new Error('no connection'));
  server.end(at(1));
}

/** Share of the requests with a fifth query: 52 % of all spans are queries then. */
const FIFTH_QUERY = 0.16;

/** One request of `OF_REQUEST` spans, which have the attributes of a real service. */
function fullRequest(next, number, start) {
  const route = ROUTES[Math.floor(next() ** 2 * ROUTES.length)];
  const isSlow = next() < 0.01;
  const length = Math.floor((isSlow ? 400e6 : 8e6) * (0.2 + next()));
  const at = (share) => start + BigInt(Math.floor(length * share));
  const status = number % 97 === 0 ? 500 : 200;
  const server = startSpan(
    `GET ${route}`,
    {
      'http.request.method': 'GET',
      'http.route': route,
      'url.path': route.replace(':id', String(number)),
      'server.address': 'shop.example.com',
      'server.port': 8080,
      'http.response.status_code': status,
      'enduser.id': `user-${Math.floor(next() * 500_000)}`,
    },
    { kind: 'server', startTime: start },
  );
  const child = (name, kind, attributes, from, to) => {
    startSpan(name, attributes, { kind, parent: server, startTime: at(from) }).end(at(to));
  };
  child('authenticate', 'internal', { cached: next() < 0.9 }, 0.01, 0.05);
  const query = (i) => {
    const table = TABLES[Math.floor(next() * TABLES.length)];
    const attributes = {
      'db.system.name': 'postgresql',
      'db.namespace': 'shop',
      'db.collection.name': table,
      'db.query.text': `SELECT * FROM ${table} WHERE id = $1`,
      'server.address': 'database.example.com',
    };
    child(`SELECT ${table}`, 'client', attributes, 0.1 + 0.15 * i, 0.22 + 0.15 * i);
  };
  for (let i = 0; i < 4; i++) query(i);
  if (next() < FIFTH_QUERY) query(4);
  else child('validate', 'internal', { 'code.function.name': 'validate' }, 0.72, 0.8);
  child('render', 'internal', { bytes: Math.floor(next() * 1e5) }, 0.88, 0.98);
  if (status === 500) server.fail(new Error('no connection'));
  server.end(at(1));
}

/** Samples a second, functions that are found in a second, and how deep the stacks are. */
const HZ = 20;
const FUNCTIONS = 12;
const DEPTH = 10;

/** One second of samples: the leaves of stacks that differ from second to second. */
function profilePart(next) {
  const frames = [];
  const nodes = [];
  const leaves = [];
  for (let each = 0; each < FUNCTIONS; each++) {
    const number = Math.floor(next() ** 2 * 400);
    for (let depth = 0; depth < DEPTH; depth++) {
      nodes.push(`${frames.length}:${depth === 0 ? '' : nodes.length - 1}`);
      const name = `f${number % (10 + 40 * depth)}_${depth}`;
      frames.push(`at ${name} (/srv/shop/dist/m${depth}.js:${(number % 97) + 1}:10)`);
    }
    leaves.push(nodes.length - 1);
  }
  const counts = new Map();
  const samples = Array.from({ length: HZ }, (_, i) => {
    const leaf = leaves[Math.floor(next() ** 2 * FUNCTIONS)];
    counts.set(leaf, (counts.get(leaf) ?? 0) + 1);
    return `${(i * 1e6) / HZ}:${leaf}:`;
  });
  const lines = [...counts].map(([leaf, count]) => `${leaf}:${leaf + 5}:${count}`);
  return [frames.join('\n'), nodes.join(), samples.join(), '', lines.join()];
}

/** What the hook records of a thread. Times are those of CLOCK_MONOTONIC. */
async function writeProfile({ seed }) {
  const { LoopRecorder } = internal('node/threads/activity-recorders');
  const recorder = new LoopRecorder();
  const next = random(seed + 100);
  const begin = Number(process.hrtime.bigint() + AHEAD_NS);
  for (let second = 0; second < 3600; second++) {
    const from = begin + second * 1e9;
    const to = from + 1e9;
    recorder.recordProfile(1e9 / HZ, [from, to, ...profilePart(next)]);
    const busy = Math.floor(next() * 9e8);
    const loop = { from, to, busy, turns: 900, longest: busy / 50, delay: 1e6 };
    recorder.sample(loop, undefined, undefined, undefined);
    if (second % 100 === 99) await flush();
  }
}

async function write({ spans, begin, seed, attributes }) {
  const next = random(seed);
  const writeRequest = attributes === 'many' ? fullRequest : request;
  const requests = Math.round(spans / OF_REQUEST);
  const step = HOUR_NS / BigInt(Math.max(1, requests));
  for (let i = 0; i < requests; i++) {
    const jitter = BigInt(Math.floor(next() * 1e6 * CONCURRENT));
    writeRequest(next, i, BigInt(begin) + BigInt(i) * step + jitter);
    if (i % FLUSH_EVERY === FLUSH_EVERY - 1) await flush();
  }
  await flush();
}

/**
 * @param {string} path
 * @param {{ spans?: number, threads?: number, service?: string, attributes?: 'few' | 'many', profile?: boolean }} options
 */
export async function writeLookTrace(
  path,
  { spans = 10_000_000, threads = 4, service = 'shop', attributes = 'few', profile = false } = {},
) {
  rmSync(path, { force: true });
  const begin = String(BigInt(Date.now()) * 1_000_000n + AHEAD_NS);
  await Promise.all(
    Array.from({ length: threads }, async (_, i) => {
      const own = Math.floor(spans / threads);
      const data = { path, spans: own, begin, seed: i + 1, service, attributes, profile };
      const worker = new Worker(new URL(import.meta.url), { workerData: data });
      await new Promise((resolve, reject) => {
        worker.on('exit', resolve);
        worker.on('error', reject);
      });
    }),
  );
}

if (!isMainThread && workerData?.path !== undefined) {
  configure({ target: workerData.path, service: workerData.service, openSpans: { count: 0 } });
  await write(workerData);
  if (workerData.profile) await writeProfile(workerData);
  await shutdown();
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      spans: { type: 'string' },
      threads: { type: 'string' },
      service: { type: 'string' },
      attributes: { type: 'string' },
      profile: { type: 'boolean' },
    },
  });
  if (positionals.length !== 1) {
    console.error(
      'usage: node bench/look-trace.mjs OUT [--spans N] [--threads N] [--service NAME] ' +
        '[--attributes few|many] [--profile]',
    );
    process.exit(1);
  }
  await writeLookTrace(positionals[0], {
    ...(values.spans && { spans: Number(values.spans) }),
    ...(values.service && { service: values.service }),
    ...(values.attributes && { attributes: values.attributes }),
    ...(values.threads && { threads: Number(values.threads) }),
    ...(values.profile && { profile: true }),
  });
}
