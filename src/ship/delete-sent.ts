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
  say: (text: string) => void,
): void {
  checkpoint.save();
  const [first] = shippers;
  for (const { path } of [...(first?.files ?? [])]) {
    try {
      const { size, mtimeMs } = lstatSync(path);
      if (Date.now() - mtimeMs < REST_MS) continue;
      const isSent = shippers.every(({ target }) => {
        return checkpoint.positionsOf(target.label).get(path)?.completeAt === size;
      });
      if (!isSent || isNamedByRing(path)) continue;
      for (const shipper of shippers) shipper.delete(path);
      say(`${path} is deleted: it has arrived`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') say(message);
    }
  }
}

function isNamedByRing(path: string): boolean {
  const file = new LivingFile(path, { links: 'refused' });
  try {
    return file.hasRings;
  } finally {
    file.close();
  }
}
