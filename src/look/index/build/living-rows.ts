import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { unixNow } from '../../../core/clock.js';
import { TracewrightError } from '../../../core/errors.js';
import { openRegularFile } from '../../../core/files/regular-file.js';
import type { LivingRing } from '../../../core/living/living-ring.js';
import { RingsOfFile } from '../../../core/living/rings-of-file.js';
import { fileOfRing } from '../../../heph/file-names.js';
import { nameAt, START_OFFSET } from '../../../heph/layout.js';
import { isEvent } from '../../../heph/read/event-bytes.js';
import { LivingFile } from '../../../heph/read/living-file.js';
import { PacketCursor } from '../../../heph/read/packet-cursor.js';
import { HephScan } from '../../../spans/read/scan/heph-scan.js';
import { TraceClock } from '../../../spans/read/trace-clock.js';
import type { ClockState } from '../../../spans/read/trace-clock.js';
import type { Source } from '../look-index.js';
import { buildPart } from '../parts/build-part.js';
import type { BuiltPart } from '../parts/part-columns.js';

const NOTHING = Buffer.alloc(0);

/**
 * Reads what threads of living processes have begun and not ended: records of a file, in the bytes that would complete
 * them now. To be read after the rings, so that none of them has ended there.
 */
function openRecordsOf(path: string, ringDirs: readonly string[]): Buffer[] {
  const { fd } = openRegularFile(path, 'followed');
  const isFormat = (format: string): boolean => format === 'heph';
  const rings = new RingsOfFile(path, fd, { fileOfRing, isFormat, ringDirs });
  try {
    return rings.find().flatMap((ring) => (ring.isRunning ? openIn(ring) : []));
  } finally {
    rings.close();
    closeSync(fd);
  }
}

/** A record that changes while it is read is left out: two readings must agree. */
function openIn(ring: LivingRing): Buffer[] {
  try {
    const read = (): Buffer[] => {
      const page = ring.sample();
      return ring.content.openRecords(page)?.close(page.head, NOTHING, false, isEvent) ?? [];
    };
    const first = new Set(read().map(keyOf));
    return read().filter((record) => first.has(keyOf(record)));
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    return [];
  }
}

/** Without its end and its number, which each reading sets. */
function keyOf(record: Buffer): string {
  return (
    record.toString('latin1', nameAt(0)) + record.toString('latin1', START_OFFSET, START_OFFSET + 8)
  );
}

/** Rows of a file's rings that are not final in the file. They are read anew each time. */
export interface LivingRows {
  part: BuiltPart | undefined;
  /** Records that lie in no file, by the offset at which a recovery would put them. */
  records: Map<number, Buffer>;
  state: Source['state'];
  /** Ns since 1970: all that was recorded until then is there. */
  readAt: bigint;
  /** Another one for other open spans. */
  open: string;
  /** Up to where what was read is final. */
  settled: number;
  /** Whether something is wrong with what comes after the final part, or with a ring. */
  isFaulty: boolean;
  /** Faults of the rings. */
  faults: readonly TracewrightError[];
}

/** Up to where a file is final; undefined where rings cannot be read. */
export function finalEndOf(path: string, ringDirs: readonly string[]): number | undefined {
  let living: LivingFile | undefined;
  try {
    living = new LivingFile(path, { ringDirs });
    return living.finalEnd;
  } catch (error) {
    rethrowUnlessExpected(error);
    return undefined;
  } finally {
    living?.close();
  }
}

/** Reads what comes after the final part of a file, in the file and in its rings. */
export function readLivingRows(
  path: string,
  since: number,
  clock: ClockState,
  ringDirs: readonly string[],
): LivingRows {
  // Before the rings are copied.
  const readAt = unixNow();
  const scan = new HephScan(new TraceClock(clock), since);
  const records = new Map<number, Buffer>();
  let last = since;
  let isFaulty = false;
  const open = createHash('sha1');
  const faults: TracewrightError[] = [];
  let cursor: PacketCursor | undefined;
  try {
    cursor = new PacketCursor(path, { living: { ringDirs }, since });
    while (cursor.next()) {
      const { bytes, view, position, size, offset } = cursor;
      // Offsets of records are u32.
      if (offset + size - since > 0xffff_ffff) break;
      scan.take(bytes, view, position, position + size, offset);
      if (!cursor.inFile)
        records.set(offset, Buffer.from(bytes.subarray(position, position + size)));
      last = Math.max(last, offset + size);
    }
  } catch (error) {
    rethrowUnlessExpected(error);
    isFaulty = true;
    // The reader of the file reports its own faults.
    if (cursor?.inFile === false) faults.push(error as TracewrightError);
  } finally {
    faults.push(...(cursor?.faults ?? []));
    cursor?.close();
  }
  if (cursor?.state === 'growing' && !isFaulty) {
    for (const bytes of openRecordsOf(path, ringDirs)) {
      if (last + bytes.length - since > 0xffff_ffff) break;
      scan.takeOpen(bytes, last);
      records.set(last, bytes);
      open.update(bytes);
      last += bytes.length;
    }
  }
  const isEmpty = scan.rows.count === 0 && scan.notes.length === 0;
  const part = isEmpty ? undefined : buildPart(scan, since, last);
  const { state = 'ended', settled = since } = cursor ?? {};
  return { part, records, state, readAt, open: open.digest('hex'), settled, isFaulty, faults };
}

/** A fault of a ring, or of the end of a file, leaves the rest as it is. */
function rethrowUnlessExpected(error: unknown): void {
  if (!(error instanceof TracewrightError)) throw error;
}
