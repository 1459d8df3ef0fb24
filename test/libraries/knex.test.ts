import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, lineOf, runLibrary } from './traced-library.js';

await describeWith(['PostgreSQL'], 'knex', () => {
  it.each(['newest', 'oldest'] as const)(
    'its %s version says who waited for a connection, and who had it',
    async (age) => {
      const { spans } = await runLibrary('knex', age, 'knex');
      const lines = (of: string): string[] => below(spans, of).map(lineOf);
      expect(lines('alone')).toEqual(['SELECT']);
      expect(lines('waiting')).toEqual(['knex pool', 'SELECT']);
      expect(lines('given up')).toEqual(['knex pool: KnexTimeoutError']);
      const [wait] = below(spans, 'waiting');
      const holder = spans.find(({ name }) => name === 'holding')!;
      expect(wait!.kind).toBe('internal');
      expect(Number(wait!.end - wait!.start)).toBeGreaterThan(130e6);
      expect(wait!.links).toMatchObject([{ traceId: holder.traceId, spanId: holder.spanId }]);
      expect(Number(wait!.links[0]!.attributes['tracewright.pool.held'])).toBeGreaterThan(130e6);
    },
  );
});
