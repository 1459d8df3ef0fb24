import { describe, expect, it } from 'vitest';
import { below, expectWithin, lineOf, runLibrary, treeOf } from './traced-library.js';

describe('mongoose', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded', async (age) => {
    const { spans, stdout } = await runLibrary('mongoose', age, 'mongoose');
    const lines = (of: string): string[] => below(spans, of).map(lineOf);
    expect(lines('queries')).toEqual([
      'find users',
      'findOne users',
      'updateOne users',
      'aggregate users',
    ]);
    const models = spans.find(({ name }) => name === 'models')!;
    expect(treeOf(spans, models)).toEqual([
      'save users',
      '  hook',
      '  insert users',
      'insertMany users',
      '  insert users',
      'bulkWrite users',
      '  update users',
    ]);
    expect(lines('errors')).toEqual([
      'save orders: 11000',
      'distinct users: 13',
      'findOne users: CastError',
    ]);
    expect(stdout).toContain('found 1\n');
    expect(lines('cursor').every((line) => line === 'find users')).toBe(true);
    expect(lines('refused')).toEqual(['find aways: MongooseError']);
    for (const each of ['queries', 'models', 'errors']) expectWithin(spans, each);

    const [find] = below(spans, 'queries');
    expect(find!.kind).toBe('client');
    expect(find!.scope).toMatchObject({ name: 'tracewright/mongoose' });
    expect(find!.attributes).toEqual({
      'db.system.name': 'mongodb',
      'db.namespace': 'test',
      'db.collection.name': 'users',
      'db.operation.name': 'find',
      'server.address': '127.0.0.1',
      'server.port': Number(/port (\d+)/.exec(stdout)![1]),
    });
    expect(below(spans, 'errors')[0]!.attributes).toMatchObject({
      'error.type': '11000',
      'db.response.status_code': '11000',
    });
  });
});
