// Every reader that is fuzzed: a file for each format, listed here.

import { directoryReaders } from './directory-fuzz.mjs';
import { dumpiReaders } from './dumpi-fuzz.mjs';
import { hephReaders } from './heph-fuzz.mjs';
import { indexReaders } from './index-fuzz.mjs';
import { laplaceReaders } from './laplace-fuzz.mjs';
import { ovniReaders } from './ovni-fuzz.mjs';
import { shipReaders } from './ship-fuzz.mjs';

/**
 * @typedef {object} FuzzedReader
 * @property {string} name
 * @property {(directory: string) => Buffer[] | Promise<Buffer[]>} seeds good inputs.
 * @property {typeof import('./mutate.mjs').mutate} [mutate] breaks them in a way of its own.
 * @property {number} [slowMs] longer than this, an input takes too long. Default 1000.
 * @property {number} [share] of the inputs that others get, for one that takes long. Default 1.
 * @property {number} headerBytes a fault behind these is past the header.
 * @property {(directory: string) => string} open where the input goes.
 * @property {(path: string, bytes: Buffer) => number | Promise<number>} read the records that it
 *   found; throws at a fault.
 */

/** @type {FuzzedReader[]} */
export const readers = [
  ...ovniReaders,
  ...hephReaders,
  ...dumpiReaders,
  ...laplaceReaders,
  ...indexReaders,
  ...directoryReaders,
  ...shipReaders,
];
