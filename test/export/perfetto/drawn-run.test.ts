import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { configure, shutdown, startSpan, withSpan } from '../../../src/spans/index.js';
import { findTraces } from '../../../src/traces/find-traces.js';
import { writeOvniTrace } from '../../cli/small-ovni-trace.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { drawn as convert } from './drawn-events.js';

const directory = temporaryDirectory();
const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));

function dumped(path: string, json: boolean): string[] {
  return findTraces([path]).flatMap(({ format }) => [...format.dump(path, json, {})].map(String));
}

const SERVICE = `
  const http = require('node:http');
  const server = http.createServer((request, response) => response.end('hello'));
  server.listen(0, '127.0.0.1', async () => {
    await (await fetch('http://127.0.0.1:' + server.address().port + '/users/7?x=1')).text();
    server.close();
  });`;

/** The run of a service that asks itself once. */
async function serviceRun(name: string, context: string): Promise<string> {
  const script = join(directory, `${name}.cjs`);
  writeFileSync(script, SERVICE);
  const run = join(directory, name);
  await promisify(execFile)(process.execPath, ['--import', register, script], {
    env: {
      ...process.env,
      TRACEWRIGHT_DIR: run,
      TRACEWRIGHT_CONTEXT: context,
      TRACEWRIGHT_FORMATS: 'heph,ovni',
      TRACEWRIGHT_QUIET: '1',
    },
  });
  return run;
}

it.each(['on', 'off'])('shows one process once, context %s', async (context) => {
  const events = convert(await serviceRun(`service-${context}`, context));
  expect(new Set(events.map(({ pid }) => pid)).size).toBe(1);
  expect(events.filter(({ name }) => name === 'process_name')).toHaveLength(1);
  const tracks = events.filter(({ name }) => name === 'thread_name');
  expect(new Set(tracks.map(({ tid }) => tid)).size).toBe(tracks.length);
  const requests = events.filter(({ ph, name }) => ph === 'X' && name.includes('/users/7'));
  expect(requests.map(({ name }) => name).sort()).toEqual([
    'GET /users/7',
    expect.stringMatching(context === 'on' ? /^GET.*\/users\/7$/ : /^GET http:.*\/users\/7$/),
  ]);
  const counters = events.filter(({ ph, name }) => ph === 'C' && name.startsWith('HTTP'));
  expect(counters.map(({ args }) => args)).toEqual([{ value: 1 }, { value: 0 }]);
  expect(counters[0]!.name).toMatch(/^HTTP requests in flight \(thread \d+\)$/);
});

it('draws what an event loop did as curves of its thread', () => {
  const record = (start: bigint, busy: bigint): Buffer =>
    encodeEvent(
      someEvent({
        stream: 3,
        start,
        end: start + 1_000_000_000n,
        description: 'tracewright.loop',
        attributes: [
          { name: '~v', type: 'u64', value: 1n },
          { name: 'busy', type: 'u64', value: busy },
          { name: 'longest', type: 'u64', value: 2_500_000n },
        ],
      }),
    );
  const events = convert(
    writeTrace(
      directory,
      'loop.heph',
      encodeEpoch(0n),
      record(0n, 250_000_000n),
      record(5_000_000_000n, 1_000_000_000n),
    ),
  );
  expect(events.filter(({ ph }) => ph === 'X')).toEqual([]);
  const curves = events.filter(({ ph }) => ph === 'C');
  expect(curves.map(({ name, ts, args }) => [name, ts / 1e6, args?.['value']])).toEqual([
    ['event loop utilisation (thread 3)', 0, 25],
    ['event loop utilisation (thread 3)', 1, 0],
    ['event loop utilisation (thread 3)', 5, 100],
    ['event loop utilisation (thread 3)', 6, 0],
    ['event loop longest turn (thread 3)', 0, 2_500_000],
    ['event loop longest turn (thread 3)', 1, 0],
    ['event loop longest turn (thread 3)', 5, 2_500_000],
    ['event loop longest turn (thread 3)', 6, 0],
  ]);
});

it('keeps processes of different runs apart, though they have one number', async () => {
  const run = await serviceRun('twice', 'on');
  const both = join(directory, 'both');
  mkdirSync(both);
  cpSync(run, join(both, 'first'), { recursive: true });
  cpSync(run, join(both, 'second'), { recursive: true });
  expect(new Set(convert(both).map(({ pid }) => pid)).size).toBe(2);
});

