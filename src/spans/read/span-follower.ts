import { TraceFormatError } from '../../core/errors.js';
import type { OnFault } from '../../core/fault.js';
import type { Links } from '../../core/files/regular-file.js';
import { EPOCH_PACKET_BYTES } from '../../heph/layout.js';
import { CounterRanges } from '../../heph/read/living-pass.js';
import { LivingFile } from '../../heph/read/living-file.js';
import type { EventPacket } from '../../heph/packet.js';
import { PacketCursor } from '../../heph/read/packet-cursor.js';
import type { SpanRecord } from '../span-record.js';
import { RecordReader } from './record-reader.js';
import { SpanDecoder } from './span-decoder.js';
import type { SpanNotes } from './span-notes.js';
import { SpanWalk } from './span-walk.js';

/** A run of events of a stream that were read in a ring: the first and the last counter. */
type Run = [stream: number, first: number, last: number];

/** Where the reading of a Heph file goes on, also in another process. It can be JSON. */
export interface SpanPosition {
  /** Which trace it is: `identity` of `LivingFile`, which begins with device and inode. */
  identity: string;
  /** Everything before is read. */
  offset: number;
  /** Where definitions and clock records lie that later spans need. */
  definitions: readonly number[];
  clocks: readonly number[];
  /** Of a dead process: what was read in its rings, and may come into the file by a recovery. */
  fromRings: readonly Run[];
  /** Bytes of the file when all of it, and of its rings, was read; undefined: it was not. */
  completeAt?: number;
  /** Whether something in it could not be read. */
  isFaulty?: boolean;
}

/** Clock records that are kept: the first, and the last of them. */
const LAST_CLOCKS = 16;

/** Of a position, numbers of definitions that are not read yet begin here: above those of a file. */
const NOT_READ = 1 << 20;

/** Without a span in so many bytes, the reader has a moment. */
const REST_BYTES = 1 << 20;

/**
 * @param notes what is known of the file.
 * @param path of the file.
 */
export type OnRecord = (record: EventPacket, notes: SpanNotes, path: string) => void;

/** Options of a follower. */
export interface FollowOptions {
  /** More directories with rings than that of the file. */
  ringDirs?: readonly string[];
  /** Whether a symbolic link at the path is followed. Default: it is refused. */
  links?: Links;
  /** Takes what cannot be read; the reading goes on. */
  onFault: OnFault;
  /** Takes each event once that is neither a span nor a definition, such as a record of an event loop. */
  onRecord?: OnRecord | undefined;
}

/**
 * Reads a Heph file again and again while it grows: each span once. Of a live process it reads the file alone, of a
 * dead one also the rings, as a recovery would write them. Nothing is written.
 */
export class SpanFollower {
  readonly path: string;
  readonly #options: FollowOptions;
  #decoder: SpanDecoder | undefined;
  #identity: string | undefined;
  #offset = 0;
  /** Where the last definition of each thing lies, by its number. */
  #definitions = new Map<number, number>();
  #clocks: number[] = [];
  #fromRings = new CounterRanges();
  #completeAt: number | undefined;
  #isFaulty = false;
  /** Where the process was writing at the last reading, before the end of the file. */
  #notedEnd: number | undefined;
  /** The counter of the span that was yielded last, in its stream. */
  counter = 0;
  /** Bytes of the file when it was read last. */
  fileSize = 0;
  /** Bytes of the file that the readings so far have taken. */
  bytesRead = 0;
  /** Whether the last reading was of a dead process, and of rings that a recovery empties. */
  hasDiedWithRings = false;

  /** @param position of an earlier process, if it is of this file. */
  constructor(path: string, options: FollowOptions, position?: SpanPosition) {
    this.path = path;
    this.#options = options;
    if (position === undefined) return;
    this.#identity = position.identity;
    this.#offset = position.offset;
    for (const [i, offset] of position.definitions.entries()) {
      this.#definitions.set(NOT_READ + i, offset);
    }
    this.#clocks = [...position.clocks];
    this.#fromRings.restore(position.fromRings);
    this.#completeAt = position.completeAt;
    this.#isFaulty = position.isFaulty === true;
  }

  /** Bytes from the start of the file to where the reading goes on. */
  get offset(): number {
    return this.#offset;
  }

