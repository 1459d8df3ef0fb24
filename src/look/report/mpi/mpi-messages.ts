import { TracewrightError } from '../../../core/errors.js';
import { nanosecondsOf } from '../../../dumpi/read/dump.js';
import { MessageMatch } from '../../../dumpi/read/message-match.js';
import { ReadDatatypeSizes } from '../../../dumpi/read/read-datatype-sizes.js';
import { CallCursor } from '../../../dumpi/read/reader.js';
import type { CallRecord } from '../../../dumpi/read/call-record.js';
import { readSections } from '../../../dumpi/read/section-reader.js';
import type { MpiTraffic } from '../shape/report-shape.js';

/** A rank's file. */
export interface RankFile {
  path: string;
  rank: number;
}

/** Bytes by the name of the call, and messages by pairs of ranks. */
interface RunMessages {
  /** NaN: a datatype is unknown. Calls without a count of elements are absent. */
  bytes: Map<string, number>;
  traffic: MpiTraffic[];
}

/** Nanoseconds since 1970 that calls must overlap. */
export interface CallWindow {
  from: bigint;
  to: bigint;
}

type Fields = Readonly<Record<string, unknown>>;

function elements(count: unknown): number | undefined {
  if (typeof count === 'number') return Math.max(0, count);
  if (!Array.isArray(count)) return undefined;
  return (count as unknown[]).reduce<number>(
    (sum, each) => sum + (typeof each === 'number' ? Math.max(0, each) : 0),
    0,
  );
}

function bytesOf(counts: unknown, types: unknown, sizes: ReadDatatypeSizes): number | undefined {
  if (Array.isArray(counts) && Array.isArray(types)) {
    return (counts as unknown[]).reduce<number>(
      (sum, count, at) => sum + (bytesOf(count, types[at], sizes) ?? 0),
      0,
    );
  }
  const count = elements(counts);
  if (count === undefined || typeof types !== 'number') return undefined;
  return count === 0 ? 0 : count * sizes.of(types);
}

/** Bytes that a call says to send, or to receive if it sends nothing. */
function callBytes(fields: Fields, sizes: ReadDatatypeSizes): number | undefined {
  const { count, datatype, sendcount, sendcounts, sendtype, sendtypes } = fields as Record<
    string,
    unknown
  >;
  return (
    bytesOf(count, datatype, sizes) ??
    bytesOf(sendcounts, sendtypes ?? sendtype, sizes) ??
    bytesOf(sendcount, sendtype, sizes) ??
    bytesOf(fields['recvcount'] ?? fields['recvcounts'], fields['recvtype'] ?? datatype, sizes)
  );
}

function isWithin({ wall, cpu }: CallRecord, { from, to }: CallWindow): boolean {
  const times = wall ?? cpu;
  if (times === undefined) return true;
  return nanosecondsOf(times.start) < to && nanosecondsOf(times.stop) >= from;
}

/**
 * Reads the calls of a run's ranks for what the index does not have. A rank that cannot be read to its end
 * counts up to there.
 *
 * @param wanted whether to count the calls of this name.
 */
export function messagesOfRun(
  files: readonly RankFile[],
  window: CallWindow | undefined,
  wanted: (name: string) => boolean,
): RunMessages {
  const size = files.reduce((most, { rank }) => Math.max(most, rank + 1), 0);
  const match = new MessageMatch(size);
  const bytes = new Map<string, number>();
  for (const { path, rank } of files) {
    try {
      const sections = readSections(path);
      const sizes = new ReadDatatypeSizes(sections);
      const cursor = CallCursor.ofTrace(sections);
      match.begin(rank, sections);
      try {
        for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
          const counted = wanted(call.name) && (window === undefined || isWithin(call, window));
          match.call(call, counted);
          sizes.call(call);
          const amount = counted ? callBytes(call.fields, sizes) : undefined;
          if (amount !== undefined) bytes.set(call.name, (bytes.get(call.name) ?? 0) + amount);
        }
      } finally {
        cursor.close();
      }
      match.end();
    } catch (error) {
      // The index reports the fault among what was lost.
      if (!(error instanceof TracewrightError)) throw error;
    }
  }
  const traffic = [...match.traffic()].map((pair) => ({
    ...pair,
    bytes: Number.isNaN(pair.bytes) ? null : pair.bytes,
  }));
  traffic.sort((a, b) => a.from - b.from || a.to - b.to);
  return { bytes, traffic };
}
