/** Types of rings and their targets: what opens them, and what the native core returns. */

/** A target that several threads of the process write to, as the native core hands it out. */
export interface NativeTarget {
  readonly __nativeTarget: never;
}

/** Paths of the numbered pieces of a trace. A number of at least `digits` digits lies in between. */
export interface NativePieceNames {
  before: string;
  after: string;
  /**
   * The beginning of the path of a ring of the whole trace. That of a piece begins with `ringsBefore`,
   * the number and `ringsAfter` instead.
   */
  rings: string;
  ringsBefore: string;
  ringsAfter: string;
  digits: number;
}

export interface JoinOptions {
  /** Kind and address: targets with the same key are one, and one group. */
  key: string;
  kind: 'file' | 'udp' | 'tcp' | 'unix';
  path?: string;
  host?: string;
  port?: string;
  /** First bytes of the file, of every connection, and now and then between datagrams. */
  preamble: Uint8Array;
  datagramBytes?: number;
  /** Whether an existing file is replaced; otherwise it is an error. */
  replace?: boolean;
  /** Files that rotate: what their pieces are called. */
  pieces?: NativePieceNames;
  /** Files: bytes after which the next numbered piece begins; 0: never. */
  rotateBytes?: number;
  /** Files that rotate: the oldest pieces go so that all take at most so many bytes; 0: they stay. */
  keepBytes?: number;
  /** Files: permissions, less the umask. Default 0600. */
  fileMode?: number;
  /** Nanoseconds of CLOCK_MONOTONIC from which `big` stamps count. */
  epoch: bigint;
}

/** A clock of `interval` stamps. */
interface NativeIntervalClock {
  /** Where a record holds the start, before the stop; -1: nowhere. */
  offset: number;
  /** Seconds that are subtracted from the clock. */
  bias: number;
  /** The two records of equal length that come before the first one of a new turn, without times. */
  preface: Uint8Array;
}

/** See native/ring/interval_stamp.h. */
interface NativeIntervalOptions {
  wall: NativeIntervalClock;
  cpu: NativeIntervalClock;
  /** CPU time of the thread rather than of the process. */
  threadCpu: boolean;
  /** Where a record holds its counters; -1: nowhere. */
  countersOffset: number;
}

export interface NativeRingOptions {
  /** The ring's own file; absent: anonymous memory, which dies with the process. */
  path?: string;
  capacity: number;
  format: string;
  /** The file that the ring feeds, for recovery; without a shared target it is created. */
  target: string;
  /** An open descriptor that it feeds instead of a new file; -1: the pipe or device at `target`. */
  descriptor?: number;
  /** The targets with which it fails and works in the eyes of the service; default: `target`. */
  group?: string;
  preamble?: Uint8Array;
  finishFrom?: string;
  finishTo?: string;
  /** Made with the ring: the call throws if it is there. */
  directory?: string;
  directoryMode?: number;
  /** See `setEndMetadata`: the list and the entry there that has the metadata; absent: `finishFrom` has it. */
  endList?: string;
  endKey?: string;
  stampOffset: number;
  stamp: 'none' | 'native' | 'big' | 'interval';
  /** Of `interval` stamps only. */
  interval?: NativeIntervalOptions;
  kernelClock: boolean;
  removeIfEmpty?: boolean;
  lengthOffset?: number;
  /** Where records begin, for a ring without `lengthOffset`; see native/ring/record_shape.h. */
  shape?: NativeRecordShape;
  /** Whether `putWords` is wanted. */
  words?: boolean;
  full: 'block' | 'drop';
  blockLimitMs: number;
  /** Of the target that is created; default 0600. */
  fileMode?: number;
  /** See open-records.ts. Of shared targets only; its slots take at most `capacity` bytes, and `most` twice that. */
  openRecords?: NativeOpenRecordOptions;
  /** Bytes of the records that may wait, a power of two, and how many groups; see native/ring/waiting_records.h. */
  waitingCapacity?: number;
  waitingGroups?: number;
  /** Where a record has the eight bytes of its group. */
  groupAt?: number;
}

