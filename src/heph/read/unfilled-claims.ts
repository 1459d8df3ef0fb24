import { readSync } from 'node:fs';
import { TraceFormatError } from '../../core/errors.js';
import { endOfRecords } from '../../core/living/ring-copy.js';
import type { FeedingRing } from '../../core/recovery/feeding-ring.js';
import type { RingPage } from '../../core/recovery/ring-page.js';
import { PACKET_HEAD_BYTES } from '../layout.js';
import { eventBytes, isEvent } from './event-bytes.js';

/** A claim that the bytes of the file may not have reached yet. */
interface UnfilledClaim {
  from: number;
  to: number;
  /** Of a dead process: what belongs there. */
  bytes: Buffer | undefined;
}

/** Ranges of a file that its rings have claimed and may not have written. */
export class UnfilledClaims {
  readonly #path: string;
  readonly #fd: number;
  readonly #leaveOut: (ring: FeedingRing, error: unknown) => void;

  /** @param leaveOut gets a ring that says something wrong. */
  constructor(path: string, fd: number, leaveOut: (ring: FeedingRing, error: unknown) => void) {
    this.#path = path;
    this.#fd = fd;
    this.#leaveOut = leaveOut;
  }

  /** Those below `size`, in order. */
  below(size: number, rings: readonly FeedingRing[]): UnfilledClaim[] {
    const claims: UnfilledClaim[] = [];
    for (const ring of rings) {
      try {
        const claim = this.#of(ring, size);
        if (claim !== undefined) claims.push(claim);
      } catch (error) {
        this.#leaveOut(ring, error);
      }
    }
    return claims.sort((a, b) => a.from - b.from);
  }

  /**
   * Up to where the bytes of the file are final, as live processes say: what they hold is not compared with what the
   * file has. One that fails to write, or that says something wrong, says the same again later.
   */
  notedEnd(size: number, rings: readonly FeedingRing[]): number {
    let end = size;
    for (const ring of rings) {
      try {
        const noted = ring.isRunning ? ring.notedChunk : this.#of(ring, size);
        if (noted === undefined || noted.from >= end || noted.from === noted.to) continue;
        if (!('isWritten' in noted && noted.isWritten) && ring.isInPlace()) end = noted.from;
      } catch (error) {
        this.#leaveOut(ring, error);
      }
    }
    return end;
  }

  #of(ring: FeedingRing, size: number): UnfilledClaim | undefined {
    for (;;) {
      const page = ring.sample();
      // One that goes with the next piece has nothing on the way to this one.
      if (!page.hasClaim && !page.claimsOpenRecords) return undefined;
      if (!ring.isInPlace() && ring.isRunning) return undefined;
      const { from, to, offset } = page.claim;
      if (offset >= size) return undefined;
      const held = heldForClaim(ring, page);
      const isWhole = endOfRecords(held, PACKET_HEAD_BYTES, eventBytes) === to - from;
      const mayBe = isWhole && this.#mayBeThere(held, offset);
      const claim = { from: offset, to: offset + to - from };
      // Elsewhere in the file lies what a dead process has written, or it follows the file.
      if (!ring.isRunning) return mayBe ? { ...claim, bytes: held } : undefined;
      if (mayBe || page.claimsOpenRecords) return { ...claim, bytes: undefined };
      if (ring.releasedTo() === page.tail) {
        throw new TraceFormatError(ring.path, 0, `it is not what ${this.#path} has at its claim`);
      }
    }
  }

  /** Whether the file has at a claim what is held for it, or nothing yet. */
  #mayBeThere(held: Buffer, offset: number): boolean {
    const written = Buffer.alloc(held.length);
    readSync(this.#fd, written, 0, written.length, offset);
    return held.equals(written) || !written.some((byte, i) => byte !== 0 && byte !== held[i]);
  }
}

function heldForClaim(ring: FeedingRing, page: RingPage): Buffer {
  const { from, to } = page.claim;
  if (!page.claimsOpenRecords) return ring.content.read(page, from, to);
  return Buffer.concat(ring.content.openRecords(page)!.closedAt(page.head, isEvent));
}
