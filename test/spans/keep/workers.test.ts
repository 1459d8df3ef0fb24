import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { allSpans } from '../span-trace.js';

const directory = temporaryDirectory();
const WHOLE = ['part', 'query', 'step'];

test('parts of a request in workers go where the request goes', async () => {
  const target = join(directory, 'workers.heph');
  const { code, stdout, stderr } = await runFixture('spans/keep-workers.mjs', {
    input: { target },
  });
  expect([stderr, code]).toEqual(['', 0]);
  const ids = JSON.parse(stdout) as Record<string, string>;
  const spans = await allSpans(target);
  const found = Object.fromEntries(
    Object.entries(ids).map(([name, id]) => {
      const own = spans.filter(({ traceId }) => traceId === id);
      return [name, own.map((span) => span.name).sort()];
    }),
  );
  expect(found).toEqual({
    kept: ['kept', ...WHOLE],
    released: [],
    wanted: [...WHOLE, 'wanted'],
    'kept, then blocked': ['kept, then blocked', ...WHOLE],
    'kept before its part ends': ['kept before its part ends', ...WHOLE],
    'released before its part ends': [],
    'kept, and its worker terminated': ['kept, and its worker terminated', ...WHOLE],
  });
  const reasons = (trace: string) => [
    ...new Set(
      spans.filter(({ traceId }) => traceId === ids[trace]).map(({ kept }) => kept?.reason),
    ),
  ];
  expect(reasons('wanted')).toEqual(['error']);
  // Nobody was left in the worker who could decide.
  expect(reasons('kept, and its worker terminated').sort()).toEqual(['slow', 'undecided']);
});
