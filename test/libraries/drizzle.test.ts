import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

await describeWith(['PostgreSQL', 'MariaDB'], 'drizzle', () => {
  // The import of pg 8.4, which the oldest have, prints that pg-native is missing.
  it.each(['newest', 'ancient'] as const)(
    'its %s version has the queries of its drivers',
    async (age) => {
      const { spans, stdout } = await runLibrary('drizzle', age, 'drizzle-orm');
      expect(stdout).toContain('rows 1\nrows 1\n');
      // The table has another name in each run. Spans that wait for a connection are left out.
      const lines = (of: string): string[] =>
        below(spans, of)
          .map((span) => lineOf(span).replaceAll(/tracewright_drizzle_\d+/g, 'orders'))
          .filter((line) => !/ (?:pool|connect)$/.test(line));
      for (const [system, duplicate, begin] of [
        ['postgresql', '23505', 'BEGIN'],
        ['mysql', 'ER_DUP_ENTRY', 'BEGIN'],
      ] as const) {
        expect(lines(`${system} table`)).toEqual(['CREATE TABLE orders']);
        expect(lines(`${system} queries`)).toEqual(['INSERT orders', 'SELECT orders']);
        expect(lines(`${system} transaction`)).toEqual([begin, 'UPDATE orders', 'COMMIT']);
        expect(lines(`${system} error`)).toEqual([`INSERT orders: ${duplicate}`]);
        expectWithin(spans, `${system} queries`);
      }
    },
  );
});
