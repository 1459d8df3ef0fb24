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
      case 'start':
        return { values: part.start, offset: part.offset, ranks: undefined };
      case 'duration':
        return { values: part.duration, offset: 0, ranks: undefined };
      case 'status': {
        const ranks = Float64Array.from(
          { length: 256 },
          (_, flags) => (flags >> STATUS_SHIFT) & STATUS_MASK,
        );
        return { values: part.flags, offset: 0, ranks };
      }
      case 'name':
        return { values: part.name, offset: 0, ranks: this.#ranksOf(part) };
      case 'service': {
        const ranks = new Float64Array(256).fill(this.#ranksOf(part)[0]!);
        return { values: part.flags, offset: 0, ranks };
      }
    }
  }

  /** The place of each text of a part among all texts in alphabetical order. */
  #ranksOf(part: IndexPart): Float64Array {
    this.#ranks ??= this.#allRanks();
    return Float64Array.from(this.#textsOf(part), (text) => this.#ranks!.get(text)!);
  }

  #allRanks(): Map<string, number> {
    const all = new Set<string>();
    for (const part of this.#recording.index.parts) {
      for (const text of this.#textsOf(part)) all.add(text);
    }
    return new Map([...all].sort().map((text, place) => [text, place]));
  }

  #textsOf({ names, source }: IndexPart): string[] {
    if (this.#key === 'service') return [source.service ?? source.path];
    return Array.from({ length: names.count }, (_, number) => names.text(number));
  }
}
