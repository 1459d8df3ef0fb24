import { isRequest } from '../../index/index-row.js';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOfPieces } from '../../../heph/pieces.js';
import type { Steps } from '../../index/turns.js';
import { sizeOf } from '../../../core/files/file-kind.js';
import type { RecordedTimes } from './recorded-times.js';
import type { DiskCost } from '../shape/report-shape.js';
import { IN_WINDOW } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';

const DAY = 86_400e9;
/** A shorter recording says nothing of a day. */
const LEAST_TIME = 10e9;

/** Adds up the bytes of the traces on disk. */
export function* diskCost(selection: RowSelection, times: RecordedTimes): Steps<DiskCost> {
  const { index } = selection;
  let bytes = 0;
  for (const { path } of index.sources) {
    yield;
    bytes += bytesAt(path);
  }
  const requests = yield* requestsOf(selection);
  return {
    bytes,
    perRequest: requests === 0 ? null : bytes / requests,
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

/** How many requests the whole recording has; 0: only a part of it is looked at. */
function* requestsOf(selection: RowSelection): Steps<number> {
  const { index } = selection;
  let requests = 0;
  for (const part of index.parts) {
    yield;
    const marks = selection.marksOf(part);
    if (marks.length !== part.count) return 0;
    const { flags } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & IN_WINDOW) === 0) return 0;
      if (isRequest(flags[at]!)) requests++;
    }
  }
  return requests;
}
