import { Communicators } from './communicators.js';
import { acceptsAny, messageSidesOf, preparedBy } from './message-ends.js';
import type { MessageSide } from './message-ends.js';
import type { CallRecord } from './call-record.js';

/** Kinds of messages (sender, receiver, tag, communicator) that are counted apart, at most. */
const MAX_KINDS = 1 << 20;
/** One end of a message: the call that sends or receives it. */
export interface MessageEnd {
  /** Of the messages of one kind. */
  kind: MessageKind;
  /** The number of the message among those of its kind and direction, from 0. */
  nth: number;
  sends: boolean;
  /** Of the message, as this end has it. */
  count: number;
  datatype: number;
}

/** The sends or the receives of one kind: how many, and the number of the first message once both ends agree. */
interface MessageKind {
  readonly end: MessageSide;
  readonly rank: number;
  count: number;
  flow: number | undefined;
}

const NONE: readonly MessageEnd[] = [];

/**
 * Which messages of a run connect which calls. The nth message that a rank sends to another one with a
 * tag is the nth that the other receives from it, as MPI guarantees. Where the numbers of both differ,
 * a receive does not say whom it is from, or a persistent request belongs to them, none of the kind is
 * connected.
 */
export class MessageFlows {
  readonly #size: number;
  readonly #communicators: Communicators;
  readonly #kinds = new Map<string, MessageKind>();
  /** Receivers and communicators with receives from anyone. */
  readonly #open = new Set<string>();
  /** Kinds with persistent requests: their starts are not counted. */
  readonly #persistent = new Set<string>();
  #rank = 0;

  constructor(size: number) {
    this.#size = size;
    this.#communicators = new Communicators(size);
  }

  /** Begins the calls of a rank. */
  begin(rank: number): void {
    this.#rank = rank;
    this.#communicators.begin(rank);
  }

  /** The messages of a call. Which of them have another end is known after `match`. */
  endsOf(call: CallRecord): readonly MessageEnd[] {
    this.#communicators.call(call);
    let ends: MessageEnd[] | undefined;
    for (const end of messageSidesOf(call)) {
      const comm = this.#communicators.idOf(end.comm);
      if (comm === undefined) continue;
      if (acceptsAny(end)) {
        this.#open.add(`${comm} ${this.#rank}`);
      } else if (end.peer >= 0 && end.peer < this.#size) {
        const kind = this.#kindOf(comm, end);
        if (kind === undefined) continue;
        const { sends, count, datatype } = end;
        (ends ??= []).push({ kind, nth: kind.count++, sends, count, datatype });
      }
    }
    const prepared = preparedBy(call);
    if (prepared !== undefined) this.#notePersistent(prepared);
    return ends ?? NONE;
  }

  #kindOf(comm: number, end: MessageSide): MessageKind | undefined {
    const key = keyOf(comm, end.sends, this.#rank, end.peer, end.tag);
    let kind = this.#kinds.get(key);
    if (kind === undefined && this.#kinds.size < MAX_KINDS) {
      kind = { end: { ...end, comm }, rank: this.#rank, count: 0, flow: undefined };
      this.#kinds.set(key, kind);
    }
    return kind;
  }

  #notePersistent(end: MessageSide): void {
    const comm = this.#communicators.idOf(end.comm);
    if (comm === undefined) return;
    if (acceptsAny(end)) this.#open.add(`${comm} ${this.#rank}`);
    else if (this.#persistent.size < MAX_KINDS) {
      this.#persistent.add(keyOf(comm, end.sends, this.#rank, end.peer, end.tag));
    }
  }

  /** All ranks have been read: finds the kinds that have both ends. */
  match(): void {
    let next = 0;
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
      receives.flow = next;
      this.#kinds.get(sendKey)!.flow = next;
      next += count;
    }
  }
}

function keyOf(comm: number, sends: boolean, rank: number, peer: number, tag: number): string {
  return `${comm} ${sends ? 's' : 'r'} ${rank} ${peer} ${tag}`;
}
