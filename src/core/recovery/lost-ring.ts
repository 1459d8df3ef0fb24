import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { TracewrightError } from '../errors.js';
import { kindOf } from '../files/file-kind.js';
import { isAlive, ownIdentity } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';
import { doubtAbout } from './ring-trust.js';

/** The process that writes a stream, and where its ring lies. */
export interface RingWriter extends ProcessIdentity {
  ring: string;
}

/** Whether the ring of a stream is there: then it has what the stream lacks. */
export function ringIsThere({ ring }: Pick<RingWriter, 'ring'>, stream: string): boolean {
  const status = kindOf(ring);
  return (
    status !== undefined &&
    doubtAbout(ring, status, { path: stream, status: kindOf(stream) }) === undefined
  );
}

/** @throws TracewrightError `ERR_ORDER` when the process that writes a stream is alive. */
export function refuseLiveWriter(stream: string, writer: RingWriter): void {
  if (!isAlive(writer)) return;
  throw new TracewrightError(
    'ERR_ORDER',
    `${stream}: process ${writer.pid} is alive and writes this stream; end it first`,
    { field: 'pid', value: writer.pid, limit: 'a process that has ended' },
  );
}

/** Where a stream and its ring lie. */
interface Whereabouts {
  /** Whether the ring lay in the directory of its stream. */
  isNextToStream: boolean;
  /** Whether the stream is known to lie where its process wrote it: then its ring was not moved with it. */
  isUnmoved?: boolean;
}

/**
 * Ensures that the ring of a stream is lost, so that the stream may be completed without it. The caller
 * also asks {@link refuseLiveWriter}.
 *
 * @throws TracewrightError `ERR_ORDER` when the ring exists, or may exist: its directory is not here,
 *   the machine has not been restarted since, and the ring may have been moved with its stream or lie
 *   in another container.
 */
export function checkRingIsLost(
  stream: string,
  writer: RingWriter,
  { isNextToStream, isUnmoved = false }: Whereabouts,
): void {
  const { ring, boot, pidNamespace } = writer;
  if (ringIsThere(writer, stream)) {
    throw new TracewrightError(
      'ERR_ORDER',
      `${stream}: its ring ${ring} was not recovered; pass its directory as ringDir`,
      { field: 'ringDir', value: ring },
    );
  }
  const here = ownIdentity();
  if (isNextToStream || boot !== here.boot) return;
  if (isAbsolute(ring)) {
    if (existsSync(dirname(ring))) return;
    // In its own namespace a pid says whether the process is alive.
    const isOfHere = pidNamespace !== undefined && pidNamespace === here.pidNamespace;
    if (isUnmoved && isOfHere) return;
  }
  throw new TracewrightError(
    'ERR_ORDER',
    `${stream}: the directory of its ring ${ring} does not exist here; pass the directory to which ` +
      'it was moved as ringDir, or create it if the process has ended and the ring is lost',
    { field: 'ringDir', value: ring },
  );
}
