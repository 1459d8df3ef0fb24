import type { OverviewColumns } from '../../wire/answers.js';
import type { Route } from '../route.js';

/** How busy the whole recording was: `width` in pixels. */
export const overviewRoute: Route = {
  path: '/data/overview',
  method: 'GET',
  answer({ recording: { index, revision }, query }) {
    const width = query.integer('width', 1, 8192);
    const shown = index.tracks.filter(({ kind }) => kind !== 'states');
    const columns: OverviewColumns = {
      rows: index.activity(
        width,
        shown.map(({ number }) => number),
      ),
    };
    return { columns: { ...columns }, meta: { revision, length: index.length } };
  },
};
