import type { Finding } from '../core/finding.js';
import { ANY_SOURCE, ANY_TAG, Comm } from './constants.js';
import { labelOf } from './calls.js';
import type { CallName } from './calls.js';
import type { CallRecord } from './reader.js';
import type { Sections } from './sections.js';

/** Pairs of ranks with a tag that are told apart; a run with more of them is not compared. */
const MAX_CHANNELS = 1 << 20;
/** Persistent requests of a rank that are known at once. */
const MAX_PERSISTENT = 1 << 16;

/** Calls without whose records sends and receives cannot be compared. */
const COMPARED: readonly CallName[] = [
  'MPI_Send',
  'MPI_Bsend',
  'MPI_Ssend',
  'MPI_Rsend',
  'MPI_Isend',
  'MPI_Ibsend',
  'MPI_Issend',
  'MPI_Irsend',
  'MPI_Send_init',
  'MPI_Bsend_init',
  'MPI_Ssend_init',
  'MPI_Rsend_init',
  'MPI_Recv',
  'MPI_Irecv',
  'MPI_Recv_init',
  'MPI_Start',
  'MPI_Startall',
  'MPI_Sendrecv',
  'MPI_Sendrecv_replace',
  'MPI_Cancel',
];

/** The messages from one rank to another with one tag. */
interface Channel {
  sends: number;
  receives: number;
  /** Bytes that were sent less those that there was room for; NaN where a datatype is not known. */
  excess: number;
}

/** One end of a message. */
interface End {
  sends: boolean;
  /** The rank at the other end. */
  peer: number;
  tag: number;
  count: number;
  datatype: number;
}

/**
 * Compares the sends of a run's ranks with the receives, rank by rank, in memory that grows with the
 * pairs of ranks and their tags and not with the messages. Only MPI_COMM_WORLD has the same ranks and
 * the same number in every file: other communicators are left out.
 */
export class MessageMatch {
  readonly #size: number;
  /** By sender and receiver, then by tag. */
  readonly #pairs = new Map<number, Map<number, Channel>>();
  /** For each rank: receives from anywhere or with any tag, and requests that were cancelled. */
  readonly #open: Float64Array;
  readonly #persistent = new Map<number, End>();
  #channels = 0;
  #rank = 0;
  #sizes: readonly number[] = [];
  #ended = 0;
  #comparable = true;

  /** @param size ranks of the run, all of which are to be read. */
  constructor(size: number) {
    this.#size = size;
    this.#open = new Float64Array(size);
  }

  /** What follows are the calls of this rank. */
  begin(rank: number, { footer, datatypeSizes }: Sections): void {
    this.#rank = rank;
    this.#sizes = datatypeSizes ?? [];
    this.#persistent.clear();
    if (COMPARED.some((name) => (footer?.ignored[labelOf(name)] ?? 0) > 0)) {
      this.#comparable = false;
    }
  }

  /** The calls of the rank have been read to their end. */
  end(): void {
    this.#ended++;
  }

