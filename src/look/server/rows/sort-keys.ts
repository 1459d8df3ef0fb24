import { entryOf } from '../../../core/map-entries.js';
import { STATUSES } from '../../../spans/layout.js';
import { BLOCK_ROWS } from '../../index/parts/attribute-blocks.js';
import type { IndexPart } from '../../index/look-index.js';
import { STATUS_MASK, STATUS_SHIFT } from '../../index/look-index.js';
import type { Recording } from '../recording.js';

export const SORT_KEYS = ['start', 'duration', 'name', 'service', 'status'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** The keys of a part's rows: `values[at] + offset`, or the rank of `values[at]`. */
export interface KeyColumn {
  values: Float64Array | Uint32Array | Uint8Array;
  offset: number;
  ranks: Float64Array | undefined;
  /** No key of a block of rows is below or above. */
  boundsOf(block: number): readonly [number, number];
}

/** The least and the greatest duration of each block of rows. */
interface DurationBounds {
  least: Float64Array;
  most: Float64Array;
}

const durations = new WeakMap<IndexPart, DurationBounds>();

/** Looks at each row of a part once. */
export function boundDurations(part: IndexPart): DurationBounds {
  return entryOf(durations, part, () => readBounds(part.duration));
}

function readBounds(duration: Float64Array): DurationBounds {
  const blocks = Math.ceil(duration.length / BLOCK_ROWS);
  const bounds = { least: new Float64Array(blocks), most: new Float64Array(blocks) };
  for (let block = 0, row = 0; block < blocks; block++) {
    const end = Math.min(duration.length, row + BLOCK_ROWS);
    let least = Infinity;
    let most = -Infinity;
    for (; row < end; row++) {
      const value = duration[row]!;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    bounds.least[block] = least;
    bounds.most[block] = most;
  }
  return bounds;
}

/** Of ranks the bounds are the same in every block. */
function ranked(values: KeyColumn['values'], ranks: Float64Array): KeyColumn {
  const bounds = [
    ranks.reduce((least, rank) => Math.min(least, rank), Infinity),
    ranks.reduce((most, rank) => Math.max(most, rank), -Infinity),
  ] as const;
  return { values, offset: 0, ranks, boundsOf: () => bounds };
}

/** Keys of rows of a recording. Texts are compared once, so that their ranks are compared afterwards. */
export class SortKeys {
  readonly #recording: Recording;
  readonly #key: SortKey;
  #ranks: Map<string, number> | undefined;

  constructor(recording: Recording, key: SortKey) {
    this.#recording = recording;
    this.#key = key;
  }

  column(part: IndexPart): KeyColumn {
    switch (this.#key) {
      case 'start': {
        const { start, offset, count } = part;
        const boundsOf = (block: number): [number, number] => {
          const last = Math.min(count, (block + 1) * BLOCK_ROWS) - 1;
          return [start[block * BLOCK_ROWS]! + offset, start[last]! + offset];
        };
        return { values: start, offset, ranks: undefined, boundsOf };
      }
      case 'duration': {
        const boundsOf = (block: number): [number, number] => {
          const { least, most } = boundDurations(part);
          return [least[block]!, most[block]!];
        };
        return { values: part.duration, offset: 0, ranks: undefined, boundsOf };
      }
      case 'status': {
        const rankOf = (flags: number): number => (flags >> STATUS_SHIFT) & STATUS_MASK;
        const ranks = Float64Array.from({ length: 256 }, (_, flags) =>
          Math.min(rankOf(flags), STATUSES.length - 1),
        );
        return ranked(part.flags, ranks);
      }
      case 'name':
        return ranked(part.name, this.#ranksOf(part));
      case 'service': {
        const ranks = new Float64Array(256).fill(this.#ranksOf(part)[0]!);
        return ranked(part.flags, ranks);
      }
    }
  }

  /** The rank of each text of a part among all texts in alphabetical order. */
  #ranksOf(part: IndexPart): Float64Array {
    this.#ranks ??= this.#allRanks();
    return Float64Array.from(this.#textsOf(part), (text) => this.#ranks!.get(text)!);
  }

  #allRanks(): Map<string, number> {
    const all = new Set<string>();
    for (const part of this.#recording.index.parts) {
      for (const text of this.#textsOf(part)) all.add(text);
    }
    return new Map([...all].sort().map((text, rank) => [text, rank]));
  }

  #textsOf({ names, source }: IndexPart): string[] {
    if (this.#key === 'service') return [source.service ?? source.path];
    return Array.from({ length: names.count }, (_, number) => names.text(number));
  }
}
