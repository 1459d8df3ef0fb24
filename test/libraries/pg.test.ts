import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

const PLACE = {
  'db.system.name': 'postgresql',
  'db.namespace': 'postgres',
  'server.address': '127.0.0.1',
  'server.port': 5432,
};

await describeWith(['PostgreSQL'], 'pg', () => {
  it.each([
    ['newest', 'require', '--import'],
    ['newest', 'import', '--import'],
    ['newest', 'import', '-r'],
    // An import of pg 8.4 prints that pg-native is missing, with the hook or without.
    ['oldest', 'require', '--import'],
  ] as const)('its %s version is recorded, by %s, with the hook by %s', async (age, way, hook) => {
    const { spans, stdout } = await runLibrary('pg', age, 'pg', {}, [way], hook);
    // The name of the table differs with every run.
    const plain = (text: string): string => text.replaceAll(/tracewright_\d+/g, 'users');
    const lines = (of: string): string[] => below(spans, of).map((span) => plain(lineOf(span)));

    expect(stdout).toContain('rows 1\nClient was passed a null or undefined query\n');
    expect(lines('connect')).toEqual(['postgresql connect']);
    expect(lines('table')).toEqual(['CREATE TABLE users']);
    expect(lines('queries')).toEqual(['INSERT users', 'SELECT users']);
    expect(lines('errors')).toEqual([
      'INSERT users: 23505',
      'postgresql: 42601',
      'SELECT missing_table: 42P01',
    ]);
    expect(lines('transaction')).toEqual(['BEGIN', 'UPDATE users', 'ROLLBACK']);
    expect(lines('timeout')).toEqual(['SELECT: timeout']);
    expect(lines('submittable')).toEqual(['SELECT']);
    const killed = lines('killed').filter((line) => line.startsWith('SELECT'));
    expect(killed.sort()).toEqual(['SELECT', 'SELECT', 'SELECT: 57P01']);
    expect(lines('refused')).toEqual(['postgresql connect: ECONNREFUSED']);
    expect(lines('denied')).toEqual(['postgresql connect: 3D000']);
    for (const each of ['queries', 'errors', 'transaction']) expectWithin(spans, each);

    const [insert] = below(spans, 'queries');
    expect(insert!.kind).toBe('client');
    expect(insert!.attributes).toEqual({ ...PLACE, 'db.query.summary': insert!.name });
    expect(insert!.scope).toMatchObject({ name: 'tracewright/pg' });
    const [duplicate] = below(spans, 'errors');
    expect(duplicate!.attributes).toMatchObject({ 'db.response.status_code': '23505' });
    expect(duplicate!.status).toEqual({ code: 'error', message: '' });
    expect(duplicate!.events).toEqual([]);

    // Waiting is recorded where there was something to wait for.
    const waits = below(spans, 'pool').filter(({ name }) => name === 'postgresql pool');
    const longest = Math.max(...waits.map(({ start, end }) => Number(end - start)));
    expect(longest).toBeGreaterThan(90e6);
    // With a link to what held the connection meanwhile.
    const [wait] = waits.filter(({ links }) => links.length > 0);
    const holder = spans.find(({ name }) => name === 'pool')!;
    expect(wait!.links[0]).toMatchObject({ traceId: holder.traceId, spanId: holder.spanId });
    expect(Number(wait!.links[0]!.attributes['tracewright.pool.held'])).toBeGreaterThan(90e6);
    expect(lines('pool').filter((line) => line.startsWith('SELECT'))).toHaveLength(2);
    // Callbacks go on where the program called.
    expect(stdout).toContain('callback true');
    const inCallbacks = lines('callback').filter((line) => line === 'SELECT');
    expect(inCallbacks).toHaveLength(2);
  });

  it('is not recorded where nothing is put into it', async () => {
    const { spans } = await runLibrary('pg', 'newest', 'pg', { TRACEWRIGHT_INJECT: 'off' });
    expect(below(spans, 'queries')).toEqual([]);
  });

  it('has the text of queries on request, without their values', async () => {
    const env = { TRACEWRIGHT_QUERY_TEXT: '1' };
    const { spans } = await runLibrary('pg', 'newest', 'pg', env);
    const [insert, select] = below(spans, 'queries').map(
      ({ attributes }) => attributes['db.query.text'],
    );
    expect(insert).toMatch(/^INSERT INTO tracewright_\d+ VALUES \(\$1, \$2\)$/);
    expect(select).toMatch(/ WHERE id = \$1 AND name <> \?$/);
  });
});
