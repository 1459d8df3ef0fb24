import { IndexedPart } from '../parts/indexed-part.js';
import type { StoredPart } from '../parts/indexed-part.js';
import { joinParents } from './join-parents.js';
import type { Lanes } from './lanes.js';
import type { Source } from '../look-index.js';
import { buildPyramid, type PartShape, type Pyramid, type PyramidRows } from '../parts/pyramid.js';
import type { PartTrack } from '../../../rows/row-batch.js';
import { dealLanes } from './deal-lanes.js';
import type { LanePart } from './deal-lanes.js';

const NO_SHAPE: PartShape = { lanes: new Uint16Array(0), pyramid: undefined };

/** Facts of a source that are known once all of its parts are. */
export interface SourceJoins {
  tracks: PartTrack[];
  /** Lanes of each track. */
  laneCounts: number[];
  /** By part. The same object as long as nothing of it changes. */
  shapes: readonly PartShape[];
  /**
   * Rows of a part whose parents lie in other parts: pairs of the row and the parent's row in the source.
   * Undefined: they are found when they are asked for.
   */
  parents?: (part: number) => Int32Array | undefined;
}

/** A key that a track has in all parts of a source. */
export function trackKey({ kind, thread, name }: PartTrack): string {
  return `${kind} ${thread} ${name}`;
}

/** Numbers the tracks of parts; the same track of two parts has one number. */
export class TrackNumbers {
  readonly tracks: PartTrack[] = [];
  readonly #known = new Map<string, number>();

  /** @param tracks that have their numbers already. */
  constructor(tracks: readonly PartTrack[] = []) {
    this.of(tracks);
  }

  /** The numbers of a part's tracks. */
  of(tracks: readonly PartTrack[]): Uint32Array {
    return Uint32Array.from(tracks, (track) => {
      const key = trackKey(track);
      const known = this.#known.get(key);
      if (known !== undefined) return known;
      this.#known.set(key, this.tracks.length);
      return this.tracks.push(track) - 1;
    });
  }
}

/** Pairs of rows and their parents in other parts: see `SourceJoins.parents`. */
export function parentPairs(
  stored: readonly StoredPart[],
  numbers: readonly Uint32Array[],
): Int32Array[] {
  let firstRow = 0;
  const parts = stored.map((each, i) => {
    const part = new IndexedPart(each, {
      source: undefined as unknown as Source,
      firstRow,
      offset: 0,
      tracks: numbers[i]!,
      firstTrack: 0,
      shape: NO_SHAPE,
      parents: () => new Map(),
    });
    firstRow += each.facts.rows;
    return part;
  });
  return joinParents(parts).map((pairs) => Int32Array.from([...pairs].flat()));
}

/** Lanes of each track that rows have taken. */
export function laneCountsOf(
  tracks: readonly PartTrack[],
  lanes: ReadonlyMap<number, Lanes>,
): number[] {
  return tracks.map((_, track) => lanes.get(track)?.count ?? 0);
}

/** Makes the pyramid of a part; `numbers` are those of its tracks within the source. */
export function pyramidOf(
  { track, ...columns }: PyramidRows,
  numbers: Uint32Array,
): Pyramid | undefined {
  const isSame = numbers.every((number, i) => number === i);
  const ofSource = isSame ? track : track.map((number) => numbers[number]!);
  return buildPyramid({ ...columns, track: ofSource });
}

/** A part for `dealLanes`, whose columns are read when it needs them. */
export function lanePart(
  { facts }: StoredPart,
  tracks: Uint32Array,
  columns: LanePart['columns'],
): LanePart {
  return { count: facts.rows, firstStart: facts.firstStart, tracks, columns };
}

/** Numbers the tracks of a source, and deals its rows to lanes. */
export function joinSource(stored: readonly StoredPart[]): SourceJoins {
  const known = new TrackNumbers();
  const numbers = stored.map(({ facts }) => known.of(facts.tracks));
  const ofTracks = new Map<number, Lanes>();
  const shapes = dealShapes(stored, numbers, ofTracks);
  const { tracks } = known;
  return { tracks, laneCounts: laneCountsOf(tracks, ofTracks), shapes };
}

/**
 * Gives the rows of parts to lanes, and makes their pyramids.
 *
 * @param numbers of their tracks within the source.
 * @param lanes by number of the track: what is taken already.
 */
export function dealShapes(
  stored: readonly StoredPart[],
  numbers: readonly Uint32Array[],
  lanes: Map<number, Lanes>,
): PartShape[] {
  const shapes: PartShape[] = [];
  const rows = stored.map((part, i) =>
    lanePart(part, numbers[i]!, () => ({
      start: part.column('start'),
      duration: part.column('duration'),
      track: part.column('track'),
      parent: part.column('parent'),
      flags: part.column('flags'),
      lane: new Uint16Array(part.facts.rows),
    })),
  );
  for (const laned of dealLanes(rows, lanes)) {
    const pyramid = pyramidOf(laned, numbers[laned.number]!);
    shapes[laned.number] = { lanes: laned.lane, pyramid };
  }
  return shapes;
}
