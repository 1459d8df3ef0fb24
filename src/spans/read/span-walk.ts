import type { TraceFormatError } from '../../core/errors.js';
import type { EventPacket } from '../../heph/packet.js';
import { COUNTER_OFFSET, STREAM_OFFSET } from '../../heph/layout.js';
import { PacketCursor } from '../../heph/read/packet-cursor.js';
import type { CursorOptions } from '../../heph/read/packet-cursor.js';
import type { LivingState } from '../../heph/read/living-file.js';
import type { SpanRecord } from '../span-record.js';
import { SpanDecoder } from './span-decoder.js';

/**
 * Steps through the events of a Heph file that are no definitions. With `onFault` a record that violates the
 * format or the contract is passed over, and so is what is no packet.
 */
export class SpanWalk {
  /** The event, if it is a span. */
  span: SpanRecord | undefined;
  readonly decoder: SpanDecoder;
  /** Takes the offsets of definitions, with their numbers, and of clock records: a decoder that goes on needs them. */
  onNote: ((offset: number, defined: number | undefined) => void) | undefined;
  /** After so many bytes without an event, `next` returns all the same: see `isResting`. */
  restBytes = Infinity;
  /** Whether `next` has found no event yet, and the caller may do something else. */
  isResting = false;
  readonly #cursor: PacketCursor;

  /** @param decoder of an earlier reading, which went up to `since`. */
  constructor(path: string, options: CursorOptions, decoder = new SpanDecoder(path)) {
    this.decoder = decoder;
    this.#cursor = new PacketCursor(path, options);
  }

  /** The trace's time 0, in nanoseconds since 1970. */
  get epoch(): bigint {
    return this.decoder.epoch;
  }

  /** Bytes of the current event. */
  get bytes(): number {
    return this.#cursor.size;
  }

  /** After the last event: see `PacketCursor`. */
  get settled(): number {
    return this.#cursor.settled;
  }

  get state(): LivingState {
    return this.#cursor.state;
  }

  get faults(): readonly TraceFormatError[] {
    return this.#cursor.faults;
  }

  /** Where the current event ends in its file. */
  get endOffset(): number {
    return this.#cursor.offset + this.#cursor.size;
  }

  /** The counter of the current event within its stream. */
  get counter(): number {
    return this.#cursor.u32(COUNTER_OFFSET);
  }

  /** The stream of the current event. */
  get stream(): number {
    return this.#cursor.u32(STREAM_OFFSET);
  }

  /** Whether a reading from `settled` on does not see the current event again. */
  get isSettled(): boolean {
    return this.#cursor.isSettled;
  }

  /** Steps to the next event; false at the end. */
  next(): boolean {
    const cursor = this.#cursor;
    const { decoder } = this;
    const { notes } = decoder;
    const since = cursor.offset;
    this.isResting = false;
    while (cursor.next()) {
      try {
        if (cursor.isEvent) {
          this.span = decoder.decode(cursor);
          if (this.span !== undefined || !notes.isNote) return true;
          if (cursor.inFile && (notes.isClock || notes.defined !== undefined)) {
            this.onNote?.(cursor.offset, notes.defined);
          }
        } else {
          const packet = cursor.packet();
          if (packet.kind === 'metadata' && packet.epoch !== undefined) {
            decoder.epoch = packet.epoch;
          }
        }
      } catch (error) {
        cursor.refuse(error);
      }
      if (cursor.isSettled && cursor.offset - since > this.restBytes) {
        this.span = undefined;
        this.isResting = true;
        return true;
      }
    }
    return false;
  }

  /** The current event as Heph has it; undefined if it is refused. */
  plainEvent(): EventPacket | undefined {
    try {
      return this.#cursor.packet() as EventPacket;
    } catch (error) {
      this.#cursor.refuse(error);
      return undefined;
    }
  }

  close(): void {
    this.#cursor.close();
  }
}
