import { describe, expect, it } from 'vitest';
import { below, expectWithin, lineOf, runLibrary, treeOf } from './traced-library.js';

describe('mssql', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded', async (age) => {
    const env = { TRACEWRIGHT_QUERY_TEXT: '1' };
    const { spans, stdout } = await runLibrary('mssql', age, 'mssql', env);
    // Waiting for a connection is recorded from 1 ms on.
    const isOfPool = (line: string): boolean => line.trim() === 'mssql pool';
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      ).filter((line) => !isOfPool(line));
    expect(tree('connect')).toEqual(['mssql connect']);
    expect(tree('queries')).toEqual([
      'SELECT users',
      'UPDATE users',
      'CREATE TABLE orders',
      'EXECUTE dbo.find_user',
    ]);
    expect(tree('template')).toEqual(['SELECT carts']);
    expect(tree('bulk')).toEqual(['BULK INSERT orders']);
    expect(tree('prepared')).toEqual(['prepare SELECT users', 'SELECT users']);
    expect(tree('transaction')).toEqual(['DELETE users']);
    expect(tree('callback')).toEqual(['SELECT', 'in callback']);
    expect(tree('errors')).toEqual(['INSERT users: 2627', 'SELECT: ETIMEOUT']);
    const waiting = spans.find(({ name }) => name === 'waiting')!;
    const pools = spans.filter(
      ({ name, traceId }) => name === 'mssql pool' && traceId === waiting.traceId,
    );
    expect(Math.max(...pools.map(({ start, end }) => Number(end - start)))).toBeGreaterThan(150e6);
    // The longest wait was for the connection that the other query had.
    const [longest] = pools.sort((a, b) => Number(b.end - b.start - (a.end - a.start)));
    const [link] = longest!.links;
    const holder = below(spans, 'waiting').find(({ status }) => status.code === 'error')!;
    expect(link).toMatchObject({ traceId: holder.traceId, spanId: holder.spanId });
    expect(Number(link!.attributes['tracewright.pool.held'])).toBeGreaterThan(150e6);
    expect(tree('refused')).toEqual(['mssql connect: ESOCKET']);
    for (const each of ['queries', 'bulk', 'prepared', 'errors']) expectWithin(spans, each);

    const attributes = {
      'db.system.name': 'microsoft.sql_server',
      'db.namespace': 'shop',
      'server.address': '127.0.0.1',
      'server.port': Number(/port (\d+)/.exec(stdout)![1]),
    };
    const [select] = below(spans, 'queries');
    expect(select!.kind).toBe('client');
    expect(select!.scope).toMatchObject({ name: 'tracewright/mssql' });
    expect(select!.attributes).toEqual({
      ...attributes,
      'db.query.summary': 'SELECT users',
      'db.query.text': 'SELECT name FROM users WHERE name = ?',
    });
    const [bulk] = below(spans, 'bulk').filter((span) => !isOfPool(lineOf(span)));
    expect(bulk!.attributes).toEqual({
      ...attributes,
      'db.operation.name': 'BULK INSERT',
      'db.collection.name': 'orders',
      'db.operation.batch.size': 2,
    });
    const [duplicate] = below(spans, 'errors').filter((span) => !isOfPool(lineOf(span)));
    expect(duplicate!.attributes).toMatchObject({ 'db.response.status_code': '2627' });
  });
});
