import { describe, expect, it } from 'vitest';
import { below, runLibrary, treeOf } from './traced-library.js';

describe('kafkajs', () => {
  it.each([
    ['newest', 'require'],
    ['oldest', 'import'],
    ['earlier', 'require'],
  ] as const)('its %s version carries the trace on, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('kafkajs', age, 'kafkajs', {}, [way]);
    // The program's messages are as it has made them.
    expect(stdout).toContain('message key,value\nkept true\nactive true\nfailed E_WANTED');
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      );
    expect(tree('disconnected')).toEqual(['publish orders: KafkaJSError']);
    expect(tree('sender')).toEqual(['publish orders', '  process orders', '    work']);
    expect(tree('batch')).toEqual(['publish orders', '  process orders: E_WANTED', '    work']);
    expect(tree('failing')).toEqual(['publish forbidden: TOPIC_AUTHORIZATION_FAILED']);
    const [publish] = below(spans, 'batch');
    expect(publish!.kind).toBe('producer');
    expect(publish!.attributes).toEqual({
      'messaging.system': 'kafka',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'orders',
      'messaging.batch.message_count': 2,
    });
    const [sent] = below(spans, 'sender');
    const process = spans.find(({ parentSpanId }) => parentSpanId === sent!.spanId)!;
    expect(process.kind).toBe('consumer');
    expect(process.attributes).toEqual({
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'orders',
      'messaging.destination.partition.id': '3',
      'messaging.consumer.group.name': 'billing',
      'messaging.kafka.offset': 0,
    });
    // The function of the program is waited for.
    expect(Number(process.end - process.start)).toBeGreaterThan(9e6);
    // Messages of a batch have a sender each.
    const batch = spans.filter(({ name, parentSpanId }) => {
      return name === 'process orders' && parentSpanId === undefined;
    });
    expect(batch.map(({ attributes }) => attributes['messaging.batch.message_count'])).toEqual([3]);
  });

  it('carries no ids where they are to stay in the process', async () => {
    const { spans, stdout } = await runLibrary('kafkajs', 'newest', 'kafkajs', {
      TRACEWRIGHT_PROPAGATE: 'off',
    });
    expect(stdout).toContain('active false');
    expect(below(spans, 'sender')).toHaveLength(1);
  });
});
