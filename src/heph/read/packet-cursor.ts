import { ownOptions } from '../../core/options/argument.js';
import { FileWindow } from '../../core/files/file-window.js';
import type { Links } from '../../core/files/regular-file.js';
import type { TraceFormatError } from '../../core/errors.js';
import { refuse } from '../../core/fault.js';
import type { OnFault } from '../../core/fault.js';
import type { Progress } from '../../core/finding.js';
import { PACKET_HEAD_BYTES, SIZE_OFFSET } from '../layout.js';
import type { Attribute, EventPacket, Packet } from '../packet.js';
import { LivingFile } from './living-file.js';
import type { LivingOptions, LivingState, Part } from './living-file.js';
import { nextEvent } from './next-event.js';
import { PacketDecoding } from './packet-decoding.js';
import { isEventAt, isPacketAt } from './packet-head.js';

/** Packets are taken out of the file's window in stretches of this size. */
const STRETCH_BYTES = 256 << 10;

/** Options of a cursor. */
export interface CursorOptions {
  /** Larger packets are refused: 64 MiB unless set. */
  maxPacketBytes?: number;
  /** Called with the bytes read and the size of the file, four times a mebibyte at most. */
  onProgress?: Progress | undefined;
  /** Reads also what the rings of the file hold, see `LivingFile`. Default: the file alone. */
  living?: boolean | LivingOptions | LivingFile;
  /** Where to begin: `settled` of an earlier reading. Default 0. */
  since?: number;
  /** Without `living`: nothing after it is read, and a packet that is cut there is no error. Default: the end. */
  until?: number;
  /** Whether a symbolic link at the path is followed. Default: it is. */
  links?: Links;
  /**
   * Takes faults instead of an error: what is no packet is passed over up to the next event, any other fault
   * by those who `refuse` it.
   */
  onFault?: OnFault | undefined;
}

/** Steps through a file packet by packet, by their heads alone, and decodes those it is asked for. */
export class PacketCursor {
  readonly #window: FileWindow;
  readonly #decoding: PacketDecoding;
  readonly #onProgress: Progress | undefined;
  readonly #onFault: OnFault | undefined;
  /** Where the last packet lies that was refused. */
  #refused = -1;
  readonly #living: LivingFile | undefined;
  readonly #parts: Generator<Part, void, number> | undefined;
  #part: Part | undefined;
  /** Whether a record that is cut at #limit is an error. */
  #isStrict = true;
  /** Up to where can be read for now, in bytes from the start of the file. */
  #limit: number;
  /** The stretch in memory; packets before #next have been stepped over. */
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #base = 0;
  #at = 0;
  #next = 0;

  /** @throws TracewrightError `ERR_SYSTEM` when the file cannot be opened. */
  constructor(path: string, options: CursorOptions = {}) {
    options = ownOptions(options);
    const {
      living = false,
      maxPacketBytes,
      onProgress,
      onFault,
      since = 0,
      until,
      links,
    } = options;
    this.#decoding = new PacketDecoding(path, maxPacketBytes);
    this.#window = new FileWindow(path, undefined, links);
    this.#onProgress = onProgress;
    this.#onFault = onFault;
    this.#limit = this.#window.size;
    this.#base = since;
    if (living === false) {
      if (until === undefined) return;
      this.#limit = Math.min(until, this.#limit);
      this.#window.resize(this.#limit);
      this.#isStrict = false;
      return;
    }
    try {
      this.#living =
        living instanceof LivingFile ? living : new LivingFile(path, living === true ? {} : living);
    } catch (error) {
      this.#window.close();
      throw error;
    }
    this.#parts = this.#living.parts(since);
    this.#limit = since;
    this.#window.resize(since);
    this.#isStrict = false;
  }

  /**
   * Bytes from the start of the file to the current packet. Of one that is in no file: where a recovery
   * would put it at the earliest.
   */
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

  /** Whether the current packet is in the file; otherwise only what reads the rings again finds it. */
  get inFile(): boolean {
    return this.#part?.kind !== 'memory';
  }

  /** Whether nobody changes the current packet any more: a reading from `settled` on does not see it again. */
  get isSettled(): boolean {
    const part = this.#part;
    if (part === undefined) return true;
    return part.kind === 'file' && part.isFinal && this.#living?.hasRepeated !== true;
  }

  /** After the last packet: where a later reading goes on that shall see only what is new. */
  get settled(): number {
    return this.#living?.settled ?? this.offset;
  }

  /** After the last packet: whose file it is. `ended`: no ring feeds it, or nobody has looked. */
  get state(): LivingState {
    return this.#living?.state ?? 'ended';
  }

  /** After the last packet: the live processes that feed the file. */
  get pids(): readonly number[] {
    return this.#living?.pids ?? [];
  }

  /** Bytes of rings that were copied and discarded, because their writers had overtaken the copy. */
  get overtaken(): number {
    return this.#living?.overtaken ?? 0;
  }

  /** Faults of rings that were left out. */
  get faults(): readonly TraceFormatError[] {
    return this.#living?.faults ?? [];
  }

  /** The part of the file that is in memory; the current packet begins at {@link position}. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The same bytes as {@link bytes}. */
  get view(): DataView {
    return this.#view;
  }

  /** Where the current packet begins in {@link bytes}. */
  get position(): number {
    return this.#at;
  }

