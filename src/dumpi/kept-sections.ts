import { TraceFormatError } from '../core/errors.js';
import {
  isCount,
  isText,
  listOf,
  objectOf,
  optional,
  readBoundedJson,
} from '../core/files/untrusted-json.js';
import type { Check } from '../core/files/untrusted-json.js';
import type { FileIdentity } from '../core/files/file-identity.js';
import { wrapSystemError } from '../core/files/system-error.js';
import { wellFormedJson } from '../core/json.js';
import { replaceFile } from '../core/native-calls.js';
import { PRIVATE_FILE } from '../core/options/file-mode.js';
import type { RingWriter } from '../core/recovery/lost-ring.js';
import type { Version } from './sections.js';

/** Sections that a rank keeps in a file next to its ring, until they are written at the end of its trace. */
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

const areIntegers = listOf((value) => Number.isInteger(value) && ((value as number) | 0) === value);
const areTexts = listOf(isText);

/** The check of each field of the file. */
const FIELDS: Readonly<Record<keyof KeptSections, Check>> = {
  writer: objectOf<RankWriter>({
    pid: Number.isSafeInteger,
    start: isText,
    boot: isText,
    ring: isText,
    file: isText,
    inode: isText,
    born: isText,
    pidNamespace: optional(isText),
  }),
  version: (value) => areIntegers(value) && (value as number[]).length === 3,
  startTime: isCount,
  hostname: isText,
  username: isText,
  meshCoordinates: areIntegers,
  meshSizes: areIntegers,
  counterLabels: areTexts,
  datatypeSizes: areIntegers,
  keyvals: listOf(listOf(isText, 2)),
};

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
  for (const [field, holds] of Object.entries(FIELDS)) {
    if (!holds((parsed as Record<string, unknown>)[field])) {
      throw new TraceFormatError(path, 0, `${field} is not as written`, { field });
    }
  }
  return parsed as KeptSections;
}
