// Every format that the torture writes: a file of its own each, listed here.

import { dumpi } from './dumpi.mjs';
import { heph } from './heph.mjs';
import { laplace } from './laplace.mjs';
import { ovni } from './ovni.mjs';

/**
 * What a round writes, one of each list: a process holds one trace of each.
 */
export const formats = [
  [ovni(1), ovni(3)],
  [heph],
  [dumpi],
  [laplace('binary'), laplace('text'), laplace('kernel')],
];

/** The formats of a round. */
export function formatsOf(round) {
  return formats.map((choices) => choices[round % choices.length]);
}