async function spanTrace(name: string): Promise<string> {
  const path = join(directory, name);
  configure({ target: path, service: 'shop' });
  try {
    withSpan('checkout', { items: 3, gift: true, tags: ['a', 'b'] }, (span) => {
      span.event('paid', { amount: 5 });
    });
    const failed = startSpan('refused', {}, { kind: 'client' });
    failed.fail(new Error('no stock'));
    failed.end();
  } finally {
    await shutdown();
  }
  return path;
}

it('dumps spans as spans', async () => {
  const path = await spanTrace('dumped.heph');
  const text = dumped(path, false).join('\n');
  expect(text).toMatch(
    /^span stream 0 #\d+ \d+\.\.\d+ ns \(\d+ ns\) "checkout" internal unset trace [0-9a-f]{32} span [0-9a-f]{16} root "items"=3 "gift"=true "tags"=\["a", "b"\] event "paid" \+\d+ ns "amount"=5$/m,
  );
  expect(text).toMatch(/^span .* "refused" client error "no stock" trace .*"exception.message"/m);
  expect(text).not.toMatch(/^span.*~/m);
  const spans = dumped(path, true).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(spans.find(({ name }) => name === 'checkout')).toMatchObject({
    kind: 'span',
    spanKind: 'internal',
    unfinished: false,
    attributes: { items: 3, gift: true, tags: ['a', 'b'] },
  });
});

it('flags spans that a kill has left open', async () => {
  const path = join(directory, 'killed.heph');
  const script = join(directory, 'killed.mjs');
  const spans = new URL('../../../dist/spans/index.mjs', import.meta.url).href;
  writeFileSync(
    script,
    `import { configure, startSpan } from ${JSON.stringify(spans)};
     configure({ target: ${JSON.stringify(path)} });
     startSpan('ended').end();
     startSpan('POST', { 'http.request.method': 'POST', 'http.route': '/pay/:id' }, { kind: 'server' });
     process.kill(process.pid, 'SIGKILL');`,
  );
  await promisify(execFile)(process.execPath, [script]).catch((error: unknown) => {
    expect(error).toMatchObject({ signal: 'SIGKILL' });
  });
  const [trace] = findTraces([path]);
  trace!.format.recover(path, {});
  expect(dumped(path, false).filter((line) => line.includes(' unfinished '))).toEqual([
    expect.stringMatching(/^span .* "POST" server unset unfinished trace /),
  ]);
  const slices = convert(path).filter(({ args }) => args?.['unfinished'] === true);
  expect(slices.map(({ name, cat }) => [name, cat])).toEqual([
    ['POST /pay/:id (unfinished)', 'server'],
  ]);
});

it('draws spans as spans, and no definitions', async () => {
  const events = convert(await spanTrace('drawn.heph'));
  expect(events.find(({ name }) => name === 'process_name')!.args).toEqual({ name: 'shop' });
  const slices = events.filter(({ ph }) => ph !== 'M');
  expect(slices.map(({ name }) => name)).not.toContain('tracewright.resource');
  expect(slices.find(({ name }) => name === 'checkout')).toMatchObject({
    cat: 'internal',
    pid: process.pid,
    args: { items: 3, gift: true, tags: ['a', 'b'], events: [{ name: 'paid', amount: 5 }] },
  });
  expect(slices.find(({ name }) => name === 'refused')).toMatchObject({
    cat: 'client',
    args: { status: 'error', message: 'no stock' },
  });
});

it('names requests by their attributes, also by those of older conventions', async () => {
  const path = join(directory, 'requests.heph');
  configure({ target: path });
  try {
    startSpan('GET', { 'http.request.method': 'GET', 'url.path': '/new' }).end();
    startSpan('GET', { 'http.method': 'GET', 'http.target': '/old?token=secret' }).end();
    startSpan('PUT', { 'http.method': 'PUT', 'http.url': 'http://shop/old?a=1#b' }).end();
  } finally {
    await shutdown();
  }
  const slices = convert(path).filter(({ cat }) => cat === 'internal');
  expect(slices.map(({ name }) => name)).toEqual(['GET /new', 'GET /old', 'PUT http://shop/old']);
});

it('loses no nanosecond of a machine that has been up for months', () => {
  const place = join(directory, 'months');
  mkdirSync(place);
  writeOvniTrace(place, 2n ** 53n + 1n);
  const events = convert(place);
  const slice = events.find(({ ph }) => ph === 'X')!;
  expect([slice.ts, slice.dur]).toEqual([0, 10]);
  const label = events.find(({ name }) => name === 'process_labels')!;
  expect(label.args!['labels']).toBe('CLOCK_MONOTONIC minus 9007199254740993 ns');
});
