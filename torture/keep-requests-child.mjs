// Makes requests of which only some are kept, 200 at any time, and logs what must be kept and what all took.
//
//   node torture/keep-requests-child.mjs TRACE LOG REQUESTS SEED

import { openSync, writeFileSync, writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { configure, extract, inject, shutdown, startSpan, withSpan } from 'tracewright/spans';
import { bucketOf, KEEP, ROUTES, SLOW_MS } from './keep-rules.mjs';
import { Random } from './random.mjs';

const [, , target, logPath, count, seed] = process.argv;
const REQUESTS = Number(count);
const IN_FLIGHT = 200;
const MS = 1_000_000n;
const LOG_BYTES = 1 << 16;
const SAMPLES = 40;

configure({ target, service: 'torture', keep: KEEP });

const log = openSync(`${logPath}.traces`, 'w');
let lines = '';
function write(line) {
  lines += `${line}\n`;
  if (lines.length > LOG_BYTES) flushLog();
}
function flushLog() {
  writeSync(log, lines);
  lines = '';
}

/** By name: how many there were and how many failed, and by bucket at least and at most so long. */
const figures = new Map();
function note(name, least, most, failed) {
  let own = figures.get(name);
  if (own === undefined) figures.set(name, (own = { count: 0, errors: 0, least: {}, most: {} }));
  own.count++;
  if (failed) own.errors++;
  const [low, high] = [bucketOf(least), bucketOf(most)];
  own.least[low] = (own.least[low] ?? 0) + 1;
  own.most[high] = (own.most[high] ?? 0) + 1;
}

class Helper {
  #waiting = new Map();
  #next = 0;

  constructor(role) {
    this.role = role;
    this.#start();
  }

  #start() {
    this.worker = new Worker(fileURLToPath(new URL('keep-requests-worker.mjs', import.meta.url)), {
      workerData: { target, role: this.role },
    });
    this.worker.on('message', ({ id, spans }) => {
      this.#waiting.get(id)(spans);
      this.#waiting.delete(id);
    });
  }

  /** How many spans the worker has recorded of a request. */
  ask(headers, fails) {
    const id = this.#next++;
    this.worker.postMessage({ id, headers, fails });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async replace() {
    if (this.#waiting.size > 0) return;
    const { worker } = this;
    this.#start();
    await worker.terminate();
  }

  async end() {
    const ended = new Promise((resolve) => this.worker.once('exit', resolve));
    this.worker.postMessage('end');
    await ended;
  }
}

const helpers = {
  usual: new Helper('usual'),
  blocked: new Helper('blocked'),
  doomed: new Helper('doomed'),
};

let next = 0;
const late = [];

/** Ends what was left open after its root, some turns later. */
function endLate() {
  while (late.length > 100) late.shift()();
}

/** A tree of spans below a parent; resolves to how many there are. */
async function below(parent, random, depth) {
  let spans = 0;
  for (let left = random.integer(0, 3 - depth); left > 0; left--) {
    const name = `operation ${random.integer(0, 3)}`;
    if (random.chance(0.3)) {
      spans += await parent.run(() =>
        withSpan(name, { text: 'x'.repeat(random.integer(0, 60)) }, async (span) => {
          if (random.chance(0.5)) await turn();
          return 1 + (await below(span, random, depth + 1));
        }),
      );
      continue;
    }
    const span = startSpan(name, { left, depth }, { parent });
    if (random.chance(0.2)) await undefined;
    if (depth < 2) spans += await below(span, random, depth + 1);
    spans++;
    if (random.chance(0.05)) late.push(() => span.end());
    else span.end();
  }
  return spans;
}

/** A second local root of the same trace, which is open while the first one is. */
function beginSecond(root) {
  const parent = extract({ traceparent: `00-${root.ids.trace_id}-${'1'.repeat(16)}-01` });
  const before = process.hrtime.bigint();
  const span = startSpan('second', {}, { parent, kind: 'server' });
  const after = process.hrtime.bigint();
  return () => {
    const ending = process.hrtime.bigint();
    span.end();
    note('second', Number(ending - after), Number(process.hrtime.bigint() - before), false);
  };
}

async function request(n, random) {
  const route = n % ROUTES;
  const isGiven = route % 2 === 0;
  const name = `GET /${isGiven ? 'given' : 'natural'}/${route}`;
  const isSlow = random.chance(1 / 200);
  const isFailed = random.chance(1 / 200);
  const begun = process.hrtime.bigint();
  const startTime =
    BigInt(Date.now()) * MS - (isSlow && !isGiven ? BigInt(SLOW_MS + 100) * MS : 0n);
  const options = { kind: 'server', parent: null, ...(isGiven || isSlow ? { startTime } : {}) };
  const root = startSpan(name, { n }, options);
  const afterStart = process.hrtime.bigint();
  const id = root.ids.trace_id;
  let spans = 1;
  if (random.chance(1 / 20_000)) {
    startSpan('operation 0', {}, { parent: root }).end();
    write(`never ${id} 1`);
    return;
  }
  const second = random.chance(0.02) ? beginSecond(root) : undefined;
  const endSecond = () => {
    second();
    spans++;
  };
  const isSecondLast = random.chance(0.5);
  let isWanted = isSlow || isFailed;
  spans += await below(root, random, 0);
  const role = random.chance(1 / 400)
    ? random.pick(['usual', 'usual', 'usual', 'blocked', 'doomed'])
    : '';
  if (role !== '') {
    const fails = random.chance(0.1);
    const headers = root.run(() => inject({}));
    spans += await helpers[role].ask(headers, fails);
    isWanted ||= fails;
    if (role === 'doomed' && random.chance(0.2)) await helpers.doomed.replace();
  }
  if (second !== undefined && !isSecondLast) endSecond();
  if (isFailed) root.fail(new Error('torture'));
  const before = process.hrtime.bigint();
  let least;
  let most;
  if (isGiven) {
    const duration =
      BigInt(isSlow ? SLOW_MS + random.integer(1, 1000) : random.integer(1, 200)) * MS;
    root.end(startTime + duration);
    [least, most] = [Number(duration), Number(duration)];
  } else {
    root.end();
    const extra = isSlow ? SLOW_MS + 100 : 0;
    // The clock of milliseconds is one behind at most, and clocks may be set.
    [least, most] = [
      Number(before - afterStart) + (extra - (isSlow ? 3 : 0)) * 1e6,
      Number(process.hrtime.bigint() - begun) + (extra + (isSlow ? 3 : 0)) * 1e6,
    ];
  }
  note(name, least, most, isFailed);
  if (random.chance(0.01)) {
    await turn();
    startSpan('operation 3', {}, { parent: root }).end();
    spans++;
  }
  if (second !== undefined && isSecondLast) endSecond();
  const isOfShare = id.slice(18) >= KEEP_FROM;
  if (isWanted) write(`kept ${id} ${spans} ${role}`);
  else if (isOfShare) write(`share ${id} ${spans} ${role}`);
  else if (most > SLOW_MS * 1e6 || second !== undefined) write(`maybe ${id} ${spans} ${role}`);
  else if (role === 'doomed') write(`doomed ${id} ${spans}`);
}

/** The 56 random bits of the trace ids that the share has, as 14 digits. */
const KEEP_FROM = BigInt(Math.round((1 - KEEP.ratio) * 2 ** 56)).toString(16);

const memory = [];
async function run(number) {
  const random = new Random(Number(seed) + number);
  while (next < REQUESTS) {
    const n = next++;
    if (n % Math.ceil(REQUESTS / SAMPLES) === 0) memory.push(process.memoryUsage.rss());
    await request(n, random);
    endLate();
    if (n % 50 === 0) await turn();
  }
}

await Promise.all(Array.from({ length: IN_FLIGHT }, (_, i) => run(i)));
for (const end of late) end();
for (const helper of Object.values(helpers)) await helper.end();
await shutdown();
flushLog();
writeFileSync(
  `${logPath}.figures`,
  JSON.stringify({ figures: Object.fromEntries(figures), memory }),
);
