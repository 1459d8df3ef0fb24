import { dirname, join } from 'node:path';
import { nameOfTrace } from '../file-names.js';
import { CounterRanges } from './counter-ranges.js';

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
    let ranges = this.#ofTraces.get(key);
    if (ranges === undefined) this.#ofTraces.set(key, (ranges = new CounterRanges()));
    return ranges;
  }
}

/** What the pieces of a trace have in common. */
export function traceOf(path: string): string {
  return join(dirname(path), nameOfTrace(path));
}
