import { rmSync } from 'node:fs';
import { constants, hostname as osHostname } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { cpuTime, readClock } from '../../core/clock.js';
import { ringTag } from '../../core/ring/ring-tag.js';
import { checkOptionNames, integerIn } from '../../core/options/argument.js';
import { compile, mayCompile } from '../../core/ring/compile.js';
import { outOfRange, TracewrightError, wrongType } from '../../core/errors.js';
import { makeDirectories } from '../../core/files/make-directories.js';
import { recoverPredecessor } from '../../core/recovery/predecessor.js';
import { Ring } from '../../core/ring/ring.js';
import { checkRingOptions, RING_OPTIONS } from '../../core/options/ring-options.js';
import type { CheckedRingOptions, RingOptions } from '../../core/options/ring-options.js';
import { placeTaken } from '../../core/files/place-taken.js';
import { holdingSignals } from '../../core/signals.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import { checkGiven, checkThread, compiledEncoder, plainEncoder } from './call-encoder.js';
import type { CallEncoder } from './call-encoder.js';
import {
  callNamed,
  COUNTED_LABELS,
  FUNCTION_ENTER_LABEL,
  FUNCTION_EXIT_LABEL,
  TOTAL_LABEL,
} from '../calls.js';
import type { CallArguments } from '../calls.js';
import { checkConfiguration, isCallName, loadConfiguration } from './configuration.js';
import type { Configuration, ConfigurationOptions, MpiCallName } from './configuration.js';
import { CALLS_FORMAT, filePrefix, rankRings, sideFiles } from '../file-names.js';
import type { SideFiles } from '../file-names.js';
import { FunctionNames } from './function-names.js';
import { createHandles } from './handles.js';
import type { Handles } from './handles.js';
import { keepSections } from '../kept-sections.js';
import type { KeptSections } from '../kept-sections.js';
import {
  ANNOTATION,
  BIASES_BYTES,
  BODY_OFFSET,
  CALL_MASK_OFFSET,
  CLOCK_BYTES,
  CPU_BIAS_OFFSET,
  MAGIC,
  TURN_SECONDS,
  TURN_TEXTS,
  WALL_BIAS_OFFSET,
  WRITTEN_VERSION,
} from '../layout.js';
import { rankFileName, writeMetafile } from '../metafile.js';
import { NO_START, recordHead } from './record-head.js';
import type { RecordHead } from './record-head.js';
import { recoverTrace } from '../read/recover.js';
import { checkSectionString } from '../section-encoder.js';
import { writeTrailer } from '../trailer.js';

/**
 * A moment that `enter` took, to be given to the `log` that records the call. Opaque: a number where
 * records hold only wall time.
 */
export interface Timing {
  readonly __timing: never;
}

/** What `openRank` accepts. */
export interface RankOptions extends RingOptions {
  /** Where the files go; default: the working directory. Made when it is not there. */
  directory?: string;
  /** What the names of the files begin with; default: the configuration's, then `dumpi`. */
  fileRoot?: string;
  /** The rank in the run, 0 to `size` - 1. Rank 0 writes the metafile. */
  rank: number;
  /** Ranks in the run, 1 to 2^31 - 1. */
  size: number;
  /** Default: the name of the machine. */
  hostname?: string;
  /** Default: `LOGNAME`, or `<none>` as libdumpi. */
  username?: string;
  /**
   * When rank 0 started, the same for all ranks: the names of the files say it to the second, in
   * local time. Default: now.
   */
  startTime?: Date;
  /**
   * The path of a dumpi.conf, or what it would say. Default: what libdumpi reads, the file that
   * `DUMPI_CONF` names or `dumpi.conf` in the working directory, if there is one.
   */
  config?: string | ConfigurationOptions;
  /** Whether records hold a thread, as libdumpi's always do. Default true. */
  threads?: boolean;
  /** Where the rank stands in the machine's network, and how large that is in each dimension. */
  mesh?: { coordinates: readonly number[]; sizes: readonly number[] };
  /** Bytes of each datatype by handle; default: the predefined ones on a 64-bit machine. */
  datatypeSizes?: readonly number[];
  /**
   * Reads the counters that the configuration names into an array, in its order. It runs at every
   * `enter` and every `log`. Without it no counters are stored.
   */
  readCounters?: (values: BigInt64Array) => void;
  /**
   * Seconds of CLOCK_MONOTONIC, and of CPU time, from which the trace counts its seconds: from 2^26 s
   * (two years) ago to now, for each 65,536 s since then are annotated. Default: now.
   */
  wallBias?: number;
  cpuBias?: number;
}

const RANK_OPTIONS = {
  ...RING_OPTIONS,
  directory: true,
  fileRoot: true,
  rank: true,
  size: true,
  hostname: true,
  username: true,
  startTime: true,
  config: true,
  threads: true,
  mesh: true,
  datatypeSizes: true,
  readCounters: true,
  wallBias: true,
  cpuBias: true,
} as const;

const MESH_OPTIONS = { coordinates: true, sizes: true } as const;

