import { hexWords } from '../../core/words-text.js';
import type { RowRecord } from '../../rows/row-batch.js';
import { KIND_MASK, STATUS_MASK, STATUS_SHIFT, UNFINISHED_BIT } from '../../rows/row-flags.js';
import { KINDS, STATUSES } from '../layout.js';
import type { SpanRecord } from '../span-record.js';

/** The fields of a span that are in columns. */
interface RowSpan {
  /** Four words. */
  traceId: Uint32Array;
  /** Two words, as `parentId`. Zeros: none. */
  spanId: Uint32Array;
  parentId: Uint32Array;
  name: string;
  flags: number;
  /** Nanoseconds since 1970. */
  start: bigint;
  end: bigint;
  thread: number;
}

/** A span of which the record says all, as Heph's do, or its attributes alone. */
export function spanOfRow(record: RowRecord, row: () => RowSpan): SpanRecord {
  if ('traceId' in record) return record as SpanRecord;
  const { traceId, spanId, parentId, name, flags, start, end, thread } = row();
  const isRoot = parentId.every((word) => word === 0);
  return {
    traceId: hexWords(traceId),
    spanId: hexWords(spanId),
    ...(isRoot ? {} : { parentSpanId: hexWords(parentId) }),
    parentIsRemote: false,
    name,
    kind: KINDS[flags & KIND_MASK] ?? 'internal',
    start,
    end,
    attributes: record.attributes as SpanRecord['attributes'],
    events: [],
    links: [],
    status: { code: STATUSES[(flags >> STATUS_SHIFT) & STATUS_MASK] ?? 'unset', message: '' },
    flags: 1,
    traceState: '',
    dropped: { attributes: 0, events: 0, links: 0 },
    thread,
    unfinished: (flags & UNFINISHED_BIT) !== 0,
  };
}
