import type { BoxesMeta } from '../../wire/answers.js';
import { boxesOf } from '../boxes.js';
import type { Route } from '../route.js';

/** No screen shows more tracks at once. */
const MOST_TRACKS = 1024;

/**
 * The boxes of a window: `from`, `to` in ns, `width` in pixels, `tracks` as `0-3,7`, `budget` in boxes
 * of a screen of `screen` pixels and `lanes`, `names`: how many names the page knows. `fold`: the lanes of a track
 * before those that merge, except of the tracks that are `open`.
 */
export const boxesRoute: Route = {
  path: '/data/boxes',
  method: 'GET',
  answer({ recording, query }) {
    const { index, names, revision } = recording;
    const { from, to } = query.range();
    const width = query.integer('width', 1, 32_768);
    const tracks = query.integers('tracks', index.tracks.length, MOST_TRACKS);
    const budget = query.integer('budget', 1, 100_000);
    const screen = {
      width: query.integer('screen', 1, 32_768),
      lanes: query.integer('lanes', 1, 32_768),
    };
    const firstName = Math.min(query.integer('names', 0, 2 ** 31), names.texts.length);
    const fold =
      query.text('fold') === undefined
        ? {}
        : {
            fold: {
              lanes: query.integer('fold', 1, 32_768),
              open: new Set(query.integers('open', index.tracks.length, MOST_TRACKS)),
            },
          };
    const columns = boxesOf(recording, { from, to, width, tracks, budget, screen, ...fold });
    const meta: BoxesMeta = { revision, firstName, names: names.texts.slice(firstName) };
    return { columns: { ...columns }, meta };
  },
};
