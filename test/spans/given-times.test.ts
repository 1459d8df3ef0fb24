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
