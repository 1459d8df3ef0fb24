import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { PacketDecoder } from '../../src/heph/read/reader.js';
import { runFixture } from '../fixtures/run-fixture.js';
import { FaultyService } from './faulty-service.js';
import type { Stats } from './faulty-service.js';
import { outOfOrder } from './numbered-traces.js';

const FAILS = 'TRACEWRIGHT_TARGET_FAILS';
const WORKS = 'TRACEWRIGHT_TARGET_WORKS';
/** How long a target must be well before that is told, in milliseconds. */
const SETTLED_MS = 1000;

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** A peer; what it receives over one connection after the other is read as numbers. */
async function listen(port = 0): Promise<{ port: number; numbers: number[]; server: Server }> {
  const numbers: number[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    const decoder = new PacketDecoder('connection');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const packet of decoder.push(chunk)) {
        if (packet.kind === 'event') numbers.push(Number(packet.attributes[0]!.value));
      }
    });
  });
  servers.push(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, numbers, server };
}

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const { port, server } = await listen();
  server.close();
  await once(server, 'close');
  return port;
}

async function until(enough: () => boolean): Promise<void> {
  while (!enough()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a TCP collector', () => {
  it('that is absent is told once, and when it comes it gets what was kept', async () => {
    const port = await freePort();
    const service = new FaultyService({ heph: `tcp://127.0.0.1:${port}` });
    await service.do('open');
    await service.emit(500);
    await service.told(() => service.warnings.length === 1);
    expect(service.messages[0]).toContain('ECONNREFUSED');
    await service.until(({ heph }) => heph.errors > 2);
    const { numbers } = await listen(port);
    await service.told(() => service.warnings.length === 2);
    expect(service.warnings).toEqual([FAILS, WORKS]);
    await service.do('close');
    await until(() => numbers.length === 500);
    expect(outOfOrder(numbers)).toBeUndefined();
    expect(await service.end()).toEqual({ code: 0, signal: null });
  });

  it.each(['closes', 'resets'] as const)('that %s is told, and goes on', async (how) => {
    const { port, numbers } = await listen();
    const service = new FaultyService({ heph: `tcp://127.0.0.1:${port}` });
    await service.do('open');
    await service.emit(300);
    await until(() => numbers.length === 300);
    for (const socket of sockets) {
      if (how === 'closes') socket.end();
      else socket.resetAndDestroy();
    }
    sockets.clear();
    await service.told(() => service.warnings.length === 1);
    await service.emit(300);
    await service.told(() => service.warnings.length === 2);
    expect(service.warnings).toEqual([FAILS, WORKS]);
    await service.do('close');
    await until(() => numbers.at(-1) === 599);
    // What was not acknowledged is sent again; nothing is left out.
    expect(new Set(numbers).size).toBe(600);
    expect(await service.end()).toEqual({ code: 0, signal: null });
  });

  it('that stands still is told, and costs a service that drops nothing', async () => {
    const { port, numbers, server } = await listen();
    server.on('connection', (socket: Socket) => socket.pause());
    const service = new FaultyService({
      heph: `tcp://127.0.0.1:${port}`,
      options: { ringBytes: 65_536 },
    });
    await service.do('open');
    // More than the buffers of both ends and the ring.
    const { longest } = await service.emit(300_000);
    // To wait for the collector would take seconds; the machine may be busy.
    expect(longest).toBeLessThan(2500);
    await service.told(() => service.warnings.length === 1);
    expect(service.messages[0]).toContain('ETIMEDOUT');
    for (const socket of sockets) socket.resume();
    await service.told(() => service.warnings.length === 2);
    expect(service.warnings).toEqual([FAILS, WORKS]);
    await service.emit(100);
    const stats = await service.do<Stats>('close');
    expect(stats.heph.dropped.ringFull).toBeGreaterThan(0);
    await until(() => numbers.length === stats.n - stats.heph.dropped.events);
    expect(outOfOrder(numbers)).toBeUndefined();
    expect(numbers.at(-1)).toBe(stats.n - 1);
    expect(await service.end()).toEqual({ code: 0, signal: null });
  });

  it('that stands still costs a service that blocks one wait, not one an event', async () => {
    const { port, server } = await listen();
    server.on('connection', (socket: Socket) => socket.pause());
    const service = new FaultyService({
      heph: `tcp://127.0.0.1:${port}`,
      options: { ringBytes: 65_536, onFull: 'block', blockLimitMs: 400, flushTimeoutMs: 100 },
    });
    await service.do('open');
    const begin = performance.now();
    // With a wait for each event that finds no room this would take hours.
    const { longest } = await service.emit(300_000);
    expect(longest).toBeLessThan(2000);
    expect(performance.now() - begin).toBeLessThan(60_000);
    const { heph } = await service.stats();
    expect(heph.dropped.ringFull).toBeGreaterThan(100_000);
    service.kill('SIGKILL');
    await service.ended();
  });
});

