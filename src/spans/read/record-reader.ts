import { closeSync } from 'node:fs';
import { readSeen } from '../../core/files/file-view.js';
import { openRegularFile } from '../../core/files/regular-file.js';
import type { Links, RegularFile } from '../../core/files/regular-file.js';
import { PACKET_HEAD_BYTES } from '../../heph/layout.js';
import type { EventBytes } from '../../heph/read/event-bytes.js';
import { PacketDecoding } from '../../heph/read/packet-decoding.js';
import { isEventAt, packetBytes } from '../../heph/read/packet-head.js';
import type { EventPacket } from '../../heph/packet.js';

const WINDOW_BYTES = 128 << 10;
/** So many bytes of a window are read first: of most, single records are wanted. */
const PIECE_BYTES = 2 << 10;
/** Windows overlap by so many bytes: a record of that size lies in one as a whole. */
const OVERLAP_BYTES = 16 << 10;
const STEP = WINDOW_BYTES - OVERLAP_BYTES;
/** Rows in order of time lie in as many parts of the file as there are threads. */
const WINDOWS = 64;

interface FileWindow {
  base: number;
  /** All of its memory, which the next window uses again. */
  memory: Buffer;
  bytes: Buffer;
  view: DataView;
}

/** Reads single events of a Heph file, wherever they lie. */
export class RecordReader implements EventBytes {
  bytes: Buffer = Buffer.alloc(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  position = 0;
  size = 0;
  offset = 0;
  readonly #path: string;
  readonly #decoding: PacketDecoding;
  readonly #links: Links;
  #memory: ReadonlyMap<number, Buffer>;
  #file: RegularFile | undefined;
  /** Bytes of the file before `bytes`. */
  #base = 0;
  readonly #windows = new Map<number, FileWindow>();
  /** Bases of windows of which a piece was read. */
  readonly #begun = new Set<number>();
  readonly #piece = Buffer.allocUnsafeSlow(PIECE_BYTES);

  /** @param memory records that lie in no file, by their offsets. */
  constructor(
    path: string,
    memory: ReadonlyMap<number, Buffer> = new Map(),
    links: Links = 'followed',
  ) {
    this.#memory = memory;
    this.#links = links;
    this.#path = path;
    this.#decoding = new PacketDecoding(path);
  }

  /** Reads the event at an offset in the file; false: no event lies there. */
  at(offset: number): boolean {
    const record = this.#memory.get(offset);
    if (record !== undefined) return this.#setRecord(record, offset);
    if (!this.#hold(offset, PACKET_HEAD_BYTES)) return false;
    const position = offset - this.#base;
    if (!isEventAt(this.view, position)) return false;
    const size = packetBytes(this.view, position);
    if (size === 0 || !this.#hold(offset, size)) return false;
    this.offset = offset;
    this.position = offset - this.#base;
    this.size = size;
    return true;
  }

  /** @param since what lies before it in the file is as it was. */
  grow(since: number, memory: ReadonlyMap<number, Buffer> = new Map()): void {
    this.#memory = memory;
    for (const [base, window] of this.#windows) {
      if (base + window.bytes.length > since || window.bytes.length < WINDOW_BYTES) {
        this.#windows.delete(base);
      }
    }
    this.bytes = Buffer.alloc(0);
    this.#base = 0;
  }

  packet(): EventPacket {
    this.#decoding.setBytes(this.bytes, this.#base);
    return this.#decoding.decode(this.position, this.size) as EventPacket;
  }

  /** The event without its attributes, and what yields these. */
  largeEvent(): { event: EventPacket; decoding: PacketDecoding } {
    const decoding = new PacketDecoding(this.#path);
    decoding.setBytes(this.bytes, this.#base);
    return { event: decoding.eventHead(this.position, this.size), decoding };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = undefined;
    this.bytes = Buffer.alloc(0);
    this.#base = 0;
    this.#windows.clear();
  }

  #setRecord(record: Buffer, offset: number): boolean {
    this.#base = offset;
    this.bytes = record;
    this.view = viewOf(record);
    this.offset = offset;
    this.position = 0;
    this.size = record.length;
    return true;
  }

  #hold(offset: number, count: number): boolean {
    const end = offset + count;
    if (offset >= this.#base && end <= this.#base + this.bytes.length) return true;
    const base = Math.floor(offset / STEP) * STEP;
    const isLarge = end > base + WINDOW_BYTES;
    let window = isLarge ? undefined : this.#windows.get(base);
    if (window === undefined) {
      if (isLarge) window = this.#read(offset, Buffer.allocUnsafeSlow(count));
      else if (count <= PIECE_BYTES && this.#isFirst(base)) {
        window = this.#read(offset, this.#piece);
      } else {
        window = this.#read(base, this.#freeMemory());
        this.#windows.set(base, window);
      }
    }
    this.#base = window.base;
    this.bytes = window.bytes;
    this.view = window.view;
    return end <= window.base + window.bytes.length;
  }

  #isFirst(base: number): boolean {
    if (this.#begun.delete(base)) return false;
    if (this.#begun.size === WINDOWS) this.#begun.delete(this.#begun.values().next().value!);
    this.#begun.add(base);
    return true;
  }

  /** Memory for a window. The window that was read first loses its own. */
  #freeMemory(): Buffer {
    if (this.#windows.size < WINDOWS) return Buffer.allocUnsafeSlow(WINDOW_BYTES);
    const oldest = this.#windows.keys().next().value!;
    const { memory } = this.#windows.get(oldest)!;
    this.#windows.delete(oldest);
    return memory;
  }

  #read(base: number, memory: Buffer): FileWindow {
    const { fd, view } = (this.#file ??= openRegularFile(this.#path, this.#links));
    const count = memory.length;
    let filled = 0;
    while (filled < count) {
      const read = readSeen(fd, view, memory, filled, count - filled, base + filled);
      if (read === 0) break;
      filled += read;
    }
    const bytes = memory.subarray(0, filled);
    return { base, memory, bytes, view: viewOf(bytes) };
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
