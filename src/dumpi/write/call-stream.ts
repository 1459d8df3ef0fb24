import type { Ring } from '../../core/ring/ring.js';
import { COUNTED_LABELS, FUNCTION_ENTER_LABEL, FUNCTION_EXIT_LABEL } from '../calls.js';
import { ADDRESS_BYTES } from '../layout.js';
import type { Clock } from '../layout.js';
import type { Counters } from './counters.js';
import type { FunctionAddresses } from './function-addresses.js';
import {
  CPU_START,
  CPU_TURN,
  MOVED_START,
  PREFACE,
  PREFACE_WITHOUT_ROOM,
  WALL_START,
  WALL_TURN,
} from './calls-ring.js';
import { writeHead } from './record-head.js';
import type { RecordHead } from './record-head.js';

const NOTHING = new Uint8Array(0);

/** When a call began. */
interface CallStart {
  wall: number;
  cpu: number;
  counters: BigInt64Array | undefined;
}

/** The records of a rank, on their way through its ring to its file. */
export class CallStream {
  readonly ring: Ring;
  /** Of the records that come. */
  head: RecordHead;
  readonly counters: Counters | undefined;
  /** Where the writer and the commit exchange times; see calls-ring.ts. */
  readonly area: Float64Array;
  /** Calls that are stored, by label. */
  readonly stored = new Uint32Array(COUNTED_LABELS);
  /** Calls that are not stored, by label. They outlive the process with the ring. */
  readonly ignored: Uint32Array;
  readonly #addresses: FunctionAddresses;

  /** @param ring open. */
  constructor(
    ring: Ring,
    head: RecordHead,
    addresses: FunctionAddresses,
    counters: Counters | undefined,
  ) {
    this.ring = ring;
    this.head = head;
    this.#addresses = addresses;
    this.counters = counters;
    this.area = ring.stampArea;
    this.ignored = ring.noteCounts(COUNTED_LABELS);
  }

  /** The clocks whose 16-bit seconds have begun again. */
  get turned(): Set<Clock> {
    const turned = new Set<Clock>();
    if (this.area[WALL_TURN]! > 0) turned.add('wall');
    if (this.area[CPU_TURN]! > 0) turned.add('cpu');
    return turned;
  }

  /** Counts a call that is not stored. */
  ignore(label: number): void {
    this.ignored[label]!++;
  }

  /** Drops a call of at least `bytes` bytes if the ring is known to have no room for so many. */
  dropIfFull(label: number, bytes: number): boolean {
    if (bytes > this.ring.longestRecord || !this.ring.dropIfFull(bytes)) return false;
    this.ignore(label);
    return true;
  }

  /** The call that is recorded next begins when it ends. */
  startAtEnd(): void {
    this.area[WALL_START] = -1;
    this.area[CPU_START] = -1;
    if (this.counters !== undefined) this.counters.atStart = undefined;
  }

  /** The start of the call that is recorded next. What its getters record has another one. */
  start(): CallStart {
    const { area, counters } = this;
    return { wall: area[WALL_START]!, cpu: area[CPU_START]!, counters: counters?.atStart };
  }

  /**
   * Reads the counters at the end of the call that is recorded next, and gives it its start. No code
   * of the program runs from here until the call is committed.
   */
  readCounters({ wall, cpu, counters }: CallStart): void {
    this.counters?.readAtEnd();
    this.area[WALL_START] = wall;
    this.area[CPU_START] = cpu;
    if (this.counters !== undefined) this.counters.atStart = counters;
  }

  /** Writes what precedes a record's arguments; the commit adds the times. */
  writeHead(head: RecordHead, view: DataView, at: number, label: number, thread: number): void {
    writeHead(head, view, at, label, thread);
    this.counters?.write(view, at + head.counters);
  }

  /** Publishes the record of a call at the ring's position, and counts it as stored. */
  commit(label: number, size: number): void {
    this.stored[label]!++;
    this.#publish(label, size);
  }

  /** Writes a record that is longer than the ring can hold, after everything before it. */
  writeThrough(label: number, record: Buffer): void {
    const written = this.ring.writeThrough(record, NOTHING, false);
    if (written) this.stored[label]!++;
    else this.ignore(label);
    if (this.area[PREFACE] !== 0) this.#finishPreface();
  }

  /** Records the entry into a function or the exit from it. */
  recordFunction(label: number, address: bigint, thread: number): void {
    const { ring, head } = this;
    const size = head.bytes + ADDRESS_BYTES;
    this.counters?.readAtEnd();
    if (ring.free < size && !ring.makeRoom(size)) return;
    this.startAtEnd();
    const at = ring.position;
    this.writeHead(head, ring.view, at, label, thread);
    ring.view.setBigUint64(at + head.bytes, address);
    this.#publish(label, size);
  }

  /** Records a text as the entry and the exit of a function. */
  annotate(text: string, key?: number): void {
    const { ring } = this;
    const size = 2 * (this.head.bytes + ADDRESS_BYTES);
    if (ring.free < size && !ring.makeRoom(size)) return;
    const addresses = this.#addresses;
    const address = key === undefined ? addresses.newKey(text) : addresses.ownKey(key, text);
    if (address === undefined) return;
    this.recordFunction(FUNCTION_ENTER_LABEL, address, 0);
    this.recordFunction(FUNCTION_EXIT_LABEL, address, 0);
  }

  #publish(label: number, size: number): void {
    this.ring.advance(size);
    this.ring.commit();
    if (this.area[PREFACE] !== 0) this.afterPreface(label);
  }

  /** Settles the accounts after a commit that wrote a preface before its record. */
  afterPreface(label: number): void {
    if (this.#finishPreface()) return;
    this.ring.countDropped();
    if (label >= COUNTED_LABELS) return;
    this.stored[label]!--;
    this.ignore(label);
  }

  /** @returns whether the record followed the preface. */
  #finishPreface(): boolean {
    const { area } = this;
    const complete = area[PREFACE] !== PREFACE_WITHOUT_ROOM;
    const movedStart = area[MOVED_START]!;
    area[PREFACE] = 0;
    area[MOVED_START] = 0;
    this.ring.moved();
    if (complete && movedStart > 0) {
      this.annotate(`the call before began ${movedStart} s before its record says so`);
    }
    return complete;
  }
}
