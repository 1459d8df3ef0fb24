import type { Endian } from '../../laplace/layout.js';

/** A conversion as the command line asks for it. */
export interface ConversionRequest {
  path: string;
  out: string | undefined;
  force: boolean;
  /** Byte order of a binary Laplace trace. */
  endian: Endian;
}
