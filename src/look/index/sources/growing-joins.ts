import type { StoredPart } from '../parts/indexed-part.js';
import type { PartShape } from '../parts/pyramid.js';
import { Lanes } from './lanes.js';
import { TrackNumbers, laneCountsOf, dealShapes } from './source-joins.js';
import type { SourceJoins } from './source-joins.js';

/** A part whose rows have their lanes. */
interface LanedPart {
  part: StoredPart;
  /** Of its tracks within the source. */
  numbers: Uint32Array;
  shape: PartShape;
  /** Lanes of each track that this part and all before it take, if that is known. */
  taken: Map<number, Lanes> | undefined;
}

/**
 * The joins of a source that grows. Rows that have a lane keep it: the work is that of the parts that are
 * new. So a row may lie above one that began before it and ended later, if they are of different parts.
 */
export class GrowingJoins {
  #laned: LanedPart[] = [];
  #tracks = new TrackNumbers();

  /**
   * @param parts those of the last call without some first and some last ones, and new ones after them.
   * @param stored the joins of the first parts, or of all.
   */
  join(parts: readonly StoredPart[], stored: SourceJoins | undefined): SourceJoins {
    this.#keep(parts);
    if (stored !== undefined) this.#takeStored(parts, stored);
    const taken = this.#takenByLaned();
    const fresh = parts.slice(this.#laned.length);
    const numbers = fresh.map(({ facts }) => this.#tracks.of(facts.tracks));
    const shapes = dealShapes(fresh, numbers, taken);
    const { tracks } = this.#tracks;
    const laneCounts = laneCountsOf(tracks, taken);
    for (const [i, part] of fresh.entries()) {
      const shape = part.storeShape?.(shapes[i]!, laneCounts) ?? shapes[i]!;
      this.#laned.push({ part, numbers: numbers[i]!, shape, taken: undefined });
    }
    const last = this.#laned.at(-1);
    if (last !== undefined) last.taken = taken;
    return { tracks: [...tracks], laneCounts, shapes: this.#laned.map(({ shape }) => shape) };
  }

  /** Keeps what is laned of parts that are still there. */
  #keep(parts: readonly StoredPart[]): void {
    const from = this.#laned.findIndex(({ part }) => part === parts[0]);
    const kept = from === -1 ? [] : this.#laned.slice(from);
    const changed = kept.findIndex(({ part }, i) => part !== parts[i]);
    this.#laned = changed === -1 ? kept : kept.slice(0, changed);
    if (this.#laned.length === 0) this.#tracks = new TrackNumbers();
  }

  #takeStored(parts: readonly StoredPart[], { tracks, shapes }: SourceJoins): void {
    if (this.#laned.length > 0) return;
    // In the order of the stored joins: pyramids contain these numbers.
    this.#tracks = new TrackNumbers(tracks);
    for (const [i, shape] of shapes.entries()) {
      const part = parts[i]!;
      const numbers = this.#tracks.of(part.facts.tracks);
      this.#laned.push({ part, numbers, shape, taken: undefined });
    }
  }

  /** A copy of what the laned parts have taken. */
  #takenByLaned(): Map<number, Lanes> {
    const from = this.#laned.findLastIndex(({ taken }) => taken !== undefined);
    const known = this.#laned[from]?.taken ?? new Map<number, Lanes>();
    const lanes = copyOf(known);
    const rest = this.#laned.slice(from + 1);
    if (rest.length === 0) return lanes;
    for (const laned of rest) takeLanes(lanes, laned);
    this.#laned.at(-1)!.taken = copyOf(lanes);
    return lanes;
  }
}

function copyOf(lanes: ReadonlyMap<number, Lanes>): Map<number, Lanes> {
  return new Map([...lanes].map(([track, each]) => [track, each.copy()]));
}

function takeLanes(lanes: Map<number, Lanes>, { part, numbers, shape }: LanedPart): void {
  const ofTracks = Array.from(numbers, (number) => {
    const known = lanes.get(number) ?? new Lanes();
    lanes.set(number, known);
    return known;
  });
  const start = part.column('start');
  const duration = part.column('duration');
  const track = part.column('track');
  const lane = shape.lanes;
  for (let row = 0; row < start.length; row++) {
    ofTracks[track[row]!]!.occupy(lane[row]!, start[row]! + duration[row]!);
  }
}
