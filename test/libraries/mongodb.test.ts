import { describe, expect, it } from 'vitest';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

describe('mongodb', () => {
  it.each([
    ['newest', 'import'],
    ['oldest', 'require'],
    ['earlier', 'require'],
    ['ancient', 'import'],
  ] as const)('its %s version has operations, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('mongodb', age, 'mongodb', {}, [way]);
    expect(stdout).toContain('found secret-value\nfailed 11000\nfailed 13\nfailed MongoServer');
    expect(below(spans, 'program').map(lineOf)).toEqual([
      'insert orders',
      'find orders',
      'insert orders: 11000',
      'find forbidden: 13',
      'runCommand',
    ]);
    expectWithin(spans, 'program');
    expect(below(spans, 'nowhere').map(lineOf)).toEqual(['find orders: MongoServerSelectionError']);
    const [insert, , duplicate] = below(spans, 'program');
    const attributes = {
      'db.system.name': 'mongodb',
      'db.namespace': 'shop',
      'db.collection.name': 'orders',
      'db.operation.name': 'insert',
      'server.address': '127.0.0.1',
      'server.port': Number(/port (\d+)/.exec(stdout)![1]),
    };
    expect(insert!.kind).toBe('client');
    expect(insert!.attributes).toEqual(attributes);
    expect(duplicate!.attributes).toEqual({
      ...attributes,
      'error.type': '11000',
      'db.response.status_code': '11000',
    });
    expect(insert!.scope).toMatchObject({ name: 'tracewright/mongodb' });
  });
});
