import { TracewrightError } from '../../core/errors.js';
import { compileMarkSet, defineMark, labelMark } from '../../ovni/write/mark.js';
import { thread } from '../../ovni/write/thread.js';
import { Guard } from '../guard.js';
import { IN_FLIGHT, IN_FLIGHT_TITLE, requestsLabel } from '../../ovni/requests-mark.js';

/** Number of values with a label. Larger values have none. */
const MAX_LABELLED = 4096;
const FIRST_LABELLED = 8;

/**
 * A mark of how many HTTP requests the thread is serving. Its value is their number plus 1, for a
 * mark cannot be 0.
 */
export class RequestsInFlight {
  readonly #guard = new Guard('requests in flight');
  #mark: ReturnType<typeof compileMarkSet> | undefined;
  #count = 0;
  #labelled = -1;

  /** Requests that are open. */
  get count(): number {
    return this.#count;
  }

  /** Counts a request that begins. */
  begin(): void {
    this.#set(this.#count + 1);
  }

  /** Counts a request that ends. */
  end(): void {
    this.#set(this.#count - 1);
  }

  #set(count: number): void {
    this.#count = count;
    // A thread whose stream is yet to begin has requests all the same.
    if (this.#guard.on !== true || thread.process === undefined) return;
    try {
      if (count > this.#labelled) this.#label(count);
      this.#mark ??= compileMarkSet(thread, IN_FLIGHT);
      this.#mark(count + 1);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  /** Labels the next values together, for each change rewrites the metadata. */
  #label(count: number): void {
    const first = this.#labelled === -1;
    if (first) {
      toMetadata(() => {
        defineMark(thread, IN_FLIGHT, IN_FLIGHT_TITLE, false);
      });
    }
    if (count > MAX_LABELLED) return;
    const last = Math.min(Math.max(FIRST_LABELLED, 2 * count), MAX_LABELLED);
    for (let n = this.#labelled + 1; n <= last; n++) {
      labelMark(thread, IN_FLIGHT, n + 1, requestsLabel(n));
    }
    this.#labelled = last === MAX_LABELLED ? Infinity : last;
    if (first) {
      toMetadata(() => {
        thread.metadata.write();
      });
    }
  }
}

/** Changes metadata; if the disk is full, the change is written later. */
function toMetadata(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof TracewrightError) || error.code !== 'ERR_SYSTEM') throw error;
    thread.metadata.writeSoon();
  }
}
