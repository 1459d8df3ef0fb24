import { accessSync, constants } from 'node:fs';
import { isDirectory } from '../../core/files/file-kind.js';
import { pathIn } from '../../core/files/path-in.js';
import { hasHiddenName } from '../../core/native-calls.js';
import { PROCESS_METADATA } from '../../ovni/file-names.js';
import { part } from '../warning.js';
import { FOLDERS } from './run.js';
import type { Run } from './run.js';
import { sizesOf } from './trace-sizes.js';

/** The runs that are looked at before the program starts, however many there are. */
const BEFORE_PROGRAM = 8;
const AFTER_MS = 1000;
/** Between two of the other runs. */
const PAUSE_MS = 20;

/**
 * Completes what processes that were killed have left in the directory of this run and in those of earlier ones, and
 * deletes the oldest traces that are beyond the budget. Without a budget only the latest runs delay the program.
 *
 * @returns the bytes of those that stay; 0 without a budget.
 */
export function bytesOfEarlier(run: Run, ringDir: string | undefined): number {
  const { earlier, topmost } = run;
  // The directory is new, and no earlier run has used its name.
  if (topmost && earlier.length === 0) return 0;
  const { maxBytes, atMaxBytes } = sizesOf(0);
  if (maxBytes > 0 || ringDir !== undefined || !topmost) {
    const budget = atMaxBytes === 'deleteOldest' ? maxBytes : 0;
    return earlierTraces().settle(run, earlier.filter(mayBeEntered), ringDir, budget);
  }
  const unfinished = earlier.slice(0, BEFORE_PROGRAM).filter(mayBeUnfinished);
  if (unfinished.length > 0) earlierTraces().settle(run, unfinished);
  settleLater(run, earlier.slice(BEFORE_PROGRAM));
  return 0;
}

/** Most starts have nothing to settle. */
function earlierTraces(): typeof import('./earlier-traces.js') {
  return require('./earlier-traces.js') as typeof import('./earlier-traces.js');
}

/** One run after the other, so that the program never waits long. */
function settleLater(run: Run, earlier: string[]): void {
  const next = (): void => {
    const directory = earlier.shift();
    if (directory === undefined) return;
    part('an earlier trace stays as it is', () => {
      if (mayBeUnfinished(directory)) earlierTraces().settle(run, [directory]);
    });
    setTimeout(next, PAUSE_MS).unref();
  };
  if (earlier.length > 0) setTimeout(next, AFTER_MS).unref();
}

/** False: it is another user's, who also settles it. */
function mayBeEntered(run: string): boolean {
  try {
    accessSync(run, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether there is a file with one of the names that a trace has only until its end. */
function mayBeUnfinished(run: string): boolean {
  try {
    return FOLDERS.map((folder) => pathIn(run, folder))
      .filter(isDirectory)
      .some((folder) => hasHiddenName(folder, PROCESS_METADATA));
  } catch {
    return mayBeEntered(run);
  }
}
