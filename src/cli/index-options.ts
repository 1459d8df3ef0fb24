import { resolve } from 'node:path';
import { listed } from '../core/readable-text.js';
import type { LookIndex } from '../look/index/look-index.js';
import { clearCache, openLookIndex } from '../look/index/open-look-index.js';
import type { InputForm } from '../traces/find-traces.js';
import { furtherRuns, sharedServices } from '../traces/run-directory.js';
import { printMessage } from './command.js';
import type { ValuesOf } from './command.js';
import { FaultReport } from './output/fault-report.js';
import { ProgressLine } from './output/progress-line.js';

/** Options of the subcommands that read through the index. */
export const indexOptions = {
  cache: { type: 'string' },
  'clear-cache': { type: 'boolean' },
  'ring-dir': { type: 'string', multiple: true },
} as const;

/** Their values on the command line. */
type IndexValues = ValuesOf<typeof indexOptions>;

/** Lines of a help text about these options. */
export const indexHelp = `  --cache       directory in which indexes of large traces are kept, or off.
                Default: tracewright in $XDG_CACHE_HOME or ~/.cache
  --clear-cache first delete every index that is kept there
  --ring-dir    a directory with rings of dead processes, if they are not next
                to their traces; can be repeated
`;

/** An index, and the exit code: it says whether something cannot be read. */
interface OpenedIndex {
  index: LookIndex;
  exitCode: number;
}

/** Opens the index of some traces, with progress on a terminal. Prints what cannot be read, and what may be missed. */
export async function openIndex(
  command: string,
  paths: readonly string[],
  form: InputForm,
  values: IndexValues,
): Promise<OpenedIndex> {
  const cache = values.cache === undefined ? undefined : directoryOf(values.cache);
  if (values['clear-cache'] === true && cache !== false) clearCache(cache);
  const ringDirs = (values['ring-dir'] ?? []).map((directory) => resolve(directory));
  const progress = new ProgressLine();
  const onProgress = progress.of(`indexing ${paths.join(' ')}`);
  try {
    const index = await openLookIndex(paths, { form, cache, ringDirs, onProgress });
    progress.clear();
    printIndexNotes(command, paths, index);
    const faults = new FaultReport(command);
    for (const { path, reason } of index.unread) faults.addText(path, reason);
    return { index, exitCode: faults.end() };
  } finally {
    progress.clear();
  }
}

function directoryOf(cache: string): string | false {
  return cache === 'off' ? false : resolve(cache);
}

/** Prints what a reader of several services may miss: runs that are not read, and services that share a name. */
function printIndexNotes(command: string, paths: readonly string[], index: LookIndex): void {
  const print = (text: string): void => {
    printMessage(`tracewright ${command}: ${text}`);
  };
  for (const path of paths) {
    const [first, ...others] = furtherRuns(path, paths);
    if (first === undefined) continue;
    const last = others.at(-1);
    const further = last === undefined ? first : `${first} to ${last}`;
    const named = last === undefined ? first : first.replace(/\d+$/, '[0-9]*');
    print(
      `${path} is one run. Other processes wrote to ${further}, which is not read. ` +
        `To read all: tracewright ${command} ${path} ${named}`,
    );
  }
  for (const [service, programs] of sharedServices(index.sources)) {
    print(
      `${listed(programs)} have the same service name, ${service}. ` +
        'To tell them apart, start each with its own OTEL_SERVICE_NAME',
    );
  }
}
