import { expect, it } from 'vitest';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { Query } from '../../../../src/look/server/route.js';
import { Recording } from '../../../../src/look/server/recording.js';
import { latencyRoute } from '../../../../src/look/server/routes/latency.js';
import type { LatencyColumns, LatencyMeta } from '../../../../src/look/wire/view-answers.js';
import { encodeSpan, randomNumbers } from '../../../export/span-file.js';
import { encodeEpoch } from '../../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../../heph/temporary-file.js';

const COLUMNS = 40;
const MS = 1e6;

it('says of each column of time how many spans failed, and percentiles of their durations', async () => {
  const below = randomNumbers(3);
  // The second half is slower, and more of it fails; nothing runs in the last quarter but the last one.
  const spans = Array.from({ length: 6000 }, (_, at) => {
    const isLate = at >= 3000;
    const start = at === 5999 ? 8000 * MS : at * MS;
    const length = (isLate ? 5 : 1) * (MS + below(9 * MS));
    return { start, length, failed: below(isLate ? 4 : 100) === 0 };
  });
  const records = spans.map(({ start, length, failed }, at) =>
    encodeSpan({
      id: BigInt(at + 1),
      name: 'GET',
      start: BigInt(start),
      end: BigInt(start + length),
      ...(failed && { flags: 1n | (2n << 11n) }),
    }),
  );
  const path = writeTrace(temporaryDirectory(), 'a.heph', encodeEpoch(10n ** 18n), ...records);
  const index = await openLookIndex([path], { cache: false });
  const { columns, meta } = (await latencyRoute.answer({
    recording: new Recording(index, false),
    query: new Query(new URLSearchParams({ columns: String(COLUMNS) })),
    body: undefined,
    signal: new AbortController().signal,
  })) as unknown as { columns: LatencyColumns; meta: LatencyMeta };
  index.close();
  const { from, to } = meta;
  const pixel = (to - from) / COLUMNS;
  for (let column = 0; column < COLUMNS; column++) {
    const own = spans.filter(({ start }) => Math.floor((start - from) / pixel) === column);
    expect(columns.errors[column]).toBe(own.filter(({ failed }) => failed).length);
  }
  // 20 stretches, whatever the columns: of a column with few spans, p99 is the longest one.
  expect([meta.stretch, columns.p99.length]).toEqual([2, 20]);
  for (let at = 0; at < 20; at++) {
    const own = spans.filter(({ start }) => Math.floor((start - from) / (2 * pixel)) === at);
    const lengths = own.map(({ length }) => length).sort((a, b) => a - b);
    for (const [name, percent] of [
      ['p50', 50],
      ['p95', 95],
      ['p99', 99],
    ] as const) {
      const exact = lengths[Math.max(0, Math.ceil((percent / 100) * lengths.length) - 1)] ?? 0;
      expect(Math.abs(columns[name][at]! - exact)).toBeLessThanOrEqual(0.005 * exact);
    }
  }
});
