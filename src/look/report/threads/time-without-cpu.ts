import { entryOf } from '../../../core/map-entries.js';
import type { LookIndex, Source } from '../../index/look-index.js';
import { IntervalSet } from '../measures/interval-set.js';
import { attributesOf } from '../names/recorded-attributes.js';
import type { InterruptionTally } from './interruptions.js';

/** Of a stall: with less of it on a CPU, others had the CPU. Of one that is just long enough, the watch may see only half. */
const LEAST_CPU = 0.5;
/** Causes that are no waiting for something else. */
const CAUSES: readonly unknown[] = ['code', 'held', 'stop'];

/** When processes got no CPU, by host: what was slow then, and while they caught up, says nothing of the program. */
export class TimeWithoutCpu {
  readonly #byHost = new Map<string | undefined, IntervalSet>();

  constructor(index: LookIndex, interruptions: InterruptionTally) {
    for (const { row, start, end, part } of interruptions.stallRows) {
      const valueOf = attributesOf(index, row);
      const [cause, cpu] = [valueOf('eventloop.cause'), valueOf('eventloop.cpu_ms')];
      // A kill leaves a stall without its time on a CPU.
      const isShort =
        typeof cpu === 'number' ? cpu * 1e6 < LEAST_CPU * (end - start) : cause !== 'code';
      if (!isShort || !CAUSES.includes(cause)) continue;
      // At half load, what has queued up meanwhile takes as long again.
      const held = entryOf(this.#byHost, part.source.host, () => new IntervalSet());
      held.add(start, end + (end - start));
    }
  }

  /** Ns of [start, end) in which a process of the source's host got no CPU, or caught up. */
  overlap({ host }: Pick<Source, 'host'>, start: number, end: number): number {
    return this.#byHost.get(host)?.overlap(start, end) ?? 0;
  }
}
