import type { TracewrightError } from '../../core/errors.js';
import { Ring } from '../../core/ring/ring.js';
import { encodeFunctionName } from '../section-encoder.js';

const RING_BYTES = 64 * 1024;
/** A try that fails costs as much as hundreds of records. */
const TRY_AGAIN_MS = 100;
const NOTHING = new Uint8Array(0);

/**
 * The names of a rank's functions and annotations on their way to a file of their own, in the bytes
 * of the section that they become when the rank is closed. So their number needs no memory, and a
 * name outlives the process as its calls do.
 */
export class FunctionNames {
  readonly ring: Ring;
  count = 0;
  bytes = 0;
  readonly #place: { file: string; ring: string };
  readonly #calls: Ring;
  readonly #group: string;
  #tryAgainAt = 0;

  /** @param calls the ring of the rank's calls, and the file that it feeds. */
  constructor(
    place: { file: string; ring: string },
    calls: { file: string; ring: Ring },
    whenClosed: () => TracewrightError,
  ) {
    this.#place = place;
    this.#calls = calls.ring;
    this.#group = calls.file;
    this.ring = new Ring(whenClosed);
  }

  /**
   * Adds a name; it is committed before the call returns. False when there is no room for it: what
   * it names must be left out then, and has been counted as dropped, by this ring or that of the calls.
   */
  add(address: bigint, name: string): boolean {
    const { ring } = this;
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

  #open(): boolean {
    const now = performance.now();
    // Once the rank's file was removed, that of another may lie at these paths.
    if (now >= this.#tryAgainAt && this.#calls.inPlace) {
      try {
        this.ring.open({
          path: this.#place.ring,
          capacity: RING_BYTES,
          format: 'dumpi names',
          target: this.#place.file,
          group: this.#group,
          stampOffset: 0,
          stamp: 'none',
          kernelClock: false,
          full: 'block',
          blockLimitMs: 0,
        });
        return true;
      } catch {
        // A full disk, say, or no descriptor left, for which no call fails.
        this.#tryAgainAt = now + TRY_AGAIN_MS;
      }
    }
    this.#calls.countDropped();
    return false;
  }
}
