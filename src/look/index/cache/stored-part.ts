import { rmSync } from 'node:fs';
import { NO_SYSTEM } from '../../../rows/byte-table.js';
import { MISSING_PARENT, NO_TEXT, NO_TRACE } from '../look-index.js';
import { BLOCK_ROWS } from '../parts/attribute-blocks.js';
import { buildStretch, type Stretch } from '../parts/build-stretch.js';
import type { StoredPart } from '../parts/indexed-part.js';
import type { BuiltPart, ColumnName, PartColumns, PartFacts } from '../parts/part-columns.js';
import type { PartShape } from '../parts/pyramid.js';
import { joinSource } from '../sources/source-joins.js';
import { aligned } from '../../wire/columns.js';
import type { Column } from '../../wire/columns.js';
import { newMemory } from '../../../core/large-memory.js';
import { ColumnFile, DamagedIndex, writeColumns } from './column-file.js';
import { HAS_PART_THREADS, PartThread } from './part-thread.js';
import { ShapeFile, writeShape } from './stored-shape.js';

/** The type of each column, and how many elements it has for a row; 0: it has a length of its own. */
const COLUMNS: Record<ColumnName, readonly ['f64' | 'u32' | 'i32' | 'u8', number]> = {
  start: ['f64', 1],
  duration: ['f64', 1],
  name: ['u32', 1],
  route: ['u32', 1],
  track: ['u32', 1],
  trace: ['u32', 1],
  parent: ['i32', 1],
  flags: ['u8', 1],
  spanId: ['u32', 2],
  recordOffset: ['u32', 1],
  nameBytes: ['u8', 0],
  nameEnds: ['u32', 0],
  nameSystems: ['u32', 0],
  traceIds: ['u32', 0],
  missing: ['u32', 0],
  filterBits: ['u8', 0],
  filterEnds: ['u32', 0],
  blockEnds: ['f64', 0],
};

export function writePart(path: string, { facts, columns }: BuiltPart): void {
  writeColumns(path, facts, columns as unknown as Record<string, Column>);
}

/** To read and check fewer takes less than to have a thread do it. */
const MANY_ROWS = 1 << 16;

/** Reads columns while others are used: to check them takes as long as what they are read for. */
let readingThread: PartThread | undefined;

/** A part in a file. A column that is damaged is made anew from the trace, with all others. */
export class PartFile implements StoredPart {
  readonly facts: PartFacts;
  readonly stretch: Stretch;
  readonly isStored = true;
  protected readonly path: string;
  readonly #file: ColumnFile;
  /** Columns that the thread has read, and nobody has asked for yet. */
  readonly #loaded = new Map<ColumnName, Column>();
  #rebuilt: BuiltPart | undefined;

