import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTrace, PacketReceiver } from '../../../src/heph/index.js';
import type { ReceivedPacket, Target } from '../../../src/heph/index.js';
import { encodeEpoch, encodeEvent, someEvent } from '../byte-by-byte-encoder.js';
import { temporaryDirectory } from '../temporary-file.js';

const LAST = 2 ** 32 - 1;

function eventOf(stream: number, counter: number, run = 0): Buffer {
  const start = BigInt(counter) * 1000n + BigInt(run);
  return encodeEvent({ ...someEvent(), stream, counter, start, end: start + 7n });
}

function countersOf(packets: readonly ReceivedPacket[]): number[] {
  return packets.flatMap(({ packet }) => (packet.kind === 'event' ? [packet.counter] : []));
}

function countsOf(receiver: PacketReceiver): unknown[] {
  return [...receiver.streams()].map(({ stream, received, missing, duplicates, restarts }) => [
    stream,
    ...[received, missing, duplicates, restarts],
  ]);
}

describe('the order of a stream', () => {
  it('is that of the counters, whatever a network does within the window', () => {
    const fate = fc.record({
      lost: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      copies: fc.integer({ min: 1, max: 3 }),
      delays: fc.tuple(fc.nat(14), fc.nat(14), fc.nat(14)),
    });
    const first = fc.constantFrom(0, 1000, LAST - 20, LAST);
    fc.assert(
      fc.property(fc.array(fate, { minLength: 1, maxLength: 200 }), first, (fates, from) => {
        const receiver = new PacketReceiver({ window: 64 });
        // What lies before the first event that came is unknown.
        const known = fates.map((each, n) =>
          n === 0 ? { ...each, lost: false, delays: [0, 0, 0] } : each,
        );
        const arrivals = known
          .flatMap(({ lost, copies, delays }, n) =>
            lost ? [] : delays.slice(0, copies).map((delay) => ({ n, at: n + delay })),
          )
          .sort((a, b) => a.at - b.at);
        const received: number[] = [];
        for (const { n } of arrivals) {
          received.push(...countersOf(receiver.datagram('a', eventOf(1, (from + n) % 2 ** 32))));
        }
        received.push(...countersOf(receiver.release()));
        const wanted = known.flatMap(({ lost }, n) => (lost ? [] : [(from + n) % 2 ** 32]));
        expect(received).toEqual(wanted);
        const last = known.findLastIndex(({ lost }) => !lost);
        const missing = known.slice(0, last).filter(({ lost }) => lost).length;
        const duplicates = arrivals.length - wanted.length;
        expect(countsOf(receiver)).toEqual([[1, wanted.length, missing, duplicates, 0]]);
      }),
      { numRuns: 300 },
    );
  });

  it('passes a gap when the window is full, and takes what comes after all', () => {
    const receiver = new PacketReceiver({ window: 4 });
    const wide = new PacketReceiver();
    for (const counter of [0, 900, 901]) wide.datagram('a', eventOf(1, counter));
    expect(countersOf(wide.release())).toEqual([900, 901]);
    // Long overtaken, and known to be missing.
    expect(countersOf(wide.datagram('a', eventOf(1, 5)))).toEqual([5]);
    expect(countersOf(wide.datagram('a', eventOf(1, 500)))).toEqual([500]);
    expect(countsOf(wide)).toEqual([[1, 5, 897, 0, 0]]);
    const take = (counter: number) => countersOf(receiver.datagram('a', eventOf(1, counter)));
    expect(take(0)).toEqual([0]);
    expect([3, 4, 5, 6].flatMap(take)).toEqual([]);
    expect(take(7)).toEqual([3, 4, 5, 6, 7]);
    expect(countsOf(receiver)).toEqual([[1, 6, 2, 0, 0]]);
    expect(take(2)).toEqual([2]);
    expect(countsOf(receiver)).toEqual([[1, 7, 1, 0, 0]]);
  });

  it('does not wait on a connection, where nothing is overtaken', () => {
    const receiver = new PacketReceiver();
    const connection = receiver.connection('a');
    const bytes = Buffer.concat([0, 1, 5, 6].map((counter) => eventOf(1, counter)));
    const received: number[] = [];
    for (const byte of bytes) received.push(...countersOf(connection.push(Buffer.of(byte))));
    expect(received).toEqual([0, 1, 5, 6]);
    expect(countsOf(receiver)).toEqual([[1, 4, 3, 0, 0]]);
    expect(connection.end()).toEqual([]);
    expect(connection.fault).toBe(undefined);
  });
});

