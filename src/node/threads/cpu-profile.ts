import { startProfile, stopProfile, takeProfile } from '../../core/native-calls.js';
import { claimNote, putNote } from '../../core/process-notes.js';
import { warn } from '../warning.js';

/** A kill loses the samples since the last look. */
const LOOK_MS = 1000;
type Parts = readonly (number | string)[];

/** Samples what the calling thread runs, with V8's own profiler. */
export class CpuProfile {
  readonly #interval: number;
  readonly #record: (interval: number, parts: Parts) => void;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param record takes parts as `takeProfile` returns them, and the nanoseconds of a sample.
   * @returns undefined: V8 is of an unknown version.
   */
  static start(
    hz: number,
    ownScripts: string,
    record: (interval: number, parts: Parts) => void,
  ): CpuProfile | undefined {
    const us = Math.round(1e6 / hz);
    if (startProfile(us, ownScripts)) return new CpuProfile(us * 1000, record);
    const note = 'node.no-profile';
    if (claimNote(note)) {
      putNote(note, '1');
      warn(`no CPU profile is recorded: V8 ${process.versions.v8} is not known`);
    }
    return undefined;
  }

  private constructor(interval: number, record: (interval: number, parts: Parts) => void) {
    this.#interval = interval;
    this.#record = record;
    this.#timer = setInterval(() => {
      this.#take(false);
    }, LOOK_MS);
    this.#timer.unref();
  }

  /** The thread ends. */
  end(): void {
    clearInterval(this.#timer);
    this.#take(true);
    stopProfile();
  }

  #take(all: boolean): void {
    const parts = takeProfile(all);
    if (parts !== undefined && parts.length > 0) this.#record(this.#interval, parts);
  }
}
