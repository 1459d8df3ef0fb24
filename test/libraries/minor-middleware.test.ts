import { expect, it } from 'vitest';
import { runLibrary } from './traced-library.js';

it('a middleware is a span if it takes 1 ms, was used, or has something below it; others are counted', async () => {
  const env = { TRACEWRIGHT_LIBRARIES: 'auto' };
  const { spans } = await runLibrary('minor-middleware', 'newest', 'router', env);
  const requests = spans.filter(({ kind }) => kind === 'server');
  expect(requests).toHaveLength(20);
  let counted = 0;
  for (const { traceId, spanId, attributes } of requests) {
    const all = spans.filter((span) => span.traceId === traceId);
    const named = (name: string): typeof all => all.filter((span) => span.name === name);
    const once = ['slow', 'asks', 'knows'].map((name) => named(`middleware ${name}`).length);
    expect(once).toEqual([1, 1, 1]);
    const minor = [...named('middleware quick'), ...named('middleware goesOn')];
    const count = Number(attributes['tracewright.middleware.count'] ?? 0);
    expect(minor.length + count).toBe(11);
    counted += count;
    if (count > 0) {
      const ms = Number(attributes['tracewright.middleware.ms']);
      expect(ms).toBeGreaterThan(0);
      expect(ms).toBeLessThan(count);
    }
    for (const { start, end } of minor) expect(end - start).toBeGreaterThanOrEqual(1_000_000n);
    // What goes on in the context of a function that is no span is below its request.
    const known = new Set(all.map((span) => span.spanId));
    const [afterwards] = named('afterwards');
    expect(known).toContain(afterwards!.parentSpanId);
    if (named('middleware goesOn').length === 0) expect(afterwards!.parentSpanId).toBe(spanId);
  }
  // A loaded machine may have taken a millisecond for some.
  expect(counted).toBeGreaterThan(100);
});
