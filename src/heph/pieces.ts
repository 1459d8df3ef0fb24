import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { wrongType } from '../core/errors.js';
import { wrapSystemError } from '../core/files/system-error.js';
import { sizeOf } from '../core/files/file-kind.js';
import { piecesAmong } from './file-names.js';

/**
 * The existing pieces of a trace that rotates, from the oldest to the newest.
 *
 * @param path of the trace as it was opened, without a number.
 * @throws TracewrightError `ERR_SYSTEM` when the directory cannot be read.
 */
export function piecesOf(path: string): string[] {
  if (typeof (path as unknown) !== 'string') throw wrongType('path', path, 'the path of a trace');
  const directory = dirname(path);
  const files = wrapSystemError('path', directory, () =>
    readdirSync(directory, { withFileTypes: true }),
  )
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(directory, name));
  return piecesAmong(files, path);
}

/** Bytes that the pieces of a trace take on disk. */
export function bytesOfPieces(path: string): number {
  return piecesOf(path).reduce((bytes, piece) => bytes + sizeOf(piece), 0);
}
