import { lengthOf } from '../../core/typed-array.js';
import { COUNTER_BYTES } from '../layout.js';

/** The counters that the configuration names, read by the program's function. */
export class Counters {
  readonly labels: readonly string[];
  /** Readings at the start of the call that is recorded next; undefined: those at its end. */
  atStart: BigInt64Array | undefined;
  readonly #atEnd: BigInt64Array;
  readonly #read: (values: BigInt64Array) => void;
  /** The array that the program's function fills. The function may keep it, and even detach it. */
  #given: BigInt64Array;

  constructor(labels: readonly string[], read: (values: BigInt64Array) => void) {
    this.labels = labels;
    this.#read = read;
    this.#atEnd = new BigInt64Array(labels.length);
    this.#given = new BigInt64Array(labels.length);
  }

  /** Reads them into a new array. */
  take(): BigInt64Array {
    const values = new BigInt64Array(this.labels.length);
    this.#readInto(values);
    return values;
  }

  /** Reads them at the end of the call that is recorded next. The program's function runs here. */
  readAtEnd(): void {
    this.#readInto(this.#atEnd);
  }

  /** Writes the counters of a record. */
  write(view: DataView, at: number): void {
    const end = this.#atEnd;
    const start = this.atStart ?? end;
    view.setUint8(at, end.length);
    for (let i = 0; i < end.length; i++) {
      const offset = at + 1 + COUNTER_BYTES * i;
      view.setBigInt64(offset, start[i]!);
      view.setBigInt64(offset + COUNTER_BYTES / 2, end[i]!);
    }
  }

  #readInto(values: BigInt64Array): void {
    if (lengthOf.call(this.#given) === 0) this.#given = new BigInt64Array(this.labels.length);
    const given = this.#given;
    this.#read(given);
    for (let i = 0; i < values.length; i++) values[i] = given[i] ?? 0n;
  }
}
