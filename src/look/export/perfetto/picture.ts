import { UnusedNumbers } from '../../../core/unused-numbers.js';
import { NestingLanes } from './lanes.js';
import type { CounterUnit, PacketWriter } from './packet-writer.js';

/** Named tracks of a thread for what overlaps there. */
const CONCURRENT = 'concurrent';

/** A thread's track, and lanes below it for what overlaps on it. */
export class PictureThread {
  /** The number of the thread's own track. */
  readonly track: number;
  readonly #writer: PacketWriter;
  readonly #laneName: string;
  #isUsed = false;
  #nesting: NestingLanes | undefined;

  constructor(writer: PacketWriter, track: number, laneName: string) {
    this.#writer = writer;
    this.track = track;
    this.#laneName = laneName;
  }

  /** A track for slices that nest: the thread's own at first, then further ones below it. */
  newLane(): number {
    if (!this.#isUsed) {
      this.#isUsed = true;
      return this.track;
    }
    return this.#writer.namedTrack(this.track, this.#laneName);
  }

  /** The track of a slice that is written when it ends. */
  place(start: number, end: number): number {
    this.#nesting ??= new NestingLanes(() => this.newLane());
    return this.#nesting.place(start, end);
  }
}

/** A process in the picture, with its threads and counters. */
export class PictureProcess {
  readonly pid: number;
  readonly track: number;
  readonly #writer: PacketWriter;
  readonly #tids = new UnusedNumbers();
  readonly #threads = new Map<string, PictureThread>();
  readonly #counters = new Map<string, number>();

  constructor(writer: PacketWriter, pid: number, name: string, labels: readonly string[]) {
    this.#writer = writer;
    this.pid = pid;
    this.track = writer.processTrack(pid, name, labels);
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
      const unused = this.#tids.find(tid);
      this.#tids.use(unused);
      const track = this.#writer.threadTrack(this.track, this.pid, unused, name);
      thread = new PictureThread(this.#writer, track, CONCURRENT);
      this.#threads.set(key, thread);
    }
    return thread;
  }

  /** A track below another one that is no thread: values of a mark. */
  lanes(parent: number, name: string): PictureThread {
    return new PictureThread(this.#writer, this.#writer.namedTrack(parent, name), name);
  }

  counter(name: string, unit: CounterUnit): number {
    let track = this.#counters.get(name);
    if (track === undefined) {
      track = this.#writer.counterTrack(this.track, name, unit);
      this.#counters.set(name, track);
    }
    return track;
  }
}

/** All processes of a picture. */
export class Picture {
  readonly writer: PacketWriter;
  readonly #pids = new UnusedNumbers();
  readonly #processes = new Map<string, PictureProcess>();

  constructor(writer: PacketWriter) {
    this.writer = writer;
  }

  /**
   * A process.
   *
   * @param key the same for the same process, in every trace of it.
   * @param pid as the trace says it; another one if that is used.
   */
  process(key: string, pid: number, name: string, labels: readonly string[]): PictureProcess {
    let process = this.#processes.get(key);
    if (process === undefined) {
      const unused = this.#pids.find(pid);
      this.#pids.use(unused);
      process = new PictureProcess(this.writer, unused, name, labels);
      this.#processes.set(key, process);
    }
    return process;
  }
}
