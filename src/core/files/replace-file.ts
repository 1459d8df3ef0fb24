import { core } from '../addon.js';

/**
 * Writes a file so that readers see either the old or the new content.
 *
 * @param mode of the file; undefined: mode and owner of the file that is replaced.
 */
export function replaceFile(path: string, content: string, mode?: number): void {
  core.replaceFile(path, content, mode);
}
