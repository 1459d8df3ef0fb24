import type { TargetCounts } from './native-core.js';

/** The counts of a target that nothing has been written to. */
export function noCounts(): TargetCounts {
  return {
    records: 0,
    bytes: 0,
    datagrams: 0,
    connections: 0,
    errors: 0,
    lostRecords: 0,
    peerRefusedRecords: 0,
    peerRefusedDatagrams: 0,
    sentRecords: 0,
    sentBytes: 0,
    unacknowledgedRecords: 0,
    brokenConnections: 0,
    doubtfulRecords: 0,
    deletedRecords: 0,
    pendingRecords: 0,
    pendingBytes: 0,
    droppedRecords: 0,
    refusedRecords: 0,
    openRecords: 0,
    unkeptRecords: 0,
  };
}
