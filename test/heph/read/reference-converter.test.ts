import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkTrace } from '../../../src/heph/read/check.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { drawn } from '../../export/perfetto/drawn-events.js';
import { anyEvent } from './arbitrary-packets.js';
import { encodeEpoch, encodeEvent, encodeMetadata, someEvent } from '../byte-by-byte-encoder.js';
import type { EventFields } from '../byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../temporary-file.js';

/** The path of Heph's own converter to Chrome traces, which is built from Heph's repository. */
const converter = process.env['HEPH_CONVERT'];
const directory = temporaryDirectory();
const EPOCH = 1_610_113_734_118_010_000n;
const epoch = encodeEpoch(EPOCH);

interface ConvertedEvent {
  pid: number;
  tid: number;
  ts: number;
  dur: number;
  name: string;
  args?: Record<string, number | string>;
}

function convertWithReference(path: string): ConvertedEvent[] {
  const output = join(directory, 'reference.json');
  rmSync(output, { force: true });
  execFileSync(converter!, [path, output], { stdio: 'pipe' });
  const { traceEvents } = JSON.parse(readFileSync(output, 'utf8')) as {
    traceEvents: ConvertedEvent[];
  };
  return traceEvents;
}

const plainText = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '/', 'é', '世', '😀'),
  maxLength: 4,
});
const plainNames = fc.uniqueArray(plainText, { maxLength: 2 });
const plainValue = fc.oneof(
  fc.bigInt(0n, 2n ** 53n - 1n).map((value) => ({ type: 'u64' as const, value })),
  fc.bigInt(1n - 2n ** 53n, 2n ** 53n - 1n).map((value) => ({ type: 'i64' as const, value })),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => ({ type: 'f64' as const, value })),
  plainText.map((value) => ({ type: 'string' as const, value })),
);
/** Events below 128 bytes, without arrays, with texts that need no escapes. */
const plainEvent: fc.Arbitrary<Partial<EventFields>> = fc.record({
  stream: fc.nat(3),
  substream: fc.bigInt(0n, 5n),
  start: fc.bigInt(0n, 1_000_000_000n),
  /** Counted from the start until the event is made. */
  end: fc.bigInt(0n, 3_000_000_000n),
  description: plainText,
  attributes: plainNames.chain((names) =>
    fc
      .array(plainValue, { minLength: names.length, maxLength: names.length })
      .map((values) => names.map((name, i) => ({ name, ...values[i]! }))),
  ),
});

describe.skipIf(converter === undefined)("Heph's own converter (HEPH_CONVERT)", () => {
  it('reads the same as our reader', () => {
    fc.assert(
      fc.property(fc.array(plainEvent, { minLength: 1, maxLength: 60 }), (fields) => {
        // Starts a microsecond apart: the converter moves events that start at once.
        const events = fields.map((field, counter) => {
          const start = (field.start! / 100_000n) * 100_000n + BigInt(counter) * 1000n;
          return someEvent({ ...field, counter, start, end: start + field.end! });
        });
        const parts = events.map(encodeEvent).filter((bytes) => bytes.length < 128);
        const path = writeTrace(directory, 'plain.heph', epoch, ...parts);
        const ours = [...readPackets(path)].flatMap((packet) => {
          if (packet.kind !== 'event') return [];
          const { stream, substream, start, end, description, attributes } = packet;
          const event: ConvertedEvent = {
            pid: stream,
            tid: Number(substream),
            ts: Number((EPOCH + start) / 1000n),
            dur: Number((end - start) / 1000n),
            name: description,
          };
          if (attributes.length > 0) {
            event.args = Object.fromEntries(
              attributes.map(({ name, value }) => [
                name,
                typeof value === 'bigint' ? Number(value) : (value as number | string),
              ]),
            );
          }
          return [event];
        });
        const theirs = convertWithReference(path);
        expect(theirs.map(({ args, ...rest }) => ({ ...rest, args: args ?? {} }))).toMatchObject(
          ours.map(({ args, ...rest }) => ({ ...rest, args: args ?? {} })),
        );
        expect([...checkTrace(path)].filter(({ rule }) => rule.startsWith('converter'))).toEqual(
          [],
        );
        const slices = drawn(path).filter(({ ph }) => ph === 'X');
        const first = Math.min(...theirs.map(({ ts }) => ts));
        expect(slices.map(({ name, ts }) => [name, Math.floor(ts)])).toEqual(
          theirs.map(({ name, ts }) => [name, ts - first]),
        );
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  it('fails where check says that it fails, and only there', () => {
    const large = (n: number) => (counter: number) =>
      encodeEvent(
        someEvent({
          counter,
          start: BigInt(counter) * 1000n,
          end: 10n ** 9n,
          description: 'x'.repeat(n),
        }),
      );
    const many = (n: number, length: number): Buffer[] =>
      Array.from({ length }, (_, i) => large(n)(i));
    const traces: Uint8Array[][] = [
      [epoch],
      [epoch, ...many(0, 1), epoch],
      [epoch, ...many(85, 200)],
      [epoch, ...many(86, 200)],
      [epoch, ...many(162, 19)],
      [epoch, ...many(162, 20)],
      [epoch, ...many(3000, 1)],
      [epoch, ...many(4030, 1)],
      [epoch, ...many(4031, 1)],
      [epoch, ...many(4032, 1)],
      [...many(5, 3)],
      [],
      [epoch, encodeMetadata('colour', Buffer.of(1)), ...many(1, 1)],
      [epoch, encodeEvent(someEvent({ start: 2n, end: 1n }))],
      [epoch, encodeEvent(someEvent({ attributes: [{ name: 'a', type: 'u64[]', value: [] }] }))],
      [epoch, encodeEvent(someEvent({ attributes: [{ name: 'a', type: 'f64', value: NaN }] }))],
      [epoch, encodeEvent(someEvent({ description: 'a"b' }))],
      [epoch, encodeEvent(someEvent({ description: 'a\\d' }))],
      [epoch, encodeEvent(someEvent({ description: 'a\u0001b' }))],
      [epoch, encodeEvent(someEvent({ description: 'a\u007fb' }))],
      [epoch, ...many(1, 1), Buffer.alloc(20)],
    ];
    for (const [index, parts] of traces.entries()) {
      const path = writeTrace(directory, 'judged.heph', ...parts);
      const output = join(directory, 'judged.json');
      rmSync(output, { force: true });
      const { status } = spawnSync(converter!, [path, output], { timeout: 10_000 });
      let good = status === 0;
      try {
        JSON.parse(readFileSync(output, 'utf8'));
      } catch {
        good = false;
      }
      const findings = [...checkTrace(path)].filter(
        ({ severity, rule }) => severity === 'error' || rule.startsWith('converter'),
      );
      expect([index, good]).toEqual([index, findings.length === 0]);
    }
  }, 60_000);

  it('never reads what our reader refuses', () => {
    fc.assert(
      fc.property(
        anyEvent.filter((event) => encodeEvent(event).length < 128),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (event, place, mask) => {
          const bytes = encodeEvent({ ...event, start: 1n, end: 2n });
          bytes[place % bytes.length]! ^= mask;
          const path = writeTrace(directory, 'flipped.heph', epoch, bytes);
          const output = join(directory, 'flipped.json');
          rmSync(output, { force: true });
          const { status } = spawnSync(converter!, [path, output], { timeout: 10_000 });
          const bad = [...checkTrace(path)].some(({ rule }) => rule === 'bad-packet');
          if (status === 0) expect(bad).toBe(false);
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);
});
