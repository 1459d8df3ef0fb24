import { core } from './addon.js';

/**
 * Texts by name and words that the threads of the process share. Worker threads share no JavaScript, so the
 * native core keeps them.
 */

export const {
  /** The text of a note; empty when there is none. */
  getNote,
  /** Replaces a note, and ends its claim; an empty text removes it. */
  putNote,
  /**
   * Whether this thread is to write a note that does not exist yet. No other thread gets the claim until
   * this one puts the note or ends.
   */
  claimNote,
} = core;

let words: ArrayBuffer | undefined;

/** Zeros at first; at most 260 KiB of it. It has one user. */
export function processWords(bytes: number): ArrayBuffer {
  words ??= core.processWords(bytes);
  return words;
}
