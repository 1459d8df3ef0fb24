import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/index.js';
import type { Stream } from '../../../src/heph/index.js';
import { eventsOf, findingsOf } from '../packets-of-file.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
let files = 0;

/** The values of the attribute `a` of what was recorded. */
async function valuesOf(write: (stream: Stream) => void): Promise<bigint[]> {
  const path = join(directory, `${++files}.heph`);
  const trace = openTrace(path, { ringBytes: 65_536 });
  write(trace.stream());
  await trace.close();
  expect(findingsOf(path)).toEqual([]);
  return eventsOf(path).map(({ attributes }) => attributes[0]!.value as bigint);
}

const TWO_32 = 2 ** 32;
const SAFE = Number.MAX_SAFE_INTEGER;
const POSITIVE = [0, -0, 1, 2 ** 31 - 1, 2 ** 31, TWO_32 - 1, TWO_32, TWO_32 + 1, 2 ** 52, SAFE];
const POSITIVE_BIGINTS = [0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n];
const NEGATIVE = [-1, -(2 ** 31), -(2 ** 31) - 1, -TWO_32, -TWO_32 - 1, -SAFE];
const NEGATIVE_BIGINTS = [-1n, -(2n ** 32n), -(2n ** 63n)];
/** Each value meets code that has seen others, and code that has not. */
const ROUNDS = 300;

const VALID = {
  u64: [...POSITIVE, ...POSITIVE_BIGINTS, 2n ** 63n, 2n ** 64n - 1n],
  i64: [...POSITIVE, ...POSITIVE_BIGINTS, ...NEGATIVE, ...NEGATIVE_BIGINTS],
};
const WRONG = {
  u64: [SAFE + 1, 2 ** 64, 1.5, TWO_32 + 0.5, NaN, Infinity, -Infinity, 2n ** 64n, 2n ** 65n]
    .concat(NEGATIVE)
    .concat(NEGATIVE_BIGINTS),
  i64: [SAFE + 1, -SAFE - 1, -1.5, 2 ** 40 + 0.5, NaN, -Infinity, 2n ** 63n, -(2n ** 63n) - 1n],
};

describe.each(['u64', 'i64'] as const)('integers of a compiled span: %s', (type) => {
  it('every value comes back', async () => {
    const values = VALID[type];
    const recorded = await valuesOf((stream) => {
      const span = stream.span('x', { a: type });
      for (let i = 0; i < ROUNDS * values.length; i++) {
        span.finish(stream.startTrace(), values[i % values.length]!);
      }
    });
    expect(recorded).toEqual(
      Array.from({ length: ROUNDS * values.length }, (_, i) => BigInt(values[i % values.length]!)),
    );
  });

  it('every value outside the range is refused, before and after others were recorded', async () => {
    const recorded = await valuesOf((stream) => {
      const span = stream.span('x', { a: type });
      for (let round = 0; round < ROUNDS; round++) {
        for (const value of WRONG[type]) {
          expect(() => {
            span.finish(stream.startTrace(), value);
          }, String(value)).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE' }));
        }
        span.finish(stream.startTrace(), VALID[type][round % VALID[type].length]!);
      }
    });
    expect(recorded).toHaveLength(ROUNDS);
  });

  it('substreams', async () => {
    if (type === 'i64') return;
    const path = join(directory, 'substreams.heph');
    const trace = openTrace(path);
    const stream = trace.stream();
    const span = stream.span('x', {});
    for (const substream of VALID.u64) span.finishIn(substream, stream.startTrace());
    for (const wrong of WRONG.u64) {
      expect(() => {
        span.finishIn(wrong, stream.startTrace());
      }).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE' }));
    }
    await trace.close();
    expect(eventsOf(path).map(({ substream }) => substream)).toEqual(VALID.u64.map(BigInt));
  });
});

it('integers of an object of attributes come back, whatever came before', async () => {
  const values = [...VALID.u64, ...NEGATIVE, ...NEGATIVE_BIGINTS];
  const recorded = await valuesOf((stream) => {
    for (let i = 0; i < ROUNDS * values.length; i++) {
      stream.finishTrace(stream.startTrace(), 'x', { a: values[i % values.length]! });
    }
  });
  expect(recorded).toEqual(
    Array.from({ length: ROUNDS * values.length }, (_, i) => {
      const value = values[i % values.length]!;
      // No integer has its sign.
      return Object.is(value, -0) ? value : BigInt(value);
    }),
  );
});
