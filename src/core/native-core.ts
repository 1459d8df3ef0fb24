/** Types of the native core's functions, as native/addon/ registers them. */

import type { controlLayout } from './control-layout.js';
import type { GroupCounts, GroupState, RingCounts, TargetCounts } from './no-counts.js';
import type {
  JoinOptions,
  NativeRing,
  NativeRingOptions,
  NativeTarget,
  NativeWaiting,
} from './native-ring.js';

/**
 * Of a watched event loop, in nanoseconds of CLOCK_MONOTONIC. A stall (`what` 1) has the CPU time of the
 * thread, a cause by its number in native/loop/loop_watch.h, whether the prepared record counts, and the
 * stacks that the thread had: each as a text and how often it was found, the most frequent first.
 * A sample (2) has the time of all turns, the longest, their number, and the average time that an event
 * at a random moment waited.
 */
type NativeLoopListener = (
  what: number,
  from: number,
  to: number,
  cpuOrBusy: number,
  causeOrLongest: number,
  recorded?: boolean,
  turnsOrStacks?: number | readonly (string | number)[],
  delayOrContexts?: number | readonly (object | number)[],
) => void;

/** Values of a field of many records. */
export type NativeColumn = Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Float64Array;

/** The native core's functions. They do not check arguments: src/core is their only caller. */
export interface NativeCore extends NativeWaiting {
  /** See core-interface.ts. */
  interface: number;
  /**
   * The file of the core that the process uses: that of the first copy of the package, whichever
   * thread loaded it.
   */
  coreInUse(): string;
  joinTarget(options: JoinOptions): {
    target: NativeTarget;
    created: boolean;
    /** Nanoseconds of CLOCK_MONOTONIC from which `big` stamps count. */
    epoch: bigint;
  };
  /** Keeps a target that is open so until the process ends, whichever thread closes it. */
  keepTarget(key: string): void;
  /** Takes a number; without `wanted` the next one from 1 that no thread has taken. */
  takeNumber(target: NativeTarget, wanted?: number): number;
  /** The number of a definition, by which all threads find it; 0: the target has too many. */
  define(target: NativeTarget, key: string): number;
  /** Adds a packet, of a number once, to what later files, pieces and connections begin with. */
  repeatDefinition(target: NativeTarget, number: number, packet: Uint8Array): boolean;
  openRing(options: NativeRingOptions, target?: NativeTarget): NativeRing;
  /** Rings of this process take memory as they fill: opening one costs less, a new page a fault. */
  mapPagesLate(): void;
  /** Free bytes, at least as many as asked for; -1: closed, -2: full. */
  makeRoom(ring: number, bytes: number): number;
  commitExplicit(ring: number, lastRecord: number, unordered: boolean): boolean;
  /** Publishes the `pending` bytes without a stamp. */
  commitAsIs(ring: number): void;
  flush(ring: number): boolean;
  /** The call that the control page's `attention` has asked for. */
  attend(ring: number): void;
  /** How many slots the table of open records has after a step, or after none. */
  growOpenRecords(ring: number): number;
  writeThrough(
    ring: number,
    head: Uint8Array,
    body: Uint8Array,
    stamped: boolean,
    unordered: boolean,
  ): void;
  /**
   * Replaces pieces of the metadata with which the stream ends; they are in the order of their keys.
   *
   * @param whole whether there are no other pieces.
   * @param due whether the end of the stream writes them: its thread may be terminated.
   */
  setEndMetadata(
    ring: number,
    keys: readonly number[],
    texts: readonly string[],
    whole: boolean,
    due: boolean,
  ): void;
  /** At most `limitMs` are spent on what a socket has not taken yet. */
  finish(ring: number, limitMs: number): void;
  waitDrained(ring: number, limitMs: number): Promise<boolean>;
  targetCounts(target: NativeTarget): TargetCounts;
  /** Whether the path of a file that only this ring feeds still names that file. */
  inPlace(ring: number): boolean;
  ringCounts(ring: number): RingCounts | undefined;
  /** Counts of every stream that feeds, or once fed, a target of the group. */
  groupCounts: (group: string) => GroupCounts;
  /** Once for each thread: `listener` is called after the state of a watched group has changed. */
  onTargetChange(listener: (group: string) => void): boolean;
  watchGroup(group: string): void;
  unwatchGroup(group: string): void;
  groupState(group: string): GroupState;
  /** The program hears of this group by its own handler: the process says nothing of it at its end. */
  leaveToProgram(group: string): void;
  /** Ends the recording of a group for good when its targets take `bytes`; they take `used` already. */
  limitGroup: (group: string, bytes: number, used: number) => void;
  /**
   * Writes records `first` to `first + count` at byte `at`, a field from each column.
   *
   * @param layout bytes of a record, not 0 for big-endian, then offset and bytes of each field.
   * @param columns for each field an array of unsigned integers of its size, or into 8 bytes also
   *   u32 or exact doubles; one element is for all records.
   * @returns false, and nothing is written, when arrays, layout and counts do not go together.
   */
  packRecords: (
    layout: Uint8Array,
    to: Uint8Array,
    at: number,
    first: number,
    count: number,
    ...columns: NativeColumn[]
  ) => boolean;
  /**
   * Copies records from byte `start` to byte `at`, up to the first whose first byte is not in the
   * range, and returns its number; otherwise `count`. What follows it may be copied too.
   */
  copyRecords: (
    to: Uint8Array,
    at: number,
    from: Uint8Array,
    start: number,
    recordBytes: number,
    count: number,
    low: number,
    high: number,
  ) => number;
  /**
   * The first of `count` bytes, `stride` apart from byte `from` on, that is not in the range;
   * otherwise `count`.
   */
  firstOutside: (
    bytes: Uint8Array,
    from: number,
    stride: number,
    count: number,
    low: number,
    high: number,
  ) => number;
  /** The first element that is no integer from 0 to 2^53 - 1; otherwise their number. */
  firstInexact: (values: Float64Array) => number;
  /**
   * An expression whose searches end after `limit` steps back, as without a match. Undefined where V8 is of
   * an unknown line or offers no such limit.
   *
   * @param flags the bits of `v8::RegExp::Flags`.
   */
  boundedPattern(source: string, flags: number, limit: number): RegExp | undefined;
  clockNow: () => bigint;
  kernelClockNow(): bigint;
  /** Nanoseconds since 1970. */
  wallClock: () => bigint;
  /** Nanoseconds that the process, or this thread, has spent on a CPU. */
  cpuClock: (ofThread: boolean) => number;
  /**
   * Of one moment: CLOCK_MONOTONIC, nanoseconds since 1970 and since the start of the system, and the
   * clock of stamps. Then how many nanoseconds lay between the first reading and the last.
   */
  readClocks(to: BigUint64Array): void;
  /** Fills at most 256 bytes from the operating system's generator; false: it has none. */
  systemRandom: (to: Uint8Array) => boolean;
  /** Fills a multiple of four words by four generators in turn, whose state is 16 words, not all zeros. */
  fillRandom: (words: Int32Array<ArrayBuffer>, state: Int32Array) => void;
  finishOnSignal: (signalNumber: number) => boolean;
  /** Whether a process has the ring mapped whose file is open as `fd`, wherever it runs. */
  ringIsHeld(fd: number): boolean;
  /**
   * Holds a directory open until it is released: the core's calls under its path go there, whatever
   * the path leads to. With `isOurs` a link is an error, and so is a directory of another user but root.
   */
  anchorDirectory(path: string, isOurs: boolean): void;
  /** Makes a directory and the missing ones above it. False: it could not, or there is something else, such as a link. */
  makeDirectories(path: string, mode: number): boolean;
  releaseDirectory: (path: string) => void;
  /** A path that leads below the directory that is held, where the system has one; else the same. */
  anchoredPath(path: string): string;
  /** Number of the file at a path, 0 of none, and its birth in ns since 1970, 0 where not known. */
  fileIdentity(path: string): BigUint64Array;
  /** The process ends: what waits for a socket from here on, in any thread, shares one second. */
  processEnds(): void;
  /** Locks the file or directory that is open as `fd`; false when another descriptor has it locked. */
  tryLock: (fd: number) => boolean;
  /**
   * Whether a name below a directory begins with a dot, or is `other`. It reads names alone, and follows no link.
   *
   * @throws an error with the system's code where a directory cannot be read.
   */
  hasHiddenName: (directory: string, other: string) => boolean;
  /** How many file descriptors the process may still open; infinite where the system does not say. */
  freeDescriptors: () => number;
  /** Where a file has bytes again, from an offset on; -1: only a hole follows. It moves the position of `fd`. */
  nextData(fd: number, offset: number): number;
  /** A hint: memory that is filled at once, from 2 MB on, needs a fraction of the work with large pages. */
  useLargePages(bytes: Uint8Array): void;
  /** Calls a function of this thread before a signal ends the process, which waits for it for a quarter of a second. */
  callBeforeSignal(listener: () => void): boolean;
  /** A signal that ends the process waits for what comes between this and `releaseSignals`. */
  holdSignals(): void;
  releaseSignals(): void;
  /**
   * Stores an entry of a text file with one list, and writes `before`, all entries by their keys with commas, and
   * `after`. In one call: a worker can be terminated between two. An empty entry changes only what surrounds the list.
   */
  putListEntry: (
    path: string,
    key: string,
    entry: string,
    before: string,
    after: string,
    mode: number,
  ) => void;
  /** See process-notes.ts. */
  processWords(bytes: number): ArrayBuffer;
  putNote: (name: string, text: string) => void;
  getNote: (name: string) => string;
  /**
   * Whether this thread is to put a note that nobody has put: no other is until it does (an empty
   * one lets go of it), or ends.
   */
  claimNote: (name: string) => boolean;
  /** Without a mode the file keeps the mode and the owner of the one that it replaces. */
  replaceFile: (path: string, content: string, mode?: number) => void;
  /**
   * Watches the event loop of this thread until it ends, once: `listener` is called after a turn that
   * took more than `limitMs`, and after a turn once `sampleMs` are over (0: never). If `hasSpans`, a thread that
   * sleeps without an open span is neither busy nor stalled. A stall has stacks where the version of V8 is
   * known, without frames of scripts that begin with `ownScripts`; undefined: it has none. From Node 24 on it also has
   * what was active then, as `contextOfFrame` takes it. A sample ends with a stall, and one with the turn after it.
   * False where that cannot be.
   */
  watchLoop: (
    limitMs: number,
    sampleMs: number,
    hasSpans: boolean,
    ownScripts: string | undefined,
    listener: NativeLoopListener,
  ) => boolean;
  /**
   * Ends the turn of this thread's watched loop, within which the thread sleeps until there is work. False: it is in
   * no turn. Else `wakeLoop` begins another one.
   */
  restLoop: () => boolean;
  wakeLoop: () => void;
  /** When the turn of this thread's watched loop began, in ns of CLOCK_MONOTONIC; 0: it is in none, or is not watched. */
  turnStart: () => number;
  /**
   * Has a record of the table of open records count as soon as the watched loop stalls, see
   * native/loop/loop_watch.h.
   *
   * @param at where it lies in the table; `state` is what its slot gets.
   * @param startAt where it has its start, u64, and `causeAt` a word that becomes one of `causes`.
   * @param textAt where a u16 length and a stack may follow, after the record: bytes before that count with it.
   */
  prepareStall(
    ring: number,
    at: number,
    state: number,
    startAt: number,
    causeAt: number,
    causes: Uint32Array,
    textAt: number,
  ): void;
  /**
   * Watches whether the heap of the main thread nears its limit, once. False: the version of V8 is not known, or the
   * program handles SIGABRT.
   */
  watchHeap: () => boolean;
  /**
   * Has a record of the table of open records count if the process then ends by SIGABRT.
   *
   * @param limitAt where it has a word that becomes the limit in MiB. Others as of `prepareStall`.
   */
  prepareHeapEnd: (
    ring: number,
    at: number,
    state: number,
    startAt: number,
    limitAt: number,
  ) => void;
  /** The heap of the main thread has so many bytes in use: it may have recovered. */
  noteHeap: (bytes: number) => void;
  /** Notes this thread's garbage collections, once: `listener` is called before the loop waits. False: it cannot. */
  watchCollections: (listener: () => void) => boolean;
  /** Moves the oldest of them: from, to (ns of CLOCK_MONOTONIC) and V8's kind of each. Returns how many. */
  takeCollections: (to: Float64Array) => number;
  /** Collections of this thread that were not noted: too many waited to be taken. */
  lostCollections: () => number;
  /**
   * Samples what this thread runs by V8's profiler, until it ends. Scripts whose addresses begin with `ownScripts` are
   * named `tracewright/…`. False: the version of V8 is not known.
   */
  startProfile: (intervalUs: number, ownScripts: string) => boolean;
  /**
   * The samples since the last time, as parts of seven: the first and the last time (ns of CLOCK_MONOTONIC), and the
   * texts of src/spans/layout.ts: frames, nodes, samples, spans, lines. Undefined: none, or, unless `all`, too few.
   */
  takeProfile: (all: boolean) => (number | string)[] | undefined;
  stopProfile: () => void;
  /**
   * Samples one allocation of this thread in about `interval` bytes. Frames are as of `startProfile`. False: V8 is not
   * known, or the program does so already.
   */
  startHeapProfile: (interval: number, ownScripts: string) => boolean;
  /** Objects that are alive, as one part of `takeProfile`, whose samples are sizes: see src/spans/layout.ts. Undefined: nothing. */
  takeHeapProfile: () => (number | string)[] | undefined;
  stopHeapProfile: () => void;
  /**
   * Shows where the active span is found by a sample: called while a span is active whose three numbers no other of
   * its fields has, first with two that are frames by themselves, then with one that a map of Node has by `storage`.
   * False: such spans are not known, or not yet.
   */
  learnActiveSpan: (
    span: object,
    high: number,
    low: number,
    state: number,
    storage: object | undefined,
  ) => boolean;
  systemThreadId: () => number;
  drainRounds(): number;
  control: typeof controlLayout;
  /** Whether this machine's kernel keeps time by the TSC. */
  scaledClock: boolean;
  /** Whether optimised code calls commits without Node-API. */
  fastCalls: boolean;
}
