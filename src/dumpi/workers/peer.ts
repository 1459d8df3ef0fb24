import { Comm, Datatype } from '../constants.js';
import type { Timing } from '../write/call-starts.js';
import type { Rank } from '../write/rank.js';
import { busyUntilNow, waitingSince } from './idle-time.js';
import { messageSize } from './message-size.js';
import { warnNotRecorded } from './warnings.js';

/** Tags count the messages from one rank to another; MPI promises at least these. */
const TAG_MASK = 0x7fff;
const LARGEST_COUNT = 0x7fff_ffff;

/** Bytes of a message; 0 if reading it throws. */
function countOf(message: unknown): number {
  try {
    return Math.min(messageSize(message), LARGEST_COUNT);
  } catch {
    return 0;
  }
}

/** Records the messages between this rank and another one. */
export class Peer {
  readonly #own: Rank;
  readonly #rank: number;
  #sent = 0;
  #received = 0;

  constructor(own: Rank, rank: number) {
    this.#own = own;
    this.#rank = rank;
  }

  /** Posts a message and records it. A message that cannot be cloned is neither sent nor recorded. */
  send<R>(message: unknown, post: () => R): R {
    // Before its buffers are handed over.
    const count = countOf(message);
    const timing = this.#enter();
    const result = post();
    const tag = this.#sent++ & TAG_MASK;
    if (timing !== undefined) this.#recordSend(count, tag, timing);
    return result;
  }

  #enter(): Timing | undefined {
    try {
      return this.#own.enter();
    } catch (error) {
      warnNotRecorded(error);
      return undefined;
    }
  }

  #recordSend(count: number, tag: number, timing: Timing): void {
    const own = this.#own;
    const dest = this.#rank;
    try {
      const { request: requests } = own.handles;
      const request = requests.take();
      own.log(
        'MPI_Isend',
        { count, datatype: Datatype.BYTE, dest, tag, comm: Comm.WORLD, request },
        timing,
      );
      // The program does not wait until a message has left, so the request is freed.
      own.log('MPI_Request_free', { request });
      requests.release(request);
      busyUntilNow(own);
    } catch (error) {
      warnNotRecorded(error);
    }
  }

  /** Records the receipt of a message. */
  receive(message: unknown): void {
    const own = this.#own;
    const source = this.#rank;
    const tag = this.#received++ & TAG_MASK;
    try {
      const timing = waitingSince(own.enter());
      const bytes = countOf(message);
      const { request: requests } = own.handles;
      const request = requests.take();
      own.log(
        'MPI_Irecv',
        { count: bytes, datatype: Datatype.BYTE, source, tag, comm: Comm.WORLD, request },
        timing,
      );
      const status = { bytes, source, tag, cancelled: 0, error: 0 };
      own.log('MPI_Wait', { request, status });
      requests.release(request);
      busyUntilNow(own);
    } catch (error) {
      warnNotRecorded(error);
    }
  }

  /** Counts a message that arrived and could not be read. */
  lose(): void {
    this.#received += 1;
  }
}
