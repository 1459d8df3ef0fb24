import { watchLoop } from '../../core/loop-watch.js';
import { hookPlace } from '../../spans/hook-place.js';
import { Guard } from '../guard.js';
import type { ProcessPlan } from '../run/process-plan.js';
import type { Stall } from './stall.js';

/** Between two samples of a loop that turns. */
const SAMPLE_MS = 1000;
/** Stalls that wait for what records them. */
const MOST_WAITING = 64;

const STALL = 1;

/** What records the loop; it is loaded late. */
interface Recorder {
  record(stall: Stall): void;
}

/**
 * Watches the event loop of the calling thread. What records it is loaded with the first span of the
 * thread, or a second after its first turn: a short program has neither.
 */
export class EventLoop {
  readonly #guard = new Guard('the event loop');
  readonly #plan: ProcessPlan;
  readonly #waiting: Stall[] = [];
  #recorder: Recorder | undefined;

  constructor(plan: ProcessPlan) {
    this.#plan = plan;
    const isWatched = watchLoop(
      plan.stallMs,
      SAMPLE_MS,
      (what, from, to, third, fourth, recorded) => {
        if (what === STALL) {
          this.#stalled({ from, to, cpu: third, cause: fourth, recorded: recorded === true });
        } else {
          this.#load();
        }
      },
    );
    if (isWatched && plan.heph !== undefined) {
      hookPlace.opened = () => {
        this.#load();
      };
    }
  }

  #stalled(stall: Stall): void {
    if (this.#recorder === undefined) {
      if (this.#waiting.length < MOST_WAITING) this.#waiting.push(stall);
      return;
    }
    this.#guarded((recorder) => {
      recorder.record(stall);
    });
  }

  #load(): void {
    if (this.#recorder !== undefined || !this.#guard.on) return;
    try {
      const late = require('./loop-recorder.js') as typeof import('./loop-recorder.js');
      this.#recorder = new late.LoopRecorder(this.#plan);
    } catch (error) {
      this.#guard.fail(error);
      return;
    }
    for (const stall of this.#waiting.splice(0)) this.#stalled(stall);
  }

  #guarded(observe: (recorder: Recorder) => void): void {
    if (!this.#guard.on) return;
    try {
      observe(this.#recorder!);
    } catch (error) {
      this.#guard.fail(error);
    }
  }
}
