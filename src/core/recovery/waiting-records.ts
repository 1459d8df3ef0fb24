import { core } from '../addon.js';
import { LITTLE } from '../byte-order.js';

/** Of a format: bytes of the record that begins at an offset; undefined if none does. */
export type RecordSize = (bytes: Buffer, at: number) => number | undefined;

/** States of a group, by their numbers in native/ring/waiting_records.h. */
const UNDECIDED = 1;
const COPYING = 2;
const GROUP_KEY_BYTES = 8;
/** As many as a writer lays down. */
const MOST_GROUPS = 1 << 16;
const MOST_CAPACITY = 2 ** 29;

/** Where a ring has its records that wait, from the start of its file. */
export interface WaitingLayout {
  at: number;
  capacity: number;
  groups: number;
  /** Where a record has the eight bytes of its group. */
  groupAt: number;
  /** Bytes of page and groups, before the data. */
  front: number;
}

/** Reads from a control page where they lie; undefined: none wait. */
export function waitingLayout(page: DataView): WaitingLayout | undefined {
  const { control } = core;
  const capacity = Number(page.getBigUint64(control.waitingCapacity, LITTLE));
  if (capacity === 0) return undefined;
  const groups = page.getUint32(control.waitingGroups, LITTLE);
  const bytes = control.waitingPage + groups * control.groupBytes;
  return {
    at: Number(page.getBigUint64(control.waitingAt, LITTLE)),
    capacity,
    groups,
    groupAt: page.getUint32(control.groupAt, LITTLE),
    front: Math.ceil(bytes / control.waitingAlignment) * control.waitingAlignment,
  };
}

/** Records of which nobody had decided whether the stream gets them. */
export interface WaitingRecords {
  /** In their order. */
  records: Buffer[];
  /** Whether they have their numbers: the process had begun to write them. */
  isNumbered: boolean;
  /** Whether the process died while it was copying some, which are in the ring after its head. */
  isCopying: boolean;
  /** The record that was committed last, whatever was decided about it. */
  last: Buffer | undefined;
}

/**
 * Reads them without trusting the ring.
 *
 * @param bytes from `layout.at` on.
 * @param head of the ring that they wait for.
 */
export function readWaiting(
  layout: WaitingLayout,
  bytes: Buffer,
  head: number,
  recordBytes: RecordSize,
): WaitingRecords {
  const { control } = core;
  const { capacity, front, groups, groupAt } = layout;
  const found: WaitingRecords = {
    records: [],
    isNumbered: false,
    isCopying: false,
    last: undefined,
  };
  if (groups > MOST_GROUPS || capacity > MOST_CAPACITY) return found;
  if (bytes.length < front + capacity) return found;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const u32 = (at: number) => view.getUint32(at, LITTLE);
  const to = Number(view.getBigUint64(control.head, LITTLE));
  const from = Number(view.getBigUint64(control.tail, LITTLE));
  found.isNumbered = view.getBigUint64(control.endedAt, LITTLE) !== 0n;
  if (!(from <= to && to - from <= capacity && Number.isSafeInteger(to))) return found;
  // Where the records of each group begin to wait, by its bytes as records have them.
  const undecided = new Map<string, number>();
  for (let i = 0; i < groups; i++) {
    const at = control.waitingPage + i * control.groupBytes;
    const state = u32(at + 8);
    if (state === 0) continue;
    const isOver = state !== UNDECIDED && u32(at + 12) !== (state === COPYING ? head : to) >>> 0;
    if (state === COPYING && !isOver) found.isCopying = true;
    const key = Buffer.alloc(GROUP_KEY_BYTES);
    key.writeUInt32BE(u32(at), 0);
    key.writeUInt32BE(u32(at + 4), 4);
    undecided.set(key.toString('latin1'), u32(at + (isOver ? 20 : 16)));
  }
  const data = bytes.subarray(front, front + capacity);
  const begin = from % capacity;
  const end = begin + to - from;
  const waiting =
    end <= capacity
      ? data.subarray(begin, end)
      : Buffer.concat([data.subarray(begin), data.subarray(0, end - capacity)]);
  // A head is never read beyond the end.
  for (let at = 0; at + groupAt + GROUP_KEY_BYTES <= to - from;) {
    const size = recordBytes(waiting, at);
    if (size === undefined || size < groupAt + GROUP_KEY_BYTES || at + size > to - from) break;
    const record = waiting.subarray(at, at + size);
    found.last = record;
    const key = record.toString('latin1', groupAt, groupAt + GROUP_KEY_BYTES);
    const since = undecided.get(key);
    if (since !== undefined && ((from + at - since) | 0) >= 0) found.records.push(record);
    at += size;
  }
  return found;
}