describe('a sender that begins anew', () => {
  it.each([
    ['epoch first', true],
    ['epoch last', false],
  ])('has new counters: %s', (_, epochFirst) => {
    const receiver = new PacketReceiver();
    const received: [bigint | undefined, number][] = [];
    const take = (bytes: Buffer) => {
      for (const { packet, epoch } of receiver.datagram('a', bytes)) {
        if (packet.kind === 'event') received.push([epoch, packet.counter]);
      }
    };
    for (const run of [1, 2]) {
      const epoch = encodeEpoch(BigInt(run));
      if (run === 1 || epochFirst) take(epoch);
      for (const stream of [1, 2]) for (const n of [0, 1, 2]) take(eventOf(stream, n, run));
      take(epoch);
      // Of the run before, and late.
      take(encodeEpoch(1n));
      for (const stream of [1, 2]) for (const n of [3, 4]) take(eventOf(stream, n, run));
    }
    expect(received.map(([, counter]) => counter)).toHaveLength(20);
    expect(received.slice(-4).map(([epoch]) => epoch)).toEqual([2n, 2n, 2n, 2n]);
    expect(countsOf(receiver)).toEqual([
      [1, 10, 0, 0, 1],
      [2, 10, 0, 0, 1],
    ]);
  });
});

describe('hostile bytes', () => {
  it('are faults, and what is valid before them counts', () => {
    const receiver = new PacketReceiver({ maxPacketBytes: 1000 });
    const half = eventOf(1, 0).subarray(0, 20);
    expect(countersOf(receiver.datagram('a', Buffer.concat([eventOf(1, 0), half])))).toEqual([0]);
    expect(receiver.datagram('a', Buffer.alloc(5))).toEqual([]);
    const large = Buffer.from(eventOf(1, 1));
    large.writeUInt32BE(1001, 4);
    expect(receiver.datagram('a', large)).toEqual([]);
    const connection = receiver.connection('b');
    expect(countersOf(connection.push(Buffer.concat([eventOf(1, 0), large])))).toEqual([0]);
    expect(connection.fault?.field).toBe('size');
    expect(connection.push(eventOf(1, 1))).toEqual([]);
    expect(receiver.faults).toBe(4);
    const cut = receiver.connection('c');
    cut.push(half);
    cut.end();
    expect([receiver.faults, receiver.lastFault === cut.fault]).toEqual([5, true]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        receiver.datagram('d', bytes);
        receiver.connection('d').push(bytes);
      }),
    );
  });

  it('take no more memory than the options say', () => {
    const receiver = new PacketReceiver({ maxSenders: 20, maxStreams: 10, maxHeldBytes: 1 << 20 });
    const text = 'x'.repeat(1000);
    const attributes = [{ name: 'text', type: 'string' as const, value: text }];
    let received = 0;
    const used = () => {
      globalThis.gc?.();
      return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
    };
    const before = used();
    for (let n = 0; n < 50_000; n++) {
      // Every second counter, so that all wait.
      const event = { ...someEvent(), stream: n % 37, counter: 1000 + 2 * n, attributes };
      received += receiver.datagram(`sender ${(n >> 4) % 4000}`, encodeEvent(event)).length;
    }
    expect(used() - before).toBeLessThan(40 << 20);
    received += receiver.release().length;
    expect(received).toBe(50_000);
    expect([...receiver.streams()].length).toBeLessThanOrEqual(200);
  });

  it('wrong options and arguments are errors', () => {
    for (const options of [
      { window: 0 },
      { maxSenders: 1.5 },
      { maxStreams: -1 },
      { windows: 3 },
    ]) {
      expect(() => new PacketReceiver(options as never)).toThrow(/ERR_|must|window/);
    }
    const receiver = new PacketReceiver();
    expect(() => receiver.datagram(1 as never, Buffer.alloc(0))).toThrow(/sender/);
    expect(() => receiver.datagram('a', 'bytes' as never)).toThrow(/bytes/);
  });
});

/** Deterministic, so that a failure can be repeated. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function until(enough: () => boolean): Promise<void> {
  while (!enough()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Emits `count` spans on each of two streams. */
async function emit(target: Target, count: number, options = {}): Promise<void> {
  const trace = openTrace(target, { ringBytes: 1 << 20, onFull: 'block', ...options });
  const streams = [trace.stream(), trace.stream()];
  for (let n = 0; n < count; n++) {
    for (const stream of streams) stream.finishTrace(stream.startTrace(), 'work', { n });
  }
  await trace.close();
}

