import { execFileSync } from 'node:child_process';
import { createSocket as createDatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { piecesOf } from '../../src/heph/pieces.js';
import { checkTrace } from '../../src/heph/read/check.js';
import { PacketDecoder, readPackets } from '../../src/heph/read/reader.js';
import type { Packet } from '../../src/heph/packet.js';
import { configure, flush, shutdown } from '../../src/spans/recording.js';
import { Scope } from '../../src/spans/scope.js';
import { startScopedSpan, startSpan } from '../../src/spans/start-span.js';
import { SCHEMA_URL } from '../../src/spans/conventions.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { allSpans, recorded } from './span-trace.js';

const directory = temporaryDirectory();
const converter = process.env['HEPH_CONVERT'];

afterEach(async () => {
  await shutdown();
  delete process.env['TRACEWRIGHT_ROTATE_BYTES'];
  delete process.env['TRACEWRIGHT_RING_BYTES'];
});

test('every piece of a trace begins with the definitions, and reads alone', async () => {
  process.env['TRACEWRIGHT_RING_BYTES'] = '65536';
  process.env['TRACEWRIGHT_ROTATE_BYTES'] = '131072';
  const path = join(directory, 'rotating.heph');
  configure({ target: path, service: 'pieces' });
  const scope = new Scope('library', '1.2.3', 'https://example.org/schema', { kind: 'test' });
  for (let i = 0; i < 5000; i++) {
    startScopedSpan(scope, 'work', { i, text: 'x'.repeat(50) }, undefined).end();
    if (i % 500 === 0) await flush();
  }
  await shutdown();
  const pieces = piecesOf(path);
  expect(pieces.length).toBeGreaterThan(3);
  let next = 0;
  for (const [index, piece] of pieces.entries()) {
    const [epoch, resource, defined] = [...readPackets(piece)];
    expect(epoch).toMatchObject({ kind: 'metadata', name: 'epoch' });
    expect(resource).toMatchObject({ description: 'tracewright.resource', counter: 1 });
    if (index > 0) expect(defined).toMatchObject({ description: 'tracewright.scope', counter: 2 });
    expect([...checkTrace(piece)].filter(({ rule }) => !rule.startsWith('converter'))).toEqual([]);
    for (const span of await allSpans(piece)) {
      expect(span.attributes['i']).toBe(next++);
      expect(span.resource!.attributes['service.name']).toBe('pieces');
      expect(span.resource!.schemaUrl).toBe(SCHEMA_URL);
      expect(span.scope).toEqual({
        name: 'library',
        version: '1.2.3',
        schemaUrl: 'https://example.org/schema',
        attributes: { kind: 'test' },
      });
    }
  }
  expect(next).toBe(5000);
  // A directory is all traces below it.
  expect(await allSpans(directory)).toHaveLength(5000);
});

test('every connection begins with the definitions', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = (): Promise<{ socket: Socket; packets: Packet[] }> =>
    once(server, 'connection').then(([socket]: Socket[]) => {
      const decoder = new PacketDecoder();
      const packets: Packet[] = [];
      socket!.on('data', (chunk: Buffer) => packets.push(...decoder.push(chunk)));
      socket!.on('error', () => undefined);
      return { socket: socket!, packets };
    });
  let connection = accepted();
  configure({ target: `tcp://127.0.0.1:${port}`, service: 'remote' });
  startSpan('first').end();
  const first = await connection;
  await flush();
  connection = accepted();
  first.socket.destroy();
  const second = await connection;
  startSpan('second').end();
  await flush();
  const ended = once(second.socket, 'end');
  await shutdown();
  await ended;
  server.close();
  const told = second.packets.map((packet) =>
    packet.kind === 'event' ? packet.description : packet.name,
  );
  expect(told.slice(0, 2)).toEqual(['epoch', 'tracewright.resource']);
  expect(told).toContain('second');
});

test('over UDP the definitions come again, for receivers that start later', async () => {
  const receiver = createDatagramSocket('udp4');
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  let definitions = 0;
  let spans = 0;
  receiver.on('message', (datagram) => {
    for (const packet of new PacketDecoder().push(datagram)) {
      if (packet.kind !== 'event') continue;
      if (packet.description === 'tracewright.resource') definitions++;
      else if (packet.description === 'sent') spans++;
    }
  });
  const { port } = receiver.address();
  configure({ target: `udp://127.0.0.1:${port}`, service: 'remote' });
  for (let turn = 0; definitions < 2 && turn < 1000; turn++) {
    startSpan('sent').end();
    await sleep(50);
  }
  // One before the first span, and one that is repeated.
  expect(definitions).toBeGreaterThanOrEqual(2);
  expect(spans).toBeGreaterThan(0);
  await shutdown();
  receiver.close();
}, 90_000);

test('a resource that is set later is another definition', async () => {
  const spans = await recorded(
    directory,
    () => {
      startSpan('before').end();
      configure({ resource: { 'deployment.environment': 'later' } });
      startSpan('after').end();
    },
    { service: 'changing', resource: {} },
  );
  const environments = spans.map(({ resource }) => resource!.attributes['deployment.environment']);
  expect(environments).toEqual([undefined, 'later']);
});

test('starts before the epoch, ends that are given, and ends before their starts', async () => {
  const now = Date.now();
  const spans = await recorded(directory, () => {
    startSpan('old', {}, { startTime: now - 3_600_000 }).end();
    startSpan('older', {}, { startTime: new Date(now - 7_200_000) }).end(now - 7_100_000);
    startSpan('bigint', {}, { startTime: BigInt(now) * 1_000_000n }).end(
      BigInt(now) * 1_000_000n + 5n,
    );
    startSpan('backwards').end(now - 10_000);
    startSpan('future', {}, { startTime: now + 60_000 }).end();
  });
  const by = Object.fromEntries(spans.map((span) => [span.name, span]));
  const near = (time: bigint, ms: number): void => {
    expect(Math.abs(Number(time / 1000n) - ms * 1000)).toBeLessThan(5000);
  };
  near(by['old']!.start, now - 3_600_000);
  near(by['older']!.start, now - 7_200_000);
  near(by['older']!.end, now - 7_100_000);
  near(by['bigint']!.start, now);
  expect(by['bigint']!.end - by['bigint']!.start).toBeLessThan(1000n);
  expect(by['backwards']!.end).toBeLessThan(by['backwards']!.start);
  near(by['backwards']!.end, now - 10_000);
  expect(by['future']!.end).toBe(by['future']!.start);
});

test.skipIf(converter === undefined)("Heph's own converter reads spans", async () => {
  const path = join(directory, 'converted.heph');
  configure({ target: path });
  for (let i = 0; i < 20; i++) startSpan('s', { i }).end();
  await shutdown();
  const output = join(directory, `converted-${readdirSync(directory).length}.json`);
  execFileSync(converter!, [path, output], { stdio: 'pipe' });
  const { traceEvents } = JSON.parse(readFileSync(output, 'utf8')) as {
    traceEvents: { name: string; args: Record<string, unknown> }[];
  };
  expect(traceEvents.filter(({ name }) => name === 's').map(({ args }) => args['i'])).toEqual(
    Array.from({ length: 20 }, (_, i) => i),
  );
});
