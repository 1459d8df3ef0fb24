import { ownOptions } from '../options/argument.js';
import { core } from '../addon.js';
import type { TargetCounts } from '../no-counts.js';
import type { JoinOptions, NativeTarget } from '../native-ring.js';
import { shared } from '../process-state.js';
import { isMainThread } from '../system-thread.js';

export type { TargetCounts };

// Node ends the workers one after another, and each would wait for its own socket.
if (isMainThread) {
  shared('core.process-ends', () =>
    process.prependOnceListener('exit', () => {
      core.processEnds();
    }),
  );
}

/**
 * A target that any thread of the process may join: a file that several rings feed, or a socket. It
 * closes with the last ring, unless `keepTargetOpen` was called.
 */
export class SharedTarget {
  /** Whether this call has created the target; otherwise another thread had it open. */
  readonly created: boolean;
  /** Nanoseconds of CLOCK_MONOTONIC at time 0 of the target. */
  readonly epoch: bigint;
  readonly #target: NativeTarget;

  private constructor(target: NativeTarget, created: boolean, epoch: bigint) {
    this.#target = target;
    this.created = created;
    this.epoch = epoch;
  }

  /** @throws the native error with its errno. */
  static join(options: JoinOptions): SharedTarget {
    const { target, created, epoch } = core.joinTarget(ownOptions(options));
    return new SharedTarget(target, created, epoch);
  }

  /** @internal For {@link Ring.open}. */
  get native(): NativeTarget {
    return this.#target;
  }

  /**
   * A number that no other caller of the process gets from this target: `wanted`, or the next one
   * from 1. -1: another caller has got the wanted one.
   */
  takeNumber(wanted?: number): number {
    return core.takeNumber(this.#target, wanted);
  }

  /**
   * The number of a definition, the same in all threads of the process; 0 when the target has too
   * many.
   *
   * @param key says what is defined.
   */
  define(key: string): number {
    return core.define(this.#target, key);
  }

  /**
   * Adds a definition's packet to what every later file, piece and connection begins with. Only the
   * first packet of a number counts. False when those packets take too many bytes already.
   */
  repeatDefinition(number: number, packet: Uint8Array): boolean {
    return core.repeatDefinition(this.#target, number, packet);
  }

  /** Counts of all rings that feed the target or once did. */
  counts(): TargetCounts {
    return core.targetCounts(this.#target);
  }
}

/** Keeps an open target open until the process ends, whichever thread closes it. */
export function keepTargetOpen(key: string): void {
  core.keepTarget(key);
}
