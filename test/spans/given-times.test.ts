import { expect, test } from 'vitest';
import { startSpan } from '../../src/spans/start-span.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from './span-trace.js';

const directory = temporaryDirectory();
const NS_PER_MS = 1_000_000n;

test('times that a program gives are read back to the nanosecond', async () => {
  const start = Date.now() - 5_000;
  const end = BigInt(start) * NS_PER_MS + 123_456_789n;
  const [span] = await recorded(directory, () => {
    const given = startSpan('work', undefined, { startTime: start });
    given.event('happened', undefined, new Date(start + 100));
    given.end(end);
  });
  expect(span?.start).toBe(BigInt(start) * NS_PER_MS);
  expect(span?.events[0]?.time).toBe(BigInt(start + 100) * NS_PER_MS);
  expect(span?.end).toBe(end);
});

test('an event can be further from the start of its span than an i64 has nanoseconds', async () => {
  const early = -5_900_000_000_000n * NS_PER_MS + 1n;
  const late = 8_900_000_000_000n * NS_PER_MS - 1n;
  const spans = await recorded(directory, () => {
    for (const [from, to] of [
      [early, late],
      [late, early],
    ] as const) {
      const span = startSpan('work', undefined, { startTime: from });
      span.event('happened', undefined, to);
      span.end(from);
    }
  });
  expect(spans.map(({ start, events }) => [start, events[0]?.time])).toEqual([
    [early, late],
    [late, early],
  ]);
});
