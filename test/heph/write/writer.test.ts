import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { f64, i64, openTrace, u64 } from '../../../src/heph/index.js';
import type { AttributeInput, AttributeType, Stream, Trace } from '../../../src/heph/index.js';
import type { Attribute } from '../../../src/heph/packet.js';
import { resultOfFixture } from '../../fixtures/run-fixture.js';
import { encodeEvent } from '../byte-by-byte-encoder.js';
import { eventsOf, findingsOf, packetsOf } from '../packets-of-file.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
let files = 0;

/** Writes a trace with one stream, number 0, and gives its path. */
async function written(
  write: (stream: Stream, trace: Trace) => void,
  options: Parameters<typeof openTrace>[1] = { ringBytes: 65536 },
): Promise<string> {
  const path = join(directory, `${++files}.heph`);
  const trace = openTrace(path, options);
  write(trace.stream(0), trace);
  await trace.close();
  return path;
}

function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s/g, ''), 'hex');
}

describe("the specification's examples", () => {
  it('metadata packet of 23 bytes', async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const path = await written(() => undefined);
    const after = BigInt(Date.now() + 1) * 1_000_000n;
    const bytes = readFileSync(path);
    expect(bytes).toHaveLength(23);
    const epoch = bytes.readBigUInt64BE(15);
    expect(epoch >= before && epoch <= after).toBe(true);
    bytes.writeBigUInt64BE(1_610_113_734_118_010_000n, 15);
    expect(bytes).toEqual(hex('75d11d4d 00000017 0005 65706f6368 165845e91214ec90'));
  });

  const example = Buffer.concat([
    hex('c1fc1fb7 0000005b 00000000 00000000 0000000000000001'),
    hex('0000000000000064 00000000000000c8'),
    hex('0008'),
    Buffer.from('My event'),
    hex('0004'),
    Buffer.from('Test'),
    hex('01 000000000000007b 0005'),
    Buffer.from('Test2'),
    hex('83 0002 405edd2f1a9fbe77 4088a80000000000'),
  ]);

  /** The second packet of the file, with the times of the example. */
  function patched(path: string): Buffer {
    const bytes = readFileSync(path).subarray(23);
    expect(bytes.readBigUInt64BE(24) <= bytes.readBigUInt64BE(32)).toBe(true);
    bytes.writeBigUInt64BE(100n, 24);
    bytes.writeBigUInt64BE(200n, 32);
    return bytes;
  }

  it('event of 91 bytes, by finishTrace', async () => {
    expect(example).toHaveLength(91);
    const path = await written((stream) => {
      const timing = stream.startTrace();
      stream.finishTrace(timing, 'My event', { Test: 123, Test2: [123.456, 789] }, 1);
    });
    expect(patched(path)).toEqual(example);
  });

  it('event of 91 bytes, by a compiled span', async () => {
    const path = await written((stream) => {
      const span = stream.span('My event', [
        ['Test', 'u64'],
        ['Test2', 'f64[]'],
      ]);
      span.finishIn(1, stream.startTrace(), 123, [123.456, 789]);
    });
    expect(patched(path)).toEqual(example);
  });
});

/** An attribute as a caller says it, and as it must stand in the packet. */
interface Case {
  name: string;
  input: AttributeInput;
  /** What a span of `expected.type` takes for the same. */
  value: unknown;
  expected: Attribute;
}

const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'a', 'ä', '名前', '🌍', '__proto__', 'x'.repeat(300)),
);
/** JavaScript strings of any kind, unpaired surrogates among them. */
const anyString = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    'plain',
    '\ud800',
    'a\udc00b',
    '\udc00\ud800',
    '🌍'.repeat(30),
    'é'.repeat(60),
  ),
);
const wellFormed = (text: string): string => Buffer.from(text).toString();

