import { laneOfKey, type PartShape, type Pyramid, trackOfKey } from '../parts/pyramid.js';
import { ColumnFile, DamagedIndex, writeColumns } from './column-file.js';
import type { Column } from '../../wire/columns.js';

const PYRAMID_COLUMNS = [
  ['ends', 'u32'],
  ['bucket', 'f64'],
  ['key', 'u32'],
  ['count', 'u32'],
  ['failed', 'u32'],
  ['row', 'u32'],
  ['wide', 'u32'],
] as const;
/** A part has no pyramid. */
const NONE = -1;
const MOST_EXPONENT = 62;

export function writeShape(path: string, { lanes, pyramid }: PartShape): void {
  const columns: Record<string, Column> = { lanes };
  if (pyramid !== undefined) {
    for (const [name] of PYRAMID_COLUMNS) columns[name] = pyramid[name];
  }
  writeColumns(path, { first: pyramid?.first ?? NONE }, columns);
}

/** The shape of a part in a file. What is damaged is made anew. */
export class ShapeFile implements PartShape {
  readonly #file: ColumnFile;
  readonly #first: number;
  readonly #rows: number;
  readonly #laneCounts: readonly number[];
  readonly #rebuild: () => PartShape;

  /**
   * @param laneCounts lanes of each track of the source.
   * @throws DamagedIndex if the file is none of a part of so many rows.
   */
  constructor(path: string, rows: number, laneCounts: readonly number[], rebuild: () => PartShape) {
    this.#file = new ColumnFile(path);
    this.#rows = rows;
    this.#laneCounts = laneCounts;
    this.#rebuild = rebuild;
    const first = (this.#file.facts as { first?: unknown } | null)?.first;
    if (this.#file.lengthOf('lanes', 'u16') !== rows) throw new DamagedIndex(path);
    if (!Number.isInteger(first)) throw new DamagedIndex(path);
    this.#first = first as number;
    if (this.#first < NONE || this.#first > MOST_EXPONENT) throw new DamagedIndex(path);
    if (this.#first === NONE) return;
    for (const [name, type] of PYRAMID_COLUMNS) {
      if (this.#file.lengthOf(name, type) === -1) throw new DamagedIndex(path);
    }
  }

  close(): void {
    this.#file.close();
  }

  get lanes(): Uint16Array {
    const most = this.#laneCounts.reduce((largest, count) => Math.max(largest, count), 0);
    return this.#readOr(
      () => this.#file.column('lanes') as Uint16Array,
      (lanes) => lanes.every((lane) => lane < most),
      (shape) => shape.lanes,
    );
  }

  get pyramid(): Pyramid | undefined {
    if (this.#first === NONE) return undefined;
    return this.#readOr<Pyramid | undefined>(
      () => this.#readPyramid(),
      (pyramid) => isPlausible(pyramid!, this.#rows, this.#laneCounts),
      (shape) => shape.pyramid,
    );
  }

  #readOr<T>(read: () => T, isPlausible: (value: T) => boolean, other: (shape: PartShape) => T): T {
    try {
      const value = read();
      if (isPlausible(value)) return value;
    } catch (error) {
      if (!(error instanceof DamagedIndex)) throw error;
    }
    return other(this.#rebuild());
  }

  #readPyramid(): Pyramid {
    const file = this.#file;
    return {
      first: this.#first,
      ends: file.column('ends') as Uint32Array,
      bucket: file.column('bucket') as Float64Array,
      key: file.column('key') as Uint32Array,
      count: file.column('count') as Uint32Array,
      failed: file.column('failed') as Uint32Array,
      row: file.column('row') as Uint32Array,
      wide: file.column('wide') as Uint32Array,
    };
  }
}

/** Whether all numbers of a pyramid lie where its readers take them to lie. */
function isPlausible(
  { ends, bucket, key, count, failed, row, wide }: Pyramid,
  rows: number,
  laneCounts: readonly number[],
): boolean {
  const cells = bucket.length;
  return (
    ends.length > 0 &&
    ends.every((end, i) => end <= cells && (i === 0 || end >= ends[i - 1]!)) &&
    [key, count, failed, row].every(({ length }) => length === cells) &&
    bucket.every((value) => Number.isFinite(value)) &&
    key.every((value) => laneOfKey(value) < (laneCounts[trackOfKey(value)] ?? 0)) &&
    failed.every((value, cell) => value <= count[cell]!) &&
    row.every((value) => value < rows) &&
    wide.every((value) => value < rows)
  );
}
