import { newMemory } from '../../../core/large-memory.js';
import { hexWords } from '../../../core/words-text.js';
import type { AttributeReader } from '../../../rows/row-batch.js';
import type { IndexPart, Source, StoredColumn, TextTable } from '../look-index.js';
import { MISSING_PARENT, NO_PARENT } from '../look-index.js';
import { MISSING_WORDS } from './part-columns.js';
import type { ColumnName, PartColumns, PartFacts } from './part-columns.js';
import { type PartShape, type Pyramid, pyramidTimes, type PyramidTimes } from './pyramid.js';
import type { Stretch } from './build-stretch.js';
import { NO_SYSTEM } from '../../../rows/byte-table.js';

/** Texts that lie in one array of bytes, and are decoded when they are asked for. */
class TextBytes implements TextTable {
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #ends: Uint32Array;
  readonly #systems: Uint32Array;
  /** Decoded texts. A page asks for the same few again and again. */
  readonly #known = new Map<number, string>();

  constructor(bytes: Uint8Array, ends: Uint32Array, systems: Uint32Array) {
    this.#systems = systems;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#ends = ends;
    this.count = ends.length;
  }

  text(number: number): string {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const end = this.#ends[number];
    if (end === undefined) return '';
    const text = this.#bytes.toString('utf8', number === 0 ? 0 : this.#ends[number - 1]!, end);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(number, text);
    return text;
  }

  system(number: number): string | undefined {
    const system = this.#systems[number] ?? NO_SYSTEM;
    return system === NO_SYSTEM ? undefined : this.text(system);
  }
}

const MAX_KNOWN = 1 << 16;

const TRACE_WORDS = 4;
/** Parts of a growing trace with fewer rows are made anew when it has grown. */
export const SETTLED_ROWS = 1 << 18;

/** A part as it is stored: its columns are read when they are first used. */
export interface StoredPart {
  facts: PartFacts;
  /** Of a part that can be built again: from what. */
  stretch?: Stretch;
  /** Whether it lies in a file: what is in memory of it can be read again. */
  isStored?: boolean;
  /** Puts its shape into a file, out of memory. */
  storeShape?(shape: PartShape, laneCounts: readonly number[]): PartShape;
  /** Of a part in a file, in memory that is the caller's own. */
  column<Name extends ColumnName>(name: Name): PartColumns[Name];
  /** Reads columns in the background, for `column`. Absent: they are in memory. */
  load?(names: readonly ColumnName[]): Promise<void>;
  /** Frees columns that were read in the background, and nobody has asked for. */
  forget?(): void;
  /** Opens the file with its records, if its rows are of a format that reads them one by one. */
  openAttributes?(): AttributeReader;
  /** Closes the file in which it lies. */
  close?(): void;
}

/** Facts of a part that are known once all parts are. */
export interface PartPosition {
  source: Source;
  firstRow: number;
  offset: number;
  /** Numbers of its tracks within the source, and of the source's first track among all. */
  tracks: Uint32Array;
  firstTrack: number;
  shape: PartShape;
  /** Rows whose parents lie in other parts: row of the part, and the parent's row among all. */
  parents(): ReadonlyMap<number, number>;
}

/** A part of the index. */
export class IndexedPart implements IndexPart {
  readonly stored: StoredPart;
  #position: PartPosition;
  readonly #known = new Map<string, unknown>();
  /** Grows with each use, over all parts: what was not used for long is released first. */
  used = 0;

  constructor(stored: StoredPart, position: PartPosition) {
    this.stored = stored;
    this.#position = position;
  }