const anyU64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.maxSafeNat().map(BigInt),
  fc.constantFrom(0n, 2n ** 32n, 2n ** 53n, 2n ** 64n - 1n),
);
const anyI64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-1n, -(2n ** 31n), -(2n ** 32n), -(2n ** 63n), 2n ** 63n - 1n),
);
/** A number where one can say it, else the bigint. */
const asNumber = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;
const anyFraction = fc.oneof(
  fc.double({ noNaN: true }).filter((value) => !Number.isSafeInteger(value)),
  fc.constantFrom(NaN, Infinity, -Infinity, 0.1, 2 ** 53, 1e308, 5e-324),
);

const integerOf = (value: bigint): Attribute['type'] & ('u64' | 'i64') =>
  value < 0n ? 'i64' : 'u64';

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    name: anyName,
    rest: fc.oneof(
      fc.oneof(anyU64, anyI64).chain((value) =>
        fc.constantFrom(value, asNumber(value)).map((input) => ({
          input: input,
          value: input,
          expected: { type: integerOf(value), value },
        })),
      ),
      anyFraction.map((value) => ({
        input: value,
        value: value,
        expected: { type: 'f64' as const, value },
      })),
      fc.boolean().map((value) => ({
        input: value,
        value: value,
        expected: { type: 'u64' as const, value: value ? 1n : 0n },
      })),
      anyString.map((value) => ({
        input: value,
        value: value,
        expected: { type: 'string' as const, value: wellFormed(value) },
      })),
      anyU64.map((value) => ({
        input: u64(asNumber(value)),
        value: value,
        expected: { type: 'u64' as const, value },
      })),
      anyI64.map((value) => ({
        input: i64(asNumber(value)),
        value: asNumber(value),
        expected: { type: 'i64' as const, value },
      })),
      fc.double().map((value) => ({
        input: f64(value),
        value: value,
        expected: { type: 'f64' as const, value },
      })),
      fc.array(anyString, { maxLength: 8 }).map((value) => ({
        input: value,
        value: value,
        // An empty array does not say what it is an array of.
        expected:
          value.length === 0
            ? { type: 'u64[]' as const, value: [] }
            : { type: 'string[]' as const, value: value.map(wellFormed) },
      })),
      fc.array(anyU64, { maxLength: 8 }).map((value) => ({
        input: value,
        value: value,
        expected: { type: 'u64[]' as const, value },
      })),
      fc
        .array(
          anyI64.filter((value) => value < 0n),
          { minLength: 1, maxLength: 8 },
        )
        .map((value) => ({
          input: [...value, 5n] as AttributeInput,
          value: [...value, 5n] as unknown,
          expected: { type: 'i64[]' as const, value: [...value, 5n] },
        })),
      fc.array(fc.double(), { maxLength: 8 }).map((value) => ({
        input: f64(value),
        value: value,
        expected: { type: 'f64[]' as const, value },
      })),
      fc.array(fc.integer(), { maxLength: 8 }).map((value) => ({
        input: Int32Array.from(value),
        value: Int32Array.from(value),
        expected: { type: 'i64[]' as const, value: value.map(BigInt) },
      })),
      fc.uint8Array({ maxLength: 40 }).map((value) => ({
        input: Buffer.from(value),
        value: value,
        expected: { type: 'u64[]' as const, value: Array.from(value, BigInt) },
      })),
      fc.bigUint64Array({ maxLength: 8 }).map((value) => ({
        input: value,
        value: value,
        expected: { type: 'u64[]' as const, value: Array.from(value) },
      })),
      fc.bigInt64Array({ maxLength: 8 }).map((value) => ({
        input: value,
        value: value,
        expected: { type: 'i64[]' as const, value: Array.from(value) },
      })),
      fc.float32Array({ maxLength: 8 }).map((value) => ({
        input: value,
        value: value,
        expected: { type: 'f64[]' as const, value: Array.from(value) },
      })),
    ),
  })
  .map(({ name, rest }) => ({
    name,
    input: rest.input,
    value: rest.value,
    expected: { name: wellFormed(name), ...rest.expected },
  }));

interface Call {
  description: string;
  substream: bigint;
  cases: Case[];
}

