import { core } from '../addon.js';

/** Writes a file so that readers see either the old or the new content. */
export function replaceFile(path: string, content: string): void {
  core.replaceFile(path, content);
}
