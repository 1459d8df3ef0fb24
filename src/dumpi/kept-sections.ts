import { replaceFile } from '../core/files/replace-file.js';
import { PRIVATE_FILE } from '../core/options/file-mode.js';
import { readBoundedJson } from '../core/files/bounded-json.js';
import { TraceFormatError } from '../core/errors.js';
import type { FileIdentity } from '../core/files/file-identity.js';
import { wrapSystemError } from '../core/files/system-error.js';
import { wellFormedJson } from '../core/json.js';
import type { RingWriter } from '../core/recovery/lost-ring.js';
import type { Version } from './sections.js';

/** What a rank keeps current in a file next to its ring, because only the end of its trace says it. */
export interface KeptSections {
  version: Version;
  /** Seconds since the Unix epoch. */
  startTime: number;
  hostname: string;
  username: string;
  meshCoordinates: readonly number[];
  meshSizes: readonly number[];
  keyvals: readonly (readonly [key: string, value: string])[];
  counterLabels: readonly string[];
  datatypeSizes: readonly number[];
  /** Who writes the rank. Recovery needs it if the ring is lost. */
  writer: RankWriter;
}

/** The process that writes a rank, its ring, and the identity of the rank's file. */
export interface RankWriter extends RingWriter, FileIdentity {
  /** The rank's file, absolute. */
  file: string;
}

/**
 * Replaces the file in one step: a reader finds the old or the new state.
 *
 * @throws TracewrightError `ERR_SYSTEM` when it cannot be written; the old one stays.
 */
export function keepSections(path: string, sections: KeptSections): void {
  wrapSystemError('path', path, () => {
    replaceFile(path, wellFormedJson(sections), PRIVATE_FILE);
  });
}

function isIntegers(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((each) => Number.isInteger(each) && ((each as number) | 0) === each)
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isWriter(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, start, boot, ring, file, inode, born, pidNamespace } = value as Record<
    string,
    unknown
  >;
  const texts = [start, boot, ring, file, inode, born, pidNamespace ?? ''];
  return Number.isSafeInteger(pid) && isTexts(texts);
}

/**
 * Reads what {@link keepSections} has written; a symbolic link is not followed.
 *
 * @throws TraceFormatError when the file is something else; TracewrightError `ERR_SYSTEM` when it
 *   cannot be read.
 */
export function readKeptSections(path: string): KeptSections {
  const parsed = wrapSystemError('path', path, () => readBoundedJson(path));
  if (typeof parsed !== 'object' || parsed === null) {
    throw new TraceFormatError(path, 0, 'this is not a JSON object');
  }
  const kept = parsed as Record<string, unknown>;
  const must = (field: string, holds: boolean): void => {
    if (!holds) throw new TraceFormatError(path, 0, `${field} is not as written`, { field });
  };
  const { version, startTime, keyvals } = kept;
  must('writer', isWriter(kept['writer']));
  must('version', isIntegers(version) && version.length === 3);
  must('startTime', Number.isSafeInteger(startTime) && (startTime as number) >= 0);
  must('hostname', typeof kept['hostname'] === 'string');
  must('username', typeof kept['username'] === 'string');
  must('meshCoordinates', isIntegers(kept['meshCoordinates']));
  must('meshSizes', isIntegers(kept['meshSizes']));
  must('counterLabels', isTexts(kept['counterLabels']));
  must('datatypeSizes', isIntegers(kept['datatypeSizes']));
  must(
    'keyvals',
    Array.isArray(keyvals) && keyvals.every((pair) => isTexts(pair) && pair.length === 2),
  );
  return parsed as KeptSections;
}
