import { TraceFormatError } from '../../../core/errors.js';
import { microseconds, nanosecondsOf as nanosecondsOfEvent } from '../../../core/chrome-event.js';
import { nanosecondsOf } from '../../../dumpi/read/dump.js';
import { surveyMessages } from '../../../dumpi/read/message-flows.js';
import type { MessageFlows } from '../../../dumpi/read/message-flows.js';
import { ReadDatatypeSizes } from '../../../dumpi/read/read-datatype-sizes.js';
import { CallCursor } from '../../../dumpi/read/reader.js';
import type { CallRecord } from '../../../dumpi/read/reader.js';
import { existingRankFiles, isMetafile } from '../../../dumpi/read/run.js';
import { readSections } from '../../../dumpi/read/section-reader.js';
import { firstAtLeast } from '../parts/sorted.js';
import type { BuiltPart } from '../parts/part-columns.js';
import { TextBytes } from '../parts/text-bytes.js';

/** Messages of a run at most; the first ones are kept. */
const MAX_MESSAGES = 1 << 20;
/** Requests of a rank that wait at once. */
const MAX_REQUESTS = 1 << 16;

/** A message as it is read: rows of the part, and ns since the source's epoch. */
export interface ReadMessage {
  fromRow: number;
  toRow: number;
  sent: number;
  received: number;
  /** NaN: the datatype is unknown. */
  bytes: number;
}

/** The rows of calls, by rank, start and name. */
class CallRows {
  readonly #start: Float64Array;
  readonly #name: Uint32Array;
  readonly #rankOf: Float64Array;
  readonly #names: TextBytes;
  readonly #used: Uint8Array;
  readonly #track: Uint32Array;

  constructor({ facts, columns }: BuiltPart) {
    this.#start = columns.start;
    this.#name = columns.name;
    this.#track = columns.track;
    this.#names = new TextBytes(columns.nameBytes, columns.nameEnds);
    this.#rankOf = Float64Array.from(facts.tracks, ({ thread }) => thread);
    this.#used = new Uint8Array(facts.rows);
  }

  /** The row of a call, or -1. Of calls that look the same, the next one. */
  take(rank: number, name: string, start: number): number {
    const starts = this.#start;
    let same = -1;
    for (let row = firstAtLeast(starts, start); starts[row] === start; row++) {
      if (this.#rankOf[this.#track[row]!] !== rank) continue;
      if (this.#names.text(this.#name[row]!) !== name) continue;
      same = row;
      if (this.#used[row] === 0) break;
    }
    if (same !== -1) this.#used[same] = 1;
    return same;
  }
}

/**
 * The messages of a run between the calls that are its rows, ordered by the time they were sent.
 *
 * @param path the run's metafile. A rank's own file has no other end.
 */
export function readRunMessages(path: string, part: BuiltPart): ReadMessage[] {
  const flows = isMetafile(path) ? surveyMessages(path) : undefined;
  if (flows === undefined) return [];
  const messages = new RunMessages(flows, new CallRows(part));
  try {
    for (const [rank, file] of existingRankFiles(path).entries()) messages.readRank(rank, file);
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
  }
  return messages.whole();
}

type PartialMessage = Partial<ReadMessage>;

class RunMessages {
  readonly #flows: MessageFlows;
  readonly #rows: CallRows;
  readonly #messages = new Map<bigint, PartialMessage>();
  /** Receives of the rank that have not been waited for, by request. */
  readonly #asked = new Map<number, PartialMessage>();

  constructor(flows: MessageFlows, rows: CallRows) {
    this.#flows = flows;
    this.#rows = rows;
  }

  readRank(rank: number, file: string): void {
    const sections = readSections(file);
    const sizes = new ReadDatatypeSizes(sections);
    const cursor = CallCursor.ofTrace(sections);
    this.#flows.begin(rank);
    this.#asked.clear();
    try {
      for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
        sizes.call(call);
        this.#call(rank, call, sizes);
      }
    } finally {
      cursor.close();
    }
  }

  whole(): ReadMessage[] {
    const isWhole = (message: PartialMessage): message is ReadMessage =>
      message.sent !== undefined && message.received !== undefined;
    return [...this.#messages.values()].filter(isWhole).sort((a, b) => a.sent - b.sent);
  }

  #call(rank: number, call: CallRecord, sizes: ReadDatatypeSizes): void {
    const ends = this.#flows.endsOf(call);
    const completed = requestsCompletedBy(call);
    const times = call.wall ?? call.cpu;
    if (times === undefined || (ends.length === 0 && completed.length === 0)) return;
    // As the call's event of convert has it, whose row it is.
    const start = nanosecondsOfEvent(microseconds(nanosecondsOf(times.start)));
    const stop = Math.max(start, nanosecondsOfEvent(microseconds(nanosecondsOf(times.stop))));
    let row: number | undefined;
    const rowOf = (): number => (row ??= this.#rows.take(rank, call.name, start));
    for (const { flow, sends, count, datatype } of ends) {
      const message = this.#messageOf(flow);
      if (message === undefined || rowOf() === -1) continue;
      if (sends) {
        const bytes = Math.max(0, count) * sizes.of(datatype);
        Object.assign(message, { fromRow: rowOf(), sent: start, bytes });
        continue;
      }
      Object.assign(message, { toRow: rowOf(), received: stop });
      if (call.name === 'MPI_Irecv' && this.#asked.size < MAX_REQUESTS) {
        this.#asked.set(call.fields.request, message);
      }
    }
    for (const request of completed) {
      const message = this.#asked.get(request);
      this.#asked.delete(request);
      if (message === undefined || rowOf() === -1) continue;
      Object.assign(message, { toRow: rowOf(), received: stop });
    }
  }

  #messageOf(flow: bigint): PartialMessage | undefined {
    let message = this.#messages.get(flow);
    if (message === undefined && this.#messages.size < MAX_MESSAGES) {
      this.#messages.set(flow, (message = {}));
    }
    return message;
  }
}

const NO_REQUESTS: readonly number[] = [];

/** Requests that a call has found complete. */
function requestsCompletedBy({ name, fields }: CallRecord): readonly number[] {
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

function at(requests: readonly number[], places: readonly number[]): number[] {
  return places.map((place) => requests[place]).filter((request) => request !== undefined);
}
