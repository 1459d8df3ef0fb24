import { isMainThread } from 'node:worker_threads';
import { clockNow } from '../../core/clock.js';
import { watchHeap, watchLoop } from '../../core/native-calls.js';
import { takeParentless } from '../../libraries/parentless-calls.js';
import { noteStall } from '../../spans/keep/thread-stalls.js';
import { hookSpans } from '../../spans/hook-spans.js';
import { ownDirectory } from '../enabled.js';
import { Guard } from '../guard.js';
import type { HephPlan, ProcessPlan } from '../run/process-plan.js';
import { part } from '../warning.js';
import type { CollectionRecorder, LoopRecorder, TimeSums } from './activity-recorders.js';
import type { NameLookUps } from './name-look-ups.js';
import type { Collection, Stall } from './pauses.js';
import type { V8Profile } from './v8-profile.js';

/** Between two samples of a loop that turns. */
const SAMPLE_MS = 1000;
/** Stalls and collections that wait for what records them. */
const MOST_WAITING = 64;
/** Collections of one event, and nanoseconds from the first to the last of them. */
const MOST_AT_ONCE = 256;
const LONGEST_BATCH = 1e9;
/** A thread that has lived for so many nanoseconds is recorded, whatever it has done. */
const BRIEF = 1e9;

const STALL = 1;

/**
 * Activity of the calling thread, apart from any request: how long it runs, how its event loop turns, and its
 * garbage collections. What records it is loaded with the first span of the thread, or a second after the loop's
 * first turn: a short program has neither.
 */
export class ThreadActivity {
  readonly #guard = new Guard('the event loop and garbage collections');
  readonly #plan: ProcessPlan;
  readonly #begun = Number(clockNow());
  readonly #stalls: Stall[] = [];
  /** Those that are spans, and those that are not. */
  readonly #collections: Collection[] = [];
  readonly #short: Collection[] = [];
  #sums: TimeSums | undefined;
  readonly #lookUps: NameLookUps | undefined;
  #loop: LoopRecorder | undefined;
  readonly #profile: V8Profile | undefined;
  readonly #allocations: V8Profile | undefined;
  #collector: CollectionRecorder | undefined;

  constructor(plan: ProcessPlan, heph: HephPlan) {
    this.#plan = plan;
    if (plan.stallMs > 0) this.#watch(heph);
    if (plan.profileHz > 0) this.#profile = this.#startProfile(plan.profileHz);
    if (plan.profilesHeap) this.#allocations = this.#startAllocationProfile();
    this.#lookUps = part('look-ups of names are not counted', () => countLookUps(plan));
    // Samples of the loop say whether the heap recovers.
    const isHeapWatched = plan.stallMs > 0 && isMainThread && 'path' in heph && watchHeap();
    hookSpans.opened = () => {
      this.#guarded(() => {
        const loop = this.#load();
        loop.recordLife(this.#begun);
        if (plan.stallMs > 0) loop.prepare();
        if (isHeapWatched) loop.prepareHeapEnd();
        if (this.#profile === undefined) return;
        const { learnSampledSpans } =
          require('./sampled-spans.js') as typeof import('./sampled-spans.js');
        learnSampledSpans();
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
    this.#guarded(() => {
      if (ns < this.#plan.collectionMs * 1e6) this.#addShort(collection);
      else if (this.#loop !== undefined) this.#collectionRecorder().record(collection);
      else if (this.#collections.length < MOST_WAITING) this.#collections.push(collection);
    });
  }

  /** The thread ends. */
  ended(): void {
    this.#guarded(() => {
      this.#profile?.end();
      this.#allocations?.end();
      if (this.#loop === undefined && Number(clockNow()) - this.#begun < BRIEF) return;
      this.#load();
      this.#recordShort();
    });
  }

  #watch(heph: HephPlan): void {
    watchLoop(
      this.#plan.stallMs,
      SAMPLE_MS,
      // Only a file has the spans that are open next to it.
      'path' in heph,
      this.#plan.stallStacks ? ownScripts() : undefined,
      (what, from, to, third, fourth, recorded, turnsOrStacks, delayOrContexts) => {
        this.#guarded(() => {
          if (what === STALL) {
            const stacks = (turnsOrStacks ?? []) as readonly (string | number)[];
            const contexts = (delayOrContexts ?? []) as readonly (object | number)[];
            this.#stalled({
              from,
              to,
              cpu: third,
              cause: fourth,
              recorded: recorded === true,
              stacks,
              contexts,
            });
            return;
          }
          const loop = this.#load();
          this.#recordShort();
          const turns = turnsOrStacks as number;
          const delay = delayOrContexts as number;
          const sample = { from, to, busy: third, longest: fourth, turns, delay };
          loop.sample(sample, this.#sums, this.#lookUps?.take(), takeParentless());
          if (this.#sums !== undefined) this.#sums = { ns: 0, count: 0 };
        });
      },
    );
  }

