import type { Counter, LookIndex, Message } from '../../index/look-index.js';
import { firstAtLeast } from '../../index/parts/first-at-least.js';
import { rowsByPart } from '../../index/parts/order-rows.js';
import { LanePixels } from '../../index/serve/lane-pixels.js';
import { nextTurn } from '../../index/turns.js';
import type {
  BoxColumns,
  BoxesMeta,
  CurveColumns,
  LitColumns,
  MessageColumns,
  OverviewColumns,
} from '../../wire/answers.js';
import { boxesOf } from '../boxes.js';
import type { BoxRequest } from '../boxes.js';
import type { Recording } from '../recording.js';
import { foldIn, MOST_TRACKS } from '../route.js';
import type { Answer, Query, Question, Route } from '../route.js';
import { chosenRows, conditionOfText } from '../rows/chosen-rows.js';
import { sampleBoxesOf } from '../sample-boxes.js';

/** Curves in a window: `from`, `to` in ns, `width` in pixels, `counters` as `0-3,7`. */
export const curvesRoute: Route = {
  path: '/data/curves',
  method: 'GET',
  answer({ recording: { index, revision }, query }) {
    const { from, to } = query.range();
    const width = query.integer('width', 1, 32_768);
    const counters = query.integers('counters', index.counters.length, 256);
    const points: Points = { counter: [], time: [], high: [] };
    for (const number of counters) {
      addPoints(points, number, index.counters[number]!, from, to, width);
    }
    const columns: CurveColumns = {
      counter: Uint32Array.from(points.counter),
      time: Float64Array.from(points.time),
      high: Float64Array.from(points.high),
    };
    return { columns: { ...columns }, meta: { revision } };
  },
};

type Points = Record<keyof CurveColumns, number[]>;

/** At most two points a pixel; one before the window, because a value holds until the next one. */
function addPoints(
  points: Points,
  number: number,
  { times, values }: Counter,
  from: number,
  to: number,
  width: number,
): void {
  const pixel = (to - from) / width;
  let at = Math.max(0, firstAtLeast(times, from) - 1);
  while (at < times.length && times[at]! < to) {
    const time = times[at]!;
    const column = Math.floor((time - from) / pixel);
    let high = values[at]!;
    for (at++; at < times.length && Math.floor((times[at]! - from) / pixel) === column; at++) {
      high = Math.max(high, values[at]!);
    }
    addPoint(points, number, time, high);
    // The last value of a pixel holds until the next one, not the highest.
    const last = values[at - 1]!;
    if (last < high) addPoint(points, number, times[at - 1]!, last);
  }
}

function addPoint(points: Points, counter: number, time: number, high: number): void {
  points.counter.push(counter);
  points.time.push(time);
  points.high.push(high);
}

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

/** Arrows in a window, the longest of them: `from`, `to` in ns, `most`. */
export const messagesRoute: Route = {
  path: '/data/messages',
  method: 'GET',
  answer({ recording: { index, revision }, query }) {
    const { from, to } = query.range();
    const most = query.integer('most', 1, 10_000);
    const found = index.messages.filter(({ sent, received }) => sent < to && received >= from);
    const shown = found.length <= most ? found : longest(found, most);
    return { columns: { ...columnsOf(index, shown) }, meta: { revision, found: found.length } };
  },
};

function longest(messages: Message[], most: number): Message[] {
  return messages
    .sort((a, b) => b.received - b.sent - (a.received - a.sent))
    .slice(0, most)
    .sort((a, b) => a.sent - b.sent);
}

function columnsOf(index: LookIndex, messages: readonly Message[]): MessageColumns {
  const of = (row: number, column: 'track' | 'lane'): number => {
    const part = index.partOf(row);
    return part[column][row - part.firstRow]!;
  };
  return {
    fromTrack: Uint32Array.from(messages, ({ fromRow }) => of(fromRow, 'track')),
    toTrack: Uint32Array.from(messages, ({ toRow }) => of(toRow, 'track')),
    fromLane: Uint16Array.from(messages, ({ fromRow }) => of(fromRow, 'lane')),
    toLane: Uint16Array.from(messages, ({ toRow }) => of(toRow, 'lane')),
    sent: Float64Array.from(messages, ({ sent }) => sent),
    received: Float64Array.from(messages, ({ received }) => received),
  };
}

