import { TraceFormatError } from '../../core/errors.js';
import { Communicators } from './communicators.js';
import { acceptsAny, messageSidesOf, preparedBy } from './message-ends.js';
import type { MessageSide } from './message-ends.js';
import { CallCursor } from './reader.js';
import type { CallRecord } from './reader.js';
import { existingRankFiles } from './run.js';
import { readSections } from './section-reader.js';

/** Kinds of messages (sender, receiver, tag, communicator) that are counted apart, at most. */
const MAX_KINDS = 1 << 20;
/** Before the number of a message in a flow, so that none is 0. */
const FLOW_BASE = 1n << 62n;
const NONE: readonly MessageEnd[] = [];

/** What a call is to a message: its end, with the number that both ends have. */
export interface MessageEnd {
  flow: bigint;
  sends: boolean;
  /** Of the message, as this end has it. */
  count: number;
  datatype: number;
}

/** The sends or the receives of one kind: how many, and the number of the kind once both ends agree. */
interface Kind {
  end: MessageSide;
  rank: number;
  count: number;
  flow: bigint | undefined;
}

/**
 * Which messages of a run connect which calls. The nth message that a rank sends to another one with a
 * tag is the nth that the other receives from it, as MPI guarantees. Where the numbers of both differ,
 * a receive does not say whom it is from, or a persistent request belongs to them, none of the kind is
 * connected.
 */
export class MessageFlows {
  readonly #size: number;
  #communicators: Communicators;
  readonly #kinds = new Map<string, Kind>();
  /** Receivers and communicators with receives from anyone. */
  readonly #open = new Set<string>();
  /** Kinds with persistent requests: their starts are not counted. */
  readonly #persistent = new Set<string>();
  #rank = 0;

  constructor(size: number) {
    this.#size = size;
    this.#communicators = new Communicators(size);
  }

  /** What follows are the calls of this rank. */
  begin(rank: number): void {
    this.#rank = rank;
    this.#communicators.begin(rank);
  }

  /** Counts the messages of a call, the first time that all calls are read. */
  count(call: CallRecord): void {
    this.#communicators.call(call);
    for (const end of messageSidesOf(call)) {
      const comm = this.#communicators.idOf(end.comm);
      if (comm === undefined) continue;
      if (acceptsAny(end)) {
        this.#open.add(`${comm} ${this.#rank}`);
      } else if (end.peer >= 0 && end.peer < this.#size) {
        const key = keyOf(comm, end.sends, this.#rank, end.peer, end.tag);
        const kind = this.#kinds.get(key);
        if (kind !== undefined) kind.count++;
        else if (this.#kinds.size < MAX_KINDS) {
          this.#kinds.set(key, {
            end: { ...end, comm },
            rank: this.#rank,
            count: 1,
            flow: undefined,
          });
        }
      }
    }
    const prepared = preparedBy(call);
    if (prepared !== undefined) this.#notePersistent(prepared);
  }

  #notePersistent(end: MessageSide): void {
    const comm = this.#communicators.idOf(end.comm);
    if (comm === undefined) return;
    if (acceptsAny(end)) this.#open.add(`${comm} ${this.#rank}`);
    else if (this.#persistent.size < MAX_KINDS) {
      this.#persistent.add(keyOf(comm, end.sends, this.#rank, end.peer, end.tag));
    }
  }

  /** All ranks have been counted: finds the kinds that have both ends. */
  match(): void {
    let number = 0n;
    for (const { end, rank, count, ...kind } of this.#kinds.values()) {
      if (!end.sends || kind.flow !== undefined) continue;
      const members = this.#communicators.membersOf(end.comm);
      const to = members?.[end.peer];
      if (members === undefined || to === undefined) continue;
      const own = members.indexOf(rank);
      const sendKey = keyOf(end.comm, true, rank, end.peer, end.tag);
      const receiveKey = keyOf(end.comm, false, to, own, end.tag);
      const receives = this.#kinds.get(receiveKey);
      if (receives?.count !== count || this.#open.has(`${end.comm} ${to}`)) continue;
      if (this.#persistent.has(sendKey) || this.#persistent.has(receiveKey)) continue;
      const flow = FLOW_BASE + (number++ << 40n);
      receives.flow = flow;
      this.#kinds.get(sendKey)!.flow = flow;
    }
    this.#communicators = new Communicators(this.#size);
  }

  /** The messages of a call, when all calls are read again. */
  endsOf(call: CallRecord): readonly MessageEnd[] {
    this.#communicators.call(call);
    let ends: MessageEnd[] | undefined;
    for (const end of messageSidesOf(call)) {
      const comm = this.#communicators.idOf(end.comm);
      if (comm === undefined) continue;
      const kind = this.#kinds.get(keyOf(comm, end.sends, this.#rank, end.peer, end.tag));
      if (kind?.flow === undefined) continue;
      const { sends, count, datatype } = end;
      (ends ??= []).push({ flow: kind.flow++, sends, count, datatype });
    }
    return ends ?? NONE;
  }
}

function keyOf(comm: number, sends: boolean, rank: number, peer: number, tag: number): string {
  return `${comm} ${sends ? 's' : 'r'} ${rank} ${peer} ${tag}`;
}

/** Counts the messages of a run; undefined if a rank cannot be read to its end. */
export function surveyMessages(metafile: string): MessageFlows | undefined {
  const files = existingRankFiles(metafile);
  const flows = new MessageFlows(files.length);
  try {
    for (const [rank, file] of files.entries()) {
      const cursor = CallCursor.ofTrace(readSections(file));
      flows.begin(rank);
      try {
        for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
          const isTimed = call.wall !== undefined || call.cpu !== undefined;
          // Both ends are drawn, or none.
          if (!isTimed && messageSidesOf(call).length > 0) return undefined;
          flows.count(call);
        }
      } finally {
        cursor.close();
      }
    }
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    return undefined;
  }
  flows.match();
  return flows;
}
