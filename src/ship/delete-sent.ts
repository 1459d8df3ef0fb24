import { lstatSync } from 'node:fs';
import { LivingFile } from '../heph/read/living-file.js';
import type { Checkpoint } from './checkpoint.js';
import type { Shipper } from './shipper.js';

/** A file that was written so recently may go on, in milliseconds. */
const REST_MS = 60_000;

/** Deletes files that are complete, that no ring names, and that every target has. The checkpoint says so first. */
export function deleteSent(
  shippers: readonly Shipper[],
  checkpoint: Checkpoint,
  ringDirs: readonly string[],
  say: (text: string) => void,
): void {
  checkpoint.save();
  const [first] = shippers;
  for (const { path } of [...(first?.files ?? [])]) {
    try {
      const { size, mtimeMs } = lstatSync(path);
      if (Date.now() - mtimeMs < REST_MS) continue;
      const isSent = shippers.every(({ target }) => {
        const position = checkpoint.positionsOf(target.label).get(path);
        // What could not be read is nowhere else.
        return position?.completeAt === size && position.isFaulty !== true;
      });
      if (!isSent || isNamedByRing(path, ringDirs)) continue;
      for (const shipper of shippers) shipper.delete(path);
      say(`${path} is deleted: it has arrived`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') say(message);
    }
  }
}

function isNamedByRing(path: string, ringDirs: readonly string[]): boolean {
  const file = new LivingFile(path, { ringDirs, links: 'refused' });
  try {
    return file.hasRings;
  } finally {
    file.close();
  }
}
