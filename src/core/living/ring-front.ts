import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';
import { numberAt, processOf, TARGET_KINDS, textAt } from '../recovery/ring-page.js';
import type { NotedChunk, TargetKind } from '../recovery/ring-page.js';
import type { ProcessIdentity } from '../recovery/process-identity.js';

/** Bytes of the front of a ring's page. */
export function frontBytes(): number {
  return core.control.targetBorn + 8;
}

/**
 * What the first bytes of a ring's page say. They are enough to follow the file of a live process, and some hundred
 * where the page has thousands.
 */
export class RingFront {
  readonly process: ProcessIdentity;
  readonly format: string;
  /** Undefined: none that is known. */
  readonly targetKind: TargetKind | undefined;
  /** Of the file that the ring feeds; 0: not noted. */
  readonly targetInode: bigint;
  readonly #bytes: Buffer;

  /** @param bytes {@link frontBytes} of them. */
  constructor(bytes: Buffer) {
    const { control } = core;
    const kind = LITTLE
      ? bytes.readUInt32LE(control.targetKind)
      : bytes.readUInt32BE(control.targetKind);
    this.process = processOf(bytes);
    this.format = textAt(bytes, control.format, 16);
    this.targetKind = TARGET_KINDS[kind];
    this.targetInode = numberAt(bytes, control.targetInode);
    this.#bytes = bytes;
  }

  /** The same as `RingPage.notedChunk`. */
  get notedChunk(): NotedChunk | undefined {
    const { control } = core;
    const numberOf = (at: number): number => Number(numberAt(this.#bytes, at));
    const [from, to] = [numberOf(control.claimFrom), numberOf(control.claimTo)];
    const offset = numberOf(control.claimOffset);
    if (offset === 0) return undefined;
    const isWritten = from < to && to <= numberOf(control.tail);
    return { from: offset, to: offset + to - from, isWritten };
  }

  /** Whether what a ring changes while it is used is the same. */
  agreesWith({ notedChunk: other }: RingFront): boolean {
    const own = this.notedChunk;
    return (
      own?.from === other?.from && own?.to === other?.to && own?.isWritten === other?.isWritten
    );
  }
}
