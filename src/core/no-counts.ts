/** Counts and states of targets, as nothing that was recorded has them, and their types. */

const sinkCounts = {
  records: 0,
  bytes: 0,
  datagrams: 0,
  connections: 0,
  errors: 0,
  lostRecords: 0,
  /** Of datagrams that the network reported as not delivered; not in `records`. */
  peerRefusedRecords: 0,
  peerRefusedDatagrams: 0,
  /** Records that the kernel took for the network, each time they were sent; of connections only. */
  sentRecords: 0,
  sentBytes: 0,
  /** The kernel took them, but the trace ended before they were acknowledged. */
  unacknowledgedRecords: 0,
  /** Connections that broke, and what was acknowledged on them. */
  brokenConnections: 0,
  doubtfulRecords: 0,
  /** Of `records`: in pieces that were deleted to keep within the budget. */
  deletedRecords: 0,
};

interface LastError {
  lastError?: string;
}

export interface RingCounts extends Readonly<typeof sinkCounts>, LastError {
  committedBytes: number;
  pendingBytes: number;
}

const targetCounts = {
  ...sinkCounts,
  pendingRecords: 0,
  pendingBytes: 0,
  droppedRecords: 0,
  refusedRecords: 0,
  /** Records that are open and have a slot, and those that got none. */
  openRecords: 0,
  unkeptRecords: 0,
};

/** Of all rings that feed a target, or fed it once. */
export type TargetCounts = Readonly<typeof targetCounts> & LastError;

export function noCounts(): TargetCounts {
  return { ...targetCounts };
}

const groupCounts = {
  /** Bytes that reached the targets. */
  bytes: 0,
  /** Bytes in the rings of streams that are open. */
  pendingBytes: 0,
  /** Bytes in the rings of streams that ended before their target took them. */
  leftBytes: 0,
  droppedRecords: 0,
  refusedRecords: 0,
  /** Only where the ring knows its record boundaries. */
  lostRecords: 0,
  errors: 0,
};

/** Of every stream that feeds, or once fed, a target of a group. */
export type GroupCounts = Readonly<typeof groupCounts> & LastError;

export function noGroupCounts(): GroupCounts {
  return { ...groupCounts };
}

export const noGroupState = {
  failing: false,
  /** Whether the last that failed works again; otherwise it went away as it was. */
  recovered: false,
  /** Whether its budget is spent, which no time mends. */
  spent: false,
  /** Grows with every change, also with those that cancel out. */
  changes: 0,
  /** Whether this thread is the one to speak for the process. */
  first: false,
  /** Of the last failure; 0: there was none. */
  errno: 0,
  message: '',
};

export type GroupState = Readonly<typeof noGroupState>;
