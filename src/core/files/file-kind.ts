import { lstatSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { anchoredPath } from './anchor.js';
import { hasCode } from './system-error.js';

/** The status of a path itself: of a link the link. Undefined where there is nothing. */
export function kindOf(path: string): Stats | undefined {
  try {
    // An error costs more than the rest of the call, and most often there is nothing.
    return lstatSync(anchoredPath(path), { throwIfNoEntry: false });
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Whether a directory is there, and not a link to one, which an attacker may have put there. */
export function isDirectory(path: string): boolean {
  return kindOf(path)?.isDirectory() === true;
}

/** Whether a regular file is there, and not a link to one, which an attacker may have put there. */
export function isRegularFile(path: string): boolean {
  return kindOf(path)?.isFile() === true;
}

/** Bytes of the file at a path; 0: there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
