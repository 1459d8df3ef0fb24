import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { compressRowGroup, ParquetFile } from '../export/parquet/parquet-file.js';
import { SpanColumns } from '../export/parquet/span-columns.js';
import type { SpanRecord } from '../spans/span-record.js';

/** Rows of a group: readers skip whole groups. */
const MOST_ROWS = 1 << 16;
const LAST_MS = Date.UTC(9999, 11, 31);

/** A time as milliseconds of the years 1970 to 9999, whatever a trace says. */
export function timeOf(ns: bigint): number {
  return Math.min(Math.max(Number(ns / 1_000_000n), 0), LAST_MS);
}

/** A file of Parquet that is being written: spans of one hour and service. */
export class ParquetPart {
  readonly directory: string;
  readonly path: string;
  readonly #fd: number;
  readonly #columns = new SpanColumns();
  readonly #file = new ParquetFile(this.#columns.all);
  /** Of each producer and stream: the first and the last counter. */
  readonly #ranges = new Map<string, [first: number, last: number]>();
  /** Bytes that a failed write has left. */
  #unwritten: Buffer[] = [this.#file.begin()];
  #position = 0;
  #firstStart: bigint | undefined;
  #isEnded = false;
  rows = 0;

  /** @param directory of its final name. @param path where it is until it is complete. */
  constructor(directory: string, path: string) {
    this.directory = directory;
    this.path = path;
    this.#fd = openSync(path, 'wx', 0o644);
  }

  /** Bytes in memory. */
  get memory(): number {
    return this.rows === 0 ? 0 : this.#columns.size;
  }

  /** Bytes in the file. */
  get bytes(): number {
    return this.#position;
  }

  add(span: SpanRecord, producer: string, counter: number): void {
    this.#columns.add(span);
    this.rows++;
    if (this.#firstStart === undefined || span.start < this.#firstStart) {
      this.#firstStart = span.start;
    }
    const key = `${producer}\n${span.thread}`;
    const range = this.#ranges.get(key);
    if (range === undefined) this.#ranges.set(key, [counter, counter]);
    else range[1] = counter;
  }

  get isFull(): boolean {
    return this.rows >= MOST_ROWS;
  }

  /** Writes what is in memory as a group of rows. After an error it can be called again. */
  async write(): Promise<void> {
    if (this.rows > 0) {
      const { rows } = this;
      this.rows = 0;
      this.#unwritten.push(...this.#file.rowGroup(await compressRowGroup(this.#columns.all, rows)));
    }
    this.#writeBuffers();
  }

  /** Completes the file: it is on the disk afterwards. */
  async end(): Promise<void> {
    await this.write();
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#unwritten.push(this.#file.end());
    }
    this.#writeBuffers();
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Its name says what it has: the same spans have the same one. */
  get name(): string {
    const ranges = [...this.#ranges].map(([key, range]) => `${key}\n${range.join('\n')}`).sort();
    const hash = createHash('sha256').update(ranges.join('\n\n')).digest('hex').slice(0, 24);
    const time = new Date(timeOf(this.#firstStart ?? 0n)).toISOString();
    return `${time.slice(0, 19).replaceAll(/[:T]/g, '-')}-${hash}.parquet`;
  }

  #writeBuffers(): void {
    for (let buffer = this.#unwritten[0]; buffer !== undefined; buffer = this.#unwritten[0]) {
      const written = writeSync(this.#fd, buffer, 0, buffer.length, this.#position);
      this.#position += written;
      if (written < buffer.length) this.#unwritten[0] = buffer.subarray(written);
      else this.#unwritten.shift();
    }
  }
}
