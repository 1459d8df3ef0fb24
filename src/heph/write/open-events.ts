import { integerIn, ownOptions } from '../../core/options/argument.js';
import { numberSetting } from '../../core/options/setting.js';
import type { Setting } from '../../core/options/setting.js';
import { outOfRange } from '../../core/errors.js';
import { LONGEST_RECORD, MOST_SLOTS, slotBytes } from '../../core/ring/open-records.js';
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
const FIRST_COUNT = 1024;
const DEFAULT_COUNT = 8 * FIRST_COUNT;
const DEFAULT_BYTES = 496;
const LEAST_BYTES = 128;

/** A table of open events, by options and variables. */
export class OpenEventTable {
  readonly #count: Setting;
  readonly #slots: number;
  readonly #longest: number;

  /** @throws TracewrightError that names the option, or the variable, and its range. */
  constructor(given: OpenSpanOptions = {}) {
    const own = ownOptions(given, ['count', 'bytes'], 'openSpans');
    this.#count = numberSetting('openSpans.count', own.count, 'TRACEWRIGHT_OPEN_SPANS', undefined);
    const bytes = numberSetting(
      'openSpans.bytes',
      own.bytes,
      'TRACEWRIGHT_OPEN_SPAN_BYTES',
      DEFAULT_BYTES,
    );
    const { field, value = DEFAULT_COUNT } = this.#count;
    this.#slots = integerIn(field, value, 0, MOST_SLOTS - NOTES);
    this.#longest = integerIn(bytes.field, bytes.value, LEAST_BYTES, LONGEST_RECORD);
  }

  /** Bytes for which a ring has room: of a count that was set, or of the first slots. */
  get bytes(): number {
    const slots = this.#count.value === undefined ? FIRST_COUNT : this.#slots;
    return (slots + NOTES) * slotBytes(this.#longest);
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
    const { field, value } = this.#count;
    if (this.#slots > most && value !== undefined) {
      throw outOfRange(
        field,
        value,
        `at most ${most}: ${each} bytes each, in no more than the ring's ${ringBytes}`,
      );
    }
    const slots = Math.min(this.#slots, FIRST_COUNT, most);
    if (slots <= 0) return undefined;
    const largest = Math.min(this.#slots, 2 * most);
    return {
      places: slots + NOTES,
      most: largest + NOTES,
      longest: this.#longest,
      numberAt: STREAM_OFFSET,
    };
  }
}
