import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, runLibrary } from './traced-library.js';

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
});
