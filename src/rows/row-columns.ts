type Integers = Uint8Array | Uint32Array | Int16Array | Int32Array;
export type Numbers = Integers | Float32Array | Float64Array;

/** A larger array of the same kind, which begins with these numbers. */
export function enlarged<T extends Numbers>(numbers: T, size = 2 * numbers.length): T {
  const larger = new (numbers.constructor as new (size: number) => T)(size);
  larger.set(numbers);
  return larger;
}

/** The same change of each column. */
export function eachColumn<T extends Record<keyof T, Numbers>>(
  columns: T,
  change: (column: Numbers) => Numbers,
): T {
  const changed = Object.entries<Numbers>(columns).map(([name, column]) => [name, change(column)]);
  return Object.fromEntries(changed) as T;
}

const FIRST_CAPACITY = 1 << 12;
/** As many as most rows have. */
const HASHES_OF_ROW = 4;

/** Rows as they are read, in columns that grow. Times are whole ns since a zero that the reader is given. */
export class RowColumns {
  count = 0;
  capacity = 0;
  /** Exact up to 2^53 ns from zero. Beyond, `startOf` and `durationOf` are. */
  start: Float64Array = new Float64Array(0);
  /** Never negative. */
  duration: Float64Array = new Float64Array(0);
  name: Uint32Array = new Uint32Array(0);
  route: Uint32Array = new Uint32Array(0);
  /** Number of the track within the part. */
  track: Uint32Array = new Uint32Array(0);
  trace: Uint32Array = new Uint32Array(0);
  flags: Uint8Array = new Uint8Array(0);
  /** Two u32 each. */
  spanId: Uint32Array = new Uint32Array(0);
  parentId: Uint32Array = new Uint32Array(0);
  /** Bytes from the batch's first record to the row's, or NO_RECORD. */
  recordOffset: Uint32Array = new Uint32Array(0);
  /** Where the row's hashes of attributes end in `hashes`. */
  hashEnd: Uint32Array = new Uint32Array(0);
  hashes = new Int32Array(FIRST_CAPACITY);
  hashCount = 0;
  /**
   * The rests of `start` and `duration` to the exact times: two for a row, of 64 bits
   * at most 2^11. Absent: nothing.
   */
  #rests: Int16Array | undefined;

  /** @param expected rows for which there is room at once. */
  constructor(expected = FIRST_CAPACITY) {
    this.#grow(Math.max(1, expected));
  }

  /** A new row. It has whatever is set: columns that are used again have rows of before. */
  add(): number {
    if (this.count === this.capacity) this.#grow(2 * this.capacity);
    return this.count++;
  }

  /** Sets exact times; an end before the start counts as the start. */
  setTimes(row: number, start: bigint, end: bigint): void {
    this.start[row] = this.#rounded(2 * row, start);
    this.duration[row] = end > start ? this.#rounded(2 * row + 1, end - start) : 0;
  }

  /** The exact start, in ns since zero. */
  startOf(row: number): bigint {
    return BigInt(this.start[row]!) + BigInt(this.#rests?.[2 * row] ?? 0);
  }

  durationOf(row: number): bigint {
    return BigInt(this.duration[row]!) + BigInt(this.#rests?.[2 * row + 1] ?? 0);
  }

  #rounded(at: number, exact: bigint): number {
    const nearest = Number(exact);
    if (!Number.isSafeInteger(nearest)) {
      this.#rests ??= new Int16Array(2 * this.capacity);
      this.#rests[at] = Number(exact - BigInt(nearest));
    }
    return nearest;
  }

  /** Forgets all rows, and makes room for as many as are expected. */
  clear(expected: number): void {
    this.count = 0;
    this.hashCount = 0;
    this.#rests = undefined;
    if (expected > this.capacity) this.#grow(expected);
    const hashes = HASHES_OF_ROW * expected;
    if (hashes > this.hashes.length) this.hashes = new Int32Array(hashes);
  }

  /** A hash of an attribute of the row that is added next. */
  addHash(hash: number): void {
    if (this.hashCount === this.hashes.length) this.hashes = enlarged(this.hashes);
    this.hashes[this.hashCount++] = hash;
  }

  #grow(capacity: number): void {
    this.start = enlarged(this.start, capacity);
    this.duration = enlarged(this.duration, capacity);
    this.name = enlarged(this.name, capacity);
    this.route = enlarged(this.route, capacity);
    this.track = enlarged(this.track, capacity);
    this.trace = enlarged(this.trace, capacity);
    this.flags = enlarged(this.flags, capacity);
    this.spanId = enlarged(this.spanId, 2 * capacity);
    this.parentId = enlarged(this.parentId, 2 * capacity);
    this.recordOffset = enlarged(this.recordOffset, capacity);
    this.hashEnd = enlarged(this.hashEnd, capacity);
    this.#rests &&= enlarged(this.#rests, 2 * capacity);
    this.capacity = capacity;
  }
}
