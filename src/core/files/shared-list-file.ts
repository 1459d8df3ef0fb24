import { core } from '../addon.js';

/**
 * A text file with one list, whose entries several threads of the process contribute. One native call
 * stores the entry and replaces the file: a worker can be terminated between two calls.
 */

/**
 * Stores the entry `key` and writes `before`, all entries in the order of their keys, separated by
 * commas, and `after`, into a file of the mode. An empty entry changes only what surrounds the list.
 */
export function putListEntry(
  path: string,
  key: string,
  entry: string,
  before: string,
  after: string,
  mode: number,
): void {
  core.putListEntry(path, key, entry, before, after, mode);
}

/** Forgets the entries; the file stays. */
export function forgetListEntries(path: string): void {
  core.forgetListEntries(path);
}
