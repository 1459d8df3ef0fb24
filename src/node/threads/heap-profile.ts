import { startHeapProfile, stopHeapProfile, takeHeapProfile } from '../../core/native-calls.js';
import { warn } from '../warning.js';

/** Bytes: V8's own default. */
const INTERVAL = 512 * 1024;
/** A kill loses what was allocated since the last look. */
const LOOK_MS = 10_000;

/** Samples what the calling thread allocates, with V8's own profiler. */
export class HeapProfile {
  readonly #record: (part: readonly (number | string)[]) => void;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param record takes what is alive, as `takeHeapProfile` returns it.
   * @returns undefined: V8 is of an unknown version, or the program has started this profiler.
   */
  static start(
    ownScripts: string,
    record: (part: readonly (number | string)[]) => void,
  ): HeapProfile | undefined {
    if (startHeapProfile(INTERVAL, ownScripts)) return new HeapProfile(record);
    warn(`no allocations are recorded: V8 ${process.versions.v8} is not known, or samples already`);
    return undefined;
  }

  private constructor(record: (part: readonly (number | string)[]) => void) {
    this.#record = record;
    this.#timer = setInterval(() => {
      this.#take();
    }, LOOK_MS);
    this.#timer.unref();
  }

  /** The thread ends. */
  end(): void {
    clearInterval(this.#timer);
    this.#take();
    stopHeapProfile();
  }

  #take(): void {
    const part = takeHeapProfile();
    if (part !== undefined) this.#record(part);
  }
}
