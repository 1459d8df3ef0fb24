import { describe, expect, it } from 'vitest';
import { below, lineOf, runLibrary } from './traced-library.js';

describe('generic-pool', () => {
  it.each(['newest', 'oldest'] as const)(
    'its %s version says who waited for what it holds, and who had that',
    async (age) => {
      const { spans } = await runLibrary('generic-pool', age, 'generic-pool');
      const lines = (of: string): string[] => below(spans, of).map(lineOf);
      expect(lines('alone')).toEqual([]);
      expect(lines('waiting')).toEqual(['generic pool']);
      expect(lines('given up')).toEqual(['generic pool: TimeoutError']);
      const [wait] = below(spans, 'waiting');
      const holder = spans.find(({ name }) => name === 'holding')!;
      expect(wait!.kind).toBe('internal');
      expect(Number(wait!.end - wait!.start)).toBeGreaterThan(90e6);
      expect(wait!.links).toMatchObject([{ traceId: holder.traceId, spanId: holder.spanId }]);
      expect(Number(wait!.links[0]!.attributes['tracewright.pool.held'])).toBeGreaterThan(90e6);
    },
  );
});
