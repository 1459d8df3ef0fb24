import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import type { Finding } from '../../../src/core/finding.js';
import { checkTrace } from '../../../src/heph/read/check.js';
import { anyEvent } from './arbitrary-packets.js';
import { encodeEpoch, encodeEvent, encodeMetadata, someEvent } from '../byte-by-byte-encoder.js';
import type { EventFields } from '../byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../temporary-file.js';

const directory = temporaryDirectory();
const epoch = encodeEpoch(1610113734118010000n);
const event = (fields: Partial<EventFields> = {}): Buffer => encodeEvent(someEvent(fields));

function check(...parts: Uint8Array[]): Finding[] {
  return [...checkTrace(writeTrace(directory, 'checked.heph', ...parts))];
}

const rules = (...parts: Uint8Array[]): string[] => check(...parts).map(({ rule }) => rule);

describe('checkTrace', () => {
  it('finds nothing in a right trace', () => {
    const events = [0, 1, 2].map((counter) =>
      event({
        counter,
        start: 5n,
        end: 5n,
        attributes: [
          { name: 'bytes', type: 'u64', value: 1n },
          { name: 'ratio', type: 'f64', value: 0.5 },
          { name: 'method', type: 'string', value: 'GET' },
        ],
      }),
    );
    expect(check(epoch, ...events, event({ stream: 7 }))).toEqual([]);
  });

  it('names the byte and the field of a bad packet and goes on behind it', () => {
    const bad = event({ counter: 1, attributes: [{ name: 'a', type: 'u64', value: 1n }] });
    bad[42 + 'event'.length + 3] = 0x80;
    const findings = check(epoch, event(), bad, event({ counter: 2, start: 9n, end: 8n }));
    expect(findings).toMatchObject([
      { severity: 'error', rule: 'bad-packet', offset: 23 + 47 },
      { severity: 'error', rule: 'end-before-start', offset: 23 + 47 + bad.length },
      { severity: 'warning', rule: 'counter-gap' },
    ]);
    expect(findings[0]!.message).toContain('array of no type (0x80)');
    expect(findings[0]!.message).toContain('(50 bytes into the packet)');
  });

  it('ends at bytes that are no packet and says how many it did not check', () => {
    const findings = check(epoch, event(), Buffer.alloc(100));
    expect(findings).toMatchObject([{ severity: 'error', rule: 'bad-packet', offset: 70 }]);
    expect(findings[0]!.message).toContain('the last 100 bytes');
  });

  it('finds a packet that is cut anywhere', () => {
    const last = event({ counter: 1 });
    for (let length = 1; length < last.length; length++) {
      expect(check(epoch, event(), last.subarray(0, length))).toMatchObject([
        { severity: 'error', rule: 'bad-packet', offset: 70 },
      ]);
    }
  });

  it('says how many events of which stream are missing', () => {
    const findings = check(
      epoch,
      event({ stream: 3, counter: 2 }),
      event({ stream: 4, counter: 0 }),
      event({ stream: 3, counter: 4 }),
      event({ stream: 4, counter: 1 }),
    );
    expect(findings).toMatchObject([
      { severity: 'warning', rule: 'counter-gap', offset: 23 },
      { severity: 'warning', rule: 'counter-gap', offset: 23 + 2 * 47 },
    ]);
    expect(findings[0]!.message).toMatch(/^2 events are missing in stream 3/);
    expect(findings[1]!.message).toMatch(/^1 event is missing in stream 3/);
  });

  it('finds a counter that repeats or goes back, once', () => {
    const counters = [0, 1, 1, 2, 0, 1];
    const findings = check(epoch, ...counters.map((counter) => event({ counter })));
    expect(findings.map(({ rule, offset }) => [rule, offset])).toEqual([
      ['counter-repeat', 23 + 2 * 47],
      ['counter-repeat', 23 + 4 * 47],
    ]);
  });

  it('follows a counter that wraps', () => {
    const counters = [0xffff_fffe, 0xffff_ffff, 0, 2];
    const findings = check(epoch, ...counters.map((counter) => event({ counter })));
    // Minus 2 is nearer to the expected 0 than 2^32 - 2 missing events are.
    expect(findings.map(({ rule }) => rule)).toEqual(['counter-repeat', 'counter-gap']);
    expect(findings[1]!.message).toMatch(/^1 event is missing/);
  });

  it('warns of an epoch that is missing, late, different or last', () => {
    const last = { severity: 'warning', rule: 'converter-last-epoch' };
    expect(check(event())).toMatchObject([{ severity: 'warning', rule: 'no-epoch' }]);
    expect(check(event(), epoch, event({ counter: 1 }))).toMatchObject([
      { severity: 'warning', rule: 'late-epoch', offset: 47 },
    ]);
    expect(check(epoch, encodeEpoch(7n), event())).toMatchObject([
      { severity: 'warning', rule: 'second-epoch', offset: 23 },
    ]);
    expect(check(epoch, epoch, event())).toEqual([]);
    expect(check(epoch)).toMatchObject([{ severity: 'warning', rule: 'no-events' }, last]);
    expect(check(epoch, event(), epoch)).toMatchObject([last]);
  });

  it('warns of a trace of no packets', () => {
    expect(rules()).toEqual(['no-epoch', 'no-events']);
  });

  it("warns once, with a count, of each thing that the format's converter cannot read", () => {
    const findings = check(
      epoch,
      encodeMetadata('colour', Buffer.of(1)),
      event({ description: 'say "hi"', attributes: [{ name: 'n', type: 'u64[]', value: [1n] }] }),
      event({ counter: 1, attributes: [{ name: 'n', type: 'f64', value: NaN }] }),
      event({ counter: 2, attributes: [{ name: 'n', type: 'string', value: 'line\n' }] }),
      event({ counter: 3, attributes: [{ name: 'back\\slash', type: 'u64', value: 1n }] }),
    );
    expect(findings.map(({ severity, rule, offset }) => [severity, rule, offset])).toEqual([
      ['warning', 'converter-array', 40],
      ['warning', 'converter-option', 23],
      ['warning', 'converter-escape', 40],
      ['warning', 'converter-not-finite', 104],
    ]);
    expect(findings[2]!.message).toBe(
      "Heph's own converter to Chrome JSON does not escape quotes, backslashes and control characters " +
        '(first of 3); the trace is valid, and `tracewright convert` reads it',
    );
  });

  it("knows where the format's converter runs out of its buffer", () => {
    // 127 bytes always fit: the buffer is refilled below 128.
    const small = (counter: number): Buffer => event({ counter, description: 'x'.repeat(85) });
    expect(small(0).length).toBe(127);
    expect(rules(epoch, ...Array.from({ length: 500 }, (_, i) => small(i)))).toEqual([]);
    // 23 + 19 * 204 = 3899 leaves 197 of 4096 bytes, which are not refilled and not enough.
    const large = (counter: number): Buffer => event({ counter, description: 'x'.repeat(162) });
    const few = Array.from({ length: 19 }, (_, i) => large(i));
    expect(rules(epoch, ...few)).toEqual([]);
    expect(check(epoch, ...few, large(19), large(20))).toMatchObject([
      { severity: 'warning', rule: 'converter-buffer', offset: 3899 },
    ]);
    expect(rules(epoch, event({ description: 'x'.repeat(5000) }))).toEqual(['converter-buffer']);
  });

  it('tells how far it is', () => {
    const path = writeTrace(directory, 'progress.heph', epoch, event());
    const told: [number, number][] = [];
    expect([...checkTrace(path, { onProgress: (...args) => told.push(args) })]).toEqual([]);
    expect(told.at(-1)).toEqual([70, 70]);
  });

  it('counts the findings of a rule beyond the first twenty', () => {
    const findings = check(epoch, ...Array.from({ length: 30 }, () => event({ counter: 1 })));
    expect(findings.map(({ rule }) => rule)).toEqual([
      'counter-gap',
      ...Array<string>(21).fill('counter-repeat'),
    ]);
    expect(findings.at(-1)).toMatchObject({
      severity: 'warning',
      message: '9 more findings of this rule',
    });
  });

  it('throws our error for what cannot be read', () => {
    const unreadable = expect.objectContaining({ code: 'ERR_SYSTEM', field: 'path' }) as unknown;
    expect(() => [...checkTrace(`${directory}/none.heph`)]).toThrow(unreadable);
    expect(() => [...checkTrace(directory)]).toThrow(TraceFormatError);
  });

  it('survives flipped bits', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { minLength: 1, maxLength: 5 }),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1 }),
        (events, flips) => {
          const bytes = Buffer.concat([epoch, ...events.map(encodeEvent)]);
          for (const [place, mask] of flips) bytes[place % bytes.length]! ^= mask;
          for (const { offset } of check(bytes)) {
            expect(offset ?? 0).toBeLessThanOrEqual(bytes.length);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
