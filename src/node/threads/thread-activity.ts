import { watchLoop } from '../../core/native-calls.js';
import { takeParentless } from '../../libraries/parentless-calls.js';
import { hookSpans } from '../../spans/hook-spans.js';
import { Guard } from '../guard.js';
import type { ProcessPlan } from '../run/process-plan.js';
import { part } from '../warning.js';
import type { CollectionRecorder, LoopRecorder, TimeSums } from './activity-recorders.js';
import type { NameLookUps } from './name-look-ups.js';
import type { PastMarks } from './past-marks.js';
import type { Collection, Stall } from './pauses.js';

/** Between two samples of a loop that turns. */
const SAMPLE_MS = 1000;
/** Stalls and collections that wait for what records them. */
const MOST_WAITING = 64;

const STALL = 1;

/**
 * What the calling thread itself does, apart from any request: how its event loop turns, and long garbage
 * collections. What records it is loaded with the first span of the thread, or a second after the loop's first
 * turn: a short program has neither.
 */
export class ThreadActivity {
  readonly #guard = new Guard('the event loop and garbage collections');
  readonly #plan: ProcessPlan;
  readonly #stalls: Stall[] = [];
  readonly #collections: Collection[] = [];
  #sums: TimeSums | undefined;
  readonly #lookUps: NameLookUps | undefined;
  #loop: LoopRecorder | undefined;
  #collector: CollectionRecorder | undefined;
  /** Take stalls too. */
  marks: PastMarks | undefined;

  constructor(plan: ProcessPlan) {
    this.#plan = plan;
    if (plan.stallMs > 0) this.#watch();
    if (plan.heph === undefined) return;
    this.#lookUps = part('look-ups of names are not counted', () => countLookUps(plan));
    hookSpans.opened = () => {
      this.#guarded(() => {
        this.#load();
      });
    };
  }

  /** Whether no span of the thread is open, as far as is known. */
  get isIdle(): boolean {
    return this.#loop?.isIdle ?? true;
  }

  /** A garbage collection is over. */
  collected(collection: Collection): void {
    const ns = collection.to - collection.from;
    this.#sums ??= { ns: 0, count: 0 };
    this.#sums.ns += ns;
    this.#sums.count += 1;
    if (ns < this.#plan.collectionMs * 1e6) return;
    if (this.#loop === undefined) {
      if (this.#collections.length < MOST_WAITING) this.#collections.push(collection);
      return;
    }
    this.#guarded(() => {
      this.#recordCollection(collection);
    });
  }

  #watch(): void {
    watchLoop(
      this.#plan.stallMs,
      SAMPLE_MS,
      // Only a file has the spans that are open next to it.
      this.#plan.heph !== undefined && 'path' in this.#plan.heph,
      (what, from, to, third, fourth, recorded, turns, delay) => {
        this.#guarded(() => {
          if (what === STALL) {
            this.#stalled({ from, to, cpu: third, cause: fourth, recorded: recorded === true });
            return;
          }
          this.#load();
          if (!this.#plan.loopCounters) return;
          const sample = { from, to, busy: third, longest: fourth, turns: turns!, delay: delay! };
          this.#loop!.sample(sample, this.#sums, this.#lookUps?.take(), takeParentless());
          if (this.#sums !== undefined) this.#sums = { ns: 0, count: 0 };
        });
      },
    );
  }

  #stalled(stall: Stall): void {
    if (this.#loop !== undefined) this.#loop.record(stall, this.marks);
    else if (this.#stalls.length < MOST_WAITING) this.#stalls.push(stall);
  }

  #load(): void {
    if (this.#loop !== undefined) return;
    const { LoopRecorder } = recorders();
    this.#loop = new LoopRecorder(this.#plan.heph !== undefined);
    if (this.#plan.stallMs > 0) this.#loop.prepare();
    for (const stall of this.#stalls.splice(0)) this.#loop.record(stall, this.marks);
    for (const collection of this.#collections.splice(0)) this.#recordCollection(collection);
  }

  #recordCollection(collection: Collection): void {
    if (this.#collector === undefined) {
      const { CollectionRecorder } = recorders();
      this.#collector = new CollectionRecorder();
    }
    this.#collector.record(collection);
  }

  #guarded(observe: () => void): void {
    if (!this.#guard.on) return;
    try {
      observe();
    } catch (error) {
      this.#guard.fail(error);
    }
  }
}

/** Loaded with the first that there is to record. */
function recorders(): typeof import('./activity-recorders.js') {
  return require('./activity-recorders.js') as typeof import('./activity-recorders.js');
}

/** Where `net` is recorded, look-ups are counted in the samples of the loop. */
function countLookUps(plan: ProcessPlan): NameLookUps | undefined {
  if (plan.stallMs <= 0 || !plan.loopCounters || !plan.libraries.names.includes('net')) {
    return undefined;
  }
  // It loads Node's observer, which takes about 0.7 ms.
  const { NameLookUps } = require('./name-look-ups.js') as typeof import('./name-look-ups.js');
  return new NameLookUps();
}
