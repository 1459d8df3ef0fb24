import type { RingWriter } from '../core/recovery/lost-ring.js';
import { version } from '../core/version.js';

/** The models by name: the first letter of their MCVs, and the version of the catalog. */
export const models = {
  ovni: { id: 'O', version: '1.1.0' },
  kernel: { id: 'K', version: '1.0.0' },
  mpi: { id: 'M', version: '1.0.0' },
  nanos6: { id: '6', version: '1.1.0' },
  nodes: { id: 'D', version: '1.0.0' },
  nosv: { id: 'V', version: '2.7.0' },
  openmp: { id: 'P', version: '1.2.1' },
  tampi: { id: 'T', version: '1.0.0' },
} as const;

export type Models = typeof models;
export type ModelName = keyof Models;

/** `ovni.lib` in the metadata: the library that wrote the stream. The emulator requires both keys. */
export const library = { version, commit: 'tracewright' } as const;

/**
 * The key of an unfinished stream's owner: in `ovni.lib` of version 3's `stream.json`, in
 * `tracewright.threads.<tid>.ovni` of version 1's `metadata.json`.
 */
export const WRITER = 'writer';

/** The process that writes a stream, and where its ring lies. */
export type StreamOwner = RingWriter;
