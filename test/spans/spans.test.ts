import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel, Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { f64 } from '../../src/heph/write/value.js';
import { readSpans } from '../../src/spans/index.js';
import { configure, shutdown } from '../../src/spans/recording.js';
import { activeSpan, withSpan } from '../../src/spans/active-span.js';
import { startSpan } from '../../src/spans/start-span.js';
import { extract, getBaggage, inject } from '../../src/spans/propagation.js';
import type { SpanAttributes } from '../../src/spans/attributes.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from './span-trace.js';

const directory = temporaryDirectory();

test('without a target nothing is recorded and nothing is active', () => {
  const span = startSpan('off', { a: 1 });
  expect(span.recording).toBe(false);
  span.set('b', 2).event('c').fail(new Error('d')).rename('e').end();
  withSpan('off', undefined, () => {
    expect(activeSpan()).toBeUndefined();
    expect(inject({})).toEqual({});
  });
});

test('without a target what a caller sent is passed on', async () => {
  const headers = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'vendor=x',
    baggage: 'user=7',
  };
  await withSpan(
    'off',
    undefined,
    async () => {
      await Promise.resolve();
      expect(inject({})).toEqual(headers);
      expect(getBaggage()).toEqual({ user: '7' });
    },
    { parent: extract(headers)! },
  );
});

test('a target that exists is refused, without advice that configure does not take', () => {
  const target = join(directory, 'taken.heph');
  writeFileSync(target, '');
  expect(() => {
    configure({ target });
  }).toThrow(/taken\.heph exists: choose another name$/);
});

test('a span comes back with everything that it was given', async () => {
  const before = BigInt(Date.now()) * 1_000_000n;
  let ids: { trace_id: string; span_id: string } | undefined;
  const [other, span] = await recorded(
    directory,
    () => {
      const linked = startSpan('linked');
      linked.end();
      const open = startSpan(
        'GET /users/:id',
        { 'http.request.method': 'GET', retries: 0 },
        { kind: 'server', links: [{ to: linked, attributes: { why: 'retry' } }] },
      );
      open.set('cached', true).event('lookup', { table: 'users', rows: 3n });
      open.fail(new TypeError('no such user')).rename('GET /users/{id}');
      ids = open.ids;
      open.end();
      open.end();
      open.set('late', 1);
    },
    { service: 'shop', version: '2.0.0', resource: { 'deployment.environment': 'test' } },
  );
  const after = BigInt(Date.now() + 1) * 1_000_000n;
  expect(other!.name).toBe('linked');
  expect(span).toMatchObject({
    traceId: ids!.trace_id,
    spanId: ids!.span_id,
    name: 'GET /users/{id}',
    kind: 'server',
    attributes: { 'http.request.method': 'GET', retries: 0, cached: true },
    status: { code: 'error', message: 'no such user' },
    events: [
      { name: 'lookup', attributes: { table: 'users', rows: 3n } },
      {
        name: 'exception',
        attributes: { 'exception.type': 'TypeError', 'exception.message': 'no such user' },
      },
    ],
    links: [
      {
        traceId: other!.traceId,
        spanId: other!.spanId,
        flags: 3,
        remote: false,
        attributes: { why: 'retry' },
      },
    ],
    flags: 3,
    traceState: '',
    dropped: { attributes: 0, events: 0, links: 0 },
    thread: 0,
    pid: process.pid,
    unfinished: false,
    resource: {
      attributes: {
        'service.name': 'shop',
        'service.version': '2.0.0',
        'deployment.environment': 'test',
        'process.pid': process.pid,
      },
    },
  });
  expect(span!.parentSpanId).toBeUndefined();
  expect(span!.start).toBeGreaterThanOrEqual(before);
  expect(span!.end).toBeGreaterThanOrEqual(span!.start);
  expect(span!.end).toBeLessThanOrEqual(after);
  expect(span!.events[0]!.time).toBeGreaterThanOrEqual(span!.start);
  expect(span!.events[0]!.time).toBeLessThanOrEqual(span!.end);
});