/** How often calls were made, and how many of these are not stored. */
export interface CallCounts {
  calls: number;
  ignored: number;
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

/** Bytes of the predefined datatypes as an MPI of a 64-bit machine says them. */
const DATATYPE_SIZES: readonly number[] = [
  0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
];

/** Keys of annotations: the caller's own, and those that are given out. */
const LAST_OWN_KEY = 4095;
const FIRST_GIVEN_KEY = 4096n;
/** Functions get addresses behind every annotation's key. */
const FIRST_ADDRESS = 2n ** 32n;

/**
 * Our reader goes by the annotations that say that a clock's seconds begin again. Others, which carry
 * by the steps of the clock, must not be led over more than half of what 16 bits of seconds hold.
 */
const HALF_TURN_SECONDS = TURN_SECONDS / 2;
/** How long ago a bias may be: 1,024 turns. */
const OLDEST_BIAS_SECONDS = 1024 * TURN_SECONDS;
const NS = 1e9;
const TURN_NS = TURN_SECONDS * NS;
/** A call that takes longer cannot be told from one that takes a turn less: readers allow a minute. */
const LONGEST_CALL_NS = 65_400 * NS;
const WALL_TURNED = 1;
const CPU_TURNED = 2;
const NO_RECORD = -1;
const ADDRESS_BYTES = 8;

/** Seconds and nanoseconds by wall clock, then by CPU clock. */
type LastTimes = [number, number, number, number];
const NOTHING = new Uint8Array(0);

/** Ranks of this thread that must be completed when it ends. */
const openRanks = new Set<Rank>();

function completeOpenRanks(): void {
  for (const rank of openRanks) {
    try {
      rank.close();
    } catch {
      // The thread is ending; what is missing is left to recovery.
    }
  }
}

function checkText(field: string, value: unknown): string {
  if (typeof value !== 'string') throw wrongType(field, value, 'a string');
  checkSectionString(field, value);
  return value;
}

function checkIntegers(field: string, values: unknown): readonly number[] {
  if (!Array.isArray(values)) throw wrongType(field, values, 'an array of integers');
  return values.map((value, i) => integerIn(`${field}[${i}]`, value, -0x8000_0000, 0x7fff_ffff));
}

/** The body holds it in 32 bits, and the first record has an annotation for each turn since. */
function checkBias(field: string, bias: unknown, now: number): number {
  return integerIn(field, bias, Math.max(now - OLDEST_BIAS_SECONDS, -0x8000_0000), now);
}

function configurationOf(config: string | ConfigurationOptions | undefined): Configuration {
  if (config === undefined || typeof config === 'string') return loadConfiguration(config);
  return checkConfiguration(config);
}

/** Whether `await` would wait for it. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/** The trace of one MPI rank: its calls, on their way to its file. */
export class Rank {
  /** The rank's number, and the ranks of the run. */
  readonly rank: number;
  readonly size: number;
  /** The trace file, absolute. It is complete once the rank is closed. */
  readonly path: string;
  /** Numbers for the MPI objects of the rank. */
  readonly handles: Handles = createHandles();
  /** What applies to this rank. */
  readonly configuration: Configuration;
  /** Takes the start time of a call. What is never logged is never written. */
  readonly enter: () => Timing;

  /** @internal */
  readonly ring: Ring;
  /** @internal */
  readonly head: RecordHead;
  /** @internal Calls that are stored, by label. */
  readonly called = new Uint32Array(COUNTED_LABELS);
  /**
   * @internal The start of the call that is being recorded, ns since the bias, by wall and by CPU
   * clock, -1 for none; and the earliest start that needs no closer look.
   */
  readonly started = new Float64Array([-1, -1, 0]);
  /** @internal Where the last record is in the ring; -1: nowhere. */
  readonly last = new Int32Array([NO_RECORD]);

  /** Outlives the process with the ring. */
  #ignored = new Uint32Array(0);
  #encoders = new Map<string, CallEncoder>();
  #ignoring: Map<string, CallEncoder> | undefined;
  readonly #detailed: boolean;
  readonly #threadCpu = !isMainThread;
  readonly #cpuBiasNs: number;
  readonly #kept: KeptSections;
  readonly #keyvals: (readonly [string, string])[] = [];
  readonly #side: SideFiles;
  readonly #names: FunctionNames;
  readonly #addresses = new Map<string, bigint>();
  readonly #ownKeys = new Set<number>();
  #nextAddress = FIRST_ADDRESS;
  #nextKey = FIRST_GIVEN_KEY;
  readonly #turnKeys: [wall?: bigint, cpu?: bigint] = [];
  /** Seconds and ns of the last record by wall and CPU clock, where it is not in the ring. */
  #lastTimes: LastTimes = [0, 0, 0, 0];
  #wallTurns = 0;
  /** Where the CPU clock's seconds began again last, ns since the bias. */
  #cpuTurnNs = 0;
  readonly #readCounters: ((values: BigInt64Array) => void) | undefined;
  #countersIn: BigInt64Array | undefined;
  readonly #countersOut: BigInt64Array;
  #closed = false;

