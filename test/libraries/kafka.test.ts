import { describe, expect, it } from 'vitest';
import { below, expectWithin, runLibrary, treeOf } from './traced-library.js';

/** The newest version needs Node 22. */
const ages =
  Number.parseInt(process.versions.node) >= 22
    ? (['newest', 'oldest'] as const)
    : (['oldest'] as const);

describe('kafka', () => {
  it.each(ages)('its %s version is recorded', async (age) => {
    const { spans } = await runLibrary('kafka', age, '@platformatic/kafka');
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      );
    const refused = '  kafka connect: PLT_KFK_NETWORK';
    for (const each of ['one', 'many']) {
      expect(tree(each)).toEqual(['publish orders: PLT_KFK_MULTIPLE', refused]);
    }
    expect(tree('topics')).toEqual(['publish: PLT_KFK_MULTIPLE', refused]);
    expect(tree('callback')).toEqual(['publish orders: PLT_KFK_MULTIPLE', refused, 'in callback']);
    expect(tree('commit')).toEqual(['commit orders: PLT_KFK_MULTIPLE', refused]);
    for (const each of ['one', 'many', 'topics', 'commit']) expectWithin(spans, each);

    const [publish] = below(spans, 'many');
    expect(publish!.kind).toBe('producer');
    expect(publish!.scope).toMatchObject({ name: 'tracewright/kafka' });
    expect(publish!.attributes).toEqual({
      'messaging.system': 'kafka',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'orders',
      'messaging.batch.message_count': 2,
      'error.type': 'PLT_KFK_MULTIPLE',
    });
    const connect = spans.find(({ name }) => name === 'kafka connect')!;
    expect(connect.kind).toBe('client');
    expect(connect.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'server.port': 1,
    });
  });
});
