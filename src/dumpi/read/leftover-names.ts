import { existsSync } from 'node:fs';
import { recoverOwnFile } from '../../core/recovery/recover-file.js';
import { kindOf } from '../../core/files/file-kind.js';
import { blankRing } from '../../core/recovery/ring-page.js';
import { isDoubt } from '../../core/recovery/recovery-errors.js';
import { RingFile } from '../../core/recovery/ring-file.js';
import type { UnreadyRing } from '../../core/recovery/ring-file.js';
import { TraceFormatError } from '../../core/errors.js';
import type { StoredNames } from '../trailer.js';
import { FieldCursor } from './field-cursor.js';

/** Undefined where there is none, or none that is believed. */
function namesRingAt(path: string, file: string): RingFile | UnreadyRing | undefined {
  try {
    return existsSync(path) ? RingFile.open(path, file) : undefined;
  } catch (error) {
    if (isDoubt(error)) return undefined;
    throw error;
  }
}

/** The names of a rank, and what was not used for them. */
interface RecoveredNames extends StoredNames {
  /** Whether a ring of them is there that is not believed. */
  isRingLeft: boolean;
}

/**
 * Completes the file of a rank's names from its ring, if there is one, and counts the names that are
 * whole.
 *
 * @throws TraceFormatError when the ring is damaged.
 */
export function recoverNames(ringPath: string, file: string): RecoveredNames {
  const ring = namesRingAt(ringPath, file);
  if (ring instanceof RingFile) {
    try {
      recoverOwnFile(ring, file);
    } finally {
      ring.close();
    }
  } else if (ring?.isBlank === true && (kindOf(file)?.size ?? 0) > 0) {
    throw blankRing(ringPath);
  }
  return { ...countNames(file), isRingLeft: ring === undefined && existsSync(ringPath) };
}

/** Counts the names that are whole in the file of a rank's names. */
export function countNames(file: string): StoredNames {
  if (!existsSync(file)) return { file, count: 0, bytes: 0 };
  const cursor = new FieldCursor(file, 0);
  let count = 0;
  let bytes = 0;
  try {
    while (cursor.remaining > 0) {
      cursor.beginRecord();
      cursor.u64('function address');
      cursor.string('function name');
      count += 1;
      bytes = cursor.offset;
    }
  } catch (error) {
    // Without a ring the last name may be half there.
    if (!(error instanceof TraceFormatError)) throw error;
  } finally {
    cursor.close();
  }
  return { file, count, bytes };
}
