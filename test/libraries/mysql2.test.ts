import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

const PLACE = {
  'db.system.name': 'mysql',
  'db.namespace': 'test',
  'server.address': '127.0.0.1',
  'server.port': 3306,
};

await describeWith(['MariaDB'], 'mysql2', () => {
  it.each(['newest', 'oldest', 'earlier', 'ancient'] as const)(
    'its %s version is recorded',
    async (age) => {
      const { spans, stdout } = await runLibrary('mysql2', age, 'mysql2');
      // The name of the table differs with every run.
      const plain = (text: string): string => text.replaceAll(/tracewright_\d+/g, 'users');
      const lines = (of: string): string[] => below(spans, of).map((span) => plain(lineOf(span)));

      expect(lines('connect')).toEqual(['mysql connect']);
      expect(lines('table')).toEqual(['CREATE TABLE users']);
      expect(lines('queries')).toEqual(['INSERT users', 'SELECT users', 'SELECT users users']);
      expect(lines('errors')).toEqual([
        'INSERT users: ER_DUP_ENTRY',
        'mysql: ER_PARSE_ERROR',
        'SELECT missing_table: ER_NO_SUCH_TABLE',
      ]);
      expect(lines('transaction')).toEqual(['START', 'UPDATE users', 'ROLLBACK']);
      expect(lines('timeout')).toEqual(['SELECT: PROTOCOL_SEQUENCE_TIMEOUT']);
      expect(lines('stream')).toEqual(['mysql connect', 'SELECT users']);
      expect(lines('refused')).toEqual(['mysql connect: ECONNREFUSED']);
      // Which of both depends on the accounts that the server has.
      expect(lines('denied')).toEqual([
        expect.stringMatching(/^mysql connect: ER_ACCESS_DENIED_(NO_PASSWORD_)?ERROR$/),
      ]);
      for (const each of ['queries', 'errors', 'transaction']) expectWithin(spans, each);

      const [insert, select] = below(spans, 'queries');
      expect(insert!.kind).toBe('client');
      for (const span of [insert!, select!]) {
        expect(span.attributes).toEqual({ ...PLACE, 'db.query.summary': span.name });
      }
      const [duplicate] = below(spans, 'errors');
      expect(duplicate!.status).toEqual({ code: 'error', message: '' });
      expect(duplicate!.events).toEqual([]);
      expect(duplicate!.attributes).toMatchObject({
        'error.type': 'ER_DUP_ENTRY',
        'db.response.status_code': '1062',
      });

      // Waiting is recorded where there was something to wait for.
      const waits = below(spans, 'pool').filter(({ name }) => name === 'mysql pool');
      const longest = Math.max(...waits.map(({ start, end }) => Number(end - start)));
      expect(longest).toBeGreaterThan(90e6);
      const links = waits.flatMap((wait) => wait.links);
      const holder = spans.find(({ name }) => name === 'pool')!;
      expect(links[0]).toMatchObject({ traceId: holder.traceId, spanId: holder.spanId });
      expect(Number(links[0]!.attributes['tracewright.pool.held'])).toBeGreaterThan(90e6);
      expect(lines('pool').filter((line) => line.startsWith('SELECT'))).toHaveLength(3);
      // Callbacks go on where the program called.
      expect(stdout).toContain('callback true');
      const inCallbacks = lines('callback').filter((line) => line === 'SELECT');
      expect(inCallbacks).toHaveLength(2);
    },
  );

  it.each(['newest', 'oldest'] as const)(
    'its %s version is recorded the same, whether somebody else subscribes or not',
    async (age) => {
      const { spans, stdout } = await runLibrary('mysql2-heard', age, 'mysql2');
      const heard: unknown = JSON.parse(stdout.split('\n')[1]!);
      expect(heard).toEqual({ heard: ['wait', 'SELECT 3'], thrown: 'wanted' });
      for (const text of ['SELECT 1', 'SELECT 2', 'SELECT 3', 'SELECT 4']) {
        const own = below(spans, `ask ${text}`).map(({ name }) => name);
        expect(own.filter((name) => name === 'SELECT')).toHaveLength(1);
      }
      const failed = below(spans, 'thrown').find(({ name }) => name === 'SELECT')!;
      expect(lineOf(failed)).toBe('SELECT: TypeError');
    },
  );

  it('records the text of queries on request, without their values', async () => {
    const { spans } = await runLibrary('mysql2', 'newest', 'mysql2', {
      TRACEWRIGHT_QUERY_TEXT: '1',
    });
    const [insert, select, join] = below(spans, 'queries').map(
      ({ attributes }) => attributes['db.query.text'],
    );
    // Whether the backslashes in it escape its quotes is a setting of the server.
    expect(insert).toBeUndefined();
    expect(select).toMatch(/^SELECT name FROM tracewright_\d+ WHERE id = \?$/);
    expect(join).toMatch(/ WHERE a\.id = \?$/);
  });

  it('records messages of errors on request', async () => {
    const { spans } = await runLibrary('mysql2', 'newest', 'mysql2', {
      TRACEWRIGHT_ERROR_TEXT: '1',
    });
    const [duplicate] = below(spans, 'errors');
    expect(duplicate!.status.message).toMatch(/^Duplicate entry/);
    expect(duplicate!.events).toHaveLength(1);
  });
});