interface NativeRecordShape {
  kind: 'fixed' | 'lines' | 'flagged';
  bytes?: number;
  own?: string;
}

/** See native/ring/open_records.h. */
export interface NativeOpenRecordOptions {
  /** How many there are at the start, and to how many the table may grow; absent: it stays as it is. */
  places: number;
  most?: number;
  /** Bytes of the longest record. */
  longest: number;
  /** Where a record has its series and its number, two u32; absent: it has none. */
  numberAt?: number;
}

export interface NativeRing {
  id: number;
  /** Whether the target takes nothing any more, for its budget is spent. */
  spent: boolean;
  /** Control page, data, data again. Never handed to a caller of the library. */
  buffer: ArrayBuffer;
  /** Where the data begins in it. */
  dataOffset: number;
  /** Stamps and publishes the `pending` bytes at the head. */
  commit: () => void;
  /** Puts nanoseconds since the epoch into the control page's `stamp`. */
  readStamp: () => void;
  /**
   * Puts the control page's `words` words at its `wordsAt` (bytes from the start of the data) as
   * big-endian ones. They lie at the next multiple of 4, in the machine's byte order.
   */
  putWords?: () => void;
  /** As `readStamp`. It copies what the control page's `copiedFrom` describes to an open record, once. */
  beginOpen?: () => void;
  /**
   * Publishes the `pending` bytes of an open record as a final one, with a stamp, its length and the next number.
   * The control page's `endingAt` says where it lies in the table, the place of a word in it, and what
   * the word becomes.
   */
  commitOpen?: () => void;
}

/** Memory shared with native code, which uses it only while JavaScript calls. native/ring/waiting_index.h explains each. */
export interface WaitingShared {
  readonly words: Int32Array;
  readonly times: Float64Array;
  /** Of each group. */
  readonly flags: Int32Array;
  readonly roots: Int32Array;
  readonly freeSlots: Int32Array;
}

/** Where records have the fields that native code reads, and their bits; see there. */
export interface WaitingFormat {
  readonly decided: number;
  readonly linkAt: number;
  readonly startAt: number;
  readonly nameAt: number;
  readonly wordAfterName: number;
  readonly reasonAfterName: number;
  readonly failedBit: number;
  readonly chosenMask: number;
  readonly variantShift: number;
  readonly late: number;
}

/** They find in `words` what they are about, and put there what came of it. */
export interface WaitingCalls {
  /** The number of the group with two words; 0: it does not wait. */
  find: () => void;
  /** Begins a group, and gives it a number. */
  begin: () => void;
  /** An open record ends, and waits with its group in its slot. */
  end: () => void;
  /** The open record of a group ends, and all of the group is let go. */
  release: () => void;
  /** The record that was committed last waits with a group. */
  link: () => void;
}

/** The core's functions for records that wait; native/ring/ring.h explains each. */
export interface NativeWaiting {
  /** Where the records of a ring wait; undefined: nowhere. */
  openWaiting(ring: number): NativeRing | undefined;
  /** Undefined: the arrays do not fit the ring. */
  indexWaiting(
    ring: number,
    shared: WaitingShared,
    format: WaitingFormat,
  ): WaitingCalls | undefined;
  /** Has the records of a kind, from 0 to 2047, counted in `counts`. */
  countWaiting(ring: number, kind: number, counts: Uint8Array): void;
  learnWaiting(ring: number, slot: number, word: number, kind: number, isRoot: boolean): void;
  /** Returns the bytes that find no room; 0: it is done. */
  copyWaiting(ring: number, group: number, reason: number): number;
  /** The same. */
  relieveSlots(ring: number): number;
  dropWaiting(ring: number, group: number): void;
  forgetWaiting(ring: number, group: number, reason: number): void;
  isOver(ring: number, high: number, low: number, start: number): boolean;
  /** Returns the group that has the oldest records; 0: there is room, or none waits. */
  reclaimWaiting(ring: number, bytes: number): number;
  moveWaiting(ring: number, group: number): boolean;
}
