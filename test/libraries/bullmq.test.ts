import { expect, it } from 'vitest';
import type { SpanRecord } from '../../src/spans/index.js';
import { expectCarriedOn, queueTree } from './queue-trace.js';
import { describeWith } from './servers.js';
import { below, childrenOf, runLibrary } from './traced-library.js';

/** Redis's own commands have a test of their own. */
const env = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

await describeWith(['Redis'], 'bullmq', () => {
  it.each([
    ['newest', 'require'],
    ['newest', 'import'],
    ['oldest', 'require'],
    ['earlier', 'require'],
    ['ancient', 'import'],
  ] as const)('its %s version carries the trace on, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('bullmq', age, 'bullmq', env, [way]);
    // The program's options are as it has made them.
    expect(stdout).toContain('options removeOnComplete\nactive true\nkept true\nodd true\n');
    const process = expectCarriedOn(spans, (queue) => ({
      'messaging.system': 'bullmq',
      'messaging.destination.name': queue,
      'server.address': '127.0.0.1',
      'server.port': 6379,
    }));
    expect(process.scope).toMatchObject({ name: 'tracewright/bullmq' });
    expect(queueTree(spans, 'bulk')).toEqual(['publish orders', '  process orders', '    work']);
    // Here the program has said itself where the job comes from.
    expect(queueTree(spans, 'own context')).toEqual(['publish orders']);
    expect(queueTree(spans, 'odd context')).toEqual(['publish orders']);
    const [bulk] = below(spans, 'bulk');
    expect(bulk!.attributes).toMatchObject({ 'messaging.batch.message_count': 1 });
    // Version 4 has no schedulers.
    if (age === 'ancient') return;
    const [scheduler] = below(spans, 'scheduling');
    const scheduled = spans.filter(({ attributes }) => 'bullmq.job.name' in attributes);
    expect(scheduled).not.toEqual([]);
    for (const each of scheduled) {
      expect(each.attributes).toMatchObject({ 'bullmq.job.name': 'report' });
      expect(each.parentSpanId).toBeUndefined();
      expect(each.links).toMatchObject([{ spanId: scheduler!.spanId }]);
    }
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

  it.each(['newest', 'oldest'] as const)(
    'its %s version goes on after a reconnect',
    async (age) => {
      const { spans, stdout } = await runLibrary('bullmq-reconnect', age, 'bullmq', env);
      for (const each of ['before', 'interrupted', 'waiting', 'after']) {
        const tree = queueTree(spans, each);
        expect(tree).toEqual(['publish orders', '  process orders', '    work']);
      }
      expect(stdout).toContain('refused Error\n');
      expect(queueTree(spans, 'refused')).toEqual(['publish orders: Error']);
      const msOf = ({ start, end }: SpanRecord): number => Number(end - start) / 1e6;
      const [waited] = below(spans, 'waiting');
      expect(msOf(waited!)).toBeGreaterThan(80);
      const [interrupted] = childrenOf(spans, below(spans, 'interrupted')[0]!);
      expect(msOf(interrupted!)).toBeGreaterThan(80);
    },
  );
});
