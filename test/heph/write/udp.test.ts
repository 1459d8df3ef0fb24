import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/index.js';
import type { Trace, TraceOptions } from '../../../src/heph/index.js';
import type { EventPacket, Packet } from '../../../src/heph/packet.js';
import { decodePacket } from '../../../src/heph/read/reader.js';

const RING = 65536;

/** A collector on a port of its own that keeps every datagram. */
class Receiver {
  readonly datagrams: Buffer[] = [];
  readonly #socket: Socket;
  readonly #packets: Packet[] = [];
  #decoded = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (message) => this.datagrams.push(message));
  }

  static async listen(port = 0, recvBufferSize?: number): Promise<Receiver> {
    const socket = createSocket({
      type: 'udp4',
      ...(recvBufferSize === undefined ? {} : { recvBufferSize }),
    });
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return new Receiver(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get target(): { udp: { host: string; port: number } } {
    return { udp: { host: '127.0.0.1', port: this.port } };
  }

  /** Packets in the order in which they came; a datagram that does not decode throws. */
  packets(): Packet[] {
    for (; this.#decoded < this.datagrams.length; this.#decoded++) {
      const datagram = this.datagrams[this.#decoded]!;
      for (let at = 0; at < datagram.length;) {
        const packet = decodePacket(datagram, at);
        this.#packets.push(packet);
        at += packet.size;
      }
    }
    return this.#packets;
  }

  events(): EventPacket[] {
    return this.packets().filter((packet): packet is EventPacket => packet.kind === 'event');
  }

  counters(): number[] {
    return this.events().map(({ counter }) => counter);
  }

  /** Resolves once a datagram has come that `enough` is content with. */
  async until(enough: () => boolean): Promise<void> {
    while (!enough()) await once(this.#socket, 'message');
  }

  /** Resolves when nothing more has come for a while: datagrams that are lost never come. */
  async silence(): Promise<void> {
    let before = -1;
    while (before !== this.datagrams.length) {
      before = this.datagrams.length;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const receiver = await Receiver.listen();
  const { port } = receiver;
  await receiver.close();
  return port;
}

function emit(trace: Trace, count: number): void {
  const stream = trace.stream(0);
  const span = stream.span('event', { text: 'string' });
  for (let i = 0; i < count; i++) span.finish(stream.startTrace(), 'x'.repeat(i % 60));
}

/** What a reader can tell from the counters that came, and from how many there were. */
function lossesOf(counters: readonly number[], recorded: number): { gaps: number; tail: number } {
  let next = 0;
  let gaps = 0;
  for (const counter of counters) {
    if (counter < next) throw new Error(`counter ${counter} came a second time or late`);
    gaps += counter - next;
    next = counter + 1;
  }
  return { gaps, tail: recorded - next };
}

async function traced(
  receiver: Receiver,
  options: TraceOptions,
  use: (trace: Trace) => void | Promise<void>,
): Promise<ReturnType<Trace['stats']>> {
  const trace = openTrace(receiver.target, { ringBytes: RING, ...options });
  await use(trace);
  await trace.close();
  return trace.stats();
}

describe('a receiver that keeps up', () => {
  it('gets every event once, in datagrams of whole packets, after the epoch', async () => {
    const receiver = await Receiver.listen();
    const count = 4000;
    const stats = await traced(receiver, {}, async (trace) => {
      for (let sent = 0; sent < count; sent += 400) {
        emit(trace, 400);
        await trace.flush();
        await receiver.until(() => receiver.counters().length === sent + 400);
      }
    });
    await receiver.silence();
    expect(receiver.packets()[0]).toMatchObject({ kind: 'metadata', name: 'epoch' });
    expect(lossesOf(receiver.counters(), count)).toEqual({ gaps: 0, tail: 0 });
    const bytes = receiver.datagrams.reduce((sum, datagram) => sum + datagram.length, 0);
    expect(stats).toMatchObject({
      recorded: count,
      written: { events: count, bytes, datagrams: receiver.datagrams.length },
      dropped: { events: 0 },
    });
    expect(Math.max(...receiver.datagrams.map(({ length }) => length))).toBeLessThanOrEqual(1400);
    // Packets travel together.
    expect(receiver.datagrams.length).toBeLessThan(count / 5);
    await receiver.close();
  });

  it.each([64, 128, 60_000])('datagrams have at most datagramBytes, %i', async (datagramBytes) => {
    const receiver = await Receiver.listen();
    await traced(receiver, { datagramBytes }, async (trace) => {
      const stream = trace.stream(0);
      for (let i = 1; i <= 300; i++) {
        stream.finishTrace(stream.startTrace(), 'x'.repeat(i % 22));
        // So few that the receiver's buffer holds them.
        if (i % 50 !== 0) continue;
        await trace.flush();
        await receiver.until(() => receiver.counters().length === i);
      }
    });
    const sizes = receiver.datagrams.map(({ length }) => length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(datagramBytes);
    expect(lossesOf(receiver.counters(), 300)).toEqual({ gaps: 0, tail: 0 });
    await receiver.close();
  });
});

describe('losses are what the counters say', () => {
  it('100,000 events to a receiver with a small buffer whose event loop is blocked', async () => {
    const receiver = await Receiver.listen(0, 4096);
    const count = 100_000;
    const stats = await traced(receiver, { onFull: 'block' }, (trace) => {
      // The receiver lives on this thread: it reads nothing until all are emitted.
      emit(trace, count);
    });
    await receiver.silence();
    expect(stats.recorded).toBe(count);
    expect(stats.written.events + stats.dropped.events).toBe(count);
    const counters = receiver.counters();
    const { gaps, tail } = lossesOf(counters, count);
    expect(gaps + tail).toBe(count - counters.length);
    // What the kernel lost it lost silently: sent, and never received.
    expect(counters.length).toBeLessThan(stats.written.events);
    await receiver.close();
  });

  it('onFull: drop with a tiny ring: each dropped event is a gap', async () => {
    const receiver = await Receiver.listen();
    const count = 50_000;
    const stats = await traced(receiver, {}, (trace) => {
      emit(trace, count);
    });
    await receiver.silence();
    expect(stats.recorded).toBe(count);
    expect(stats.dropped.ringFull).toBeGreaterThan(0);
    const { gaps, tail } = lossesOf(receiver.counters(), count);
    expect(gaps + tail).toBeGreaterThanOrEqual(stats.dropped.ringFull);
    await receiver.close();
  });

  it('an event too large for a datagram is refused, counted, and a gap', async () => {
    const receiver = await Receiver.listen();
    const stats = await traced(receiver, { datagramBytes: 200 }, async (trace) => {
      const stream = trace.stream(0);
      const span = stream.span('span', { text: 'string' });
      const refuse = (call: () => void): void => {
        expect(call).toThrow(
          expect.objectContaining({
            name: 'TracewrightError',
            code: 'ERR_ARGUMENT_RANGE',
            field: 'event',
            limit: 'at most 200 bytes, which is what a datagram holds',
          }),
        );
      };
      stream.finishTrace(stream.startTrace(), 'x'.repeat(200 - 42));
      refuse(() => {
        stream.finishTrace(stream.startTrace(), 'x'.repeat(200 - 41));
      });
      refuse(() => {
        stream.finishTrace(stream.startTrace(), 'x', { a: Array(10).fill('y'.repeat(60_000)) });
      });
      refuse(() => {
        span.finish(stream.startTrace(), 'x'.repeat(200));
      });
      span.finish(stream.startTrace(), 'fits');
      await trace.flush();
      await receiver.until(() => receiver.counters().length === 2);
    });
    expect(receiver.counters()).toEqual([0, 4]);
    expect(stats).toMatchObject({
      recorded: 5,
      written: { events: 2 },
      dropped: { events: 3, tooLarge: 3, ringFull: 0, unsent: 0 },
    });
    await receiver.close();
  });
});

describe('a ring that is full', () => {
  it('turns away what fits no datagram as that, and the rest as dropped', async () => {
    const port = await closedPort();
    const trace = openTrace(
      { udp: { host: '127.0.0.1', port } },
      { ringBytes: 65_536, datagramBytes: 1000, onFault: () => undefined },
    );
    const stream = trace.stream(0);
    const span = stream.span('span', { text: 'string' });
    const tooLarge = expect.objectContaining({
      code: 'ERR_ARGUMENT_RANGE',
      field: 'event',
    }) as Error;
    let attempts = 0;
    // The drain thread makes room again: until both kinds have found none.
    while (trace.stats().dropped.ringFull < 100) {
      for (let i = 0; i < 5000; i++) span.finish(stream.startTrace(), 'x'.repeat(900));
      expect(() => {
        stream.finishTrace(stream.startTrace(), 'x'.repeat(1000));
      }).toThrow(tooLarge);
      expect(() => {
        span.finish(stream.startTrace(), 'x'.repeat(1000));
      }).toThrow(tooLarge);
      attempts++;
    }
    expect(trace.stats().dropped.tooLarge).toBe(2 * attempts);
    expect(trace.stats().recorded).toBe(5002 * attempts);
    await trace.close();
  });
});

describe('nobody listens', () => {
  it('neither blocks nor throws, and close does not wait', async () => {
    const trace = openTrace({ udp: { host: '127.0.0.1', port: await closedPort() } });
    emit(trace, 1000);
    const begin = performance.now();
    await trace.close();
    expect(performance.now() - begin).toBeLessThan(1000);
    const { recorded, written, dropped, pending } = trace.stats();
    expect(recorded).toBe(1000);
    expect(written.events + dropped.events).toBe(1000);
    expect(pending.events).toBe(0);
  });

  it('a receiver that comes later gets the epoch again, and what follows', async () => {
    const port = await closedPort();
    const trace = openTrace(`udp://127.0.0.1:${port}`);
    emit(trace, 10);
    await trace.flush();
    const receiver = await Receiver.listen(port);
    const begin = performance.now();
    const stream = trace.stream(0);
    while (!receiver.packets().some(({ kind }) => kind === 'metadata')) {
      if (performance.now() - begin > 8000) throw new Error('no epoch within 8 s');
      stream.finishTrace(stream.startTrace(), 'traffic');
      await trace.flush();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await trace.close();
    await receiver.silence();
    const recorded = trace.stats().recorded;
    const counters = receiver.counters();
    const { gaps, tail } = lossesOf(counters, recorded);
    expect(gaps + tail).toBe(recorded - counters.length);
    // What went to the closed port, and the datagram that took the error of the one before it.
    expect(counters[0]).toBeLessThanOrEqual(12);
    await receiver.close();
  });

  it('a host that does not exist is an error in the counts only', async () => {
    const trace = openTrace('udp://no-such-host.invalid:9', { flushTimeoutMs: 300 });
    emit(trace, 100);
    await expect(trace.flush()).rejects.toMatchObject({
      name: 'TracewrightError',
      code: 'ERR_TIMEOUT',
    });
    await trace.close();
    expect(trace.stats()).toMatchObject({ recorded: 100, dropped: { unsent: 100 } });
  });
});
