import type { Endian } from '../../laplace/layout.js';
import type { RingReading } from '../ring-options.js';
import type { Selection } from '../../export/selection.js';

/** How OTLP is written. */
export type OtlpEncoding = 'json' | 'protobuf';

/** A conversion as the command line asks for it. */
export interface ConversionRequest {
  path: string;
  out: string | undefined;
  force: boolean;
  /** Byte order of a binary Laplace trace. */
  endian: Endian;
  /** What is converted, for conversions that can select. */
  selection: Selection;
  /** What is read of rings. */
  rings: RingReading;
  /** Of OTLP; undefined: as OUT's extension says. */
  encoding: OtlpEncoding | undefined;
}
