import type { OverviewColumns } from '../../wire/answers.js';
import type { LookIndex } from '../../index/look-index.js';
import type { Route } from '../route.js';

/** How busy the whole recording was: `width` in pixels. */
export const overviewRoute: Route = {
  path: '/data/overview',
  method: 'GET',
  answer({ recording: { index, revision }, query }) {
    const width = query.integer('width', 1, 8192);
    return { columns: { ...overviewOf(index, width) }, meta: { revision, length: index.length } };
  },
};

function overviewOf(index: LookIndex, width: number): OverviewColumns {
  const rows = new Float64Array(width);
  const { length } = index;
  if (length === 0) return { rows };
  const tracks = index.tracks.filter(({ kind }) => kind !== 'states').map(({ number }) => number);
  const pixel = length / width;
  const place = (time: number): number =>
    Math.min(width - 1, Math.max(0, Math.floor(time / pixel)));
  for (const window of index.windows(0, length, width, tracks)) {
    for (const row of window.rows) {
      const part = index.partOf(row);
      const start = part.start[row - part.firstRow]! + part.offset;
      const last = place(start + part.duration[row - part.firstRow]!);
      for (let at = place(start); at <= last; at++) rows[at]! += 1;
    }
    const { at, count } = window.merged;
    for (let each = 0; each < at.length; each++) rows[at[each]!]! += count[each]!;
  }
  return { rows };
}
