import type { TracewrightError } from '../../core/errors.js';
import { Ring } from '../../core/ring/ring.js';
import { encodeFunctionName } from '../section-encoder.js';

const RING_BYTES = 64 * 1024;
/** A failed attempt costs as much as hundreds of records. */
const TRY_AGAIN_MS = 100;
const NOTHING = new Uint8Array(0);

/**
 * The names of a rank's functions and annotations, on their way to a file of their own. The file holds
 * the bytes of the section that they become when the rank is closed. So any number of names needs no
 * memory, and names outlive the process as calls do.
 */
export class FunctionNames {
  readonly ring: Ring;
  count = 0;
  bytes = 0;
  readonly #paths: { file: string; ring: string };
  readonly #calls: Ring;
  readonly #group: string;
  readonly #whenClosed: () => TracewrightError;
  #tryAgainAt = 0;
  #closed = false;

  /** @param calls the ring of the rank's calls, and the file that it feeds. */
  constructor(
    paths: { file: string; ring: string },
    calls: { file: string; ring: Ring },
    whenClosed: () => TracewrightError,
  ) {
    this.#paths = paths;
    this.#calls = calls.ring;
    this.#group = calls.file;
    this.#whenClosed = whenClosed;
    this.ring = new Ring(whenClosed);
  }

  /**
   * Adds a name; it is committed before the call returns. False when there is no room for it: the
   * caller must drop what it names. This ring, or that of the calls, has counted that.
   */
  add(address: bigint, name: string): boolean {
    const { ring } = this;
    if (this.#closed) throw this.#whenClosed();
    // A rank without names has no such file.
    if (!ring.isOpen && !this.#open()) return false;
    const entry = encodeFunctionName({ address, name });
    if (entry.length > ring.longestRecord) {
      if (!ring.writeThrough(entry, NOTHING, false)) return false;
    } else {
      if (ring.free < entry.length && !ring.forceRoom(entry.length)) return false;
      entry.copy(ring.bytes, ring.position);
      ring.advance(entry.length);
      ring.commit();
    }
    this.count += 1;
    this.bytes += entry.length;
    return true;
  }

  /** Writes out what the ring holds; false when its file fails. */
  flush(): boolean {
    return !this.ring.isOpen || this.ring.flush();
  }

  close(): void {
    this.#closed = true;
    this.ring.close(0);
  }

  #open(): boolean {
    const now = performance.now();
    // If the rank's file was removed, another rank may use these paths.
    if (now >= this.#tryAgainAt && this.#calls.inPlace) {
      try {
        this.ring.open({
          path: this.#paths.ring,
          capacity: RING_BYTES,
          format: 'dumpi names',
          target: this.#paths.file,
          group: this.#group,
          stampOffset: 0,
          stamp: 'none',
          kernelClock: false,
          full: 'block',
          blockLimitMs: 0,
        });
        return true;
      } catch {
        // For example a full disk, or no free descriptor. Recording goes on.
        this.#tryAgainAt = now + TRY_AGAIN_MS;
      }
    }
    this.#calls.countDropped();
    return false;
  }
}
