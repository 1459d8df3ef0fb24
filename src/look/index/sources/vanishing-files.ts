import { hasCode } from '../../../core/files/system-error.js';

const MOST_ATTEMPTS = 8;

/** Reads traces again if a file is gone that was just found: a trace that rotates deletes its oldest piece. */
export async function whileFilesVanish<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !hasCode(error, 'ENOENT')) throw error;
    }
  }
}
