/** Lanes that remember where they end; beyond these each interval gets a lane of its own. */
const MAX_LANES = 4096;
/** Slices that a nesting lane remembers; the oldest are forgotten. */
const REMEMBERED = 64;
/** Nesting lanes that are tried for a slice. */
const MAX_TRIED = 256;

interface Lane {
  end: number;
  track: number;
}

/**
 * Deals intervals that come in the order of their ends onto as few tracks as possible: each goes to the
 * lane that became free last before it begins.
 */
export class Lanes {
  readonly #newTrack: () => number;
  /** By their ends. */
  readonly #lanes: Lane[] = [];

  constructor(newTrack: () => number) {
    this.#newTrack = newTrack;
  }

  /** The track of an interval, which no other of its track overlaps. */
  take(start: number, end: number): number {
    const lanes = this.#lanes;
    const at = this.#after(start) - 1;
    let lane = lanes[at];
    if (lane === undefined) {
      lane = { end, track: this.#newTrack() };
      if (lanes.length >= MAX_LANES) return lane.track;
    } else {
      lanes.splice(at, 1);
      lane.end = end;
    }
    lanes.splice(this.#after(end), 0, lane);
    return lane.track;
  }

  /** The number of the first lane that ends after a time. */
  #after(time: number): number {
    const lanes = this.#lanes;
    let low = 0;
    let high = lanes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (lanes[middle]!.end <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Slice {
  start: number;
  end: number;
  owner: bigint | undefined;
}

/** A track whose slices lie within each other or apart. */
class NestingLane {
  readonly track: number;
  /** Slices that lie in no other one, by time. */
  readonly #slices: Slice[] = [];
  /** No slice that is not remembered ends after this. */
  #floor = -Infinity;

  constructor(track: number) {
    this.track = track;
  }

  /** Adds the slice if it contains the last ones, or follows them, and says whether it did. */
  add(start: number, end: number, owner: bigint | undefined): boolean {
    const slices = this.#slices;
    let from = slices.length;
    // One that begins at the same time would have to be written before the slices in it.
    while (from > 0 && slices[from - 1]!.start > start && slices[from - 1]!.end <= end) {
      if (slices[--from]!.owner !== owner) return false;
    }
    if ((slices[from - 1]?.end ?? this.#floor) > start) return false;
    slices.length = from;
    slices.push({ start, end, owner });
    if (slices.length > REMEMBERED) this.#floor = slices.shift()!.end;
    return true;
  }
}

/**
 * Deals slices onto tracks where they nest. Meant for slices that are written when they end: a
 * slice can contain earlier ones, and viewers sort by time.
 */
export class NestingLanes {
  readonly #newTrack: () => number;
  readonly #lanes: NestingLane[] = [];

  constructor(newTrack: () => number) {
    this.#newTrack = newTrack;
  }

  /** @param owner slices of different ones do not contain each other. */
  take(start: number, end: number, owner?: bigint): number {
    for (const lane of this.#lanes) if (lane.add(start, end, owner)) return lane.track;
    const lane = new NestingLane(this.#newTrack());
    lane.add(start, end, owner);
    if (this.#lanes.length < MAX_TRIED) this.#lanes.push(lane);
    return lane.track;
  }
}