  /** @internal Use `openRank`. */
  constructor(options: RankOptions) {
    checkOptionNames<RankOptions>(options, RANK_OPTIONS);
    this.size = integerIn('size', options.size, 1, 0x7fff_ffff);
    this.rank = integerIn('rank', options.rank, 0, this.size - 1);
    const settings = checkRingOptions(options, { onFull: 'block' });
    const configuration = configurationOf(options.config);
    this.configuration = configuration;
    const { threads = true, startTime = new Date(), readCounters } = options;
    if (typeof (threads as unknown) !== 'boolean') {
      throw wrongType('threads', threads, 'a boolean');
    }
    if (!((startTime as unknown) instanceof Date) || Number.isNaN(startTime.getTime())) {
      throw wrongType('startTime', startTime, 'a valid Date');
    }
    if (startTime.getTime() < 0) throw outOfRange('startTime', startTime, 'not before 1970');
    if (readCounters !== undefined && typeof (readCounters as unknown) !== 'function') {
      throw wrongType('readCounters', readCounters, 'a function');
    }
    const mesh = options.mesh ?? { coordinates: [], sizes: [] };
    checkOptionNames<NonNullable<RankOptions['mesh']>>(mesh, MESH_OPTIONS, 'mesh');
    const coordinates = checkIntegers('mesh.coordinates', mesh.coordinates);
    const sizes = checkIntegers('mesh.sizes', mesh.sizes);
    if (sizes.length !== coordinates.length) {
      throw outOfRange('mesh.sizes', sizes, `of ${coordinates.length} elements, as coordinates`);
    }
    const hostname = checkText('hostname', options.hostname ?? osHostname());
    const username = checkText('username', options.username ?? process.env['LOGNAME'] ?? '<none>');
    const labels = readCounters === undefined ? [] : configuration.counters;
    this.#readCounters = labels.length > 0 ? readCounters : undefined;
    this.#countersOut = new BigInt64Array(labels.length);
    this.head = recordHead(configuration, threads, labels.length);
    this.#detailed = this.head.cpu !== -1 || labels.length > 0;
    this.#kept = {
      version: WRITTEN_VERSION,
      startTime: Math.floor(startTime.getTime() / 1000),
      hostname,
      username,
      meshCoordinates: coordinates,
      meshSizes: sizes,
      keyvals: this.#keyvals,
      counterLabels: labels,
      datatypeSizes: checkIntegers('datatypeSizes', options.datatypeSizes ?? DATATYPE_SIZES),
    };