  /**
   * @param expected what the index says of the part.
   * @param stretch from which a damaged column is made anew.
   * @throws DamagedIndex if the file does not say the same.
   */
  constructor(path: string, expected: PartFacts, stretch: Stretch) {
    this.path = path;
    this.#file = new ColumnFile(path);
    this.stretch = stretch;
    this.facts = expected;
    if (JSON.stringify(this.#file.facts) !== JSON.stringify(expected)) throw new DamagedIndex(path);
    const blocks = Math.ceil(expected.rows / BLOCK_ROWS);
    for (const [name, [type, each]] of Object.entries(COLUMNS)) {
      const length = this.#file.lengthOf(name, type);
      if (length === -1 || (each > 0 && length !== each * expected.rows)) {
        throw new DamagedIndex(path);
      }
    }
    const isBlock = (name: ColumnName): boolean =>
      this.#file.lengthOf(name, COLUMNS[name][0]) === blocks;
    if (!isBlock('filterEnds') || !isBlock('blockEnds')) throw new DamagedIndex(path);
  }

  column<Name extends ColumnName>(name: Name, memory?: Uint8Array<ArrayBuffer>): PartColumns[Name] {
    const loaded = this.#loaded.get(name);
    this.#loaded.delete(name);
    if (loaded !== undefined) return loaded as PartColumns[Name];
    if (this.#rebuilt === undefined) {
      try {
        const column = this.#file.column(name, memory) as PartColumns[Name];
        if (this.#isPlausible(name, column)) return column;
      } catch (error) {
        if (!(error instanceof DamagedIndex)) throw error;
      }
      this.#rebuilt = buildStretch(this.stretch);
    }
    return this.#rebuilt.columns[name].slice() as PartColumns[Name];
  }

  /** Several columns, in one memory. */
  columns(names: readonly ColumnName[]): Column[] {
    const sizes = names.map((name) => aligned(this.#file.bytesOf(name)));
    const memory = newMemory(sizes.reduce((sum, size) => sum + size, 0));
    let end = 0;
    return names.map((name, at) => this.column(name, memory.subarray(end, (end += sizes[at]!))));
  }

  async load(names: readonly ColumnName[]): Promise<void> {
    const { path, facts, stretch } = this;
    if (!HAS_PART_THREADS || facts.rows < MANY_ROWS || names.length === 0) return;
    try {
      readingThread ??= new PartThread();
      const columns = await readingThread.read({ path, facts, stretch, names });
      for (const [at, name] of names.entries()) this.#loaded.set(name, columns[at]!);
    } catch {
      // They are read when they are asked for.
    }
  }

  forget(): void {
    this.#loaded.clear();
  }

  close(): void {
    this.#file.close();
  }

  /** Reads a column into memory, unchecked: of a part that this process has just written. */
  copyColumn(name: ColumnName, to: Column): void {
    this.#file.copyColumn(name, to);
  }

  /** Whether all numbers of a column lie where its readers take them to lie. */
  #isPlausible(name: ColumnName, column: Column): boolean {
    const lengthOf = (other: ColumnName): number => this.#file.lengthOf(other, COLUMNS[other][0]);
    switch (name) {
      case 'start':
        return isAscending(column, -Infinity, Infinity);
      case 'duration':
        return areDurations(column as Float64Array);
      case 'name':
        return isBelow(column, lengthOf('nameEnds'));
      case 'route':
        return isBelow(column, lengthOf('nameEnds'), NO_TEXT);
      case 'track':
        return isBelow(column, this.facts.tracks.length);
      case 'trace':
        return isBelow(column, lengthOf('traceIds') / 4, NO_TRACE);
      case 'parent':
        return areParents(column as Int32Array, this.facts.rows);
      case 'recordOffset':
        return isBelow(column, Math.max(1, this.facts.to - this.facts.from));
      case 'nameEnds':
        return isAscending(column, 0, lengthOf('nameBytes'));
      case 'nameSystems':
        return column.length === lengthOf('nameEnds') && isBelow(column, column.length, NO_SYSTEM);
      case 'filterEnds':
        return isAscending(column, 0, lengthOf('filterBits'));
      case 'missing':
        return (
          column.length % 3 === 0 && column.every((row, at) => at % 3 > 0 || row < this.facts.rows)
        );
      default:
        return true;
    }
  }
}

// By number, and one function a type: iterators, and functions of many types, cost several times as much.

/** @param except an u32 that is allowed beyond the limit. */
function isBelow(column: Column, limit: number, except = -1): boolean {
  const isLast = except === -1 || except === 0xffff_ffff;
  if (column instanceof Uint32Array && isLast && limit <= 0x7fff_ffff) {
    return areBelow(column, limit, except === -1 ? 0 : -1);
  }
  for (let at = 0; at < column.length; at++) {
    const value = column[at]!;
    if (value >= limit && value !== except) return false;
  }
  return true;
}

/** Signed, an u32 of all bits is -1. Comparisons of signed numbers take half the time. */
function areBelow(
  { buffer, byteOffset, length }: Uint32Array,
  limit: number,
  least: number,
): boolean {
  const signed = new Int32Array(buffer, byteOffset, length);
  for (let at = 0; at < length; at++) {
    const value = signed[at]!;
    if (value >= limit || value < least) return false;
  }
  return true;
}

function areDurations(column: Float64Array): boolean {
  for (let at = 0; at < column.length; at++) if (!(column[at]! >= 0)) return false;
  return true;
}

function areParents(column: Int32Array, rows: number): boolean {
  for (let at = 0; at < column.length; at++) {
    const row = column[at]!;
    if (row < MISSING_PARENT || row >= rows) return false;
  }
  return true;
}

function isAscending(column: Column, least: number, most: number): boolean {
  let before = least;
  for (let at = 0; at < column.length; at++) {
    const value = column[at]!;
    if (!(value >= before && value <= most)) return false;
    before = value;
  }
  return true;
}

/** A part of a trace that grows, in a file that only this process knows. */
export class LivePart extends PartFile {
  /** Puts the part's shape next to it, out of memory. */
  storeShape(shape: PartShape, laneCounts: readonly number[]): PartShape {
    const path = `${this.path}-shape`;
    rmSync(path, { force: true });
    writeShape(path, shape);
    // A pyramid contains numbers of tracks that a part alone does not know: without one it is slower.
    const again = (): PartShape => ({
      lanes: joinSource([this]).shapes[0]!.lanes,
      pyramid: undefined,
    });
    return new ShapeFile(path, this.facts.rows, laneCounts, again);
  }

  remove(): void {
    this.close();
    for (const path of [this.path, `${this.path}-shape`]) rmSync(path, { force: true });
  }
}
