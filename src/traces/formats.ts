import type { Endian } from '../laplace/layout.js';
import { dumpiFormat } from '../dumpi/read/format.js';
import { hephFormat } from '../spans/read/heph-format.js';
import { laplaceFormats } from '../laplace/read/formats.js';
import { ovniFormat } from '../ovni/read/format.js';
import type { TraceFormat } from '../rows/trace-format.js';

/** Names of further forms in which a format's traces can be dumped. */
export function outputForms(): string[] {
  return allFormats('little').flatMap(({ dumpFormats = {} }) => Object.keys(dumpFormats));
}

/**
 * Every format, in the order in which the traces of a directory are processed. A ring that died
 * before it was ready belongs to the first format that knows its name; Laplace's names are the most
 * general and come last.
 *
 * @param endian byte order of Laplace's binary traces.
 */
export function allFormats(endian: Endian): readonly TraceFormat[] {
  return [ovniFormat, hephFormat, dumpiFormat, ...laplaceFormats(endian)];
}
