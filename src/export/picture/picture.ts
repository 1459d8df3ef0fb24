import { entryOf } from '../../core/map-entries.js';
import { UnusedNumbers } from '../../core/unused-numbers.js';
import { NestingLanes } from './lanes.js';
import type { CounterUnit, PacketWriter } from '../perfetto/packet-writer.js';

/** Named tracks of a thread for what overlaps there. */
const CONCURRENT = 'concurrent';

/** A thread's track, and lanes below it for what overlaps on it. */
export class PictureThread {
  /** The number of the thread's own track. */
  readonly track: number;
  readonly #packets: PacketWriter;
  readonly #laneName: string;
  #isUsed = false;
  #nesting: NestingLanes | undefined;
  /** Where what was drawn of it ends: in the traces before this one, and in all. */
  #before = -Infinity;
  #end = -Infinity;

  constructor(packets: PacketWriter, track: number, laneName: string) {
    this.#packets = packets;
    this.track = track;
    this.#laneName = laneName;
  }

  /** A track for slices that nest: the thread's own at first, then further ones below it. */
  newLane(): number {
    if (!this.#isUsed) {
      this.#isUsed = true;
      return this.track;
    }
    return this.#packets.namedTrack(this.track, this.#laneName);
  }

  /**
   * The track of a slice that is written when it ends.
   *
   * @param owner slices of different ones do not contain each other.
   */
  laneFor(start: number, end: number, owner: bigint | undefined): number {
    this.#end = Math.max(this.#end, end);
    this.#nesting ??= new NestingLanes(() => this.newLane());
    return this.#nesting.take(start, end, owner);
  }

  /**
   * The start of a state, once the traces before have had theirs: a thread has its stream in the next piece of a trace
   * before it leaves one.
   */
  startOfState(start: number, end: number): number {
    return Math.min(Math.max(start, this.#before), end);
  }

  /** All of a trace has been drawn. */
  endTrace(): void {
    this.#before = this.#end;
  }
}

/** A process in the picture, with its threads and counters. */
export class PictureProcess {
  readonly pid: number;
  readonly track: number;
  readonly #packets: PacketWriter;
  readonly #tids = new UnusedNumbers();
  readonly #threads = new Map<string, PictureThread>();
  readonly #counters = new Map<string, number>();

  constructor(packets: PacketWriter, pid: number, name: string, labels: readonly string[]) {
    this.#packets = packets;
    this.pid = pid;
    this.track = packets.processTrack(pid, name, labels);
  }

  /**
   * A thread of the process.
   *
   * @param key the same for the same thread, in every trace of the process.
   * @param tid as the trace says it; another one if that is used.
   */
  thread(key: string, tid: number, name: string): PictureThread {
    let thread = this.#threads.get(key);
    if (thread === undefined) {
      const unused = this.#tids.take(tid);
      const track = this.#packets.threadTrack(this.track, this.pid, unused, name);
      thread = new PictureThread(this.#packets, track, CONCURRENT);
      this.#threads.set(key, thread);
    }
    return thread;
  }

  counter(name: string, unit: CounterUnit): number {
    return entryOf(this.#counters, name, () => this.#packets.counterTrack(this.track, name, unit));
  }
}

/** All processes of a picture. */
export class Picture {
  readonly packets: PacketWriter;
  readonly #pids = new UnusedNumbers();
  readonly #processes = new Map<string, PictureProcess>();

  constructor(packets: PacketWriter) {
    this.packets = packets;
  }

  /**
   * A process.
   *
   * @param key the same for the same process, in every trace of it.
   * @param pid as the trace says it; another one if that is used.
   */
  process(key: string, pid: number, name: string, labels: readonly string[]): PictureProcess {
    return entryOf(
      this.#processes,
      key,
      () => new PictureProcess(this.packets, this.#pids.take(pid), name, labels),
    );
  }
}
