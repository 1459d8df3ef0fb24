import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './system-error.js';

/** Other processes can make and delete a parent between two of our calls. */
const ATTEMPTS = 10;

/**
 * Makes a directory and the missing ones above it. Node's `recursive` never returns below a directory
 * that exists and still answers ENOENT, as in /proc.
 *
 * @throws the error of node:fs.
 */
export function makeDirectories(path: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      makeDirectory(path);
      return;
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempt === ATTEMPTS) throw error;
    }
    const parent = dirname(path);
    if (!existsSync(parent)) makeDirectories(parent);
  }
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const isThere = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!hasCode(error, 'EEXIST') || !isThere) throw error;
  }
}
