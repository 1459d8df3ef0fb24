import { TraceFormatError } from '../../core/errors.js';
import type { OpenBytes } from '../../core/files/file-window.js';
import { codeOf } from '../layout.js';
import { StreamReader } from './reader.js';
import type { ReadStreamOptions, StreamEvent } from './reader.js';

/** Begin and end of a region whose events may have earlier clocks than those before them. */
export const REGION_BEGIN = codeOf('OU[');
export const REGION_END = codeOf('OU]');

/** A region of unordered events. */
interface Region {
  /** Where its end begins, in bytes from the start of the file; infinite if it has none. */
  end: number;
  /** Its earliest clock. */
  earliest: bigint;
}

/** The regions of a stream, up to its end or its first fault. One that does not end goes on to there. */
function regionsOf(path: string, options: ReadStreamOptions, from?: OpenBytes): Region[] {
  const reader = new StreamReader(path, { ...options, maxDataBytes: 0 }, from);
  const regions: Region[] = [];
  let open: Region | undefined;
  const { event } = reader;
  try {
    while (reader.next()) {
      const { code } = event;
      if (code === REGION_END) {
        if (open !== undefined) open.end = event.offset;
        open = undefined;
      } else if (open !== undefined) {
        if (event.clock < open.earliest) open.earliest = event.clock;
      } else if (code === REGION_BEGIN) {
        open = { end: Infinity, earliest: 2n ** 64n };
        regions.push(open);
      }
    }
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
  } finally {
    reader.close();
  }
  return regions;
}

/**
 * Opens a stream whose events come in the order of their clocks: those of a region (`OU[` to `OU]`) are
 * moved before those that are later, as `ovnisort` does. Events of the same clock stay in their order.
 *
 * @param from the stream's bytes, if they are open already.
 */
export function openInOrder(
  path: string,
  options: ReadStreamOptions,
  from?: OpenBytes,
): StreamReader {
  const regions = regionsOf(path, options, from);
  return regions.length === 0
    ? new StreamReader(path, options, from)
    : new OrderedReader(path, options, regions, from);
}

/** A stream with regions. Of what a region is sorted among, the offsets are in memory. */
export class OrderedReader extends StreamReader {
  readonly #regions: readonly Region[];
  /** By region: the earliest clock of it and of all that follow. */
  readonly #earliest: bigint[];
  /** Regions before the next event of the file. */
  #passed = 0;
  /** Offsets of events that come next, in the order of their clocks. */
  #sorted: readonly number[] = [];
  #taken = 0;
  /** Where the file goes on after them. */
  #after = 0;
  /** The events so far that had to move first among those of their region, in bytes from the start of the file. */
  readonly moved: number[] = [];

  constructor(
    path: string,
    options: ReadStreamOptions,
    regions: readonly Region[],
    from?: OpenBytes,
  ) {
    super(path, options, from);
    this.#regions = regions;
    this.#earliest = regions.map(({ earliest }) => earliest);
    for (let i = regions.length - 2; i >= 0; i--) {
      const next = this.#earliest[i + 1]!;
      if (next < this.#earliest[i]!) this.#earliest[i] = next;
    }
  }

  override next(): boolean {
    if (this.#taken < this.#sorted.length) return this.#take();
    if (this.#after > 0) {
      this.seek(this.#after);
      this.#after = 0;
    }
    if (!super.next()) return false;
    const regions = this.#regions;
    const { offset, clock } = this.event;
    while (this.#passed < regions.length && regions[this.#passed]!.end <= offset) this.#passed++;
    const earliest = this.#earliest[this.#passed];
    if (earliest === undefined || clock <= earliest) return true;
    return this.#sort();
  }

  #take(): boolean {
    this.seek(this.#sorted[this.#taken++]!);
    return super.next();
  }

  /** Gathers the events from the present one to the end of the last region that has an earlier one. */
  #sort(): boolean {
    const { event } = this;
    const events: { offset: number; clock: bigint }[] = [];
    let latest = 0n;
    let end = 0;
    let region = this.#passed;
    try {
      do {
        const { offset, clock } = event;
        if (clock > latest) {
          latest = clock;
          while (region < this.#regions.length && this.#earliest[region]! < latest) {
            end = this.#regions[region++]!.end;
          }
        }
        if (offset >= end) break;
        events.push({ offset, clock });
      } while (super.next());
    } catch (error) {
      // It is thrown again once these have been read.
      if (!(error instanceof TraceFormatError)) throw error;
    }
    const { offset, size } = event;
    this.#after = offset >= end ? offset : offset + size;
    events.sort((a, b) => (a.clock < b.clock ? -1 : a.clock > b.clock ? 1 : a.offset - b.offset));
    const inFile = events.map((each) => each.offset).sort((a, b) => a - b);
    this.#sorted = events.map((each) => each.offset);
    const moved = this.#sorted.find((each, i) => each !== inFile[i]);
    if (moved !== undefined) this.moved.push(moved);
    this.#taken = 0;
    return this.#take();
  }
}

/**
 * Reads the events of one stream in the order of their clocks. All are yielded as the same
 * {@link StreamEvent} object. A region of unordered events (`OU[` to `OU]`) is sorted as `ovnisort` does,
 * and only what it is sorted among is held in memory; the rest is in the order of the file.
 *
 * @throws TraceFormatError if the header or an event is not as the format requires (trace specification
 *   version 1, "Normal events" and "Jumbo events"), with the offset of that event. The events before
 *   it have been yielded.
 */
export function* readStream(
  path: string,
  options: ReadStreamOptions,
): Generator<StreamEvent, void> {
  const reader = openInOrder(path, options);
  try {
    while (reader.next()) yield reader.event;
  } finally {
    reader.close();
  }
}
