import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SIZE_OFFSET } from '../../../src/heph/layout.js';
import { configure, shutdown } from '../../../src/spans/recording.js';
import { HephScan } from '../../../src/spans/read/scan/heph-scan.js';
import { TraceClock } from '../../../src/spans/read/trace-clock.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();

/** The first 12 records of a trace of 20 spans, and its last one. */
async function recorded(): Promise<{ first: Buffer; last: Buffer }> {
  const target = join(mkdtempSync(join(directory, 'trace-')), 'spans.heph');
  configure({ target });
  for (let i = 0; i < 20; i++) startSpan(`span ${i}`).end();
  await shutdown();
  const bytes = readFileSync(target);
  const offsets: number[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at + SIZE_OFFSET)) offsets.push(at);
  return { first: bytes.subarray(0, offsets[12]), last: bytes.subarray(offsets.at(-1)) };
}

test('what a thread recorded between two readings does not count as missing', async () => {
  const { first, last } = await recorded();
  const scanned = (): HephScan => {
    const scan = new HephScan(new TraceClock(), 0);
    scan.take(first, viewOf(first), 0, first.length, 0);
    return scan;
  };
  const missing = ({ counts }: HephScan): number[] => [...counts.values()].map((c) => c.missing);

  const numbered = scanned();
  const { count } = numbered.rows;
  numbered.take(last, viewOf(last), 0, last.length, first.length);
  expect(missing(numbered)[0]).toBeGreaterThan(5);

  const open = scanned();
  open.takeOpen(last, first.length);
  expect(open.rows.count).toBe(count + 1);
  expect(missing(open)).toEqual([0]);
});

test('a thread of which only an open record was read has no numbers yet', async () => {
  const { last } = await recorded();
  const scan = new HephScan(new TraceClock(), 0);
  scan.takeOpen(last, 0);
  expect(scan.rows.count).toBe(1);
  expect(scan.counts.size).toBe(0);
});

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
