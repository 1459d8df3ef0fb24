import type { RingWriter } from '../core/recovery/lost-ring.js';

/**
 * The key of an unfinished stream's owner: in `ovni.lib` of version 3's `stream.json`, in
 * `tracewright.threads.<tid>.ovni` of version 1's `metadata.json`.
 */
export const WRITER = 'writer';

/** The process that writes a stream, and where its ring lies. */
export type StreamOwner = RingWriter;
