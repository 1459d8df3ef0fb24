import type { LibraryOptions } from '../libraries/library.js';
import { LIBRARY_NAMES } from '../libraries/watched-channels.js';
import type { LibraryName } from '../libraries/watched-channels.js';

/** Which libraries are recorded, and what of them. */
export interface LibrarySettings extends LibraryOptions {
  names: readonly LibraryName[];
}

const isName = (name: string): name is LibraryName =>
  (LIBRARY_NAMES as readonly string[]).includes(name);

/** What `TRACEWRIGHT_LIBRARIES` may be. */
export const LIBRARIES_LIMIT = `auto, off, or names of ${LIBRARY_NAMES.join(', ')} with commas between them`;

/** `auto`, `off`, or names; undefined: neither. */
export function parseLibraries(text: string): readonly LibraryName[] | undefined {
  const names = text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (names.length === 1 && names[0] === 'auto') return LIBRARY_NAMES;
  if (names.length === 1 && names[0] === 'off') return [];
  return names.length > 0 && names.every(isName) ? names : undefined;
}
