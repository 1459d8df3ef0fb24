import { clockNow } from '../../core/clock.js';
import { Guard } from '../guard.js';
import type { PastMarkKind } from './pauses.js';
import type { PastMarkStream } from './past-mark-stream.js';

/**
 * Marks of one kind in the ovni trace of the calling thread. What records them is loaded with the first
 * one, so a thread without one has no stream of them.
 */
export class PastMarks {
  readonly #kind: PastMarkKind;
  readonly #guard: Guard;
  #firstClock: bigint;
  #begun = clockNow();
  #stream: PastMarkStream | undefined;

  /** @param firstClock nanoseconds at which the run began. */
  constructor(kind: PastMarkKind, firstClock: bigint) {
    this.#kind = kind;
    this.#guard = new Guard(kind.what);
    this.#firstClock = firstClock;
  }

  /**
   * Records a mark that is over. They come in the order of their beginnings.
   *
   * @param from nanoseconds of CLOCK_MONOTONIC, an integer, as is `to`.
   */
  record(value: number, from: number, to: number): void {
    if (!this.#guard.on) return;
    try {
      this.#openStream().record(value, from, to);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  /** Ends the stream together with the trace that it belongs to. */
  leaveTrace(): void {
    if (this.#stream?.isOpen === true) this.#stream.close();
  }

  /** @param firstClock nanoseconds at which the next trace has begun. */
  enterTrace(firstClock: bigint): void {
    this.#firstClock = firstClock;
    this.#begun = clockNow();
  }

  /** Ends the stream on the spot instead of leaving that to the end of the thread. */
  close(): void {
    this.#guard.on = false;
    this.#stream?.close();
  }

  #openStream(): PastMarkStream {
    if (this.#stream === undefined) {
      const late = require('./past-mark-stream.js') as typeof import('./past-mark-stream.js');
      this.#stream = new late.PastMarkStream(this.#kind);
    }
    if (!this.#stream.isOpen) this.#stream.open(this.#firstClock, this.#begun);
    return this.#stream;
  }
}
