import type { Finding } from '../../core/finding.js';
import { ReadDatatypeSizes } from './read-datatype-sizes.js';
import { Communicators, MAKING_COMMUNICATORS, WORLD } from './communicators.js';
import type { CommunicatorId } from './communicators.js';
import { labelOf } from '../calls.js';
import type { CallName } from '../calls.js';
import { warningOf } from '../../core/finding.js';
import { acceptsAny, messageSidesOf, preparedBy } from './message-ends.js';
import type { MessageSide } from './message-ends.js';
import type { CallRecord } from './call-record.js';
import type { Sections } from './section-reader.js';

/** Ends of messages with peer and tag that are distinguished; a run with more of them is not compared. */
const MAX_STREAMS = 1 << 21;
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

/** The messages that a rank sends to another one with one tag, or receives from it. */
interface Stream {
  count: number;
  /** Bytes that were sent, or that there was room for; NaN where a datatype is not known. */
  bytes: number;
}

/** By rank and peer, then by tag. */
type Streams = Map<number, Map<number, Stream>>;

/** Messages from one rank to another. */
interface Traffic {
  from: number;
  to: number;
  messages: number;
  bytes: number;
}

/** Sends and receives in one communicator, in which a peer is a rank of the communicator. */
interface Exchange {
  sends: Streams;
  receives: Streams;
  /** For each rank: receives from anywhere or with any tag. */
  open: Map<number, number>;
}

/** One end of a message. */
interface End {
  sends: boolean;
  /** The rank at the other end. */
  peer: number;
  tag: number;
  /** NaN where the datatype's size is not known. */
  bytes: number;
  comm: CommunicatorId;
}

/**
 * Compares the sends of a run's ranks with the receives, rank by rank, in memory that grows with the
 * pairs of ranks and their tags and not with the messages. Each communicator is compared by itself,
 * where the trace says who is in it (see communicators.ts): MPI_COMM_WORLD and what is made of it by
 * duplicating, splitting, of groups of listed ranks, and as grids that are not reordered.
 */
export class MessageMatch {
  readonly #size: number;
  readonly #communicators: Communicators;
  readonly #traffic = new Map<CommunicatorId, Exchange>();
  /** For each rank: requests that were cancelled. */
  readonly #cancelled: Float64Array;
  readonly #persistent = new Map<number, End>();
  #streams = 0;
  #rank = 0;
  #sizes = new ReadDatatypeSizes();
  #ended = 0;
  #comparable = true;
  #counted = true;

  /** @param size ranks of the run, all of which are to be read. */
  constructor(size: number) {
    this.#size = size;
    this.#communicators = new Communicators(size);
    this.#cancelled = new Float64Array(size);
  }

  /** Begins the calls of a rank. */
  begin(rank: number, sections: Sections): void {
    const { footer } = sections;
    this.#rank = rank;
    this.#sizes = new ReadDatatypeSizes(sections);
    this.#persistent.clear();
    this.#communicators.begin(rank);
    const lacks = (name: CallName): boolean => (footer?.ignored[labelOf(name)] ?? 0) > 0;
    if (MAKING_COMMUNICATORS.some(lacks)) this.#communicators.giveUp();
    if (COMPARED.some(lacks)) {
      this.#comparable = false;
    }
  }

  /** The calls of the rank have been read to their end. */
  end(): void {
    this.#ended++;
  }

