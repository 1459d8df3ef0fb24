import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, runLibrary, treeOf } from './traced-library.js';

await describeWith(['NATS'], 'two lines of the program', () => {
  it('carry the trace on, by NATS and to a worker thread', async () => {
    const { spans } = await runLibrary('carried-by-hand', 'newest', '@nats-io/transport-node');
    expect(below(spans, 'sent').map(({ name, kind }) => [name, kind])).toEqual([
      ['received', 'consumer'],
    ]);
    expect(below(spans, 'posted').map(({ name, kind }) => [name, kind])).toEqual([
      ['job', 'consumer'],
    ]);
  });

  it('carry the trace on after NATS has connected anew', async () => {
    const { spans, stdout } = await runLibrary(
      'nats-reconnect',
      'newest',
      '@nats-io/transport-node',
    );
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      );
    for (const each of ['before', 'after', 'asked', 'asked again']) {
      expect(tree(each)).toEqual(['received']);
    }
    expect(stdout).toContain('unanswered TimeoutError\n');
    for (const each of ['lost', 'unanswered']) expect(tree(each)).toEqual([]);
    const statuses = spans.map(({ name, status }) => [name, status.code]);
    expect(statuses.filter(([, code]) => code === 'error')).toEqual([['unanswered', 'error']]);
  });
});
