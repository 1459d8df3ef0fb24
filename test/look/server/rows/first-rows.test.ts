import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { Recording } from '../../../../src/look/server/recording.js';
import { chosenRows, countSpans } from '../../../../src/look/server/rows/chosen-rows.js';
import { firstRows } from '../../../../src/look/server/rows/first-rows.js';
import { SORT_KEYS } from '../../../../src/look/server/rows/sort-keys.js';
import { sortedRows } from '../../../../src/look/server/rows/sorted-rows.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { recorded } from '../../../spans/span-trace.js';

const directory = temporaryDirectory();

/** Spans of few lengths and names, so that many have the same key. */
async function record(name: string, count: number): Promise<void> {
  const own = join(directory, name);
  mkdirSync(own);
  await recorded(own, () => {
    for (let i = 0; i < count; i++) {
      const startTime = 1_700_000_000_000_000_000n + BigInt((i * 7919) % 500) * 1000n;
      const span = startSpan(`step ${i % 3}`, {}, { startTime });
      if (i % 5 === 0) span.fail(new Error('no'));
      span.end(startTime + BigInt((i * 31) % 17) * 1000n);
    }
  });
}

it('the first rows are those that the order of all begins with', async () => {
  await record('a', 300);
  await record('b', 200);
  const index = await openLookIndex([directory]);
  const recording = new Recording(index, false);
  const { signal } = new AbortController();
  const every = await chosenRows(recording, {}, signal);
  const long = await chosenRows(recording, { minDuration: 8000 }, signal);
  expect([every.length, countSpans(recording, true)]).toEqual([500, 500]);
  expect(long.length).toBeLessThan(400);
  for (const rows of [every, long]) {
    for (const key of SORT_KEYS) {
      const ascending = await sortedRows(recording, rows, key);
      for (const count of [0, 1, 7, 100, 499]) {
        const least = firstRows(recording, rows, key, false, count);
        expect([...least]).toEqual([...ascending.subarray(0, count)]);
        const greatest = firstRows(recording, rows, key, true, count);
        expect([...greatest]).toEqual([...ascending.toReversed().subarray(0, count)]);
        if (rows !== every) continue;
        expect(firstRows(recording, undefined, key, true, count)).toEqual(greatest);
        expect(firstRows(recording, undefined, key, false, count)).toEqual(least);
      }
    }
  }
  recording.close();
});
