import { fstatSync, readSync } from 'node:fs';
import { core } from '../addon.js';
import { TraceFormatError } from '../errors.js';
import { RingOpenRecords } from './open-records.js';
import type { NotedChunk, RingPage } from './ring-page.js';
import { readWaiting } from './waiting-records.js';
import type { RecordSize, WaitingRecords } from './waiting-records.js';

/** A record has its number within so many bytes. */
const FIRST_BYTES = 1024;

/** A ring of a dead process, or of a live one that is only read. */
export interface FeedingRing {
  readonly path: string;
  readonly isRunning: boolean;
  readonly pid: number;
  /** Reads its page now. */
  sample(): RingPage;
  /** The chunk that it last noted to be written: see `RingPage`. */
  readonly notedChunk: NotedChunk | undefined;
  /** Up to where the ring has surely reached its target by now. */
  releasedTo(): number;
  /** Whether its path is still that of this ring: a piece of a trace that rotates gives it another. */
  isInPlace(): boolean;
  readonly content: RingContent;
}

/** The data of an open ring's file, after its page. */
export class RingContent {
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The bytes at ring positions [from, to), which may wrap. */
  read(page: RingPage, from: number, to: number): Buffer {
    const bytes = Buffer.allocUnsafe(to - from);
    let done = 0;
    while (done < bytes.length) {
      const count = Math.min(bytes.length - done, page.capacity - ((from + done) % page.capacity));
      const offset = page.offsetOf(from + done);
      const read = readSync(this.#fd, bytes, done, count, offset);
      if (read === 0) throw new TraceFormatError(page.path, offset, 'the ring ends');
      done += read;
    }
    return bytes;
  }

  /** The first bytes after the head: of a record that was never committed, or anything. */
  afterHead(page: RingPage): Buffer {
    return this.read(page, page.head, page.head + Math.min(page.capacity, FIRST_BYTES));
  }

  /** The first bytes of the format's own note. */
  note(count: number): Buffer {
    return this.#at(core.control.note, count, count);
  }

  /** The records that were open when the process died. */
  openRecords({ path, openTable }: RingPage): RingOpenRecords | undefined {
    if (openTable === undefined) return undefined;
    return new RingOpenRecords(path, openTable, this.#at(core.control.openTable, openTable.bytes));
  }

  /** The records that had waited for a decision when the process died. */
  waiting({ head, waiting }: RingPage, recordBytes: RecordSize): WaitingRecords | undefined {
    if (waiting === undefined) return undefined;
    const { at, front, capacity } = waiting;
    // A page may claim what its file does not have.
    if (at + front + capacity > fstatSync(this.#fd).size) return undefined;
    return readWaiting(waiting, this.#at(at, front + capacity), head, recordBytes);
  }

  #at(offset: number, count: number, least = 0): Buffer {
    const bytes = Buffer.alloc(count);
    return bytes.subarray(0, Math.max(least, readSync(this.#fd, bytes, 0, count, offset)));
  }
}
