import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PRIVATE_DIRECTORY } from '../options/file-mode.js';
import { core } from '../addon.js';
import { anchoredPath } from './anchor.js';
import { hasCode } from './system-error.js';

/** Other processes can make and delete a parent between two of our calls. */
const ATTEMPTS = 10;

/** Tries again what fails because another process has deleted a directory meanwhile. */
export function whileDeleted<T>(call: () => T): T {
  for (let attempt = 1; ; attempt++) {
    try {
      return call();
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * Makes a directory and the missing ones above it, by default for the user of the process only.
 * Node's `recursive` never returns below a directory that exists and still answers ENOENT, as in /proc.
 *
 * @param mode of those that are made; what is there keeps its own.
 * @throws the error of node:fs.
 */
export function makeDirectories(path: string, mode = PRIVATE_DIRECTORY): void {
  // Each call of node:fs takes a start longer, and an error many times as long. Here come only links and what fails.
  if (core.makeDirectories(path, mode) || isThere(path)) return;
  for (let attempt = 1; ; attempt++) {
    try {
      makeDirectory(path, mode);
      return;
    } catch (error) {
      // What was in the way may have been deleted since, and even made again as a directory.
      const mayWork = hasCode(error, 'EEXIST') ? isFree(path) : hasCode(error, 'ENOENT');
      if (!mayWork || attempt === ATTEMPTS) throw error;
    }
    const parent = dirname(path);
    if (!existsSync(anchoredPath(parent))) makeDirectories(parent, mode);
  }
}

function isThere(path: string): boolean {
  return statSync(anchoredPath(path), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether nothing, or a directory, lies at a path. */
function isFree(path: string): boolean {
  return statSync(anchoredPath(path), { throwIfNoEntry: false })?.isDirectory() !== false;
}

function makeDirectory(path: string, mode: number): void {
  try {
    mkdirSync(anchoredPath(path), { mode });
  } catch (error) {
    if (!hasCode(error, 'EEXIST') || !isThere(path)) throw error;
  }
}
