import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOfPieces } from '../../../heph/pieces.js';
import type { Steps } from '../../index/turns.js';
import { sizeOf } from '../../../core/files/file-kind.js';
import type { RecordedTimes } from './recorded-times.js';
import type { DiskCost } from '../shape/report-shape.js';
import type { RowSelection } from '../measures/selection.js';

const DAY = 86_400e9;
/** A shorter recording says nothing of a day. */
const LEAST_TIME = 10e9;

/**
 * Adds up the bytes of the traces on disk.
 *
 * @param requests how many the selection has.
 */
export function* diskCost(
  selection: RowSelection,
  times: RecordedTimes,
  requests: number,
): Steps<DiskCost> {
  const { index } = selection;
  let bytes = 0;
  for (const { path } of index.sources) {
    yield;
    bytes += bytesAt(path);
  }
  return {
    bytes,
    perRequest: selection.isWhole && requests > 0 ? bytes / requests : null,
    perDay: times.ofAll < LEAST_TIME ? null : (bytes / times.ofAll) * DAY,
  };
}

/** Of a file, of what a directory has below it, or of the pieces of a trace. */
function bytesAt(path: string): number {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return bytesOfPieces(path);
    if (!status.isDirectory()) return status.size;
    const files = readdirSync(path, { recursive: true, withFileTypes: true });
    return files
      .filter((file) => file.isFile() && !file.name.endsWith('.ring'))
      .reduce((sum, { parentPath, name }) => sum + sizeOf(join(parentPath, name)), 0);
  } catch {
    // It was deleted meanwhile, or nobody may read it.
    return 0;
  }
}
