import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { wrongType } from '../core/errors.js';
import { wrapSystemError } from '../core/files/system-error.js';

/**
 * The numbered pieces of a trace that rotates: `trace.heph` is written as `trace.000001.heph`,
 * `trace.000002.heph` … The names are made by native/sink/piece_series.cc.
 */

const NUMBER = /^\d{6,}$/;

/** The number of a piece of the trace that was opened at `path`; undefined of any other file name. */
function pieceNumber(name: string, path: string): number | undefined {
  const extension = extname(path);
  const start = `${basename(path, extension)}.`;
  if (!name.startsWith(start) || !name.endsWith(extension)) return undefined;
  const digits = name.slice(start.length, name.length - extension.length);
  return NUMBER.test(digits) ? Number(digits) : undefined;
}

/** Those of the files that are pieces of the trace opened at `path`, from the oldest to the newest. */
export function piecesAmong(files: readonly string[], path: string): string[] {
  return files
    .map((file) => ({ number: pieceNumber(basename(file), path), file }))
    .filter((piece): piece is { number: number; file: string } => piece.number !== undefined)
    .sort((a, b) => a.number - b.number)
    .map(({ file }) => file);
}

/**
 * The pieces of a trace that are there, from the oldest to the newest.
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

/** Bytes that the pieces of a trace take. */
export function bytesOfPieces(path: string): number {
  return piecesOf(path).reduce(
    (bytes, piece) => bytes + (statSync(piece, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Whether a file is a numbered piece that others may have come before. */
export function isPiece(path: string): boolean {
  const number = extname(basename(path, extname(path))).slice(1);
  return NUMBER.test(number) && Number(number) > 1;
}
