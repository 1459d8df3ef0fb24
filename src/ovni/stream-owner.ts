import { kindOf } from '../core/files/file-kind.js';
import type { ProcessIdentity } from '../core/recovery/process-identity.js';
import { doubtAbout } from '../core/recovery/ring-trust.js';

/**
 * The key of an unfinished stream's owner: in `ovni.lib` of version 3's `stream.json`, in
 * `tracewright.threads.<tid>.ovni` of version 1's `metadata.json`.
 */
export const WRITER = 'writer';

/** The process that writes a stream, and where its ring lies. */
export interface StreamOwner extends ProcessIdentity {
  ring: string;
}

/** Whether the ring that an owner names is still there: then it has what the stream lacks. */
export function ringIsThere({ ring }: StreamOwner, stream: string): boolean {
  const status = kindOf(ring);
  return (
    status !== undefined &&
    doubtAbout(ring, status, { path: stream, status: kindOf(stream) }) === undefined
  );
}
