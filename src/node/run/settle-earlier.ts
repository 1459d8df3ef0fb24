import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDirectory } from '../../core/files/file-kind.js';
import { PROCESS_METADATA } from '../../ovni/file-names.js';
import { part } from '../warning.js';
import { FOLDERS, isRun } from './run.js';
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
export function settleEarlier(run: Run, ringDir: string | undefined): number {
  const { maxBytes, atMaxBytes } = sizesOf(0);
  if (maxBytes > 0 || ringDir !== undefined || !run.topmost) {
    const budget = atMaxBytes === 'deleteOldest' ? maxBytes : 0;
    return settle(run, run.earlier.filter(isRun), ringDir, budget);
  }
  const unfinished = run.earlier.slice(0, BEFORE_PROGRAM).filter(mayBeUnfinished);
  if (unfinished.length > 0) settle(run, unfinished);
  settleLater(run, run.earlier.slice(BEFORE_PROGRAM));
  return 0;
}

/** @param budget bytes beyond which the oldest traces are deleted; 0: there is none. */
function settle(run: Run, earlier: readonly string[], ringDir?: string, budget = 0): number {
  const { completeEarlierTraces, deleteOldest, whileAnchored } =
    require('./earlier-traces.js') as typeof import('./earlier-traces.js');
  return whileAnchored(earlier, () => {
    const traces = completeEarlierTraces(run.directory, earlier, ringDir);
    if (budget > 0) deleteOldest(traces, budget);
    return traces.reduce((sum, { bytes }) => sum + bytes, 0);
  });
}

/** One run after the other, so that the program never waits long. */
function settleLater(run: Run, earlier: string[]): void {
  const next = (): void => {
    const directory = earlier.shift();
    if (directory === undefined) return;
    part('an earlier trace stays as it is', () => {
      if (mayBeUnfinished(directory)) settle(run, [directory]);
    });
    setTimeout(next, PAUSE_MS).unref();
  };
  if (earlier.length > 0) setTimeout(next, AFTER_MS).unref();
}

/** Whether there is a file with one of the names that a trace has only until its end. It reads names alone. */
function mayBeUnfinished(run: string): boolean {
  try {
    return FOLDERS.map((folder) => join(run, folder))
      .filter(isDirectory)
      .some(hasUnfinished);
  } catch {
    return true;
  }
}

function hasUnfinished(directory: string): boolean {
  return readdirSync(directory, { withFileTypes: true }).some(
    (entry) =>
      entry.name.startsWith('.') ||
      entry.name === PROCESS_METADATA ||
      (entry.isDirectory() && hasUnfinished(`${directory}/${entry.name}`)),
  );
}
