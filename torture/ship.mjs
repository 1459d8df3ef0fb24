// Kills services, shippers and the receiver at random moments, while the receiver answers whatever a backend can:
// every span that a service had recorded, and those that it had open, must be received, or kept as refused.
//
//   node torture/ship.mjs [--rounds N] [--seed N]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { clearTimeout, setTimeout as timer } from 'node:timers';
import { gunzipSync } from 'node:zlib';
import { recoverTrace } from 'tracewright/heph';
import { readSpans } from 'tracewright/spans';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:ship -- [--rounds N] [--seed N]

  --rounds N  how many: 200 unless set
  --seed N    what is killed when; default: chosen by the time
`,
  {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
);
const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CHILD = fileURLToPath(new URL('open-spans-child.mjs', import.meta.url));
/** Of ExportTraceServiceRequest, ResourceSpans, ScopeSpans and Span. */
const PATH_TO_SPAN = [1, 2, 2];
const SPAN_ID = 2;
const random = new Random(Number(options.seed));

/** Calls back with each field of a protobuf message that has bytes. */
function eachBytes(bytes, found) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    switch (tag % 8) {
      case 0:
        varint();
        break;
      case 1:
        at += 8;
        break;
      case 5:
        at += 4;
        break;
      default: {
        const length = varint();
        found(Math.floor(tag / 8), bytes.subarray(at, at + length));
        at += length;
      }
    }
  }
}

/** The ids of the spans of a request. */
function idsOf(bytes, [field, ...rest] = PATH_TO_SPAN, ids = []) {
  eachBytes(bytes, (number, value) => {
    if (field === undefined) {
      if (number === SPAN_ID) ids.push(value.toString('hex'));
    } else if (number === field) idsOf(value, rest, ids);
  });
  return ids;
}

/** An endpoint that answers as a backend does on a bad day, and dies now and then. */
class Receiver {
  received = new Map();
  isWell = false;
  #server;
  #port = 0;

  async start() {
    this.#server = createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.on('end', () => void this.#answer(Buffer.concat(chunks), response));
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = this.#server.address().port;
    return `http://127.0.0.1:${this.#port}`;
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(body) {
    for (const id of idsOf(gunzipSync(body)))
      this.received.set(id, (this.received.get(id) ?? 0) + 1);
  }

  async #answer(body, response) {
    const kind = this.isWell
      ? 'well'
      : random.pick(['well', 'well', 'slow', 'cut', 'late', 400, 413, 429, 500, 503, 503]);
    switch (kind) {
      case 'well':
        this.#keep(body);
        response.end();
        break;
      case 'slow':
        await sleep(random.integer(1, 300));
        this.#keep(body);
        response.end();
        break;
      case 'cut':
        response.destroy();
        break;
      case 'late':
        // It has the spans, and the sender never hears of it.
        this.#keep(body);
        response.destroy();
        break;
      case 400:
        // Only a request of one span is refused for good.
        response.writeHead(400).end('not today');
        break;
      case 503:
        response.writeHead(503, random.chance(0.5) ? { 'retry-after': '0' } : {}).end();
        break;
      default:
        response.writeHead(kind).end();
    }
  }
}

function ship(traces, url, directory, ...args) {
  const files = [
    '--checkpoint',
    join(directory, 'checkpoint'),
    '--refused',
    join(directory, 'refused'),
  ];
  const child = spawn(process.execPath, [COMMAND, 'ship', traces, '--to', url, ...files, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (text) => (output += text));
  return { child, output: () => output };
}

async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** The ids of spans that were refused for good. */
function refusedIn(directory) {
  const path = join(directory, 'refused');
  return readdirSync(path).flatMap((name) =>
    [...readFileSync(join(path, name), 'utf8').matchAll(/"spanId":"([0-9a-f]{16})"/g)].map(
      ([, id]) => id,
    ),
  );
}

async function round(directory) {
  const traces = join(directory, 'traces');
  mkdirSync(traces);
  const receiver = new Receiver();
  const url = await receiver.start();
  let shipper = ship(traces, url, directory);
  const services = [];
  const steps = random.integer(4, 10);
  for (let step = 0; step < steps; step++) {
    await sleep(random.integer(0, 1200));
    switch (random.pick(['service', 'service', 'kill service', 'ship', 'receiver', 'recover'])) {
      case 'service': {
        const target = join(traces, `service-${services.length}.heph`);
        const child = spawn(
          process.execPath,
          [CHILD, target, String(random.pick([1, 7, 40])), '50'],
          {
            stdio: ['ignore', 'pipe', 'inherit'],
          },
        );
        child.stdout.resume();
        services.push({ child, target });
        break;
      }
      case 'kill service':
        if (services.length > 0) await kill(random.pick(services).child);
        break;
      case 'ship':
        await kill(shipper.child);
        shipper = ship(traces, url, directory);
        break;
      case 'receiver':
        await receiver.stop();
        await sleep(random.integer(0, 100));
        await receiver.start();
        break;
      case 'recover':
        for (const { child, target } of services) {
          if (child.signalCode === 'SIGKILL') recoverTrace(target);
        }
    }
  }
  for (const { child } of services) await kill(child);
  await kill(shipper.child);
  receiver.isWell = true;
  const last = ship(traces, url, directory, '--once');
  const limit = timer(() => last.child.kill('SIGKILL'), 120_000);
  const [code, signal] = await once(last.child, 'exit');
  clearTimeout(limit);
  await receiver.stop();
  if (signal !== null) throw new Error(`seed ${options.seed}: ship did not end: ${last.output()}`);
  const refused = new Set(refusedIn(directory));
  let spans = 0;
  for await (const { spanId, name } of readSpans(traces)) {
    spans++;
    if (receiver.received.has(spanId) || refused.has(spanId)) continue;
    throw new Error(
      `seed ${options.seed}: ${name} (${spanId}) is lost, code ${code}: ${last.output()}`,
    );
  }
  const doubles = [...receiver.received.values()].filter((count) => count > 1).length;
  return { spans, doubles, refused: refused.size };
}

const sum = { spans: 0, doubles: 0, refused: 0 };
for (let i = 1; i <= Number(options.rounds); i++) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-torture-ship-'));
  const found = await round(directory);
  rmSync(directory, { recursive: true, force: true });
  for (const [name, count] of Object.entries(found)) sum[name] += count;
  if (i % 20 === 0) console.log(`${i} rounds: ${JSON.stringify(sum)}`);
}
console.log(
  `${options.rounds} rounds, seed ${options.seed}: ${sum.spans} spans, none lost; ` +
    `${sum.doubles} were received more than once, ${sum.refused} refused for good`,
);
