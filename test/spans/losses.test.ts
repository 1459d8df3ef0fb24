import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { DESCRIPTION_OFFSET } from '../../src/heph/layout.js';
import { startSpan } from '../../src/spans/start-span.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { reportOn } from '../look/report/recorded-service.js';
import { recorded } from './span-trace.js';

const directory = temporaryDirectory();
const UNKNOWN =
  'cause unknown: the ring was full, they were lost on the way, or a part of the file is gone';

async function reasonsOf(path: string): Promise<string[]> {
  const { report } = await reportOn([path]);
  return report.losses.map(({ reason }) => reason);
}

test('report names a full ring as the cause of what is missing where the thread has said so', async () => {
  vi.stubEnv('TRACEWRIGHT_ON_FULL', 'drop');
  vi.stubEnv('TRACEWRIGHT_RING_BYTES', '65536');
  const [ended, text] = [3000, 'x'.repeat(400)];
  let target = '';
  try {
    const spans = await recorded(
      directory,
      async (path) => {
        target = path;
        for (let n = 0; n < ended; n++) startSpan('many', { text }).end();
        await delay(300);
        // The thread looks at what it has lost: at most once a second.
        startSpan('later', {}, { startTime: Date.now() + 1500 }).end();
      },
      { openSpans: { count: 0 } },
    );
    const lost = ended + 1 - spans.length;
    expect(lost).toBeGreaterThan(0);
    const count = String(lost).replace(/\B(?=(\d{3})+$)/, ',');
    expect(await reasonsOf(target)).toEqual([
      `${count} records of the main thread missing: the ring was full`,
    ]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test('report does not know why records are missing that nothing speaks of', async () => {
  let target = '';
  await recorded(directory, (path) => {
    target = path;
    for (let n = 0; n < 10; n++) startSpan('few', { n }).end();
  });
  const bytes = readFileSync(target);
  const from = bytes.indexOf('few') - DESCRIPTION_OFFSET - 2;
  const size = bytes.readUInt32BE(from + 4);
  writeFileSync(
    target,
    Buffer.concat([bytes.subarray(0, from + size), bytes.subarray(from + 3 * size)]),
  );
  expect(await reasonsOf(target)).toEqual([`2 records of the main thread missing, ${UNKNOWN}`]);
});
