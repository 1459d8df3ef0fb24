import type { TracewrightError } from '../core/errors.js';
import { Ring } from '../core/ring.js';
import { encodeFunctionName } from './section-encoder.js';

const RING_BYTES = 64 * 1024;
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

  constructor(place: { file: string; ring: string }, whenClosed: () => TracewrightError) {
    this.#place = place;
    this.ring = new Ring(whenClosed);
  }

  /** Adds a name; it is committed before the call returns. */
  add(address: bigint, name: string): void {
    const { ring } = this;
    // A rank without names has no such file.
    if (!ring.isOpen) this.#open();
    const entry = encodeFunctionName({ address, name });
    if (entry.length > ring.longestRecord) {
      if (!ring.writeThrough(entry, NOTHING, false)) return;
    } else {
      if (ring.free < entry.length && !ring.insistOnRoom(entry.length)) return;
      entry.copy(ring.bytes, ring.position);
      ring.advance(entry.length);
      ring.commit();
    }
    this.count += 1;
    this.bytes += entry.length;
  }

  #open(): void {
    this.ring.open({
      path: this.#place.ring,
      capacity: RING_BYTES,
      format: 'dumpi names',
      target: this.#place.file,
      stampOffset: 0,
      stamp: 'none',
      kernelClock: false,
      full: 'block',
      blockLimitMs: 0,
    });
  }
}
