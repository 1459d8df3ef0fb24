import { addToList, entryOf } from '../../core/map-entries.js';
import { framesOf } from '../../spans/read/profile-part.js';
import { IndexRow, rowAt } from '../index/index-row.js';
import { LanePixels } from '../index/serve/lane-pixels.js';
import { inTurns, type Steps } from '../index/turns.js';
import { callsOf } from '../report/groups/sampled-calls.js';
import { codeName } from '../report/names/code-text.js';
import { Codes } from '../report/threads/profiled-code.js';
import { rowsOfSpans } from '../report/threads/sampled-requests.js';
import type { SampleColumns } from '../wire/answers.js';
import { mergedBoxes } from './boxes.js';
import type { BoxRequest } from './boxes.js';
import { stallsOf } from './folded-stalls.js';
import { CELL } from './lane-items.js';
import type { Recording } from './recording.js';

/** Calls above a function that are shown: what lies deeper counts as its caller's. */
const MOST_DEPTH = 64;
/**
 * A sample lasts until the next one, unless so many intervals lie between: idle ones are not recorded. In a stall a
 * thread is never idle, but may get no CPU to take its samples.
 */
const IDLE_INTERVALS = 2;
/** As the row of a box: several spans. */
const SEVERAL = -2;
/** Boxes between two looks at the clock. */
const PIECE = 1 << 14;

const pixels = new LanePixels();

/** More names than a recording can have. */
const NAMES = 2 ** 26;

/** The calls that samples have in common: each node is a function, by the number of its name, and those above it. */
class CallTree {
  /** By node: the functions from the outermost. */
  readonly paths: (readonly { node: number; name: number }[])[] = [[]];
  readonly #known = new Map<number, number>();

  below(above: number, name: number): number {
    return entryOf(this.#known, above * NAMES + name, () => {
      const node = this.paths.length;
      return this.paths.push([...this.paths[above]!, { node, name }]) - 1;
    });
  }
}

/** When a thread did not wait for events. */
interface Stall {
  start: number;
  end: number;
}

interface Sample {
  time: number;
  interval: number;
  /** Of the call tree. */
  node: number;
  /** Id of the span that was active; undefined: none is known. */
  span: string | undefined;
}

/** What threads ran: consecutive samples with the same calls are one box. Times in ns since the index's epoch. */
class SampleBoxes {
  readonly start: number[] = [];
  readonly duration: number[] = [];
  /** How many calls are above it. */
  readonly lane: number[] = [];
  readonly name: number[] = [];
  readonly samples: number[] = [];
  /** The one span that at least half of its samples were of; else negative. */
  readonly row: number[] = [];
  /** By track: its boxes, in order of start, and how deep they are. */
  readonly tracks = new Map<number, { from: number; to: number; depth: number }>();

  *addTrack(
    track: number,
    samples: readonly Sample[],
    tree: CallTree,
    rows: ReadonlyMap<string, number>,
    stalls: readonly Stall[],
  ): Steps<void> {
    const from = this.start.length;
    /** The calls that go on, and their boxes. */
    let path = tree.paths[0]!;
    const open: number[] = [];
    /** By box: samples whose span is known. */
    const known: number[] = [];
    let depth = 0;
    let goesOn = false;
    let stall = 0;
    for (const [at, { time, interval, node, span }] of samples.entries()) {
      if (at % PIECE === 0) yield;
      const row = (span === undefined ? undefined : rows.get(span)) ?? -1;
      const next = tree.paths[node]!;
      let same = 0;
      if (goesOn) while (same < open.length && path[same]!.node === next[same]?.node) same++;
      open.length = same;
      for (let lane = same; lane < next.length; lane++) {
        open.push(this.start.push(time) - 1);
        this.duration.push(0);
        this.lane.push(lane);
        this.name.push(next[lane]!.name);
        this.samples.push(0);
        this.row.push(-1);
        known.push(0);
      }
      const later = samples[at + 1]?.time ?? Infinity;
      while (stall < stalls.length && stalls[stall]!.end < time) stall++;
      const { start: blocked = Infinity, end: until = 0 } = stalls[stall] ?? {};
      goesOn = later - time < IDLE_INTERVALS * interval || (blocked <= time && later <= until);
      const end = goesOn ? later : time + interval;
      for (const box of open) {
        this.duration[box] = end - this.start[box]!;
        this.samples[box]!++;
        if (row === -1) continue;
        known[box - from]!++;
        if (this.row[box] !== row) this.row[box] = this.row[box] === -1 ? row : SEVERAL;
      }
      path = next;
      depth = Math.max(depth, next.length);
    }
    for (const [at, count] of known.entries()) {
      if (2 * count < this.samples[from + at]!) this.row[from + at] = -1;
    }
    this.tracks.set(track, { from, to: this.start.length, depth });
  }
}

