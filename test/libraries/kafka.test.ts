import { describe, expect, it } from 'vitest';
import { below, expectWithin, runLibrary, treeOf } from './traced-library.js';

/** The newest version needs Node 22. */
const ages =
  Number.parseInt(process.versions.node) >= 22
    ? (['newest', 'oldest'] as const)
    : (['oldest'] as const);

describe('kafka', () => {
  it.each(ages)('its %s version is recorded', async (age) => {
    const { spans, stdout } = await runLibrary('kafka', age, '@platformatic/kafka');
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
    // Messages carry the trace on, the program's own objects do not.
    expect(stdout.split('\n').slice(1, 6)).toEqual([
      'kept true',
      'texts token,traceparent traceparent',
      'bytes token,traceparent 1',
      'by hand 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 1',
      'objects "n"',
    ]);
    const received = ['  receive orders', '    work'];
    const sent = (of: string): string[] => tree(of).filter((line) => !line.includes('connect'));
    expect(sent('sender')).toEqual(['publish orders', ...received, ...received]);
    expect(sent('bytes')).toEqual(['publish orders', ...received]);
    // Their headers say otherwise, or nothing.
    for (const each of ['by hand', 'objects']) expect(sent(each)).toEqual(['publish orders']);
    const receives = spans.filter(({ name }) => name === 'receive orders');
    expect(receives.map(({ parentSpanId }) => parentSpanId).slice(3)).toEqual([
      'b7ad6b7169203331',
      undefined,
    ]);
    for (const [offset, receive] of receives.entries()) {
      expect(receive.kind).toBe('consumer');
      expect(receive.attributes).toEqual({
        'messaging.system': 'kafka',
        'messaging.operation.name': 'receive',
        'messaging.operation.type': 'receive',
        'messaging.consumer.group.name': 'billing',
        'messaging.destination.name': 'orders',
        'messaging.destination.partition.id': '0',
        'messaging.kafka.offset': offset,
      });
    }
    const connect = spans.find(({ name }) => name === 'kafka connect')!;
    expect(connect.kind).toBe('client');
    expect(connect.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'server.port': 1,
    });
  });
});
