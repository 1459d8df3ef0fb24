import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

await describeWith(['MariaDB'], 'mariadb', () => {
  it.each([
    ['newest', 'import'],
    // One minified file.
    ['newest', 'require'],
    ['oldest', 'require'],
  ] as const)('its %s version is recorded with %s', async (age, how) => {
    const { spans } = await runLibrary('mariadb', age, 'mariadb', {}, [how]);
    // The name of the table differs with every run.
    const lines = (of: string): string[] =>
      below(spans, of)
        .map((span) => lineOf(span).replaceAll(/tracewright_\d+/g, 'users'))
        .filter((line) => line !== 'mariadb pool');

    expect(lines('first')).toEqual(['CREATE TABLE users']);
    expect(lines('queries')).toEqual([
      'INSERT users',
      'SELECT users',
      'INSERT users',
      'UPDATE users',
    ]);
    expect(lines('transaction')).toEqual(['START', 'DELETE users', 'COMMIT']);
    expect(lines('errors')).toEqual([
      'INSERT users: ER_DUP_ENTRY',
      'mysql: ER_PARSE_ERROR',
      'INSERT users: ER_DUP_ENTRY',
    ]);
    expect(lines('connection')).toEqual([]);
    expect(lines('stream')).toEqual(['SELECT users', 'SELECT: ER_BAD_FIELD_ERROR']);
    expect(lines('prepared')).toEqual(['SELECT users', 'SELECT users']);
    expect(lines('closed')).toEqual(['SELECT: ER_CMD_CONNECTION_CLOSED']);
    expect(lines('callback 1')).toEqual(['SELECT', 'callback 1 answered well']);
    expect(lines('callback 2')).toEqual(['SELECT users', 'callback 2 answered well']);
    expect(lines('callback 3')).toEqual(['INSERT users', 'callback 3 answered well']);
    expect(lines('callback 4')).toEqual([
      'SELECT: ER_BAD_FIELD_ERROR',
      'callback 4 answered ER_BAD_FIELD_ERROR',
    ]);
    expect(lines('callback 5')).toEqual(['callback 5 answered well']);
    for (const each of ['queries', 'transaction', 'errors', 'pool', 'stream', 'prepared']) {
      expectWithin(spans, each);
    }
    // What a connection sets for itself is no span.
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(roots.filter(({ name }) => name.startsWith('S'))).toEqual([]);

    const insert = below(spans, 'queries').find(({ name }) => name.startsWith('INSERT'))!;
    expect(insert.kind).toBe('client');
    expect(insert.attributes).toEqual({
      'db.system.name': 'mariadb',
      'db.namespace': 'test',
      'server.address': '127.0.0.1',
      'server.port': 3306,
      'db.query.summary': insert.name,
    });
    const codes = ['errors', 'closed'].flatMap((each) =>
      below(spans, each).map(({ attributes }) => attributes['db.response.status_code']),
    );
    expect(codes.filter((code) => code !== undefined)).toEqual(['1062', '1064', '1062']);
    const waits = below(spans, 'pool').filter(({ name }) => name === 'mariadb pool');
    expect(Math.max(...waits.map(({ start, end }) => Number(end - start)))).toBeGreaterThan(90e6);
  });
});