const anyCall: fc.Arbitrary<Call> = fc.record({
  description: anyString,
  substream: anyU64,
  // As names of one object they must differ, and integers would be sorted.
  cases: fc.uniqueArray(anyCase, {
    maxLength: 8,
    selector: ({ name }) => name,
  }),
});

const integerName = /^(0|[1-9]\d*)$/;

function expectWritten(path: string, calls: readonly Call[]): void {
  const bytes = readFileSync(path);
  let at = 23;
  calls.forEach(({ description, substream, cases }, counter) => {
    const expected = encodeEvent({
      stream: 0,
      counter,
      substream,
      start: bytes.readBigUInt64BE(at + 24),
      end: bytes.readBigUInt64BE(at + 32),
      description: wellFormed(description),
      attributes: cases.map(({ expected: attribute }) => attribute),
    });
    const found = bytes.subarray(at, at + expected.length);
    if (!found.equals(expected)) {
      throw new Error(
        `event ${counter}: ${found.toString('hex')}, not ${expected.toString('hex')}`,
      );
    }
    at += expected.length;
  });
  expect(at).toBe(bytes.length);
  // And what this package itself reads.
  const events = eventsOf(path);
  expect(events.map(({ attributes }) => attributes)).toEqual(
    calls.map(({ cases }) => cases.map(({ expected }) => expected)),
  );
  for (const { start, end } of events) if (end < start) throw new Error('ends before it starts');
}

describe('random events come out byte for byte', () => {
  it('by finishTrace', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { maxLength: 12 }), async (calls) => {
        const usable = calls.map((call) => ({
          ...call,
          cases: call.cases.filter(({ name }) => !integerName.test(name)),
        }));
        const path = await written((stream) => {
          for (const { description, substream, cases } of usable) {
            const attributes = Object.fromEntries(cases.map(({ name, input }) => [name, input]));
            stream.finishTrace(stream.startTrace(), description, attributes, asNumber(substream));
          }
        });
        expectWritten(path, usable);
      }),
      { numRuns: 60 },
    );
  });

  it('by compiled spans', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { maxLength: 12 }), async (calls) => {
        const path = await written((stream) => {
          for (const { description, substream, cases } of calls) {
            const span = stream.span(
              description,
              cases.map(({ name, expected }) => [name, expected.type] as [string, AttributeType]),
            );
            span.finishIn(
              substream,
              stream.startTrace(),
              ...(cases.map(({ value }) => value) as never[]),
            );
          }
        });
        expectWritten(path, calls);
      }),
      { numRuns: 60 },
    );
  });

  it('without code generation from text, spans write the same', async () => {
    const contents: Buffer[] = [];
    for (const execArgv of [[], ['--disallow-code-generation-from-strings']]) {
      const path = join(directory, `${++files}.heph`);
      await resultOfFixture('heph/calls.mjs', { input: { path }, execArgv });
      expect(findingsOf(path)).toEqual([]);
      const bytes = readFileSync(path);
      for (const { kind, offset } of packetsOf(path)) {
        if (kind === 'event') bytes.fill(0, offset + 24, offset + 40);
        else bytes.fill(0, offset + 15, offset + 23);
      }
      contents.push(bytes);
    }
    expect(contents[0]!.length).toBeGreaterThan(200_000);
    expect(contents[0]!.equals(contents[1]!)).toBe(true);
  });
});

