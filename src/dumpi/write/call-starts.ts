import { outOfRange, wrongType } from '../../core/errors.js';
import { compile, mayCompile } from '../../core/ring/compile.js';
import type { CallStream } from './call-stream.js';
import { CPU_NOW, CPU_START, CPU_TURN, WALL_START, WALL_TURN } from './calls-ring.js';

/**
 * A moment that `enter` took. Pass it to the `log` that records the call. Opaque: it is a number if
 * records hold only wall time.
 */
export interface Timing {
  readonly __timing: never;
}

/** Where records hold CPU time or counters, a timing is more than a number. */
class DetailedTiming {
  readonly wall: number;
  readonly cpu: number;
  readonly counters: BigInt64Array | undefined;

  constructor(wall: number, cpu: number, counters: BigInt64Array | undefined) {
    this.wall = wall;
    this.cpu = cpu;
    this.counters = counters;
  }
}

const NS = 1e9;
/**
 * A longer call looks like one that took 65,536 s less. Readers let a clock step back by a minute, and
 * the commit moves the start of a longer call (native/ring/interval_stamp.cc).
 */
const LONGEST_CALL_NS = 65_400 * NS;
const EXPECTED = 'what enter of this rank returned';

/** Takes the start of calls, and checks it when the call is recorded. */
export class CallStarts {
  /** Takes a start. */
  readonly enter: () => Timing;
  readonly #stream: CallStream;
  readonly #annotate: (text: string) => void;
  /** Whether a start is more than wall time. */
  readonly detailed: boolean;

  /** @param annotate records that a start had to be moved. */
  constructor(stream: CallStream, annotate: (text: string) => void) {
    this.#stream = stream;
    this.#annotate = annotate;
    this.detailed = stream.head.cpu !== -1 || stream.counters !== undefined;
    this.enter = this.#compiledEnter() ?? (() => this.#plainEnter());
  }

  /**
   * Has the next record begin at a start that needs a closer look: of another kind, of another turn of
   * the clock's seconds, or of another rank.
   *
   * @throws TracewrightError for what `enter` of this rank cannot have returned.
   */
  use(timing: unknown): void {
    const { area, counters } = this.#stream;
    if (!this.detailed) {
      if (typeof timing !== 'number') throw wrongType('timing', timing, EXPECTED);
      area[WALL_START] = this.#checkWall(timing);
      return;
    }
    if (!(timing instanceof DetailedTiming)) throw wrongType('timing', timing, EXPECTED);
    const wall = this.#checkWall(timing.wall);
    const cpu = timing.cpu < area[CPU_TURN]! ? this.#checkCpu(timing.cpu) : timing.cpu;
    area[WALL_START] = wall;
    area[CPU_START] = cpu;
    if (counters !== undefined) counters.atStart = timing.counters;
  }

  /** The function that takes starts, with constants of its own; undefined where it cannot have them. */
  #compiledEnter(): (() => Timing) | undefined {
    if (this.#stream.counters !== undefined || !mayCompile()) return undefined;
    const { ring, area, head } = this.#stream;
    const { readStamp, stamp } = ring;
    const cpu = head.cpu === -1 ? '-1' : `area[${CPU_NOW}]`;
    const timing = this.detailed ? `new DetailedTiming(stamp[0], ${cpu}, undefined)` : 'stamp[0]';
    const body = `return function enter() { readStamp(); return ${timing}; };`;
    return compile('enter', { readStamp, stamp, area, DetailedTiming }, body) as () => Timing;
  }

  #plainEnter(): Timing {
    const { ring, area, head, counters } = this.#stream;
    ring.readStamp();
    const wall = ring.stamp[0]!;
    const cpu = head.cpu === -1 ? -1 : area[CPU_NOW]!;
    const timing = this.detailed ? new DetailedTiming(wall, cpu, counters?.take()) : wall;
    return timing as unknown as Timing;
  }

  #checkWall(wall: number): number {
    const { ring, area, head } = this.#stream;
    if (wall >= area[WALL_TURN]! && wall <= ring.stamp[0]!) return wall;
    // A timing of another thread may be later than the last one that was taken here.
    if (ring.isOpen) ring.readStamp();
    const now = ring.stamp[0]!;
    if (!(wall >= 0) || wall > now) throw outOfRange('timing', wall, EXPECTED);
    // A turn that has passed since the last record is found by the commit.
    if (head.wall === -1 || wall >= area[WALL_TURN]!) return wall;
    return now - wall <= LONGEST_CALL_NS ? wall : this.#moved(wall, now, '');
  }

  /** A start before the CPU clock's last turn. */
  #checkCpu(cpu: number): number {
    if (cpu < 0) return cpu;
    const { ring, area } = this.#stream;
    ring.readStamp();
    const now = area[CPU_NOW]!;
    return now - cpu <= LONGEST_CALL_NS ? cpu : this.#moved(cpu, now, ' by the CPU clock');
  }

  /** The earliest start that a record can say instead; an annotation says by how much it is late. */
  #moved(start: number, now: number, clock: string): number {
    const early = Math.ceil((now - start - LONGEST_CALL_NS) / NS);
    this.#annotate(`the next call began ${early} s before its record says so${clock}`);
    return now - LONGEST_CALL_NS;
  }
}