/** What a value comes back as. */
const VALUES: [unknown, unknown][] = [
  ['text', 'text'],
  ['', ''],
  ['é世😀"\\\u0001', 'é世😀"\\\u0001'],
  ['x'.repeat(200_000) + '世', 'x'.repeat(200_000) + '世'],
  [true, true],
  [false, false],
  [0, 0],
  [1, 1],
  [-1, -1],
  [2 ** 32, 2 ** 32],
  [-(2 ** 40), -(2 ** 40)],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  [1.5, 1.5],
  [f64(1), 1],
  [NaN, NaN],
  [-Infinity, -Infinity],
  [1e300, 1e300],
  [1n, 1n],
  [-5n, -5n],
  [2n ** 64n - 1n, 2n ** 64n - 1n],
  [-(2n ** 63n), -(2n ** 63n)],
  [2n ** 100n, 2n ** 100n],
  [null, null],
  [[], []],
  [
    [1, 'two', null, undefined, true, 4n, 1.5],
    [1, 'two', null, null, true, 4n, 1.5],
  ],
  [
    [[1], [[]]],
    [[1], [[]]],
  ],
  [Float64Array.of(1.5, 2), [1.5, 2]],
  [Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
  [BigInt64Array.of(-1n), [-1n]],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  [{ a: [1] }, '{"a":[1]}'],
];

test.each([1, 60])('values of every kind come back as they were, time %i', async (times) => {
  const names = VALUES.map((_, i) => (i % 3 === 0 ? `~${i}` : `name ${i}`));
  const attributes = Object.fromEntries(VALUES.map(([given], i) => [names[i]!, given]));
  const spans = await recorded(directory, () => {
    for (let i = 0; i < times; i++) startSpan('values', attributes as SpanAttributes).end();
  });
  expect(spans).toHaveLength(times);
  const expected = Object.fromEntries(VALUES.map(([, back], i) => [names[i]!, back]));
  for (const span of spans) expect(span.attributes).toEqual(expected);
});

test('frequent spans, which are compiled, come back as they were', async () => {
  const spans = await recorded(directory, () => {
    for (let i = 0; i < 300; i++) {
      startSpan('often', { i, even: i % 2 === 0, big: BigInt(i), '~t': 'mine', half: i / 2 }).end();
    }
  });
  expect(spans.map(({ attributes }) => attributes)).toEqual(
    Array.from({ length: 300 }, (_, i) => ({
      i,
      even: i % 2 === 0,
      big: BigInt(i),
      '~t': 'mine',
      half: i / 2,
    })),
  );
});

test('a span ends in the message of another thread, once and in its own trace', async () => {
  const worker = new Worker(
    `require('node:worker_threads').parentPort.on('message', (port) =>
       setTimeout(() => port.postMessage('done'), 20));`,
    { eval: true },
  );
  const spans = await recorded(directory, () =>
    withSpan('asks', undefined, () => {
      const waits = startSpan('waits');
      const { port1, port2 } = new MessageChannel();
      worker.postMessage(port2, [port2]);
      return new Promise<void>((resolve) => {
        port1.once('message', () => {
          waits.end();
          waits.end();
          port1.close();
          resolve();
        });
      });
    }),
  );
  await worker.terminate();
  expect(spans.map(({ name }) => name)).toEqual(['waits', 'asks']);
  const [waits, asks] = spans;
  expect(waits).toMatchObject({ parentSpanId: asks!.spanId, unfinished: false });
  expect(waits!.end - waits!.start).toBeGreaterThan(15_000_000n);
});

test('a million names and values leave nothing in memory', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // Old pieces are deleted: the test needs little disk.
  process.env['TRACEWRIGHT_MAX_BYTES'] = String(32 << 20);
  const heap = (): number => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  const traces = mkdtempSync(join(directory, 'names-'));
  const run = (from: number, to: number): void => {
    for (let n = from; n < to; n++) {
      startSpan(`name ${n}`, { [`key ${n % 5000}`]: `value ${n}` }).end();
    }
  };
  let before: number;
  let after: number;
  try {
    configure({ target: join(traces, 'names.heph') });
    run(0, 100_000);
    before = heap();
    run(100_000, 1_000_000);
    after = heap();
  } finally {
    delete process.env['TRACEWRIGHT_MAX_BYTES'];
    await shutdown();
  }
  let read = 0;
  for await (const span of readSpans(traces)) {
    if (span.attributes[`key ${Number(span.name.slice(5)) % 5000}`] !== undefined) read++;
  }
  expect(read).toBeGreaterThan(100_000);
  expect(heap() - before).toBeLessThan(4 << 20);
  expect(after - before).toBeLessThan(2 << 20);
}, 120_000);