  get isEvent(): boolean {
    return isEventAt(this.#view, this.#at);
  }

  /** The u32 `offset` bytes into the current packet. */
  u32(offset: number): number {
    return this.#view.getUint32(this.#at + offset);
  }

  /**
   * Steps to the next packet; false at the end of the file.
   *
   * @throws TraceFormatError if there is no complete packet, unless there is `onFault`;
   *   TracewrightError `ERR_SYSTEM` when the file cannot be read.
   */
  next(): boolean {
    if (this.#onFault === undefined) return this.#step();
    for (;;) {
      try {
        return this.#step();
      } catch (error) {
        this.refuse(error);
        if (this.passOver() === undefined) return false;
      }
    }
  }

  /**
   * After `next` has failed: skips the bytes that are no packet, up to the next event. `next` then steps to that.
   *
   * @returns the bytes passed over; undefined if no event follows.
   */
  passOver(): number | undefined {
    if (!this.inFile) return undefined;
    const { offset } = this;
    const found = nextEvent(this.#window, offset + 1, this.#limit);
    if (found === undefined) return undefined;
    this.#setBytes(Buffer.alloc(0), found);
    return found - offset;
  }

  /** Hands what is wrong with the current packet to `onFault`, once; throws it if there is none. */
  refuse(error: unknown): void {
    const isKnown = this.#onFault !== undefined && this.#refused === this.offset;
    this.#refused = this.offset;
    if (!isKnown) refuse(this.#onFault, this.#window.path, error);
  }

  #step(): boolean {
    for (;;) {
      this.#at = this.#next;
      if (this.#bytes.length - this.#at >= PACKET_HEAD_BYTES || this.#load(PACKET_HEAD_BYTES)) {
        const remaining = this.#limit - this.offset;
        // Before `until` all bytes are final: what is no packet stays none.
        const isFinal = this.#parts === undefined && !isPacketAt(this.#view, this.#at);
        if (this.#isStrict || isFinal || this.#mayBeWhole(remaining)) {
          const size = this.#decoding.size(this.#at, remaining);
          if (this.#bytes.length - this.#at < size && !this.#load(size)) {
            // The file was cut while it was being read.
            this.#decoding.size(this.#at, this.#bytes.length - this.#at);
          }
          this.#next = this.#at + size;
          if (this.#living === undefined || this.#isNew(this.#living)) return true;
          continue;
        }
      } else if (this.#isStrict) {
        const left = this.#limit - this.offset;
        if (left > 0) throw this.#decoding.headCut(this.#at, Math.min(left, PACKET_HEAD_BYTES - 1));
      }
      if (!this.#goOn()) return false;
    }
  }

  /**
   * Decodes the current packet.
   *
   * @throws TraceFormatError when its content is wrong; `next` then steps over it.
   */
  packet(): Packet {
    return this.#decoding.decode(this.#at, this.#next - this.#at);
  }

  /**
   * The current event without its attributes, and these one by one: of a large one they take many times its size. Until
   * the last of them is read, the cursor stays.
   *
   * @throws TraceFormatError as `packet` does, before it returns.
   */
  largeEvent(): { event: EventPacket; attributes: Generator<Attribute, void> } {
    const size = this.#next - this.#at;
    this.#decoding.eventHead(this.#at, size);
    const each = this.#decoding.attributes();
    while (each.next().done !== true);
    const event = this.#decoding.eventHead(this.#at, size);
    return { event, attributes: this.#decoding.attributes() };
  }

  close(): void {
    this.#window.close();
    this.#living?.close();
  }

  /** Whether a packet begins here and ends within what can be read for now. */
  #mayBeWhole(remaining: number): boolean {
    const size = this.#view.getUint32(this.#at + SIZE_OFFSET);
    return isPacketAt(this.#view, this.#at) && size >= PACKET_HEAD_BYTES && size <= remaining;
  }

  /** Whether the current packet was not read before, in a ring. */
  #isNew(living: LivingFile): boolean {
    const part = this.#part!;
    if (part.kind === 'memory' || !part.isNoted || !this.isEvent) return true;
    return living.note(this, part.isFinal);
  }

  /** Goes on with what can be read next; false: there is nothing. */
  #goOn(): boolean {
    const next = this.#parts?.next(this.offset);
    if (next === undefined || next.done === true) {
      this.#onProgress?.(this.#window.size, this.#window.size);
      return false;
    }
    const part = next.value;
    this.#part = part;
    this.#isStrict = part.kind === 'memory' || part.isLast;
    const bytes = part.kind === 'memory' ? part.bytes : Buffer.alloc(0);
    if (part.kind === 'file') this.#window.resize(part.to);
    this.#limit = part.kind === 'file' ? part.to : part.offset + bytes.length;
    this.#setBytes(bytes, part.kind === 'file' ? part.from : part.offset);
    return true;
  }

  /** Takes a stretch that begins at the current packet and has at least `count` bytes. */
  #load(count: number): boolean {
    if (this.#part?.kind === 'memory') return false;
    const window = this.#window;
    window.skip(this.#base + this.#at - window.offset);
    this.#onProgress?.(window.offset, window.size);
    const stretch = Math.max(count, Math.min(STRETCH_BYTES, window.remaining));
    const bytes = window.peek(stretch);
    if (bytes === undefined) return false;
    this.#setBytes(bytes, window.offset);
    return true;
  }

  /** Goes to the start of bytes that lie at `base`. */
  #setBytes(bytes: Buffer, base: number): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#base = base;
    this.#at = 0;
    this.#next = 0;
    this.#decoding.setBytes(bytes, base);
  }
}
