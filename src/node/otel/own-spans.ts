import { entryOf } from '../../libraries/table.js';
import type { LibraryName } from '../../libraries/table.js';
import type { LibrarySettings } from '../library-settings.js';
import { programDependencies } from './program-dependencies.js';

/** Whether the program has a library's own spans, and did not name the library for ours. */
export function recordsItself(library: LibraryName, { named }: LibrarySettings): boolean {
  const name = entryOf(library).ownSpans;
  return name !== undefined && !named.includes(library) && programDependencies().includes(name);
}
