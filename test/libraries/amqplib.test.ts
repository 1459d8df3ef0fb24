import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, lineOf, runLibrary, treeOf } from './traced-library.js';

await describeWith(['RabbitMQ'], 'amqplib', () => {
  it.each([
    ['newest', 'require'],
    ['newest', 'import'],
    ['oldest', 'require'],
  ] as const)('its %s version carries the trace on, by %s', async (age, way) => {
    const env = { TRACEWRIGHT_INJECT: 'amqplib' };
    const { spans, stdout } = await runLibrary('amqplib', age, 'amqplib', env, [way]);
    // The program's headers are as it has made them, and its message has them.
    expect(stdout).toContain('headers tenant secret-tenant\nactive true\nunhandled E_WANTED\n');
    expect(stdout).toContain('kept true');
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      ).map((line) => line.replaceAll(/tracewright-\d+/g, 'orders'));
    expect(tree('sender')).toEqual(['publish orders', '  process orders', '    work']);
    expect(tree('failing')).toEqual(['publish orders', '  process orders: E_WANTED', '    work']);
    // Here the program has said itself where the message comes from.
    expect(tree('own header')).toEqual(['publish orders']);
    const own = spans.find(
      ({ kind, traceId }) => kind === 'consumer' && traceId === '0af7651916cd43dd8448eb211c80319c',
    )!;
    expect(own.parentSpanId).toBe('b7ad6b7169203331');

    const [publish] = below(spans, 'sender');
    const queue = publish!.name.replace('publish ', '');
    const attributes = {
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': queue,
      'messaging.rabbitmq.destination.routing_key': queue,
      'server.address': '127.0.0.1',
      'server.port': 5672,
    };
    expect(publish!.kind).toBe('producer');
    expect(publish!.attributes).toEqual({
      ...attributes,
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
    });
    const process = spans.find((span) => lineOf(span) === `process ${queue}`)!;
    expect(process.kind).toBe('consumer');
    expect(process.attributes).toEqual({
      ...attributes,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
    });
    // The function of the program is waited for.
    expect(Number(process.end - process.start)).toBeGreaterThan(9e6);
  });

  it('sends no ids where they are to stay in the process', async () => {
    const env = { TRACEWRIGHT_INJECT: 'amqplib', TRACEWRIGHT_PROPAGATE: 'off' };
    const { spans, stdout } = await runLibrary('amqplib', 'newest', 'amqplib', env);
    expect(stdout).toContain('active false');
    expect(below(spans, 'sender')).toHaveLength(1);
  });

  it('carries on that a trace is not recorded', async () => {
    const env = { TRACEWRIGHT_INJECT: 'amqplib', OTEL_TRACES_SAMPLER: 'parentbased_always_off' };
    const { spans, stdout } = await runLibrary('amqplib', 'newest', 'amqplib', env);
    expect(stdout).toContain('active true');
    // The program's own header says that it is recorded.
    expect(spans.map(({ name }) => name.split(' ')[0]).sort()).toEqual(['process', 'work']);
  });
});
