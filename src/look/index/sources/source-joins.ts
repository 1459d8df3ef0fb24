import { IndexedPart } from '../parts/indexed-part.js';
import type { StoredPart } from '../parts/indexed-part.js';
import { joinParents } from './join-parents.js';
import type { Lanes } from './lanes.js';
import type { Source } from '../look-index.js';
import type { PartTrack } from '../scan/read-rows.js';
import { buildPyramid } from '../parts/pyramid.js';
import type { Pyramid } from '../parts/pyramid.js';
import { placeLanes } from './place-lanes.js';

/** What is known of a source's parts only when all of them are. */
export interface SourceJoins {
  tracks: PartTrack[];
  /** Lanes of each track. */
  laneCounts: number[];
  /** The lane of each row of a part. */
  lanes(part: number): Uint16Array;
  /** What a part looks like from afar; undefined: it is small. */
  pyramid(part: number): Pyramid | undefined;
  /** Rows of a part whose parents lie in other parts: pairs of the row and the parent's row in the source. */
  parents(part: number): Int32Array;
}

/** Numbers the tracks of parts; the same track of two parts has one number. */
export class TrackNumbers {
  readonly tracks: PartTrack[] = [];
  readonly #known = new Map<string, number>();

  /** The numbers of a part's tracks. */
  of(tracks: readonly PartTrack[]): Uint32Array {
    return Uint32Array.from(tracks, (track) => {
      const key = `${track.kind} ${track.thread} ${track.name}`;
      const known = this.#known.get(key);
      if (known !== undefined) return known;
      this.#known.set(key, this.tracks.length);
      return this.tracks.push(track) - 1;
    });
  }
}

/** Joins the parents of a source, and gives its rows to lanes. */
export function joinSource(stored: readonly StoredPart[]): SourceJoins {
  const numbers = new TrackNumbers();
  let firstRow = 0;
  const parts = stored.map((each) => {
    const part = new IndexedPart(each, {
      source: undefined as unknown as Source,
      firstRow,
      offset: 0,
      tracks: numbers.of(each.facts.tracks),
      firstTrack: 0,
      lanes: () => new Uint16Array(0),
      pyramid: () => undefined,
      parents: () => new Map(),
    });
    firstRow += each.facts.rows;
    return part;
  });
  const parents = joinParents(parts).map((pairs) => Int32Array.from([...pairs].flat()));
  const ofTracks = new Map<number, Lanes>();
  const lanes = placeLanes(parts, ofTracks);
  const pyramids = parts.map(({ start, duration, track }, i) =>
    buildPyramid({ start, duration, track, lane: lanes[i]! }),
  );
  return {
    tracks: numbers.tracks,
    laneCounts: numbers.tracks.map((_, track) => ofTracks.get(track)?.count ?? 0),
    lanes: (part) => lanes[part]!,
    pyramid: (part) => pyramids[part],
    parents: (part) => parents[part]!,
  };
}