describe('the end of a process of nine threads', () => {
  it.each([
    ['SIGTERM', 'is absent'],
    ['SIGTERM', 'stands still'],
    ['exit', 'is absent'],
    ['exit', 'stands still'],
  ])('by %s, whose collector %s, waits once for all', async (ending, how) => {
    const stalled = createServer({ pauseOnConnect: true }, (socket) => sockets.add(socket));
    servers.push(stalled);
    stalled.listen(0, '127.0.0.1');
    await once(stalled, 'listening');
    const { port } = stalled.address() as AddressInfo;
    if (how === 'is absent') stalled.close();
    let began = 0;
    const { code, signal } = await runFixture('faults/socket-threads.mjs', {
      input: { target: `tcp://127.0.0.1:${port}`, workers: 8, ending },
      onOutput: () => (began = performance.now()),
    });
    expect([code, signal]).toEqual(ending === 'exit' ? [0, null] : [null, 'SIGTERM']);
    // A second for all of them; it was one for each.
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe('UDP', () => {
  it('that is refused is told once, however the refusals come and go', async () => {
    const port = await freePort();
    const service = new FaultyService({ heph: `udp://127.0.0.1:${port}` });
    await service.do('open');
    const refusals: number[] = [];
    // What is over before the service hears of it is not told.
    while (refusals.length < 20 || service.warnings.length === 0) {
      refusals.push(performance.now());
      await service.emit(50);
      await service.until(({ heph }) => heph.pending.events === 0);
    }
    const listener = createSocket('udp4');
    listener.bind(port, '127.0.0.1');
    await once(listener, 'listening');
    const came = once(listener, 'message');
    await service.emit(50);
    await came;
    await service.emit(50);
    await service.told(() => service.warnings.at(-1) === WORKS);
    // On a machine that is held up, a second without a refusal may pass between two rounds; then the
    // target counts as well, and its next failure is another.
    const pauses = refusals.filter((at, n) => n > 1 && at - refusals[n - 2]! > SETTLED_MS / 2);
    expect(service.warnings.length).toBeLessThanOrEqual(2 * (1 + pauses.length));
    expect(service.warnings).toEqual(service.warnings.map((_, n) => (n % 2 === 0 ? FAILS : WORKS)));
    await service.do('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });
    listener.close();
  });
});

describe('a name that nobody knows', () => {
  it.each(['udp', 'tcp'])('is told once, over %s', async (kind) => {
    const service = new FaultyService({
      heph: `${kind}://no-such-host.invalid:9`,
      options: { flushTimeoutMs: 100 },
    });
    await service.do('open');
    const { longest } = await service.emit(1000);
    // To wait for the collector would take seconds; the machine may be busy.
    expect(longest).toBeLessThan(2500);
    await service.told(() => service.warnings.length === 1);
    expect(service.messages[0]).toContain('look up no-such-host.invalid');
    await service.until(({ heph }) => heph.errors > 1);
    const stats = await service.do<Stats>('close');
    expect(stats.heph.dropped.unsent).toBe(1000);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(service.warnings).toEqual([FAILS]);
  });
});
