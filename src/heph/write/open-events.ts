import { ownOptions } from '../../core/options/argument.js';
import { whole } from '../../core/settings/kinds.js';
import { valueOf } from '../../core/settings/value-of.js';
import { MOST_SLOTS, slotBytes } from '../../core/ring/open-records.js';
import type { OpenRecordOptions } from '../../core/ring/open-records.js';
import { STREAM_OFFSET } from '../layout.js';

/** How many spans of a thread are kept while they are open, and how much of each. */
export interface OpenSpanOptions {
  /**
   * Most spans of a thread that are kept while they are open, 0 to 65,536. Default 8,192, or
   * `TRACEWRIGHT_OPEN_SPANS`. A thread has memory for 1,024 of them at first, and doubles it as they need it. More
   * of them are counted, and lost if the process dies.
   */
  count?: number;
  /**
   * Bytes that are kept of each, 128 to 65,536; a longer span is cut. Default 496, or
   * `TRACEWRIGHT_OPEN_SPAN_BYTES`.
   */
  bytes?: number;
}

/** Slots for what the writer itself notes of the table, see loss-note.ts in src/spans. */
const NOTES = 1;
/** Slots for what spans begin with, in tables of at least so many. */
const COPIED = 128;
const FIRST_COUNT = 1024;
const DEFAULT_COUNT = 8 * FIRST_COUNT;

/** A table of open events, by options and variables. */
export class OpenEventTable {
  readonly #given: OpenSpanOptions;
  /** Undefined: nobody has set it. */
  readonly #count: number | undefined;
  readonly #longest: number;

  /** @throws TracewrightError that names the option and its range. */
  constructor(given: OpenSpanOptions = {}) {
    this.#given = ownOptions(given, ['count', 'bytes'], 'openSpans');
    this.#count = valueOf('OPEN_SPANS', this.#given.count);
    this.#longest = valueOf('OPEN_SPAN_BYTES', this.#given.bytes);
  }

  /** Bytes for which a ring has room: of a count that was set, or of the first slots. */
  get bytes(): number {
    return ((this.#count ?? FIRST_COUNT) + NOTES) * slotBytes(this.#longest);
  }

  /**
   * The table of a ring; undefined for none. The default count becomes less in a small ring: it takes no more than
   * twice its bytes, so that all that is open fits one piece of a trace.
   *
   * @throws TracewrightError when the count was set and the table is larger than the ring.
   */
  recordsIn(ringBytes: number): OpenRecordOptions | undefined {
    const each = slotBytes(this.#longest);
    const most = Math.floor(ringBytes / each) - NOTES;
    const kind = whole(
      0,
      Math.max(most, 0),
      `: ${each} bytes each, in no more than the ring's ${ringBytes}`,
    );
    const count = valueOf('OPEN_SPANS', this.#given.count, kind) ?? DEFAULT_COUNT;
    const slots = Math.min(count, FIRST_COUNT, most);
    if (slots <= 0) return undefined;
    const largest = Math.min(count, 2 * most);
    const copied = slots === FIRST_COUNT && slots + COPIED <= most ? COPIED : 0;
    return {
      places: slots + NOTES + copied,
      most: Math.min(largest + NOTES + copied, MOST_SLOTS, 2 * (most + NOTES)),
      copied,
      longest: this.#longest,
      numberAt: STREAM_OFFSET,
    };
  }
}
