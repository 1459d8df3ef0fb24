import { resolve } from 'node:path';
import { clearCache, openLookIndex } from '../look/index/open-look-index.js';
import type { LookIndex } from '../look/index/look-index.js';
import type { InputForm } from '../traces/find-traces.js';
import { printIndexNotes } from './output/index-notes.js';
import { ProgressLine } from './output/progress-line.js';

/** Options of the subcommands that read through the index. */
export const indexOptions = {
  cache: { type: 'string' },
  'clear-cache': { type: 'boolean' },
  'ring-dir': { type: 'string', multiple: true },
} as const;

/** Their values on the command line. */
interface IndexValues {
  cache?: string | undefined;
  'clear-cache'?: boolean | undefined;
  'ring-dir'?: string[] | undefined;
}

/** Lines of a help text about these options. */
export const indexHelp = `  --cache       directory in which indexes of large traces are kept, or off.
                Default: tracewright in $XDG_CACHE_HOME or ~/.cache
  --clear-cache first delete every index that is kept there
  --ring-dir    a directory with rings of dead processes, if they are not next
                to their traces; can be repeated
`;

/** Opens the index of some traces, with progress on a terminal and notes on what it lacks. */
export async function openIndex(
  command: string,
  paths: readonly string[],
  form: InputForm,
  values: IndexValues,
): Promise<LookIndex> {
  const cache = values.cache === undefined ? undefined : directoryOf(values.cache);
  if (values['clear-cache'] === true && cache !== false) clearCache(cache);
  const ringDirs = (values['ring-dir'] ?? []).map((directory) => resolve(directory));
  const progress = new ProgressLine();
  const onProgress = progress.of(`indexing ${paths.join(' ')}`);
  try {
    const index = await openLookIndex(paths, { form, cache, ringDirs, onProgress });
    progress.clear();
    printIndexNotes(command, paths, index);
    return index;
  } finally {
    progress.clear();
  }
}

function directoryOf(cache: string): string | false {
  return cache === 'off' ? false : resolve(cache);
}
