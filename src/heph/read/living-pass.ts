import { dirname, join } from 'node:path';
import { entryOf } from '../../core/map-entries.js';
import { nameOfTrace } from '../file-names.js';
import { DEFINITION_STREAM } from '../layout.js';

/** Of one stream, the events from one to another, in its order. Counters wrap at 2^32. */
interface Range {
  first: number;
  last: number;
}

/**
 * Runs of events, by stream and counter. A stream records in order, so a run is its first and last
 * counter, whatever was dropped in between.
 */
export class CounterRanges {
  readonly #ranges = new Map<number, Range>();
  /** Definitions have numbers, and no order. */
  readonly #definitions = new Set<number>();

  get isEmpty(): boolean {
    return this.#ranges.size === 0;
  }

  /** Adds the next event of a stream. */
  add(stream: number, counter: number): void {
    if (stream === DEFINITION_STREAM) {
      this.#definitions.add(counter);
      return;
    }
    const range = this.#ranges.get(stream);
    if (range === undefined) this.#ranges.set(stream, { first: counter, last: counter });
    else range.last = counter;
  }

  /** Of each stream its first and its last event, for `restore`. */
  get entries(): [stream: number, first: number, last: number][] {
    return [...this.#ranges].map(([stream, { first, last }]) => [stream, first, last]);
  }

  /** Adds what `entries` has said of an earlier reading. */
  restore(entries: readonly (readonly [stream: number, first: number, last: number])[]): void {
    for (const [stream, first, last] of entries) this.#ranges.set(stream, { first, last });
  }

  has(stream: number, counter: number): boolean {
    if (stream === DEFINITION_STREAM) return this.#definitions.has(counter);
    const range = this.#ranges.get(stream);
    return range !== undefined && (counter - range.first) >>> 0 <= (range.last - range.first) >>> 0;
  }
}

/**
 * One reading of several files, the pieces of a trace in order. What is read in a ring of one piece may be
 * in the next one when that is read, so the events that are not settled are noted.
 *
 * A piece grows only as long as it is the last one. So the pieces are those of one listing. Where a later
 * listing has more, the last piece of the earlier one is read again first, from where it was settled.
 */
export class LivingPass {
  readonly #ofTraces = new Map<string, CounterRanges>();

  /**
   * The events of a trace that were read and are not settled.
   *
   * @param path of a file of the trace.
   * @param epoch the file's first packet: pieces of another process count anew.
   */
  unsettledOf(path: string, epoch: Buffer): CounterRanges {
    const key = `${epoch.toString('latin1')} ${traceOf(path)}`;
    return entryOf(this.#ofTraces, key, () => new CounterRanges());
  }
}

/** The path that the pieces of a trace share, of one of them. */
export function traceOf(path: string): string {
  return join(dirname(path), nameOfTrace(path));
}
