import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, lineOf, runLibrary, treeOf } from './traced-library.js';

/** Redis's own commands have a test of their own. */
const env = { TRACEWRIGHT_INJECT: 'bullmq', TRACEWRIGHT_LIBRARIES: 'bullmq' };

await describeWith(['Redis'], 'bullmq', () => {
  it.each([
    ['newest', 'require'],
    ['newest', 'import'],
    ['oldest', 'require'],
  ] as const)('its %s version carries the trace on, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('bullmq', age, 'bullmq', env, [way]);
    // The program's options are as it has made them.
    expect(stdout).toContain('options removeOnComplete\nactive true\nkept true\nodd true\n');
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      ).map((line) => line.replaceAll(/tracewright-\d+/g, 'orders'));
    expect(tree('sender')).toEqual(['publish orders', '  process orders', '    work']);
    expect(tree('failing')).toEqual(['publish orders', '  process orders: E_WANTED', '    work']);
    expect(tree('bulk')).toEqual(['publish orders', '  process orders', '    work']);
    // Here the program has said itself where the job comes from.
    expect(tree('own context')).toEqual(['publish orders']);
    expect(tree('odd context')).toEqual(['publish orders']);
    const own = spans.find(
      ({ kind, traceId }) => kind === 'consumer' && traceId === '0af7651916cd43dd8448eb211c80319c',
    )!;
    expect(own.parentSpanId).toBe('b7ad6b7169203331');

    const [publish] = below(spans, 'sender');
    const queue = publish!.name.replace('publish ', '');
    const attributes = {
      'messaging.system': 'bullmq',
      'messaging.destination.name': queue,
      'server.address': '127.0.0.1',
      'server.port': 6379,
    };
    expect(publish!.kind).toBe('producer');
    expect(publish!.attributes).toEqual({
      ...attributes,
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
    });
    const [bulk] = below(spans, 'bulk');
    expect(bulk!.attributes).toMatchObject({ 'messaging.batch.message_count': 1 });
    const process = spans.find((span) => lineOf(span) === `process ${queue}`)!;
    expect(process.kind).toBe('consumer');
    expect(process.scope).toMatchObject({ name: 'tracewright/bullmq' });
    expect(process.attributes).toEqual({
      ...attributes,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
    });
    // The function of the program is waited for.
    expect(Number(process.end - process.start)).toBeGreaterThan(9e6);
  });

  it('carries no ids where they are to stay in the process', async () => {
    const { spans, stdout } = await runLibrary('bullmq', 'newest', 'bullmq', {
      ...env,
      TRACEWRIGHT_PROPAGATE: 'off',
    });
    expect(stdout).toContain('active false');
    expect(below(spans, 'sender')).toHaveLength(1);
  });

  it('has the commands of ioredis below its spans', async () => {
    const { spans } = await runLibrary('bullmq', 'newest', 'bullmq', {
      ...env,
      TRACEWRIGHT_LIBRARIES: 'bullmq,ioredis',
    });
    const publish = below(spans, 'sender')[0]!;
    const commands = spans.filter(({ parentSpanId }) => parentSpanId === publish.spanId);
    expect(commands.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^EVAL/));
  });
});
