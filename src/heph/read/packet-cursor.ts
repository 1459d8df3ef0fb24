import { ownOptions } from '../../core/options/argument.js';
import { FileWindow } from '../../core/files/file-window.js';
import type { Progress } from '../../core/finding.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import { EVENT_MAGIC, PACKET_HEAD_BYTES } from '../layout.js';
import type { Packet } from '../packet.js';
import { PacketDecoding } from './packet-decoding.js';

/** Packets are taken out of the file's window in stretches of this size. */
const STRETCH_BYTES = 256 << 10;

/** Steps through a file packet by packet, by their heads alone, and decodes those it is asked for. */
export class PacketCursor {
  readonly #window: FileWindow;
  readonly #decoding: PacketDecoding;
  readonly #onProgress: Progress | undefined;
  /** The stretch in memory; packets before #next have been stepped over. */
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #base = 0;
  #at = 0;
  #next = 0;

  /**
   * @param options.maxPacketBytes Larger packets are refused.
   * @param options.onProgress Called with the bytes read and the size of the file, four times a
   *   mebibyte at most.
   * @throws TracewrightError `ERR_SYSTEM` when the file cannot be opened.
   */
  constructor(path: string, options: { maxPacketBytes?: number; onProgress?: Progress } = {}) {
    options = ownOptions(options);
    this.#window = wrapSystemError('path', path, () => new FileWindow(path));
    this.#decoding = new PacketDecoding(path, options.maxPacketBytes);
    this.#onProgress = options.onProgress;
  }

  /** Bytes from the start of the file to the current packet. */
  get offset(): number {
    return this.#base + this.#at;
  }

  /** Bytes of the current packet. */
  get size(): number {
    return this.#next - this.#at;
  }

  /** Size of the file in bytes. */
  get fileSize(): number {
    return this.#window.size;
  }

  /** What is in memory of the file; the current packet begins at {@link place}. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The same bytes as {@link bytes}. */
  get view(): DataView {
    return this.#view;
  }

  /** Where the current packet begins in {@link bytes}. */
  get place(): number {
    return this.#at;
  }

  get isEvent(): boolean {
    return this.#view.getUint32(this.#at) === EVENT_MAGIC;
  }

  /** The u32 `offset` bytes into the current packet. */
  u32(offset: number): number {
    return this.#view.getUint32(this.#at + offset);
  }

  /** The u64 `offset` bytes into the current packet. */
  u64(offset: number): bigint {
    return this.#view.getBigUint64(this.#at + offset);
  }

  /** The u64 `offset` bytes into the current packet as the nearest number: exact to 2^53. */
  u64AsNumber(offset: number): number {
    const at = this.#at + offset;
    return this.#view.getUint32(at) * 0x1_0000_0000 + this.#view.getUint32(at + 4);
  }

  /**
   * Steps to the next packet; false at the end of the file.
   *
   * @throws TraceFormatError if there is no complete packet;
   *   TracewrightError `ERR_SYSTEM` when the file cannot be read.
   */
  next(): boolean {
    this.#at = this.#next;
    if (this.#bytes.length - this.#at < PACKET_HEAD_BYTES && !this.#load(PACKET_HEAD_BYTES)) {
      const left = this.#window.remaining;
      if (left > 0) throw this.#decoding.headCut(this.#at, Math.min(left, PACKET_HEAD_BYTES - 1));
      this.#onProgress?.(this.#window.size, this.#window.size);
      return false;
    }
    const remaining = this.#window.size - this.offset;
    const size = this.#decoding.size(this.#at, remaining);
    if (this.#bytes.length - this.#at < size && !this.#load(size)) {
      // The file was cut while it was being read.
      this.#decoding.size(this.#at, this.#bytes.length - this.#at);
    }
    this.#next = this.#at + size;
    return true;
  }

  /**
   * Decodes the current packet.
   *
   * @throws TraceFormatError when its content is wrong; `next` then steps over it.
   */
  packet(): Packet {
    return this.#decoding.decode(this.#at, this.#next - this.#at);
  }

  close(): void {
    this.#window.close();
  }

  /** Takes a stretch that begins at the current packet and has at least `count` bytes. */
  #load(count: number): boolean {
    const window = this.#window;
    window.skip(this.#base + this.#at - window.offset);
    this.#onProgress?.(window.offset, window.size);
    const stretch = Math.max(count, Math.min(STRETCH_BYTES, window.remaining));
    const bytes = wrapSystemError('path', window.path, () => window.peek(stretch));
    if (bytes === undefined) return false;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#base = window.offset;
    this.#at = 0;
    this.#next = 0;
    this.#decoding.setBytes(bytes, this.#base);
    return true;
  }
}
