import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

await describeWith(['MariaDB'], 'mysql', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded', async (age) => {
    const { spans } = await runLibrary('mysql', age, 'mysql');
    // The name of the table differs with every run.
    const lines = (of: string): string[] =>
      below(spans, of).map((span) => lineOf(span).replaceAll(/tracewright_\d+/g, 'users'));

    expect(lines('queries').filter((line) => line !== 'mysql pool')).toEqual([
      'INSERT users',
      'SELECT users',
    ]);
    expect(lines('errors').filter((line) => line !== 'mysql pool')).toEqual([
      'INSERT users: ER_DUP_ENTRY',
      'mysql: ER_PARSE_ERROR',
    ]);
    for (const each of ['queries', 'errors']) expectWithin(spans, each);
    const insert = below(spans, 'queries').find(({ name }) => name.startsWith('INSERT'))!;
    expect(insert.kind).toBe('client');
    expect(insert.attributes).toEqual({
      'db.system.name': 'mysql',
      'db.namespace': 'test',
      'server.address': '127.0.0.1',
      'server.port': 3306,
      'db.query.summary': insert.name,
    });
    const waits = below(spans, 'pool').filter(({ name }) => name === 'mysql pool');
    expect(Math.max(...waits.map(({ start, end }) => Number(end - start)))).toBeGreaterThan(90e6);
  });
});
