import { expect, test, vi } from 'vitest';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startSpan } from '../../../src/spans/start-span.js';
import { configure, shutdown } from '../../../src/spans/recording.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { allSpans } from '../span-trace.js';

const directory = temporaryDirectory();
const CHILDREN = 20;
const OTHERS = 300;

test('a trace that is undecided while its file rotates is whole', async () => {
  const path = join(directory, 'trace.heph');
  vi.stubEnv('TRACEWRIGHT_RING_BYTES', '65536');
  vi.stubEnv('TRACEWRIGHT_ROTATE_BYTES', '131072');
  vi.stubEnv('TRACEWRIGHT_MAX_BYTES', String(2 ** 30));
  configure({
    target: path,
    keep: { errors: true, limit: false, waitingBytes: 1 << 20 },
  });
  const long = startSpan('long', {}, { parent: null, kind: 'server' });
  for (let n = 0; n < CHILDREN; n++) {
    startSpan('of long', { n }, { parent: long }).end();
    for (let i = 0; i < OTHERS; i++) {
      const other = startSpan('other', { text: 'x'.repeat(100) }, { parent: null });
      startSpan('query', {}, { parent: other }).end();
      // Those that are kept fill the pieces.
      if (i % 2 === 0) other.fail();
      other.end();
    }
  }
  long.fail().end();
  await shutdown();
  vi.unstubAllEnvs();
  expect(readdirSync(directory).filter((name) => name.endsWith('.heph')).length).toBeGreaterThan(3);
  const spans = await allSpans(directory);
  const own = spans.filter(({ traceId }) => traceId === long.ids.trace_id);
  expect(own.map(({ name }) => name).sort()).toEqual([
    'long',
    ...Array.from({ length: CHILDREN }, () => 'of long'),
  ]);
  expect(spans.filter(({ name }) => name === 'other')).toHaveLength((CHILDREN * OTHERS) / 2);
});
