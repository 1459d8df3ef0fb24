import type { TargetCounts } from '../../core/ring/shared-target.js';
import type { LenientCounts } from './taken-attributes.js';
import type { CheckedTarget } from '../target.js';

/** Counts of the events of a trace, of all threads of the process. */
export interface TraceStats {
  /** Events that were finished: `written`, `pending` and `dropped` together. */
  recorded: number;
  /**
   * Events that arrived, as far as this machine knows. Over a connection the other machine has acknowledged
   * it. Over UDP it was sent, and nothing has refused it so far. `bytes` are those that the target has got: with the
   * epoch packet and the definitions with which each file, piece and connection begins.
   */
  written: { events: number; bytes: number; datagrams: number };
  /**
   * Events of `written` in pieces that were deleted to keep within `maxBytes`. Of a file that rotates.
   */
  deleted: { events: number };
  /** Events that are still in the rings; also in those of threads that have ended while the disk was full. */
  pending: { events: number; bytes: number };
  /** Events that have not arrived; each has used up its counter, so that a reader sees the gap. */
  dropped: {
    events: number;
    /** The ring was full and the policy is `drop`, or the wait was over. */
    ringFull: number;
    /** Larger than a datagram or than the ring of a socket. */
    tooLarge: number;
    /**
     * Committed, but not sent when the trace was closed. For a file: not written by then. It is
     * still in the ring's file, for `tracewright recover`.
     */
    unsent: number;
    /** Sent over a connection, but not acknowledged when the trace was closed. It may still arrive. */
    unacknowledged: number;
    /** In UDP datagrams that the network reported as refused, such as those to a closed port. */
    refused: number;
  };
  /** Of a trace that goes over a network or a unix socket. */
  network?: NetworkStats;
  /**
   * Of a trace whose events can be open: those that are and have a slot, and those that are and have none,
   * because all were taken or the event was too long.
   */
  open?: { events: number; unkept: number };
  /** With `attributes: 'lenient'`: values that were not valid, of events of this thread. */
  attributes?: LenientCounts;
  /** Connections made, the first one included. */
  connections: number;
  /** Failed attempts to write, send, connect or look up, and refusals. */
  errors: number;
  lastError: string | undefined;
}

/** How far events have come on their way over a network or a unix socket. */
export interface NetworkStats {
  /**
   * Events and bytes that the operating system of this machine took. Those sent again over a new connection
   * count again.
   */
  sent: { events: number; bytes: number };
  /**
   * Events and bytes that arrived. TCP: the other machine has them; its program may not have read them yet. Unix:
   * the program has read them. Absent over UDP, which acknowledges nothing.
   */
  acknowledged?: { events: number; bytes: number };
  /**
   * Datagrams that the network reported as refused, and their events. At least so many: routers limit
   * such reports. UDP only.
   */
  refused?: { events: number; datagrams: number };
  /**
   * Connections that broke without a regular end, and the events acknowledged over them: of these the
   * program at the other end may have missed the last. TCP only. What breaks after `close` is unknown.
   */
  doubtful?: { connections: number; events: number };
}

function networkStats(kind: 'udp' | 'tcp' | 'unix', counts: TargetCounts): NetworkStats {
  const { records, bytes } = counts;
  const { peerRefusedRecords, peerRefusedDatagrams } = counts;
  if (kind === 'udp') {
    return {
      sent: { events: records + peerRefusedRecords, bytes: counts.sentBytes },
      refused: { events: peerRefusedRecords, datagrams: peerRefusedDatagrams },
    };
  }
  return {
    sent: { events: counts.sentRecords, bytes: counts.sentBytes },
    acknowledged: { events: records, bytes },
    ...(kind === 'tcp' && {
      doubtful: { connections: counts.brokenConnections, events: counts.doubtfulRecords },
    }),
  };
}

/**
 * The counts of a target as the caller of `stats` gets them.
 *
 * @param canBeOpen whether its events can be open.
 */
export function statsOf(
  counts: TargetCounts,
  kind: CheckedTarget['kind'],
  canBeOpen: boolean,
): TraceStats {
  const ringFull = counts.droppedRecords;
  const tooLarge = counts.refusedRecords;
  const unsent = counts.lostRecords;
  const unacknowledged = counts.unacknowledgedRecords;
  const refused = counts.peerRefusedRecords;
  const dropped = ringFull + tooLarge + unsent + unacknowledged + refused;
  return {
    recorded: counts.records + counts.pendingRecords + dropped,
    written: { events: counts.records, bytes: counts.bytes, datagrams: counts.datagrams },
    deleted: { events: counts.deletedRecords },
    pending: { events: counts.pendingRecords, bytes: counts.pendingBytes },
    dropped: { events: dropped, ringFull, tooLarge, unsent, unacknowledged, refused },
    ...(kind !== 'file' && { network: networkStats(kind, counts) }),
    ...(canBeOpen && { open: { events: counts.openRecords, unkept: counts.unkeptRecords } }),
    connections: counts.connections,
    errors: counts.errors,
    lastError: counts.lastError,
  };
}