describe('our own emitter', () => {
  it('over UDP, through a network that loses, repeats and reorders, and after a restart', async () => {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 8 << 20 });
    const datagrams: Buffer[] = [];
    socket.on('message', (message) => datagrams.push(message));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const target = { udp: { host: '127.0.0.1', port: socket.address().port } };
    const random = randomOf(51);
    const receiver = new PacketReceiver();
    const received: ReceivedPacket[] = [];
    let lost = 0;
    for (const run of [1, 2]) {
      datagrams.length = 0;
      await emit(target, 2000, { datagramBytes: 300 });
      const whole = new PacketReceiver();
      const events = () => {
        for (const each of datagrams.splice(0)) {
          kept.push(each);
          whole.datagram('whole', each);
        }
        return [...whole.streams()].reduce((sum, each) => sum + each.received, 0);
      };
      const kept: Buffer[] = [];
      await until(() => events() >= 4000);
      const network = kept.flatMap((datagram, n) => {
        // The first one has the epoch, the last ones show the gaps.
        const isLost = n > 0 && n < kept.length - 20 && random() < 0.1;
        if (isLost) {
          const gone = new PacketReceiver();
          lost += countersOf(gone.datagram('x', datagram).concat(gone.release())).length;
          return [];
        }
        const at = n + Math.floor(random() * 4);
        return random() < 0.2
          ? [
              { at, datagram },
              { at: at + 2, datagram },
            ]
          : [{ at, datagram }];
      });
      network.sort((a, b) => a.at - b.at);
      for (const { datagram } of network) received.push(...receiver.datagram('service', datagram));
      received.push(...receiver.release());
      expect(receiver.faults, String(run)).toBe(0);
    }
    socket.close();
    const counts = [...receiver.streams()];
    expect(counts.map(({ restarts }) => restarts)).toEqual([1, 1]);
    expect(counts.reduce((sum, { received }) => sum + received, 0)).toBe(8000 - lost);
    expect(counts.reduce((sum, { missing }) => sum + missing, 0)).toBe(lost);
    expect(lost).toBeGreaterThan(100);
    expect(counts.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBeGreaterThan(100);
    for (const stream of [1, 2]) {
      const mine = received.filter(
        ({ packet }) => packet.kind === 'event' && packet.stream === stream,
      );
      const epochs = new Set(mine.map(({ epoch }) => epoch));
      // The first events of the second run may overtake its epoch: it is not known then.
      expect(mine.filter(({ epoch }) => epoch === undefined).length).toBeLessThan(20);
      expect(epochs.size - (epochs.has(undefined) ? 1 : 0)).toBe(2);
      for (const epoch of epochs) {
        const inRun = countersOf(mine.filter((each) => each.epoch === epoch));
        expect(inRun).toEqual([...inRun].sort((a, b) => a - b));
        expect(new Set(inRun).size).toBe(inRun.length);
      }
    }
  });

  it.each(['tcp', 'unix'] as const)('over %s, through connections that break', async (kind) => {
    const receiver = new PacketReceiver();
    const received: ReceivedPacket[] = [];
    let sockets: Socket[] = [];
    let bytes = 0;
    const accept = (socket: Socket): void => {
      sockets.push(socket);
      const connection = receiver.connection('service');
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        received.push(...connection.push(chunk));
      });
    };
    const server: Server = createServer(accept);
    const path = join(temporaryDirectory(), 'heph.sock');
    if (kind === 'unix') server.listen(path);
    else server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const target: Target =
      kind === 'unix'
        ? { unix: path }
        : { tcp: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } };
    const trace = openTrace(target, { ringBytes: 1 << 20, onFull: 'block' });
    const stream = trace.stream();
    for (let n = 0; n < 6000; n++) {
      stream.finishTrace(stream.startTrace(), 'work', { n });
      if (n % 2000 !== 1999 || n > 5000) continue;
      const enough = bytes + 20_000;
      await until(() => bytes >= enough);
      for (const socket of sockets) socket.destroy();
      sockets = [];
      await until(() => sockets.length > 0);
    }
    await trace.close();
    const last = () => countersOf(received).at(-1);
    await until(() => last() === 5999);
    server.close();
    const [counts] = receiver.streams();
    const counters = countersOf(received);
    // A connection that is reset takes with it what was acknowledged and not read.
    expect(counters).toEqual([...new Set(counters)].sort((a, b) => a - b));
    expect(counts!.received + counts!.missing).toBe(6000);
    expect([counts!.restarts, receiver.faults]).toEqual([0, 0]);
  });
});
