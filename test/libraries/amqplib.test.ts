import { expect, it } from 'vitest';
import { expectCarriedOn, queueTree } from './queue-trace.js';
import { describeWith } from './servers.js';
import { below, runLibrary } from './traced-library.js';

await describeWith(['RabbitMQ'], 'amqplib', () => {
  it.each([
    ['newest', 'require'],
    ['newest', 'import'],
    ['oldest', 'require'],
    ['earlier', 'require'],
    ['ancient', 'import'],
  ] as const)('its %s version carries the trace on, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('amqplib', age, 'amqplib', {}, [way]);
    // The program's headers are as it has made them, and its message has them.
    expect(stdout).toContain('headers tenant secret-tenant\nactive true\nunhandled E_WANTED\n');
    expect(stdout).toContain('kept true');
    expectCarriedOn(spans, (queue) => ({
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': queue,
      'messaging.rabbitmq.destination.routing_key': queue,
      'server.address': '127.0.0.1',
      'server.port': 5672,
    }));
    // Here the program has said itself where the message comes from.
    expect(queueTree(spans, 'own header')).toEqual(['publish orders']);
  });

  it('sends no ids where they are to stay in the process', async () => {
    const env = { TRACEWRIGHT_PROPAGATE: 'off' };
    const { spans, stdout } = await runLibrary('amqplib', 'newest', 'amqplib', env);
    expect(stdout).toContain('active false');
    expect(below(spans, 'sender')).toHaveLength(1);
  });

  it('carries on that a trace is not recorded', async () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_always_off' };
    const { spans, stdout } = await runLibrary('amqplib', 'newest', 'amqplib', env);
    expect(stdout).toContain('active true');
    // The program's own header says that it is recorded.
    expect(spans.map(({ name }) => name.split(' ')[0]).sort()).toEqual(['process', 'work']);
  });

  it.each(['newest', 'oldest'] as const)(
    'its %s version goes on after a reconnect',
    async (age) => {
      const { spans, stdout } = await runLibrary('amqplib-reconnect', age, 'amqplib');
      const usual = ['publish orders', '  process orders', '    work'];
      expect(queueTree(spans, 'before')).toEqual(usual);
      // The server sends the message again: its second consumer is below the same sender.
      expect(stdout).toContain('redelivered true\n');
      expect(queueTree(spans, 'interrupted')).toEqual([...usual, '  process orders', '    work']);
      // A channel that is closed has no function of the library left.
      expect(stdout).toContain('closed IllegalOperationError\nrefused ECONNREFUSED\n');
      for (const each of ['closed', 'refused']) expect(queueTree(spans, each)).toEqual([]);
      expect(queueTree(spans, 'after')).toEqual(usual);
      const port = Number(/^port (\d+)$/m.exec(stdout)![1]);
      for (const { kind, attributes } of spans) {
        if (kind !== 'internal') expect(attributes).toMatchObject({ 'server.port': port });
      }
    },
  );
});
