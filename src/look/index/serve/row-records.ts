import { TracewrightError } from '../../../core/errors.js';
import type { AttributeReader } from '../../../rows/row-batch.js';
import { NO_RECORD } from '../../../rows/row-flags.js';
import type { RecordedValue } from '../../../spans/span-record.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import { NO, UNCERTAIN } from './attribute-match.js';
import type { Verdict } from './attribute-match.js';
import type { PartRecords } from './find-rows.js';

/** The attributes of a part's rows, read from their records. */
export class RowRecords implements PartRecords {
  readonly #part: IndexedPart;
  #reader: AttributeReader | undefined;

  constructor(part: IndexedPart) {
    this.#part = part;
  }

  meets(row: number): Verdict {
    return this.#part.place[row] === NO_RECORD ? NO : UNCERTAIN;
  }

  /** None of a row without them, and of one whose record cannot be read any more. */
  attributes(row: number): Record<string, RecordedValue> {
    const { place, stored } = this.#part;
    if (place[row] === NO_RECORD) return {};
    try {
      this.#reader ??= stored.openAttributes!();
      return this.#reader.at(stored.facts.from + place[row]!).attributes as Record<
        string,
        RecordedValue
      >;
    } catch (error) {
      if (!(error instanceof TracewrightError)) throw error;
      return {};
    }
  }

  close(): void {
    this.#reader?.close();
  }
}
