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

/**
 * Ensures that the ring of a stream is lost, so that the stream may be completed without it.
 *
 * @param isNextToStream whether the ring lay in the directory of its stream.
 * @throws TracewrightError `ERR_ORDER` when the ring exists, or may lie elsewhere: it was in a
 *   `ringDir` that no longer exists or is relative to an unknown directory, and the machine has not
 *   been restarted since.
 */
export function checkRingIsLost(stream: string, writer: RingWriter, isNextToStream: boolean): void {
  const { ring, boot } = writer;
  if (ringIsThere(writer, stream)) {
    throw new TracewrightError(
      'ERR_ORDER',
      `${stream}: its ring ${ring} was not recovered; pass its directory as ringDir`,
      { field: 'ringDir', value: ring },
    );
  }
  if (isNextToStream || boot !== ownIdentity().boot) return;
  if (isAbsolute(ring) && existsSync(dirname(ring))) return;
  throw new TracewrightError(
    'ERR_ORDER',
    `${stream}: the directory of its ring ${ring} does not exist; pass the directory to which it ` +
      'was moved as ringDir, or create it again if the ring is lost',
    { field: 'ringDir', value: ring },
  );
}
