import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegularFile } from '../../core/files/regular-file.js';
import {
  COUNTER_OFFSET,
  DEFAULT_MAX_PACKET_BYTES,
  DEFINITION_STREAM,
  EVENT_MAGIC,
  MAGIC_OFFSET,
  METADATA_MAGIC,
  PACKET_HEAD_BYTES,
  SIZE_OFFSET,
  STREAM_OFFSET,
} from '../layout.js';
import { eventBytes } from './event-size.js';

const WINDOW_BYTES = 1 << 20;
/** What a survey looks at of an event. */
const EVENT_HEAD_BYTES = COUNTER_OFFSET + 4;
const METADATA_LEAST_BYTES = PACKET_HEAD_BYTES + 2;

const EVENT_MAGIC_BYTES = bytesOf(EVENT_MAGIC);
const METADATA_MAGIC_BYTES = bytesOf(METADATA_MAGIC);

function bytesOf(magic: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(magic);
  return bytes;
}

/** A stretch of the file that a ring fills: its content comes from the ring. */
export interface FilledStretch {
  from: number;
  to: number;
}

/** What follows the last whole packet of a file. */
export type Rest =
  | 'nothing'
  /** The beginning of a packet, cut by the end of the file. */
  | 'half'
  | 'zeros'
  /** Something else, or zeros in front of other bytes. */
  | 'broken';

/** What the packets of a file say by their heads. */
export interface FileSurvey {
  /** Where the last whole packet ends, or the last stretch that follows it. */
  end: number;
  rest: Rest;
  /** The last counter of each stream. */
  counters: ReadonlyMap<number, number>;
  /** Of the events that were looked for, those that the file has. */
  found: ReadonlySet<Buffer>;
}

/**
 * Reads the heads of all packets of a file, in memory that does not grow with it.
 *
 * @param stretches that rings fill, in the order of the file.
 * @param wanted whole events to look for, by stream and counter.
 */
export function surveyFile(
  file: string,
  stretches: readonly FilledStretch[],
  wanted: readonly Buffer[],
): FileSurvey {
  const { fd } = openRegularFile(file, 'refused');
  try {
    return new Surveyor(fd, wanted).survey(stretches);
  } finally {
    closeSync(fd);
  }
}

/** Bytes of the packet that begins at a position; undefined if none does. */
function packetBytes(bytes: Buffer, at: number): number | undefined {
  if (bytes.readUInt32BE(at + MAGIC_OFFSET) !== METADATA_MAGIC) return eventBytes(bytes, at);
  const size = bytes.readUInt32BE(at + SIZE_OFFSET);
  return size < METADATA_LEAST_BYTES ? undefined : size;
}

class Surveyor {
  readonly #fd: number;
  readonly #size: number;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #base = 0;
  #length = 0;
  readonly #counters = new Map<number, number>();
  readonly #wanted = new Map<string, Buffer>();
  readonly #found = new Set<Buffer>();

  constructor(fd: number, wanted: readonly Buffer[]) {
    this.#fd = fd;
    this.#size = fstatSync(fd).size;
    for (const event of wanted) this.#wanted.set(keyOf(event, 0), event);
  }

  survey(stretches: readonly FilledStretch[]): FileSurvey {
    let at = 0;
    let next = 0;
    for (;;) {
      while (next < stretches.length && stretches[next]!.from <= at) {
        const { from, to } = stretches[next++]!;
        if (from === at) at = to;
      }
      const bytes = at < this.#size ? this.#packetAt(at) : undefined;
      if (bytes === undefined) break;
      at += bytes;
    }
    const rest = at < this.#size ? this.#restAt(at) : 'nothing';
    return { end: at, rest, counters: this.#counters, found: this.#found };
  }

  /** Takes the packet at an offset; undefined if no whole one begins there. */
  #packetAt(offset: number): number | undefined {
    const left = this.#size - offset;
    if (left < PACKET_HEAD_BYTES) return undefined;
    const at = this.#load(offset, Math.min(left, EVENT_HEAD_BYTES));
    const bytes = packetBytes(this.#window, at);
    if (bytes === undefined || bytes > left) return undefined;
    if (this.#window.readUInt32BE(at + MAGIC_OFFSET) === EVENT_MAGIC) this.#note(at, offset, bytes);
    return bytes;
  }

  #note(at: number, offset: number, bytes: number): void {
    const stream = this.#window.readUInt32BE(at + STREAM_OFFSET);
    if (stream === DEFINITION_STREAM) return;
    this.#counters.set(stream, this.#window.readUInt32BE(at + COUNTER_OFFSET));
    if (this.#wanted.size === 0) return;
    const event = this.#wanted.get(keyOf(this.#window, at));
    if (event?.length !== bytes) return;
    const written = Buffer.alloc(bytes);
    readSync(this.#fd, written, 0, bytes, offset);
    if (written.equals(event)) this.#found.add(event);
  }

  #restAt(offset: number): Rest {
    const count = this.#size - offset;
    if (this.#areZeros(offset)) return 'zeros';
    if (count > DEFAULT_MAX_PACKET_BYTES) return 'broken';
    const rest = Buffer.alloc(count);
    readSync(this.#fd, rest, 0, count, offset);
    const begins = rest.subarray(0, EVENT_MAGIC_BYTES.length);
    const isPacket = [EVENT_MAGIC_BYTES, METADATA_MAGIC_BYTES].some((magic) =>
      magic.subarray(0, begins.length).equals(begins),
    );
    // Another event in it: what is wrong is the size of this one.
    return isPacket && rest.indexOf(EVENT_MAGIC_BYTES, 1) === -1 ? 'half' : 'broken';
  }

  #areZeros(offset: number): boolean {
    for (let at = offset; at < this.#size; at += this.#length) {
      this.#fill(at);
      if (this.#length === 0 || this.#window.subarray(0, this.#length).some((byte) => byte !== 0))
        return this.#length === 0;
    }
    return true;
  }

  /** Ensures that bytes are in the window; where. */
  #load(offset: number, count: number): number {
    if (offset < this.#base || offset + count > this.#base + this.#length) this.#fill(offset);
    return offset - this.#base;
  }

  #fill(offset: number): void {
    this.#base = offset;
    this.#length = readSync(this.#fd, this.#window, 0, WINDOW_BYTES, offset);
  }
}

function keyOf(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at + STREAM_OFFSET, at + EVENT_HEAD_BYTES);
}
