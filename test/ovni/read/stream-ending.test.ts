import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { streamEnding } from '../../../src/ovni/read/stream-ending.js';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-ending-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function event(mcv: string, payload: number, clock: number): Buffer {
  const bytes = Buffer.alloc(12 + payload, 0xff);
  bytes[0] = payload === 0 ? 0 : payload - 1;
  bytes.write(mcv, 1, 'latin1');
  bytes.writeBigUInt64LE(BigInt(clock), 4);
  return bytes;
}

function jumbo(bytes: number, clock: number): Buffer {
  const head = event('OB.', 4, clock);
  head[0] = 0x13;
  head.writeUInt32LE(bytes, 12);
  return Buffer.concat([head, Buffer.alloc(bytes, 0x5b)]);
}

function mark(mcv: string, type: number, value: number, clock: number): Buffer {
  const bytes = event(mcv, 12, clock);
  bytes.writeBigInt64LE(BigInt(value), 12);
  bytes.writeInt32LE(type, 20);
  return bytes;
}

const payloads = [0, ...Array.from({ length: 15 }, (_, n) => n + 2)];

/** Runs of like events, as programs write them, longer together than what is read at once. */
const part = fc.oneof(
  fc.record({
    kind: fc.constant('plain' as const),
    mcv: fc.constantFrom('OB.', 'VTc', 'KHx', 'OU[', '\xff\xff\xff', '\x01\0\0'),
    payload: fc.constantFrom(...payloads),
    count: fc.integer({ min: 1, max: 8000 }),
  }),
  fc.record({ kind: fc.constant('jumbo' as const), bytes: fc.integer({ min: 0, max: 400_000 }) }),
  fc.record({
    kind: fc.constant('push' as const),
    type: fc.integer({ min: 0, max: 99 }),
    value: fc.integer({ min: 1, max: 1000 }),
  }),
  fc.record({ kind: fc.constant('pop' as const) }),
);

describe('what ends a stream', () => {
  it('follows from all of its events, wherever they lie', () => {
    const path = join(directory, 'stream.obs');
    const cut = fc.integer({ min: 1, max: 11 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), cut, (parts, left) => {
        const pieces = [Buffer.from('ovni\x01\0\0\0', 'latin1'), event('OHx', 16, 1)];
        const pushed: { type: number; value: number }[] = [];
        let clock = 1;
        let events = 1;
        let isUnordered = false;
        for (const each of parts) {
          clock += 1;
          events += each.kind === 'plain' ? each.count : 1;
          if (each.kind === 'plain') {
            const one = event(each.mcv, each.payload, clock);
            for (let n = 0; n < each.count; n++) pieces.push(one);
            isUnordered ||= each.mcv === 'OU[';
          } else if (each.kind === 'jumbo') {
            pieces.push(jumbo(each.bytes, clock));
          } else if (each.kind === 'push') {
            pushed.push({ type: each.type, value: each.value });
            pieces.push(mark('OM[', each.type, each.value, clock));
          } else {
            const last = pushed.pop();
            pieces.push(mark('OM]', last?.type ?? 100, last?.value ?? 1, clock));
          }
        }
        const whole = Buffer.concat(pieces);
        writeFileSync(path, Buffer.concat([whole, event('OB.', 4, clock).subarray(0, left)]));
        const fd = openSync(path, 'r');
        const ending = streamEnding(
          path,
          (into, count, position) => readSync(fd, into, 0, count, position),
          3,
          whole.length + left,
          1,
        );
        closeSync(fd);
        const pops = pushed.reverse().map(({ type, value }) => mark('OM]', type, value, clock));
        expect(ending.end).toBe(whole.length);
        expect(ending.events).toBe(events);
        expect(ending.endedMarks).toBe(pops.length);
        const region = isUnordered ? [event('OU]', 0, clock)] : [];
        const expected = Buffer.concat([...region, ...pops, event('OHe', 0, clock)]);
        expect(Buffer.from(ending.bytes).equals(expected)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
