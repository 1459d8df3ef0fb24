import type { RowFlow } from '../../rows/row-batch.js';
import { wrongIndexOf } from '../request-indices.js';
import { messageSidesOf } from './message-ends.js';
import { MessageFlows } from './message-flows.js';
import type { MessageEnd } from './message-flows.js';
import type { ReadDatatypeSizes } from './read-datatype-sizes.js';
import type { CallRecord } from './call-record.js';

/** Ends of messages of a run at most; the first ones are kept. */
const MAX_ENDS = 1 << 21;
/** Requests of a rank that wait at once. */
const MAX_REQUESTS = 1 << 16;

/** One end of a message, with its row: see `RowFlow`. */
interface RowEnd {
  end: MessageEnd;
  batch: number;
  row: number;
  time: number;
  bytes: number;
}

/** Finds the messages between the calls of a run, which are read rank by rank. */
export class RunMessages {
  readonly #flows: MessageFlows;
  readonly #ends: RowEnd[] = [];
  /** Receives of the rank that have not been waited for, by request. */
  readonly #asked = new Map<number, RowEnd>();
  #isWhole = true;

  /** @param ranks of the run. */
  constructor(ranks: number) {
    this.#flows = new MessageFlows(ranks);
  }

  /** Begins the calls of a rank. */
  begin(rank: number): void {
    this.#flows.begin(rank);
    this.#asked.clear();
  }

  /** A rank cannot be read to its end: what its messages connect is not known. */
  giveUp(): void {
    this.#isWhole = false;
  }

  /** Takes note of a call that has no times, so no row. Both ends of a message are rows, or it is none. */
  untimed(call: CallRecord): void {
    if (messageSidesOf(call).length > 0) this.giveUp();
    this.#flows.endsOf(call);
  }

  /**
   * Takes note of a call.
   *
   * @param batch of its row, as `row`.
   * @param start of the row, as `end`.
   */
  call(
    call: CallRecord,
    sizes: ReadDatatypeSizes,
    batch: number,
    row: number,
    start: number,
    end: number,
  ): void {
    for (const each of this.#flows.endsOf(call)) {
      if (this.#ends.length === MAX_ENDS) {
        this.giveUp();
        return;
      }
      const { sends, count, datatype } = each;
      const bytes = sends ? Math.max(0, count) * sizes.of(datatype) : NaN;
      const own: RowEnd = { end: each, batch, row, time: sends ? start : end, bytes };
      this.#ends.push(own);
      if (call.name === 'MPI_Irecv' && this.#asked.size < MAX_REQUESTS) {
        this.#asked.set(call.fields.request, own);
      }
    }
    for (const request of requestsCompletedBy(call)) {
      const asked = this.#asked.get(request);
      if (asked === undefined) continue;
      this.#asked.delete(request);
      Object.assign(asked, { batch, row, time: end });
    }
  }

  /** The messages, ordered by the time they were sent. All ranks have been read. */
  whole(): RowFlow[] {
    if (!this.#isWhole) return [];
    this.#flows.match();
    const sent = new Map<number, RowEnd>();
    const flows: RowFlow[] = [];
    for (const each of this.#ends) {
      if (each.end.sends && each.end.kind.flow !== undefined) {
        sent.set(each.end.kind.flow + each.end.nth, each);
      }
    }
    for (const { end, batch, row, time } of this.#ends) {
      if (end.sends || end.kind.flow === undefined) continue;
      const from = sent.get(end.kind.flow + end.nth);
      if (from === undefined) continue;
      const message = { fromBatch: from.batch, fromRow: from.row, sent: from.time };
      flows.push({ ...message, toBatch: batch, toRow: row, received: time, bytes: from.bytes });
    }
    return flows.sort((a, b) => a.sent - b.sent);
  }
}

const NO_REQUESTS: readonly number[] = [];

/** Requests that a call has found complete. Of one with a wrong index none are known. */
function requestsCompletedBy({ name, fields }: CallRecord): readonly number[] {
  if (wrongIndexOf(name, fields) !== undefined) return NO_REQUESTS;
  switch (name) {
    case 'MPI_Wait':
      return [fields.request];
    case 'MPI_Test':
      return fields.flag === 0 ? NO_REQUESTS : [fields.request];
    case 'MPI_Waitall':
      return fields.requests;
    case 'MPI_Testall':
      return fields.flag === 0 ? NO_REQUESTS : fields.requests;
    case 'MPI_Waitany':
      return at(fields.requests, [fields.index]);
    case 'MPI_Testany':
      return fields.flag === 0 ? NO_REQUESTS : at(fields.requests, [fields.index]);
    case 'MPI_Waitsome':
    case 'MPI_Testsome':
      return at(fields.requests, fields.indices);
    default:
      return NO_REQUESTS;
  }
}

function at(requests: readonly number[], indices: readonly number[]): number[] {
  return indices.map((index) => requests[index]).filter((request) => request !== undefined);
}