  #startProfile(hz: number): V8Profile | undefined {
    return part('no CPU profile is recorded', () => {
      const { startCpuProfile } = require('./cpu-profile.js') as typeof import('./cpu-profile.js');
      return startCpuProfile(hz, ownScripts(), (interval, parts) => {
        this.#guarded(() => {
          this.#load().recordProfile(interval, parts);
        });
      });
    });
  }

  #startAllocationProfile(): V8Profile | undefined {
    return part('no allocations are recorded', () => {
      const { startAllocationProfile } =
        require('./heap-profile.js') as typeof import('./heap-profile.js');
      return startAllocationProfile(ownScripts(), (sizes) => {
        this.#guarded(() => {
          this.#load().recordAllocations(sizes);
        });
      });
    });
  }

  #stalled(stall: Stall): void {
    noteStall(stall.from, stall.to);
    if (this.#loop !== undefined) this.#loop.record(stall);
    else if (this.#stalls.length < MOST_WAITING) this.#stalls.push(stall);
  }

  #addShort(collection: Collection): void {
    const batch = this.#short;
    batch.push(collection);
    const isLong = collection.to - batch[0]!.from >= LONGEST_BATCH;
    const isFull = batch.length >= MOST_AT_ONCE && this.#loop !== undefined;
    if (!isLong && !isFull) return;
    this.#load();
    this.#recordShort();
  }

  #recordShort(): void {
    while (this.#short.length > 0) {
      this.#collectionRecorder().recordAll(this.#short.splice(0, MOST_AT_ONCE));
    }
  }

  #load(): LoopRecorder {
    if (this.#loop !== undefined) return this.#loop;
    const { LoopRecorder } = recorders();
    const loop = (this.#loop = new LoopRecorder());
    loop.open();
    for (const stall of this.#stalls.splice(0)) loop.record(stall);
    for (const collection of this.#collections.splice(0)) {
      this.#collectionRecorder().record(collection);
    }
    return loop;
  }

  #collectionRecorder(): CollectionRecorder {
    if (this.#collector === undefined) {
      const { CollectionRecorder } = recorders();
      this.#collector = new CollectionRecorder();
    }
    return this.#collector;
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

/** How the paths of this package's scripts begin. Empty in a bundle: they are the program's. */
function ownScripts(): string {
  const directory = ownDirectory();
  return directory === undefined ? '' : `${directory}/`;
}

/** Loaded with the first that there is to record. */
function recorders(): typeof import('./activity-recorders.js') {
  return require('./activity-recorders.js') as typeof import('./activity-recorders.js');
}

/** Where `net` is recorded, look-ups are counted in the samples of the loop. */
function countLookUps(plan: ProcessPlan): NameLookUps | undefined {
  if (plan.stallMs <= 0 || !plan.libraries.names.includes('net')) return undefined;
  // It loads Node's observer, which takes about 0.7 ms.
  const { NameLookUps } = require('./name-look-ups.js') as typeof import('./name-look-ups.js');
  return new NameLookUps();
}