  /** After the span that was yielded last. */
  get position(): SpanPosition {
    return {
      identity: this.#identity ?? '',
      offset: this.#offset,
      definitions: [...this.#definitions.values()],
      clocks: this.#clocks,
      fromRings: this.#fromRings.entries,
      ...(this.#completeAt !== undefined && { completeAt: this.#completeAt }),
      ...(this.#isFaulty && { isFaulty: true }),
    };
  }

  /** Bytes of the file when all of it was read, and its process was dead; undefined: more may come. */
  get completeAt(): number | undefined {
    return this.#completeAt;
  }

  /** Whether a living process writes to the file now. */
  get isGrowing(): boolean {
    const { ringDirs = [], links = 'refused' } = this.#options;
    let file: LivingFile | undefined;
    try {
      file = new LivingFile(this.path, { ringDirs, links });
      return file.isGrowing;
    } catch {
      // It cannot be read: a reading says why.
      return false;
    } finally {
      file?.close();
    }
  }

  /**
   * The spans that are new; undefined: there was none in a stretch of the file, and its reader may do something else.
   *
   * @throws TracewrightError when the file cannot be opened.
   */
  *read(): Generator<SpanRecord | undefined, void> {
    const { ringDirs = [], links = 'refused' } = this.#options;
    const onFault = this.#onFault;
    const known = this.#fromRings.entries;
    const file = new LivingFile(this.path, { ringDirs, known, links });
    let walk: SpanWalk | undefined;
    try {
      if (this.#identity !== file.identity || file.size < this.#offset) {
        const wasRead = this.#identity !== undefined;
        this.#beginAnew(file);
        if (wasRead) {
          yield* this.read();
          return;
        }
      }
      const { size } = file;
      this.fileSize = size;
      if (this.#completeAt === size) return;
      this.#completeAt = undefined;
      const { isGrowing } = file;
      const since = this.#offset;
      const options = { since, onFault, links };
      const decoder = (this.#decoder ??= this.#resumedDecoder());
      walk = isGrowing
        ? new SpanWalk(this.path, { ...options, until: this.#endOf(file) }, decoder)
        : new SpanWalk(this.path, { ...options, living: file }, decoder);
      walk.onNote = this.#note;
      walk.restBytes = REST_BYTES;
      let restedAt = since;
      while (walk.next()) {
        if (walk.isSettled) this.#offset = walk.endOffset;
        else this.#fromRings.add(walk.stream, walk.counter);
        if (walk.span === undefined) {
          const { onRecord } = this.#options;
          const record = walk.isResting || onRecord === undefined ? undefined : walk.plainEvent();
          if (record !== undefined) onRecord!(record, decoder.notes, this.path);
          if (this.#offset - restedAt < REST_BYTES) continue;
          restedAt = this.#offset;
          yield undefined;
          continue;
        }
        this.counter = walk.counter;
        yield walk.span;
      }
      this.bytesRead += Math.max(0, size - since);
      this.#offset = walk.settled;
      this.hasDiedWithRings = walk.state === 'died';
      if (!isGrowing && walk.state !== 'growing') {
        this.#completeAt = size;
        // Of thousands of files only those that grow take memory.
        this.#decoder = undefined;
      }
      for (const fault of walk.faults) onFault(fault);
    } finally {
      walk?.close();
      this.#decoder?.release();
      file.close();
    }
  }

  /** Up to where the file of a live process is final. */
  #endOf(file: LivingFile): number {
    const noted = file.notedEnd;
    const isSame = noted === this.#notedEnd;
    this.#notedEnd = noted < file.size ? noted : undefined;
    // It writes for very long, or never.
    return isSame ? file.finalEnd : noted;
  }

  #beginAnew(file: LivingFile): void {
    this.#identity = file.identity;
    this.#offset = 0;
    this.#definitions.clear();
    this.#clocks = [];
    this.#fromRings = new CounterRanges();
    this.#completeAt = undefined;
    this.#isFaulty = false;
    this.#decoder = undefined;
  }

  /** A decoder that knows what lies before the offset. */
  #resumedDecoder(): SpanDecoder {
    const decoder = new SpanDecoder(this.path);
    if (this.#offset === 0) return decoder;
    const { links = 'refused' } = this.#options;
    const first = new PacketCursor(this.path, { until: EPOCH_PACKET_BYTES, links });
    try {
      if (first.next() && !first.isEvent) {
        const packet = first.packet();
        if (packet.kind === 'metadata' && packet.epoch !== undefined) decoder.epoch = packet.epoch;
      }
    } finally {
      first.close();
    }
    const reader = new RecordReader(this.path, undefined, links);
    try {
      for (const [key, offset] of [...this.#definitions]) {
        if (!reader.at(offset)) continue;
        decoder.decode(reader);
        this.#definitions.delete(key);
        this.#definitions.set(decoder.notes.defined ?? key, offset);
      }
      for (const offset of this.#clocks) if (reader.at(offset)) decoder.decode(reader);
    } catch (error) {
      if (!(error instanceof TraceFormatError)) throw error;
      this.#onFault(error);
    } finally {
      reader.close();
    }
    return decoder;
  }

  readonly #onFault: OnFault = (fault) => {
    this.#isFaulty = true;
    this.#options.onFault(fault);
  };

  readonly #note = (offset: number, defined: number | undefined): void => {
    if (defined !== undefined) {
      this.#definitions.set(defined, offset);
      return;
    }
    this.#clocks.push(offset);
    if (this.#clocks.length > LAST_CLOCKS + 1) this.#clocks.splice(1, 1);
  };
}
