import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPackets } from '../../../src/heph/read/reader.js';
import type { KeepOptions } from '../../../src/spans/keep/keep-options.js';
import type { Redaction } from '../../../src/spans/redaction/redaction.js';
import { releasedIn, releasedOf } from '../../../src/spans/read/released-requests.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { SpanAttributes } from '../../../src/spans/attributes.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../span-trace.js';

const directory = temporaryDirectory();
const SLOW = 60_000;

interface Released {
  /** `name | route` with the count of requests, and operations below them by their names. */
  counts: Record<string, number>;
  spans: string[];
  text: string;
}

async function released(
  record: () => void,
  keep: KeepOptions = { slowerThan: SLOW },
  redact?: Redaction,
): Promise<Released> {
  let path = '';
  const spans = await recorded(
    directory,
    (target) => {
      path = target;
      record();
    },
    { keep: { limit: false, ...keep }, ...(redact && { redact }) },
  );
  const counts: Record<string, number> = {};
  for (const packet of readPackets(path)) {
    if (packet.kind !== 'event' || packet.description !== 'tracewright.released') continue;
    const { name, route, count, isBelow } = releasedOf(packet);
    const key = isBelow ? name : `${name} | ${route}`;
    counts[key] = (counts[key] ?? 0) + count;
  }
  return { counts, spans: spans.map(({ name }) => name), text: readFileSync(path, 'latin1') };
}

function request(name: string, attributes: SpanAttributes, renamed?: string): void {
  const root = startSpan(name, attributes, { parent: null, kind: 'server' });
  startSpan('query', {}, { parent: root }).end();
  if (renamed !== undefined) root.rename(renamed);
  root.end();
}

test('requests are counted by the route of their attribute if their name has none', async () => {
  const { counts } = await released(() => {
    for (let n = 0; n < 300; n++) {
      request('GET', { 'http.route': n % 3 === 0 ? '/a' : '/b', n });
      request('GET /c', { 'http.route': '/c', n }, 'checkout');
      request('GET /d', { n });
      request('GET', { n });
      // gRPC: its method is its route, as in the metrics of kept requests.
      request('shop.Cart/Add', { 'rpc.method': 'shop.Cart/Add', n });
      const late = startSpan('POST', { n }, { parent: null, kind: 'server' });
      late.set('http.route', '/late').end();
    }
  });
  expect(counts).toEqual({
    'GET | /a': 100,
    'GET | /b': 200,
    'checkout | /c': 300,
    'GET /d | /d': 300,
    'GET | ': 300,
    'POST | /late': 300,
    'shop.Cart/Add | shop.Cart/Add': 300,
    query: 1500,
  });
});

test('counts of many durations are recorded, however small the span before them was', async () => {
  const { counts } = await released(() => {
    const begin = BigInt(Date.now()) * 1_000_000n;
    const root = startSpan('GET /x', {}, { parent: null, kind: 'server' });
    for (let n = 0; n < 1000; n++) {
      const step = startSpan('step', {}, { parent: root, startTime: begin });
      step.end(begin + BigInt(Math.round(1000 * 1.016 ** n)));
    }
    root.end();
    // It is encoded for a slot of the open spans.
    startSpan('GET /y', { list: [1, 2] }, { parent: null, kind: 'server' }).end();
  });
  expect(counts).toEqual({ 'GET /x | /x': 1, 'GET /y | /y': 1, step: 1000 });
});

test('a rule of a route holds for requests whose name does not have it', async () => {
  const began = (route: string) =>
    startSpan('GET', { 'http.route': route }, { parent: null, kind: 'server', startTime: 0 });
  const { spans, counts } = await released(
    () => {
      began('/slow').end();
      began('/other').end();
    },
    { slowerThan: { '/slow': 1 } },
  );
  expect(spans).toEqual(['GET']);
  expect(counts).toEqual({ 'GET | /other': 1 });
});

test('counts have names and routes as redaction leaves them', async () => {
  const record = () => {
    for (let n = 0; n < 200; n++) {
      const path = `/users/user${n % 2}@example.com`;
      request(`GET ${path}`, { 'url.path': path });
      request('GET', { 'http.route': path });
      const root = startSpan('GET', {}, { parent: null, kind: 'server' });
      startSpan(`load ${path}`, {}, { parent: root }).end();
      root.end();
    }
  };
  const paths: Redaction['paths'] = [[/user\d@/, 'somebody@']];
  const { counts, text } = await released(record, undefined, { paths });
  expect(counts).toEqual({
    'GET /users/somebody@example.com | /users/somebody@example.com': 200,
    'GET | /users/somebody@example.com': 200,
    'GET | ': 200,
    query: 400,
    'load /users/somebody@example.com': 200,
  });
  expect(text).not.toMatch(/user\d@/);
  const dropped = await released(record, undefined, { drop: ['http.route'], paths });
  expect(dropped.counts['GET | ']).toBe(400);
  expect(dropped.text).not.toMatch(/user\d@/);
});

test('spans of one name and different kinds are counted apart', async () => {
  let path = '';
  await recorded(
    directory,
    (target) => {
      path = target;
      for (let n = 0; n < 30; n++) {
        const root = startSpan('GET', {}, { parent: null, kind: 'server' });
        startSpan('GET', {}, { parent: root, kind: 'client' }).end();
        startSpan('GET', {}, { parent: root }).end();
        root.end();
        if (n % 3 === 0) startSpan('GET', {}, { parent: null, kind: 'client' }).end();
      }
    },
    { keep: { slowerThan: SLOW } },
  );
  const counts = [...releasedIn(path)].map(({ kind, isBelow, count }) => [kind, isBelow, count]);
  expect(counts.sort()).toEqual([
    ['client', false, 10],
    ['client', true, 30],
    ['internal', true, 30],
    ['server', false, 30],
  ]);
});
