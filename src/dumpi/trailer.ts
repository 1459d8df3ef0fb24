import { closeSync, constants, fsyncSync, ftruncateSync, openSync } from 'node:fs';
import { readSeen } from '../core/files/file-view.js';
import { openRegularFile } from '../core/files/regular-file.js';
import { writeAll } from '../core/files/write-all.js';
import { TOTAL_LABEL } from './calls.js';
import type { KeptSections } from './kept-sections.js';
import { ANNOTATION, BODY_OFFSET, TURN_ADDRESSES, TURN_TEXTS } from './layout.js';
import type { Clock } from './layout.js';
import { encodeFunctionName, encodeSections } from './section-encoder.js';

const CHUNK_BYTES = 256 * 1024;

/** All that follows the calls in a rank's file. */
export interface Trailer {
  kept: KeptSections;
  /** Calls that are stored, and calls that are not, by label. */
  stored: ArrayLike<number>;
  ignored: ArrayLike<number>;
  names: StoredNames;
  /** Clocks whose seconds begin again in the trace. */
  turned: ReadonlySet<Clock>;
}

/** The names of functions and annotations, without those of turns. */
export interface StoredNames {
  /** The file with their entries. It need not exist if there are none. */
  file: string;
  count: number;
  bytes: number;
}

function encodeTurnName(clock: Clock): Buffer {
  const name = ANNOTATION + TURN_TEXTS[clock];
  return encodeFunctionName({ address: TURN_ADDRESSES[clock], name });
}

/** Counts by label, with the total at its index. */
function withTotal(counts: readonly number[]): number[] {
  const all = [...counts];
  all[TOTAL_LABEL] = counts.slice(0, TOTAL_LABEL).reduce((sum, count) => sum + count, 0) >>> 0;
  return all;
}

/**
 * Everything that follows the calls of a rank's file.
 *
 * @param bodyEnd bytes from the start of the file to the end of the last call.
 */
export function* trailerChunks(bodyEnd: number, trailer: Trailer): Generator<Buffer, void> {
  const { startTime, keyvals, counterLabels, datatypeSizes, ...header } = trailer.kept;
  const { names, turned } = trailer;
  const ignored = Array.from(trailer.ignored);
  const { before, after } = encodeSections(
    bodyEnd,
    {
      header: {
        ...header,
        startTime: BigInt(startTime),
        meshCoordinates: [...header.meshCoordinates],
        meshSizes: [...header.meshSizes],
      },
      footer: {
        calls: withTotal(ignored.map((count, label) => count + trailer.stored[label]!)),
        ignored: withTotal(ignored),
      },
      keyvals,
      counterLabels,
      datatypeSizes,
      functionNames: { count: names.count + turned.size },
    },
    BODY_OFFSET,
  );
  yield before;
  if (names.bytes > 0) yield* chunksOf(names.file, names.bytes);
  for (const clock of turned) yield encodeTurnName(clock);
  yield after;
}

/**
 * Writes everything that follows the calls of a rank's file, and cuts off what followed them before.
 * It can be repeated, since its offset follows from the end of the body.
 *
 * @param bodyEnd bytes from the start of the file to the end of the last call.
 * @param isSynced whether it is to be on disk afterwards: then what it was made of may go.
 */
export function writeTrailer(
  file: string,
  bodyEnd: number,
  trailer: Trailer,
  isSynced = false,
): void {
  const fd = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    let at = bodyEnd;
    for (const chunk of trailerChunks(bodyEnd, trailer)) at = writeAll(fd, chunk, at);
    ftruncateSync(fd, at);
    if (isSynced) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The first bytes of a file. A chunk is valid until the next one. */
function* chunksOf(path: string, bytes: number): Generator<Buffer, void> {
  const { fd, view } = openRegularFile(path, 'refused');
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes));
    let done = 0;
    while (done < bytes) {
      const read = readSeen(fd, view, chunk, 0, Math.min(chunk.length, bytes - done), done);
      if (read === 0) throw new Error(`${path} ends at byte ${done} instead of ${bytes}`);
      yield chunk.subarray(0, read);
      done += read;
    }
  } finally {
    closeSync(fd);
  }
}