  get source(): Source {
    return this.#position.source;
  }
  get firstRow(): number {
    return this.#position.firstRow;
  }
  get count(): number {
    return this.stored.facts.rows;
  }
  get offset(): number {
    return this.#position.offset;
  }
  get start(): Float64Array {
    return this.#stored('start');
  }
  get duration(): Float64Array {
    return this.#stored('duration');
  }
  get name(): Uint32Array {
    return this.#stored('name');
  }
  get route(): Uint32Array {
    return this.#stored('route');
  }
  get trace(): Uint32Array {
    return this.#stored('trace');
  }
  get flags(): Uint8Array {
    return this.#stored('flags');
  }
  get spanId(): Uint32Array {
    return this.#stored('spanId');
  }
  get recordOffset(): Uint32Array {
    return this.#stored('recordOffset');
  }
  get filters(): { bits: Uint8Array; ends: Uint32Array } {
    return { bits: this.#stored('filterBits'), ends: this.#stored('filterEnds') };
  }
  get blockEnds(): Float64Array {
    return this.#stored('blockEnds');
  }
  get missing(): Uint32Array {
    return this.stored.column('missing');
  }
  get names(): TextTable {
    return this.#once(
      'names',
      () =>
        new TextBytes(
          this.stored.column('nameBytes'),
          this.stored.column('nameEnds'),
          this.stored.column('nameSystems'),
        ),
    );
  }
  get traceIds(): Uint32Array {
    return this.#stored('traceIds');
  }
  get traceCount(): number {
    return this.traceIds.length / TRACE_WORDS;
  }
  get lane(): Uint16Array {
    return this.#once('lane', () => this.#position.shape.lanes);
  }
  get track(): Uint32Array {
    return this.#once('track', () => {
      const { tracks, firstTrack } = this.#position;
      if (this.#hasOneTrack) {
        const { buffer } = newMemory(this.count * Uint32Array.BYTES_PER_ELEMENT);
        return new Uint32Array(buffer).fill(tracks[0]! + firstTrack);
      }
      const own = this.stored.column('track');
      if (tracks.every((track, i) => track + firstTrack === i)) return own;
      const numbers = this.stored.isStored === true ? own : new Uint32Array(own.length);
      for (let row = 0; row < own.length; row++) numbers[row] = tracks[own[row]!]! + firstTrack;
      return numbers;
    });
  }
  /** To fill its column takes less than to read it. */
  get #hasOneTrack(): boolean {
    return this.stored.isStored === true && this.#position.tracks.length === 1;
  }
  get firstTrack(): number {
    return this.#position.firstTrack;
  }
  get firstStart(): number {
    return this.stored.facts.firstStart;
  }
  get lastEnd(): number {
    return this.stored.facts.lastEnd;
  }
  get pyramid(): Pyramid | undefined {
    // There may be none, which is known then, too.
    return this.#once('pyramid', () => ({ of: this.#position.shape.pyramid })).of;
  }
  get pyramidTimes(): PyramidTimes {
    return this.#once('pyramidTimes', () => pyramidTimes(this.pyramid!, this, this.firstTrack));
  }
  get parent(): Int32Array {
    return this.#once('parent', () => {
      const { firstRow } = this;
      const own = this.stored.column('parent');
      const parents = this.stored.isStored === true ? own : new Int32Array(own.length);
      for (let row = 0; row < own.length; row++) {
        const parent = own[row]!;
        parents[row] = parent > NO_PARENT ? parent + firstRow : parent;
      }
      for (const [row, parent] of this.#position.parents()) parents[row] = parent;
      return parents;
    });
  }

  get missingParents(): Uint32Array {
    return this.#once('missingParents', () => {
      const { missing, stored } = this;
      const own = stored.facts.hasCycles
        ? rowsWith(stored.column('parent'), MISSING_PARENT)
        : rowsOfMissing(missing);
      const joined = this.#position.parents();
      return joined.size === 0 ? own : own.filter((row) => !joined.has(row));
    });
  }
  get unfinished(): number {
    return this.stored.facts.unfinished;
  }

  async load(columns: readonly StoredColumn[]): Promise<void> {
    const isKnown = (name: StoredColumn): boolean =>
      this.#known.has(name === 'missing' ? 'missingParents' : name) ||
      (name === 'track' && this.#hasOneTrack);
    await this.stored.load?.(columns.filter((name) => !isKnown(name)));
  }

  traceId(trace: number): string {
    return hexWords(this.traceIds.subarray(TRACE_WORDS * trace, TRACE_WORDS * (trace + 1)));
  }

  /** The number of a trace by its four words, or -1. */
  findTrace(words: readonly number[]): number {
    const ids = this.traceIds;
    for (let at = 0; at < ids.length; at += TRACE_WORDS) {
      if (
        ids[at + 3] === words[3] &&
        ids[at + 2] === words[2] &&
        ids[at + 1] === words[1] &&
        ids[at] === words[0]
      ) {
        return at / TRACE_WORDS;
      }
    }
    return -1;
  }

  /** Puts the part where it lies now. What depends on that, or on other parts, is found anew. */
  move(position: PartPosition): void {
    const { shape, firstTrack } = this.#position;
    this.#known.delete('parent');
    this.#known.delete('missingParents');
    if (position.firstTrack !== firstTrack) this.#known.delete('track');
    if (position.shape !== shape) {
      for (const name of ['lane', 'pyramid', 'pyramidTimes']) this.#known.delete(name);
    }
    this.#position = position;
  }

  /** Bytes that can be read again, and are in memory. */
  get heldBytes(): number {
    if (this.stored.isStored !== true) return 0;
    let bytes = 0;
    for (const value of this.#known.values()) {
      if (ArrayBuffer.isView(value)) bytes += value.byteLength;
      // A pyramid has as much next to it again.
      else if (isPyramid(value)) bytes += 2 * 24 * value.of.bucket.length;
    }
    return bytes;
  }

  /** Forgets what can be read again. */
  release(): void {
    if (this.stored.isStored !== true) return;
    this.#known.clear();
    this.stored.forget?.();
  }

  /** Closes its files. */
  close(): void {
    this.stored.close?.();
    this.#position.shape.close?.();
  }

  #stored<Name extends ColumnName>(name: Name): PartColumns[Name] {
    return this.#once(name, () => this.stored.column(name));
  }

  #once<T>(name: string, make: () => T): T {
    let value = this.#known.get(name) as T | undefined;
    if (value === undefined) {
      value = make();
      this.#known.set(name, value);
    }
    this.used = uses++;
    return value;
  }
}

let uses = 0;

function rowsOfMissing(missing: Uint32Array): Uint32Array {
  const rows = new Uint32Array(missing.length / MISSING_WORDS);
  for (let i = 0; i < rows.length; i++) rows[i] = missing[MISSING_WORDS * i]!;
  return rows;
}

function rowsWith(column: Int32Array, value: number): Uint32Array {
  let count = 0;
  for (let row = 0; row < column.length; row++) if (column[row] === value) count++;
  const rows = new Uint32Array(count);
  for (let row = 0, at = 0; at < count; row++) if (column[row] === value) rows[at++] = row;
  return rows;
}

function isPyramid(value: unknown): value is { of: Pyramid } {
  return typeof value === 'object' && value !== null && 'of' in value && value.of !== undefined;
}