function* readSamples({ index, names }: Recording): Steps<SampleBoxes> {
  const tree = new CallTree();
  const known = new Codes();
  const tracks = new Map(
    index.tracks
      .filter(({ kind }) => kind === 'thread')
      .map(({ source, thread, number }) => [`${source} ${thread}`, number]),
  );
  const ofTracks = new Map<number, Sample[]>();
  const ids = new Set<string>();
  for (const profile of index.profiles()) {
    yield;
    const { part, source, offset } = profile;
    const track = tracks.get(`${source} ${part.thread}`);
    if (track === undefined || part.samples.length === 0) continue;
    const codeOf = known.of(profile);
    const nodes = new Map<number, number>();
    const nodeOf = (node: number): number =>
      entryOf(nodes, node, () =>
        callsOf(framesOf(part, node), codeOf(node))
          .slice(0, MOST_DEPTH)
          .reduce((above, code) => tree.below(above, names.ofText(codeName(code))), 0),
      );
    const own = entryOf(ofTracks, track, () => []);
    for (const { time, node, span } of part.samples) {
      const id = part.spans[span];
      if (id !== undefined) ids.add(id);
      own.push({ time: time + offset, interval: part.interval, node: nodeOf(node), span: id });
    }
  }
  const rows = yield* rowsOfSpans(index, ids);
  const boxes = new SampleBoxes();
  const stalls = new Map<number, Stall[]>();
  for (const part of index.parts) {
    for (const at of stallsOf(part)) {
      const { track, start, end } = new IndexRow(part, at);
      addToList(stalls, track, { start, end });
    }
  }
  for (const each of stalls.values()) each.sort((a, b) => a.start - b.start);
  for (const [track, samples] of ofTracks) {
    yield* boxes.addTrack(
      track,
      samples.sort((a, b) => a.time - b.time),
      tree,
      rows,
      stalls.get(track) ?? [],
    );
  }
  return boxes;
}

/** The last that were read: a live recording has others after each refresh. */
const read = new WeakMap<Recording, { revision: number; boxes: Promise<SampleBoxes> }>();

function boxesOfSamples(recording: Recording): Promise<SampleBoxes> {
  const { revision } = recording;
  const known = read.get(recording);
  if (known?.revision === revision) return known.boxes;
  const boxes = inTurns(readSamples(recording));
  read.set(recording, { revision, boxes });
  boxes.catch(() => read.delete(recording));
  return boxes;
}

/** The boxes of a window, and how deep those of each track are in the whole recording. */
export async function sampleBoxesOf(
  recording: Recording,
  request: BoxRequest,
): Promise<{ columns: SampleColumns; depths: number[] }> {
  const { index, names } = recording;
  const { from, to, width, tracks } = request;
  const {
    start,
    duration,
    name,
    lane,
    samples,
    row,
    tracks: own,
  } = await boxesOfSamples(recording);
  const depths = index.tracks.map(({ number }) => own.get(number)?.depth ?? 0);
  const pixel = (to - from) / width;
  pixels.begin(width, depths, tracks, undefined);
  for (const track of new Set(tracks)) {
    const { from: first, to: end } = own.get(track) ?? { from: 0, to: 0 };
    for (let box = first; box < end && start[box]! < to; box++) {
      const length = duration[box]!;
      if (start[box]! + length <= from) continue;
      const slot = pixels.slotOf(track, lane[box]!);
      const column = Math.min(width - 1, Math.max(0, Math.floor((start[box]! - from) / pixel)));
      if (length < pixel) pixels.merge(slot, column, 1, 0, box, length);
      else pixels.addWide(slot, column, box, start[box]!);
    }
  }
  const rows = { start, duration, flags: [], firstRow: 0, offset: 0 };
  const shown = depths.flatMap((depth, track) =>
    depth > 0 && tracks.includes(track) ? [track] : [],
  );
  const columns = mergedBoxes({ partOf: () => rows }, pixels.windows(shown, CELL), request);
  const boxes = columns.row;
  const spans = boxes.map((box) => Math.max(-1, row[box]!));
  const within = new Uint32Array(boxes.length);
  const withinStart = new Float64Array(boxes.length);
  for (const [at, span] of spans.entries()) {
    if (span === -1) continue;
    const own = rowAt(index, span);
    within[at] = names.of(own.part, own.part.name[own.at]!);
    withinStart[at] = own.start;
  }
  return {
    columns: {
      ...columns,
      row: spans,
      name: Uint32Array.from(boxes, (box) => name[box]!),
      samples: Uint32Array.from(boxes, (box) => samples[box]!),
      within,
      withinStart,
    },
    depths: tracks.map((track) => depths[track]!),
  };
}