/**
 * A window of boxes: `from`, `to` in ns, `width` in pixels, `tracks` as `0-3,7`, `budget` in boxes of a screen of
 * `screen` pixels and `lanes`. `fold`: the lanes of a track before those that merge, except of the tracks that are `open`.
 */
function boxRequestIn(query: Query, { index }: Recording): BoxRequest {
  const { from, to } = query.range();
  const width = query.integer('width', 1, 32_768);
  const tracks = query.integers('tracks', index.tracks.length, MOST_TRACKS);
  const budget = query.integer('budget', 1, 100_000);
  const screen = {
    width: query.integer('screen', 1, 32_768),
    lanes: query.integer('lanes', 1, 32_768),
  };
  const fold = foldIn(query, index.tracks.length);
  return { from, to, width, tracks, budget, screen, ...(fold && { fold }) };
}

interface BoxesMade {
  columns: BoxColumns;
  depths?: number[];
}

/** Answers with boxes; `names`: how many names the page knows. */
async function boxAnswer(
  { recording, query }: Question,
  make: (recording: Recording, request: BoxRequest) => BoxesMade | Promise<BoxesMade>,
): Promise<Answer> {
  const { names, revision } = recording;
  const firstName = Math.min(query.integer('names', 0, 2 ** 31), names.texts.length);
  const { columns, ...more } = await make(recording, boxRequestIn(query, recording));
  const meta: BoxesMeta = { revision, firstName, names: names.texts.slice(firstName), ...more };
  return { columns: { ...columns }, meta };
}

/** The rows of a window. */
export const boxesRoute: Route = {
  path: '/data/boxes',
  method: 'GET',
  answer: (question) =>
    boxAnswer(question, (recording, request) => ({ columns: boxesOf(recording, request) })),
};

/** What threads ran in a window, by their CPU samples. */
export const samplesRoute: Route = {
  path: '/data/samples',
  method: 'GET',
  answer: (question) => boxAnswer(question, sampleBoxesOf),
};

/** Rows between two turns of the event loop. */
const ROWS_A_TURN = 1 << 20;

/**
 * Where the rows that meet `where` begin: how many in each pixel of each lane of a window. `from`, `to`, `width`,
 * `tracks` and `fold` are as those of boxes.
 */
export const litRoute: Route = {
  path: '/data/lit',
  method: 'GET',
  async answer({ recording, query, signal }) {
    const { index, revision } = recording;
    const { from, to } = query.range();
    const width = query.integer('width', 1, 32_768);
    const tracks = query.integers('tracks', index.tracks.length, MOST_TRACKS);
    const fold = foldIn(query, index.tracks.length);
    const condition = await conditionOfText(index, query.text('where') ?? '');
    const rows = await chosenRows(recording, condition, signal);
    const pixel = (to - from) / width;
    const lanes = index.tracks.map((track) => track.lanes);
    const pixels = new LanePixels();
    pixels.begin(width, lanes, tracks, fold);
    for (const { part, firstRow, from: first, to: end } of rowsByPart(index.parts, rows)) {
      const { start, duration, track, lane, offset } = part;
      for (let next = first; next < end; next++) {
        if (next % ROWS_A_TURN === ROWS_A_TURN - 1) {
          await nextTurn();
          signal.throwIfAborted();
        }
        const at = rows[next]! - firstRow;
        const begin = start[at]! + offset;
        if (begin >= to || (begin < from && begin + duration[at]! <= from)) continue;
        const slot = pixels.slotOf(track[at]!, lane[at]!);
        if (slot === -1) continue;
        const column = Math.min(width - 1, Math.max(0, Math.floor((begin - from) / pixel)));
        pixels.merge(slot, column, 1, 0, rows[next]!, duration[at]!);
      }
    }
    const windows = pixels.windows(tracks, 1);
    const size = windows.reduce((sum, { merged }) => sum + merged.at.length, 0);
    const columns: LitColumns = {
      track: new Uint32Array(size),
      lane: new Uint16Array(size),
      time: new Float64Array(size),
      count: new Uint32Array(size),
    };
    let at = 0;
    for (const window of windows) {
      for (const [i, column] of window.merged.at.entries()) {
        columns.track[at] = window.track;
        columns.lane[at] = window.lane;
        // The middle of the pixel: whatever its edges are rounded to, it lies in one box.
        columns.time[at] = from + (column + 0.5) * pixel;
        columns.count[at++] = window.merged.count[i]!;
      }
    }
    return { columns: { ...columns }, meta: { revision } };
  },
};