  call({ name, fields }: CallRecord): void {
    if (!this.#comparable) return;
    switch (name) {
      case 'MPI_Send':
      case 'MPI_Bsend':
      case 'MPI_Ssend':
      case 'MPI_Rsend':
      case 'MPI_Isend':
      case 'MPI_Ibsend':
      case 'MPI_Issend':
      case 'MPI_Irsend':
        if (fields.comm === Comm.WORLD) this.#message(sendOf(fields));
        break;
      case 'MPI_Recv': {
        if (fields.comm !== Comm.WORLD) break;
        const { status } = fields;
        const known = status === null ? fields : { ...fields, ...resolved(fields, status) };
        this.#message(receiveOf(known));
        break;
      }
      case 'MPI_Irecv':
        if (fields.comm === Comm.WORLD) this.#message(receiveOf(fields));
        break;
      case 'MPI_Sendrecv': {
        if (fields.comm !== Comm.WORLD) break;
        const { sendcount, sendtype, dest, sendtag, status } = fields;
        const { recvcount: count, recvtype: datatype, source, recvtag: tag } = fields;
        const receive = { count, datatype, source, tag };
        this.#message(sendOf({ count: sendcount, datatype: sendtype, dest, tag: sendtag }));
        this.#message(
          receiveOf(status === null ? receive : { ...receive, ...resolved(receive, status) }),
        );
        break;
      }
      case 'MPI_Sendrecv_replace': {
        if (fields.comm !== Comm.WORLD) break;
        const { count, datatype, dest, sendtag, source, recvtag, status } = fields;
        const receive = { count, datatype, source, tag: recvtag };
        this.#message(sendOf({ count, datatype, dest, tag: sendtag }));
        this.#message(
          receiveOf(status === null ? receive : { ...receive, ...resolved(receive, status) }),
        );
        break;
      }
      case 'MPI_Send_init':
      case 'MPI_Bsend_init':
      case 'MPI_Ssend_init':
      case 'MPI_Rsend_init':
        if (fields.comm === Comm.WORLD) this.#prepare(fields.request, sendOf(fields));
        break;
      case 'MPI_Recv_init':
        if (fields.comm === Comm.WORLD) this.#prepare(fields.request, receiveOf(fields));
        break;
      case 'MPI_Start':
        this.#start(fields.request);
        break;
      case 'MPI_Startall':
        for (const request of fields.requests) this.#start(request);
        break;
      case 'MPI_Request_free':
        this.#persistent.delete(fields.request);
        break;
      case 'MPI_Cancel':
        this.#open[this.#rank]!++;
        break;
      default:
    }
  }

  /**
   * What does not match, once all ranks have been read; nothing where one could not be read to its
   * end or has left such calls out.
   */
  *findings(path: string): Generator<Finding, void> {
    if (!this.#comparable || this.#ended < this.#size) return;
    for (const [pair, tags] of this.#pairs) {
      const from = Math.floor(pair / this.#size);
      const to = pair % this.#size;
      for (const [tag, { sends, receives, excess }] of tags) {
        const what = `rank ${from} sends ${sends} messages with tag ${tag} to rank ${to}`;
        const more = Math.abs(sends - receives);
        if (more === 0 && excess > 0) {
          const message = `${what}, in all ${excess} bytes more than that has room for`;
          yield { severity: 'warning', rule: 'message-size', message, path };
        }
        if (more === 0 || this.#excused(from, to, more, sends > receives)) continue;
        const message = `${what}, which has ${receives} receives for them`;
        yield { severity: 'warning', rule: 'unmatched-message', message, path };
      }
    }
  }

  /** Whether receives that take any message, or requests that were cancelled, may be why. */
  #excused(from: number, to: number, count: number, isSent: boolean): boolean {
    const open = this.#open;
    for (const rank of isSent ? [to, from] : [to]) {
      if (open[rank]! < count) continue;
      open[rank]! -= count;
      return true;
    }
    return false;
  }

  #prepare(request: number, end: End): void {
    if (this.#persistent.size >= MAX_PERSISTENT) this.#comparable = false;
    else this.#persistent.set(request, end);
  }

  #start(request: number): void {
    const end = this.#persistent.get(request);
    if (end !== undefined) this.#message(end);
  }

  #message({ sends, peer, tag, count, datatype }: End): void {
    const own = this.#rank;
    if (!sends && (peer === ANY_SOURCE || tag === ANY_TAG)) {
      this.#open[own]!++;
      return;
    }
    // MPI_PROC_NULL among them.
    if (peer < 0 || peer >= this.#size) return;
    const pair = sends ? own * this.#size + peer : peer * this.#size + own;
    let tags = this.#pairs.get(pair);
    if (tags === undefined) this.#pairs.set(pair, (tags = new Map<number, Channel>()));
    let channel = tags.get(tag);
    if (channel === undefined) {
      if (++this.#channels > MAX_CHANNELS) {
        this.#comparable = false;
        this.#pairs.clear();
        return;
      }
      tags.set(tag, (channel = { sends: 0, receives: 0, excess: 0 }));
    }
    const bytes = count * (this.#sizes[datatype] ?? NaN);
    if (sends) {
      channel.sends++;
      channel.excess += bytes;
    } else {
      channel.receives++;
      channel.excess -= bytes;
    }
  }
}

function sendOf(call: { count: number; datatype: number; dest: number; tag: number }): End {
  const { count, datatype, dest, tag } = call;
  return { sends: true, peer: dest, tag, count, datatype };
}

function receiveOf(call: { count: number; datatype: number; source: number; tag: number }): End {
  const { count, datatype, source, tag } = call;
  return { sends: false, peer: source, tag, count, datatype };
}

/** Where a message came from that might have come from anywhere. */
function resolved(
  { source, tag }: { source: number; tag: number },
  status: { source: number; tag: number },
): { source: number; tag: number } {
  return {
    source: source === ANY_SOURCE && status.source >= 0 ? status.source : source,
    tag: tag === ANY_TAG ? status.tag : tag,
  };
}