  /** @param counted false: the messages of the call are not counted, only what it defines. */
  call(record: CallRecord, counted = true): void {
    if (!this.#comparable) return;
    this.#counted = counted;
    this.#communicators.call(record);
    this.#sizes.call(record);
    for (const side of messageSidesOf(record)) this.#message(this.#endOf(side));
    const { name, fields } = record;
    switch (name) {
      case 'MPI_Send_init':
      case 'MPI_Bsend_init':
      case 'MPI_Ssend_init':
      case 'MPI_Rsend_init':
      case 'MPI_Recv_init':
        this.#prepare(fields.request, this.#endOf(preparedBy(record)!));
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
        this.#cancelled[this.#rank]!++;
        break;
      default:
    }
  }

  /**
   * Lists what does not match, once all ranks have been read; nothing where one could not be read to its
   * end or has left such calls out.
   */
  *findings(path: string): Generator<Finding, void> {
    if (!this.#comparable || this.#ended < this.#size) return;
    for (const [comm, traffic] of this.#traffic) {
      const members = this.#communicators.membersOf(comm);
      if (members !== undefined) yield* this.#findingsIn(comm, members, traffic, path);
    }
  }

  /**
   * Sums up what each rank has sent to each other one, as far as it was read: ranks of the run, messages, and
   * bytes, which are NaN where a datatype is not known.
   */
  *traffic(): Generator<Traffic, void> {
    const pairs = new Map<number, Traffic>();
    for (const [comm, { sends }] of this.#traffic) {
      const members = this.#communicators.membersOf(comm);
      if (members === undefined) continue;
      for (const [from, to, tags] of this.#withMembers(sends, members)) {
        const cell = from * this.#size + to;
        const pair = pairs.get(cell) ?? { from, to, messages: 0, bytes: 0 };
        pairs.set(cell, pair);
        for (const { count, bytes } of tags.values()) {
          pair.messages += count;
          pair.bytes += bytes;
        }
      }
    }
    yield* pairs.values();
  }

  *#findingsIn(
    comm: CommunicatorId,
    members: readonly number[],
    traffic: Exchange,
    path: string,
  ): Generator<Finding, void> {
    const warning = (rule: string, message: string): Finding => warningOf(path, rule, message);
    const indexOf = new Map(members.map((rank, at) => [rank, at]));
    const where = comm === WORLD ? '' : `, in a communicator of ${members.length} ranks,`;
    const none: Stream = { count: 0, bytes: 0 };
    for (const [from, to, tags] of this.#withMembers(traffic.sends, members)) {
      const at = indexOf.get(from);
      if (at === undefined) continue;
      const counterparts = traffic.receives.get(to * this.#size + at);
      for (const [tag, sent] of tags) {
        const received = counterparts?.get(tag) ?? none;
        const what = `rank ${from} sends ${sent.count} messages with tag ${tag} to rank ${to}${where}`;
        const more = Math.abs(sent.count - received.count);
        const excess = sent.bytes - received.bytes;
        if (more === 0 && excess > 0) {
          yield warning(
            'message-size',
            `${what}${where === '' ? ',' : ''} in all ${excess} bytes more than that has room for`,
          );
        }
        if (more === 0 || this.#excused(traffic, from, to, more, sent.count > received.count)) {
          continue;
        }
        yield warning(
          'unmatched-message',
          `${what}${where === '' ? ',' : ''} which has ${received.count} receives for them`,
        );
      }
    }
    // Receives of what nobody sends.
    for (const [to, from, tags] of this.#withMembers(traffic.receives, members)) {
      const at = indexOf.get(to);
      if (at === undefined) continue;
      const counterparts = traffic.sends.get(from * this.#size + at);
      for (const [tag, { count }] of tags) {
        if (counterparts?.has(tag) === true || this.#excused(traffic, from, to, count, false)) {
          continue;
        }
        yield warning(
          'unmatched-message',
          `rank ${from} sends 0 messages with tag ${tag} to rank ${to}${where === '' ? ',' : where} which has ${count} receives for them`,
        );
      }
    }
  }

  /** Ranks of the run with their peers, which are members of the communicator. */
  *#withMembers(
    streams: Streams,
    members: readonly number[],
  ): Generator<[own: number, peer: number, tags: ReadonlyMap<number, Stream>], void> {
    for (const [key, tags] of streams) {
      const peer = members[key % this.#size];
      if (peer !== undefined) yield [Math.floor(key / this.#size), peer, tags];
    }
  }

  /** Whether receives that take any message, or requests that were cancelled, may be why. */
  #excused({ open }: Exchange, from: number, to: number, count: number, isSent: boolean): boolean {
    const anywhere = open.get(to) ?? 0;
    for (const rank of isSent ? [to, from] : [to]) {
      const takers = rank === to ? anywhere : 0;
      if (takers + this.#cancelled[rank]! < count) continue;
      const taken = Math.min(takers, count);
      if (taken > 0) open.set(to, takers - taken);
      this.#cancelled[rank]! -= count - taken;
      return true;
    }
    return false;
  }

  #prepare(request: number, end: End | undefined): void {
    this.#persistent.delete(request);
    if (end === undefined) return;
    if (this.#persistent.size >= MAX_PERSISTENT) this.#comparable = false;
    else this.#persistent.set(request, end);
  }

  #start(request: number): void {
    const end = this.#persistent.get(request);
    if (end !== undefined) this.#message(end);
  }

  #message(end: End | undefined): void {
    if (end === undefined || !this.#counted) return;
    const { sends, peer, tag, bytes, comm } = end;
    const own = this.#rank;
    let traffic = this.#traffic.get(comm);
    if (traffic === undefined) {
      traffic = { sends: new Map(), receives: new Map(), open: new Map() };
      this.#traffic.set(comm, traffic);
    }
    if (acceptsAny(end)) {
      traffic.open.set(own, (traffic.open.get(own) ?? 0) + 1);
      return;
    }
    // MPI_PROC_NULL among them.
    if (peer < 0 || peer >= this.#size) return;
    const streams = sends ? traffic.sends : traffic.receives;
    const key = own * this.#size + peer;
    let tags = streams.get(key);
    if (tags === undefined) streams.set(key, (tags = new Map<number, Stream>()));
    let stream = tags.get(tag);
    if (stream === undefined) {
      if (++this.#streams > MAX_STREAMS) {
        this.#comparable = false;
        this.#traffic.clear();
        return;
      }
      tags.set(tag, (stream = { count: 0, bytes: 0 }));
    }
    stream.count++;
    stream.bytes += bytes;
  }

  #endOf(side: MessageSide): End | undefined {
    const comm = this.#communicators.idOf(side.comm);
    if (comm === undefined) return undefined;
    const { sends, peer, tag, count, datatype } = side;
    return { sends, peer, tag, bytes: count * this.#sizes.of(datatype), comm };
  }
}