describe('limits', () => {
  const longest = 'x'.repeat(65_535);
  const wide = `${'ä'.repeat(32_767)}x`;

  it('strings of 65,535 bytes and arrays of 65,535 values are written whole', async () => {
    const numbers = Float64Array.from({ length: 65_535 }, (_, i) => i / 3);
    for (const ringBytes of [65_536, 2 ** 21]) {
      const path = await written(
        (stream) => {
          stream.finishTrace(stream.startTrace(), longest, {
            [longest]: wide,
            list: [longest, wide],
          });
          const span = stream.span(wide, [
            [longest, 'string'],
            ['numbers', 'f64[]'],
            ['texts', 'string[]'],
          ]);
          span.finish(stream.startTrace(), longest, numbers, [wide]);
        },
        { ringBytes },
      );
      const [plain, compiled] = eventsOf(path);
      expect(plain!.description === longest).toBe(true);
      expect(plain!.attributes[0]!.name === longest).toBe(true);
      expect(plain!.attributes[0]!.value === wide).toBe(true);
      expect(compiled!.description === wide).toBe(true);
      expect(Float64Array.from(compiled!.attributes[1]!.value as number[])).toEqual(numbers);
      expect(findingsOf(path)).toEqual([]);
    }
  });

  it('one byte or value more is refused, and takes no counter', async () => {
    const over = `${longest}x`;
    const wideOver = 'ä'.repeat(32_768);
    const path = await written((stream) => {
      const refuse = (call: () => void, field: string): void => {
        expect(call).toThrow(
          expect.objectContaining({ name: 'TracewrightError', code: 'ERR_ARGUMENT_RANGE', field }),
        );
      };
      const timing = stream.startTrace();
      for (const text of [over, wideOver]) {
        refuse(() => {
          stream.finishTrace(timing, text);
        }, 'description');
        refuse(() => {
          stream.finishTrace(timing, 'x', { [text]: 1 });
        }, 'attribute name');
        refuse(() => {
          stream.finishTrace(timing, 'x', { a: text });
        }, 'a');
        refuse(() => {
          stream.finishTrace(timing, 'x', { a: ['', text] });
        }, 'a[1]');
        refuse(() => {
          stream.span(text, {});
        }, 'description');
        const span = stream.span('x', { a: 'string' });
        refuse(() => {
          span.finish(timing, text);
        }, 'a');
      }
      refuse(() => {
        stream.finishTrace(timing, 'x', { a: new Uint8Array(65_536) });
      }, 'a');
      stream.finishTrace(timing, 'last');
    });
    expect(eventsOf(path).map(({ counter, description }) => [counter, description])).toEqual([
      [0, 'last'],
    ]);
  });

  it('spans of a thousand attributes', async () => {
    const schema = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`a${i}`, 'u64' as const]),
    );
    const path = await written((stream) => {
      stream
        .span('many', schema)
        .finish(stream.startTrace(), ...Array.from({ length: 1000 }, (_, i) => i));
    });
    expect(eventsOf(path)[0]!.attributes.map(({ value }) => Number(value))).toEqual(
      Array.from({ length: 1000 }, (_, i) => i),
    );
  });

  it('the counter wraps at 2^32', async () => {
    const path = await written((stream) => {
      stream.counter[0] = 0xffff_fffe;
      const span = stream.span('x', {});
      for (let i = 0; i < 2; i++) stream.finishTrace(stream.startTrace(), 'x');
      for (let i = 0; i < 2; i++) span.finish(stream.startTrace());
    });
    expect(eventsOf(path).map(({ counter }) => counter)).toEqual([0xffff_fffe, 0xffff_ffff, 0, 1]);
  });
});

it('a span that is never finished is never written; undefined attributes are left out', async () => {
  const path = await written((stream) => {
    stream.startTrace();
    stream.finishTrace(undefined, 'nothing');
    stream.span('nothing', {}).finish(undefined);
    stream.finishTrace(stream.startTrace(), 'one', { a: undefined, b: 1 });
  });
  expect(eventsOf(path).map(({ description, attributes }) => [description, attributes])).toEqual([
    ['one', [{ name: 'b', type: 'u64', value: 1n }]],
  ]);
});

it('a class derived from a typed array is what it is derived from', async () => {
  class Bytes extends Uint8Array {}
  const path = await written((stream) => {
    stream.finishTrace(stream.startTrace(), 'x', { a: Bytes.of(1, 2) });
  });
  expect(eventsOf(path)[0]!.attributes).toEqual([{ name: 'a', type: 'u64[]', value: [1n, 2n] }]);
});
