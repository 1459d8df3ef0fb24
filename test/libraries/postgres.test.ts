import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

await describeWith(['PostgreSQL'], 'postgres', () => {
  it.each([
    ['newest', 'import'],
    ['newest', 'require'],
    ['oldest', 'import'],
    ['oldest', 'require'],
  ] as const)('its %s version is recorded by %s', async (age, way) => {
    const { spans } = await runLibrary('postgres', age, 'postgres', {}, [way]);
    // The name of the table differs with every run.
    const lines = (of: string): string[] =>
      below(spans, of).map((span) => lineOf(span).replaceAll(/tracewright_\d+/g, 'users'));

    expect(lines('queries')).toEqual(['INSERT users', 'SELECT users', 'SELECT']);
    expect(lines('errors')).toEqual(['INSERT users: 23505', 'postgresql: 42601']);
    expect(lines('transaction')).toEqual(['BEGIN', 'UPDATE users', 'COMMIT']);
    for (const each of ['queries', 'errors', 'transaction']) expectWithin(spans, each);
    const [insert] = below(spans, 'queries');
    expect(insert!.kind).toBe('client');
    expect(insert!.attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.namespace': 'postgres',
      'server.address': '127.0.0.1',
      'server.port': 5432,
      'db.query.summary': insert!.name,
    });
    const duplicate = below(spans, 'errors')[0]!;
    expect(duplicate.attributes).toMatchObject({ 'db.response.status_code': '23505' });
    // The second query waits until the first has its answer, on one connection.
    expect(lines('pool').filter((line) => line === 'SELECT')).toHaveLength(2);
    expect(lines('first').at(0)).toBe('postgresql pool');
  });
});
