import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './system-error.js';

/**
 * Makes a directory and those above it. Node's own way (`recursive`) goes on for ever where a directory
 * that is there answers ENOENT, as those of /proc do.
 */
export function makeDirectories(path: string): void {
  try {
    makeDirectory(path);
  } catch (error) {
    const parent = dirname(path);
    if (!hasCode(error, 'ENOENT') || existsSync(parent)) throw error;
    makeDirectories(parent);
    makeDirectory(path);
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
