import { expect, test } from 'vitest';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../span-trace.js';

const directory = temporaryDirectory();
const MS = 1_000_000n;
const REQUESTS = 5000;

test('slower: p99 keeps the slowest of each name, once it knows some', async () => {
  const begin = BigInt(Date.now()) * MS;
  const units = { 'GET /fast': MS, 'GET /slow': 50n * MS };
  const spans = await recorded(
    directory,
    () => {
      for (let n = 0; n < REQUESTS; n++) {
        for (const [name, unit] of Object.entries(units)) {
          const root = startSpan(name, { n }, { parent: null, kind: 'server', startTime: begin });
          // Each of 1 to 1000 as often, in another order.
          root.end(begin + BigInt(((n * 389) % 1000) + 1) * unit);
        }
      }
    },
    { keep: { slowerThan: 'p99', limit: false } },
  );
  for (const [name, unit] of Object.entries(units)) {
    const own = spans.filter((span) => span.name === name);
    // A bucket is 3 % wide.
    expect(own.length).toBeGreaterThan(0.002 * REQUESTS);
    expect(own.length).toBeLessThan(0.02 * REQUESTS);
    for (const { start, end, attributes, kept } of own) {
      expect(kept).toEqual({ reason: 'slow', weight: 1 });
      expect(end - start).toBeGreaterThan(950n * unit);
      expect(attributes['n']).toBeGreaterThanOrEqual(99);
    }
  }
});