    const wallNow = Number(readClock(settings.clock) / 1_000_000_000n);
    const cpuNow = Math.floor(cpuTime(this.#threadCpu) / NS);
    const wallBias = checkBias('wallBias', options.wallBias ?? wallNow, wallNow);
    const cpuBias = checkBias('cpuBias', options.cpuBias ?? cpuNow, cpuNow);
    this.#cpuBiasNs = cpuBias * NS;

    const root = options.fileRoot ?? configuration.fileRoot;
    if (typeof (root as unknown) !== 'string' || root === '' || root.includes('\0')) {
      throw wrongType('fileRoot', root, 'the beginning of a path, without NUL');
    }
    const { directory = '.' } = options;
    if (typeof (directory as unknown) !== 'string' || directory === '') {
      throw wrongType('directory', directory, 'the path of a directory');
    }
    const prefix = filePrefix(root, startTime);
    this.path = rankFileName(resolve(directory, prefix), this.rank);
    this.#side = sideFiles(this.path);
    wrapSystemError('directory', dirname(this.path), () => {
      makeDirectories(dirname(this.path));
    });
    const tag = ringTag(threadId);
    const rings = rankRings(this.path, settings.ringDir, tag);
    const whenClosed = (): TracewrightError => this.#closedError();
    this.ring = new Ring(whenClosed);
    this.#names = new FunctionNames(
      { file: this.#side.names, ring: rings.names },
      { file: this.path, ring: this.ring },
      whenClosed,
    );
    this.#openRing(rings.calls, settings, wallBias, cpuBias);
    this.enter = this.#enterOf();
    try {
      keepSections(this.#side.sections, this.#kept);
      if (this.rank === 0) {
        writeMetafile(`${resolve(directory, prefix)}.meta`, {
          hostname,
          numprocs: this.size,
          username,
          startTime: this.#kept.startTime,
          fileprefix: basename(prefix),
          version: WRITTEN_VERSION,
        });
      }
    } catch (error) {
      this.ring.unfinished[0] = 0;
      this.ring.close(0);
      rmSync(this.path, { force: true });
      rmSync(this.#side.sections, { force: true });
      throw error;
    }
    openRanks.add(this);
    if (openRanks.size === 1) process.on('exit', completeOpenRanks);
  }

  #openRing(path: string, settings: CheckedRingOptions, wallBias: number, cpuBias: number): void {
    const { head } = this;
    const preamble = Buffer.alloc(BODY_OFFSET + BIASES_BYTES);
    preamble.writeBigUInt64BE(MAGIC, 0);
    preamble.writeInt32BE(cpuBias, BODY_OFFSET + CPU_BIAS_OFFSET);
    preamble.writeInt32BE(wallBias, BODY_OFFSET + WALL_BIAS_OFFSET);
    const timed = head.cpu !== -1 || head.wall !== -1;
    recoverPredecessor((options) => recoverTrace(this.path, options), settings.ringDir);
    try {
      this.ring.open(
        {
          path,
          capacity: settings.ringBytes,
          format: CALLS_FORMAT,
          target: this.path,
          preamble,
          stampOffset: 0,
          stamp: timed ? 'interval' : 'none',
          wallOffset: head.wall,
          cpuOffset: head.cpu,
          wallBias,
          cpuBias,
          threadCpu: this.#threadCpu,
          kernelClock: settings.clock === 'monotonic',
          words: true,
          full: settings.onFull,
          blockLimitMs: settings.blockLimitMs,
        },
        undefined,
        settings.onFault,
      );
    } catch (error) {
      const { cause } = error as { cause?: { errno?: number } };
      if (cause?.errno !== constants.errno.EEXIST) throw error;
      const advice = 'choose another directory, root or start time';
      throw placeTaken('directory', this.path, { advice, cause: error });
    }
    this.ring.unfinished[0] = 1;
    this.#ignored = this.ring.noteCounts(COUNTED_LABELS);
  }

  /** The function that takes start times, with a text of its own where it has nothing else to do. */
  #enterOf(): () => Timing {
    const { readStamp, stamp } = this.ring;
    if (this.#detailed || !mayCompile()) {
      return () => {
        this.ring.readStamp();
        const timing = this.#detailed ? this.#enterDetailed() : this.ring.stamp[0]!;
        return timing as unknown as Timing;
      };
    }
    const body = 'return function enter() { readStamp(); return stamp[0]; };';
    return compile('enter', { readStamp, stamp }, body) as () => Timing;
  }

  #enterDetailed(): DetailedTiming {
    let counters: BigInt64Array | undefined;
    if (this.#readCounters !== undefined) {
      counters = new BigInt64Array(this.#countersOut.length);
      this.#readCounters(counters);
    }
    const cpu = this.head.cpu === -1 ? -1 : cpuTime(this.#threadCpu) - this.#cpuBiasNs;
    return new DetailedTiming(this.ring.stamp[0]!, cpu, counters);
  }

  /**
   * Records a call that ends now.
   *
   *     const timing = rank.enter();
   *     send(message);
   *     rank.log('MPI_Send', { count: 64, datatype: Datatype.BYTE, dest: 1, tag: 7, comm: Comm.WORLD }, timing);
   *
   * @param args the call's arguments by name; see `CallArguments` for what each call has.
   * @param timing when it began; default: when it ended.
   * @param thread the thread that made it, 0 to 65,535; default 0.
   * @throws TracewrightError that names the call, the field and its limit; nothing is recorded then.
   */
  log<N extends MpiCallName>(
    name: N,
    args: CallArguments<N>,
    timing?: Timing,
    thread?: number,
  ): void {
    const encode = this.#encoders.get(name) ?? this.#newEncoder(name);
    const { started } = this;
    if (timing === undefined) {
      started[0] = -1;
      started[1] = -1;
      if (this.#detailed) this.#countersIn = undefined;
    } else if (
      typeof timing === 'number' &&
      (timing as number) >= started[2]! &&
      (timing as number) <= this.ring.stamp[0]!
    ) {
      started[0] = timing;
    } else {
      this.#takeStart(timing);
    }
    encode(args, thread);
  }

  /**
   * Calls a function and records it as a call of MPI, from its beginning to its end; where it returns
   * a promise, or anything else with a `then`, until that is settled: a promise is returned for it
   * then. A function that fails is recorded only if `args` is an object. What a function that succeeded
   * returned is lost only when the arguments made of it are wrong, and a failure is always its own. A
   * call that ends after `close` is not recorded.
   *
   * @param args the arguments, or a function that makes them of what the function returned.
   * @throws TracewrightError before the function is called: for a wrong name, arguments that are an
   *   object and wrong, or a rank that is closed. Behind it, for wrong arguments that `args` made.
   */
  wrap<N extends MpiCallName, R>(
    name: N,
    args: CallArguments<N> | ((result: Awaited<R>) => CallArguments<N>),
    fn: () => R,
  ): R {
    if (this.#closed) throw this.#closedError();
    this.#labelOf(name);
    if (typeof args !== 'function') checkGiven(callNamed(name)!, args);
    if (typeof (fn as unknown) !== 'function') throw wrongType('fn', fn, 'a function');
    const timing = this.enter();
    const succeeded = (result: Awaited<R>): void => {
      if (this.#closed) return;
      this.log(name, typeof args === 'function' ? args(result) : args, timing);
    };
    const failed = (): void => {
      if (typeof args === 'function' || this.#closed) return;
      try {
        this.log(name, args, timing);
      } catch {
        // The program changed the arguments meanwhile; its own error says more.
      }
    };
    let result: R;
    try {
      result = fn();
    } catch (error) {
      failed();
      throw error;
    }
    if (!isThenable(result)) {
      succeeded(result as Awaited<R>);
      return result;
    }
    const promise = result instanceof Promise ? result : Promise.resolve(result);
    return promise.then(
      (value: Awaited<R>) => {
        succeeded(value);
        return value;
      },
      (error: unknown) => {
        failed();
        throw error;
      },
    ) as R;
  }

  /** Records the entry into a function of the program. */
  functionEnter(name: string, thread?: number): void {
    if (!this.configuration.functionEnter) return;
    const number = checkThread(thread);
    const address = this.#addressOf(name);
    if (address !== undefined) this.#recordFunction(FUNCTION_ENTER_LABEL, address, number);
  }

  /** Records the exit from a function of the program. */
  functionExit(name: string, thread?: number): void {
    if (!this.configuration.functionExit) return;
    const number = checkThread(thread);
    const address = this.#addressOf(name);
    if (address !== undefined) this.#recordFunction(FUNCTION_EXIT_LABEL, address, number);
  }

  /**
   * Records a text: MPI_Pcontrol(2, text), or with a key MPI_Pcontrol(3, key, text). The format stores
   * it as the entry and the exit of a function, whose name is the text behind `ANNOTATION: `.
   *
   * @param key 1 to 4,095; the same key has the text that it had first. Default: a new key from 4,096.
   */
  annotate(text: string, key?: number): void {
    checkText('text', text);
    checkSectionString('text', ANNOTATION + text);
    if (key !== undefined) integerIn('key', key, 1, LAST_OWN_KEY);
    if (this.#ignoring !== undefined) return;
    const { ring } = this;
    const size = 2 * (this.head.bytes + ADDRESS_BYTES);
    if (ring.free < size && !ring.makeRoom(size)) return;
    const address = key === undefined ? this.#name(text) : this.#nameOwn(key, text);
    if (address === undefined) return;
    this.#recordFunction(FUNCTION_ENTER_LABEL, address, 0);
    this.#recordFunction(FUNCTION_EXIT_LABEL, address, 0);
  }

  /**
   * Switches the recording of calls off or on, as MPI_Pcontrol(0) and (1) do. Calls that are not
   * recorded are counted as ignored; the entries and exits of functions go on.
   */
  profile(on: boolean): void {
    if (typeof (on as unknown) !== 'boolean') throw wrongType('on', on, 'a boolean');
    if (on === (this.#ignoring === undefined)) return;
    if (on) {
      this.#encoders = this.#ignoring!;
      this.#ignoring = undefined;
    } else {
      this.#ignoring = this.#encoders;
      this.#encoders = new Map();
    }
  }

  /**
   * Adds a pair to the trace's list, which may hold a key more than once.
   *
   * @throws TracewrightError `ERR_SYSTEM` when the disk is full, say, or the rank's file was removed;
   *   the pair is not added then.
   */
  keyval(key: string, value: string): void {
    const pair = [checkText('key', key), checkText('value', value)] as const;
    if (this.#closed) throw this.#closedError();
    this.#checkPlace();
    this.#keyvals.push(pair);
    try {
      keepSections(this.#side.sections, this.#kept);
    } catch (error) {
      this.#keyvals.pop();
      throw error;
    }
  }

  /** How often a call has been made so far, or all calls together. */
  counts(name?: MpiCallName): CallCounts {
    if (name !== undefined) {
      const label = this.#labelOf(name);
      const ignored = this.#ignored[label]!;
      return { calls: this.called[label]! + ignored, ignored };
    }
    let calls = 0;
    let ignored = 0;
    for (let label = 0; label < TOTAL_LABEL; label++) {
      calls += this.called[label]!;
      ignored += this.#ignored[label]!;
    }
    return { calls: calls + ignored, ignored };
  }

  /**
   * Calls, entries, exits and annotations that a full ring turned away (`onFull: 'drop'`), or a file
   * that refused writes. The calls among them count as ignored, too.
   */
  get dropped(): number {
    return this.ring.droppedEvents + this.#names.ring.droppedEvents;
  }

  /** Whether every call that was logged before is in the file within `limitMs` milliseconds. */
  flush(limitMs = 5000): Promise<boolean> {
    if (this.#closed) return Promise.reject(this.#closedError());
    return this.ring.drained(limitMs);
  }

  /**
   * Completes the file: the calls that are still in the ring, then header, footer, pairs, labels,
   * sizes, names and index. A second call does nothing. A rank that is still open when its thread
   * ends is closed then.
   *
   * @throws TracewrightError `ERR_SYSTEM` when the file cannot be written; the ring stays for
   *   `tracewright recover`.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    openRanks.delete(this);
    if (openRanks.size === 0) process.off('exit', completeOpenRanks);
    const { ring } = this;
    const names = this.#names;
    const ignored = Array.from(this.#ignored);
    try {
      wrapSystemError('path', this.path, () => {
        if (!ring.flush() || (names.ring.isOpen && !names.ring.flush())) {
          throw new TracewrightError(
            'ERR_SYSTEM',
            ring.counts()?.lastError ?? `${this.path} cannot be written`,
            { field: 'path', value: this.path },
          );
        }
        this.#checkPlace();
        const bodyEnd = BODY_OFFSET + BIASES_BYTES + (ring.counts()?.committedBytes ?? 0);
        holdingSignals(() => {
          this.#writeTrailer(bodyEnd, ignored);
          // Its absence says that the file is complete; as long as it is there, all can be made anew.
          rmSync(this.#side.sections, { force: true });
          names.ring.close(0);
          rmSync(this.#side.names, { force: true });
          ring.unfinished[0] = 0;
          ring.close(0);
        });
      });
    } finally {
      names.ring.close(0);
      ring.close(0);
    }
  }

  /** Before files are written by their paths, where those of another rank may lie by now. */
  #checkPlace(): void {
    if (this.ring.inPlace) return;
    wrapSystemError('path', this.path, () => {
      const { ENOENT: errno } = constants.errno;
      throw Object.assign(new Error(`${this.path} was removed`), { code: 'ENOENT', errno });
    });
  }

  #writeTrailer(bodyEnd: number, ignored: readonly number[]): void {
    const calls = ignored.map((count, label) => count + this.called[label]!);
    const total = (counts: readonly number[]): number =>
      counts.slice(0, TOTAL_LABEL).reduce((sum, count) => sum + count, 0) >>> 0;
    const allIgnored = [...ignored];
    allIgnored[TOTAL_LABEL] = total(ignored);
    calls[TOTAL_LABEL] = total(calls);
    const { startTime, counterLabels, datatypeSizes, keyvals, ...header } = this.#kept;
    const { count, bytes } = this.#names;
    writeTrailer(
      this.path,
      bodyEnd,
      {
        header: {
          ...header,
          startTime: BigInt(startTime),
          meshCoordinates: [...header.meshCoordinates],
          meshSizes: [...header.meshSizes],
        },
        footer: { calls, ignored: allIgnored },
        keyvals,
        counterLabels,
        datatypeSizes,
        functionNames: { count, bytes },
      },
      count === 0 ? undefined : this.#side.names,
    );
  }

  /** @internal A call that is not stored. */
  ignore(label: number): void {
    this.#ignored[label]!++;
  }

  /** @internal Writes what stands in front of a record's arguments. */
  writeHead(view: DataView, at: number, label: number, thread: number): void {
    const { head, started } = this;
    view.setUint16(at, label);
    view.setUint8(at + CALL_MASK_OFFSET, head.mask);
    if (head.thread !== -1) view.setUint16(at + head.thread, thread);
    if (head.wall !== -1) writeStart(view, at + head.wall, started[0]!);
    if (head.cpu !== -1) writeStart(view, at + head.cpu, started[1]!);
    if (head.counters !== -1) this.writeCounters(view, at + head.counters);
  }

  /** @internal Writes the counters at the start and now. */
  writeCounters(view: DataView, at: number): void {
    const out = this.#countersOut;
    this.#readCounters?.(out);
    const before = this.#countersIn;
    view.setUint8(at, out.length);
    for (let i = 0; i < out.length; i++) {
      view.setBigInt64(at + 1 + 16 * i, before?.[i] ?? out[i]!);
      view.setBigInt64(at + 9 + 16 * i, out[i]!);
    }
  }

  /** @internal Publishes the record that has been written at `at`. */
  commit(at: number, size: number): void {
    const { ring } = this;
    ring.advance(size);
    ring.commit();
    if (ring.turned[0] === 0) this.last[0] = at;
    else this.turn(at, size);
  }

  /** @internal Writes a record that is longer than the ring can hold; false when it was dropped. */
  writeThrough(record: Buffer): boolean {
    const { ring, head } = this;
    const [wall, cpu] = this.started as unknown as [number, number];
    let early = 0;
    for (;;) {
      try {
        if (!ring.writeThrough(record, NOTHING, false)) return false;
        break;
      } catch (error) {
        const turned = ring.turned[0]!;
        if (turned === 0) throw error;
        ring.turned[0] = 0;
        if (!this.#recordTurn(turned)) return false;
        early = this.#startLater(record, wall, cpu);
      }
    }
    const view = new DataView(record.buffer, record.byteOffset, record.length);
    this.#lastTimes = timesIn(view, 0, head);
    this.last[0] = NO_RECORD;
    this.#tellEarly(early);
    return true;
  }

  /**
   * @internal Publishes a record that was held back because a clock's 16 bits of seconds have run
   * over since the last record: first an annotation that says so, whose entry and exit lead readers
   * over the gap, for they see a clock go on only while no step is longer than half its range.
   */
  turn(at: number, size: number): void {
    const { ring } = this;
    const record = Buffer.from(ring.bytes.subarray(at, at + size));
    const [wall, cpu] = this.started as unknown as [number, number];
    let place = at;
    let early = 0;
    for (let turned = ring.turned[0]!; turned !== 0; turned = ring.turned[0]!) {
      ring.uncommit(size);
      const told = this.#recordTurn(turned);
      early = this.#startLater(record, wall, cpu);
      if (!told || (ring.free < size && !ring.forceRoom(size))) {
        this.#takeBackCount(record.readUInt16BE(0));
        return;
      }
      place = ring.position;
      record.copy(ring.bytes, place);
      ring.advance(size);
      ring.commit();
    }
    this.last[0] = place;
    this.#tellEarly(early);
  }

  /** Has the trace say that the start of the call before was moved by so many seconds. */
  #tellEarly(early: number): void {
    if (early > 0) this.annotate(`the call before began ${early} s before its record says so`);
  }

  /** Counts a call as ignored that has been counted as stored. */
  #takeBackCount(label: number): void {
    if (label >= COUNTED_LABELS) return;
    this.called[label]!--;
    this.ignore(label);
  }

  /**
   * The annotations that carry clocks over the end of their seconds. The entry is where the last
   * record was, or half a range later, and the exit is where the seconds begin again.
   *
   * @returns false when there is no room for them: the clocks stay where they are then, and the next
   *   record is held back too, for a turn that the stream does not tell would be lost.
   */
  #recordTurn(turned: number): boolean {
    const { ring, head } = this;
    const times =
      this.last[0] === NO_RECORD ? this.#lastTimes : timesIn(ring.view, this.last[0]!, head);
    const size = head.bytes + ADDRESS_BYTES;
    for (const [bit, index] of [
      [WALL_TURNED, 0],
      [CPU_TURNED, 1],
    ] as const) {
      if ((turned & bit) === 0) continue;
      const clocks = { wall: bit === WALL_TURNED, cpu: bit === CPU_TURNED };
      const key = this.#turnKeys[index] ?? this.#name(TURN_TEXTS[clocks.wall ? 'wall' : 'cpu']);
      if (key === undefined) return false;
      this.#turnKeys[index] = key;
      if (ring.free < 2 * size && !ring.forceRoom(2 * size)) return false;
      if (times[2 * index]! < HALF_TURN_SECONDS) {
        times[2 * index] = HALF_TURN_SECONDS;
        times[2 * index + 1] = 0;
      }
      const at = ring.position;
      this.#writeFunctionAt(at, FUNCTION_ENTER_LABEL, key, times);
      times[2 * index] = 0;
      times[2 * index + 1] = 0;
      this.#writeFunctionAt(at + size, FUNCTION_EXIT_LABEL, key, times);
      ring.commitTurn(2 * size, clocks);
      this.last[0] = at + size;
      if (bit === WALL_TURNED) {
        this.#wallTurns += 1;
        this.started[2] = this.#wallTurns * TURN_NS;
      } else {
        this.#cpuTurnNs += TURN_NS;
      }
    }
    this.#lastTimes = times;
    return true;
  }

  /** Writes the entry or exit of a function at times that are given. */
  #writeFunctionAt(at: number, label: number, address: bigint, times: LastTimes): void {
    const { ring, head } = this;
    const { view } = ring;
    this.started[0] = -1;
    this.started[1] = -1;
    this.#countersIn = undefined;
    this.writeHead(view, at, label, 0);
    if (head.wall !== -1) writeTimes(view, at + head.wall, times[0], times[1]);
    if (head.cpu !== -1) writeTimes(view, at + head.cpu, times[2], times[3]);
    view.setBigUint64(at + head.bytes, address);
  }

  /**
   * Moves the start of a call that began in an earlier turn, and took longer than its record can say,
   * to where it can.
   *
   * @returns by how many seconds at most, rounded up.
   */
  #startLater(record: Buffer, wall: number, cpu: number): number {
    const { head, ring } = this;
    const view = new DataView(record.buffer, record.byteOffset, record.length);
    let early = 0;
    const correct = (place: number, start: number, now: number, turn: number): void => {
      if (place === -1 || start < 0 || start >= turn || now - start <= LONGEST_CALL_NS) return;
      early = Math.max(early, Math.ceil((now - start - LONGEST_CALL_NS) / NS));
      writeStart(view, place, now - LONGEST_CALL_NS);
    };
    ring.readStamp();
    correct(head.wall, wall, ring.stamp[0]!, this.started[2]!);
    if (head.cpu !== -1) {
      correct(head.cpu, cpu, cpuTime(this.#threadCpu) - this.#cpuBiasNs, this.#cpuTurnNs);
    }
    return early;
  }

  /** A start that needs a closer look: of another kind, of another turn, or of no rank at all. */
  #takeStart(timing: unknown): void {
    const limit = 'what enter of this rank returned';
    if (!this.#detailed) {
      if (typeof timing !== 'number') throw wrongType('timing', timing, limit);
      this.started[0] = this.#checkStart(timing);
      return;
    }
    if (!(timing instanceof DetailedTiming)) throw wrongType('timing', timing, limit);
    const wall = this.#checkStart(timing.wall);
    const cpu = timing.cpu < this.#cpuTurnNs ? this.#checkCpuStart(timing.cpu) : timing.cpu;
    this.started[0] = wall;
    this.started[1] = cpu;
    this.#countersIn = timing.counters;
  }

  #checkStart(wall: number): number {
    const { ring } = this;
    if (wall >= this.started[2]! && wall <= ring.stamp[0]!) return wall;
    // A timing of another thread may be later than the last one that was taken here.
    if (ring.isOpen) ring.readStamp();
    const now = ring.stamp[0]!;
    if (!(wall >= 0) || wall > now) {
      throw outOfRange('timing', wall, 'what enter of this rank returned');
    }
    // Where its record finds that a turn has passed since, that is seen to then.
    if (this.head.wall === -1 || wall >= this.started[2]!) return wall;
    if (now - wall <= LONGEST_CALL_NS) return wall;
    return this.#latestStart(wall, now, '');
  }

  /** A start before the CPU clock's last turn. */
  #checkCpuStart(cpu: number): number {
    if (cpu < 0) return cpu;
    const now = cpuTime(this.#threadCpu) - this.#cpuBiasNs;
    return now - cpu <= LONGEST_CALL_NS ? cpu : this.#latestStart(cpu, now, ' by the CPU clock');
  }

  /** Moves a start to where a record can say it, and has the trace say by how much. */
  #latestStart(start: number, now: number, clock: string): number {
    const early = Math.ceil((now - start - LONGEST_CALL_NS) / NS);
    this.annotate(`the next call began ${early} s before its record says so${clock}`);
    return now - LONGEST_CALL_NS;
  }

  #recordFunction(label: number, address: bigint, thread: number): void {
    const { ring, head } = this;
    const size = head.bytes + ADDRESS_BYTES;
    if (ring.free < size && !ring.makeRoom(size)) return;
    this.started[0] = -1;
    this.started[1] = -1;
    this.#countersIn = undefined;
    const at = ring.position;
    this.writeHead(ring.view, at, label, thread);
    ring.view.setBigUint64(at + head.bytes, address);
    this.commit(at, size);
  }

  /** Undefined when the name found no room, and has been counted as dropped; it is tried again. */
  #addressOf(name: string): bigint | undefined {
    const known = this.#addresses.get(name);
    if (known !== undefined) return known;
    checkText('name', name);
    if (this.#closed) throw this.#closedError();
    const address = this.#nextAddress++;
    if (!this.#names.add(address, name)) return undefined;
    this.#addresses.set(name, address);
    return address;
  }

  /** Gives an annotation a key; undefined when its text found no room. */
  #name(text: string): bigint | undefined {
    const key = this.#nextKey++;
    return this.#names.add(key, ANNOTATION + text) ? key : undefined;
  }

  /** Gives an annotation the caller's key. */
  #nameOwn(key: number, text: string): bigint | undefined {
    const address = BigInt(key);
    if (!this.#ownKeys.has(key)) {
      if (!this.#names.add(address, ANNOTATION + text)) return undefined;
      this.#ownKeys.add(key);
    }
    return address;
  }

  /**
   * The first call of a kind is recorded by walking the table, and its encoder is compiled behind it:
   * in front of it, compiling would seem to be a part of the call.
   */
  #newEncoder(name: MpiCallName): CallEncoder {
    this.#labelOf(name);
    const call = callNamed(name)!;
    const { calls, otherCalls } = this.configuration;
    const setting = this.#ignoring === undefined ? (calls.get(name) ?? otherCalls) : 'disable';
    const encoders = this.#encoders;
    const once = plainEncoder(this, call, setting);
    const first: CallEncoder = (args, thread) => {
      once(args, thread);
      encoders.set(name, compiledEncoder(this, call, setting) ?? once);
    };
    encoders.set(name, first);
    return first;
  }

  #labelOf(name: unknown): number {
    if (!isCallName(name)) {
      throw typeof name === 'string'
        ? outOfRange('name', name, 'an MPI call that the format knows')
        : wrongType('name', name, 'the name of an MPI call');
    }
    return callNamed(name)!.label;
  }

  #closedError(): TracewrightError {
    return new TracewrightError('ERR_CLOSED', 'the rank is closed', { field: 'rank' });
  }
}

/** Stores a start, ns since the bias, or that there is none. */
function writeStart(view: DataView, at: number, ns: number): void {
  if (ns < 0) {
    view.setUint32(at + 2, NO_START);
    return;
  }
  let seconds = Math.floor(ns / NS);
  let rest = ns - seconds * NS;
  if (rest < 0) {
    seconds -= 1;
    rest += NS;
  }
  view.setUint16(at, seconds);
  view.setUint32(at + 2, rest);
}

/** Stores a start and the same stop. */
function writeTimes(view: DataView, at: number, seconds: number, ns: number): void {
  for (const place of [at, at + CLOCK_BYTES]) {
    view.setUint16(place, seconds);
    view.setUint32(place + 2, ns);
  }
}

/** When the record at `at` ended. */
function timesIn(view: DataView, at: number, { wall, cpu }: RecordHead): LastTimes {
  const stop = (place: number): [number, number] =>
    place === -1
      ? [0, 0]
      : [view.getUint16(at + place + CLOCK_BYTES), view.getUint32(at + place + CLOCK_BYTES + 2)];
  return [...stop(wall), ...stop(cpu)];
}

/**
 * Opens the trace of a rank: `<fileRoot>-<start>-<rank>.bin`, and at rank 0 the run's metafile.
 *
 * @throws TracewrightError for a wrong option, or a file that exists or cannot be made.
 */
export function openRank(options: RankOptions): Rank {
  return new Rank(options);
}
