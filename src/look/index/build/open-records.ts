import { closeSync } from 'node:fs';
import { TracewrightError } from '../../../core/errors.js';
import { openRegularFile } from '../../../core/files/regular-file.js';
import type { LivingRing } from '../../../core/living/living-ring.js';
import { RingsOfFile } from '../../../core/living/rings-of-file.js';
import { fileOfRing } from '../../../heph/file-names.js';
import { DESCRIPTION_OFFSET, START_OFFSET } from '../../../heph/layout.js';
import { isEvent } from '../../../heph/read/event-size.js';

const NOTHING = Buffer.alloc(0);

/**
 * What the threads of living processes have begun and not ended: records of a file, in the bytes that would complete
 * them now. To be read after the rings, so that none of them has ended there.
 */
export function openRecordsOf(path: string, ringDirs: readonly string[]): Buffer[] {
  const { fd } = openRegularFile(path, 'followed');
  const isFormat = (format: string): boolean => format === 'heph';
  const rings = new RingsOfFile(path, fd, { fileOfRing, isFormat, ringDirs });
  try {
    return rings.find().flatMap((ring) => (ring.isRunning ? openIn(ring) : []));
  } finally {
    rings.close();
    closeSync(fd);
  }
}

/** A record that changes while it is read is left out: two readings must agree. */
function openIn(ring: LivingRing): Buffer[] {
  try {
    const read = (): Buffer[] => {
      const page = ring.sample();
      return ring.content.openRecords(page)?.close(page.head, NOTHING, false, isEvent) ?? [];
    };
    const first = new Set(read().map(keyOf));
    return read().filter((record) => first.has(keyOf(record)));
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    return [];
  }
}

/** Without its end and its number, which each reading sets. */
function keyOf(record: Buffer): string {
  return (
    record.toString('latin1', DESCRIPTION_OFFSET) +
    record.toString('latin1', START_OFFSET, START_OFFSET + 8)
  );
}
