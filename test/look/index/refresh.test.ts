import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import type { LookIndex } from '../../../src/look/index/look-index.js';
import { configure, flush, shutdown } from '../../../src/spans/recording.js';
import { withSpan } from '../../../src/spans/active-span.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { allSpans } from '../../spans/span-trace.js';

const directory = temporaryDirectory();

function idsOf(index: LookIndex): string[] {
  return Array.from({ length: index.rows }, (_, row) => index.span(row)!.spanId).sort();
}

test.each([
  ['in memory', 1 << 30],
  ['in the cache', 0],
])(
  'a trace that grows is followed, what is in its rings too: %s',
  async (name, leastCachedBytes) => {
    const path = join(directory, `${name}.heph`);
    configure({ target: path });
    startSpan('first').end();
    await flush();
    const cache = join(directory, `cache ${name}`);
    const index = await openLookIndex([path], { cache, leastCachedBytes });
    expect(index.rows).toBe(1);
    expect(index.sources[0]!.state).toBe('growing');
    expect(index.sources[0]!.losses).toEqual([]);
    const { epoch } = index;
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 100; i++) {
        withSpan('request', { round, i }, () => {
          startSpan('child').end();
        });
      }
      if (round % 2 === 1) await flush();
      expect(await index.refresh()).toBe(true);
      expect(index.rows).toBe(1 + 200 * (round + 1));
      expect(index.epoch).toBe(epoch);
      for (const part of index.parts) {
        for (let at = 0; at < part.count; at++) {
          const { spanId, name: spanName } = index.span(part.firstRow + at)!;
          expect(part.names.text(part.name[at]!)).toBe(spanName);
          expect(spanId).toHaveLength(16);
        }
      }
    }
    await shutdown();
    await index.refresh();
    expect(index.sources[0]!.state).toBe('ended');
    expect(await index.refresh()).toBe(false);
    expect(idsOf(index)).toEqual((await allSpans(path)).map(({ spanId }) => spanId).sort());
    index.close();
  },
);
