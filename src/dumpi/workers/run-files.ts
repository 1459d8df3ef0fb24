import { existsSync, rmSync } from 'node:fs';
import { TracewrightError } from '../../core/errors.js';
import { rankRings } from '../file-names.js';
import { BIASES_BYTES, BODY_OFFSET } from '../layout.js';
import { rankFileName, readMetafile, writeMetafile } from '../metafile.js';
import { loadConfiguration } from '../write/configuration.js';
import type { ConfigurationOptions } from '../write/configuration.js';
import { openRank } from '../write/rank.js';
import type { Rank } from '../write/rank.js';
import { sizeOf } from '../../core/files/file-kind.js';
import { warn } from './warnings.js';

/** Where a run's files are. */
export interface RunFiles {
  startTime: Date;
  directory: string;
  fileRoot: string;
}

export const MAIN_RANK = 0;
/** How many runs can start in the same second. */
const MOST_ROOTS = 1000;

/** Without a dumpi.conf only wall time is recorded, for CPU time costs a system call. */
function configuration(): ConfigurationOptions | undefined {
  const named = process.env['DUMPI_CONF'];
  const found = (named !== undefined && existsSync(named)) || existsSync('dumpi.conf');
  return found ? undefined : { timestamps: 'wall', fileRoot: loadConfiguration().fileRoot };
}

/** Opens the trace of a rank of the run. */
export function openRunRank(files: RunFiles, rank: number): Rank {
  const config = configuration();
  return openRank({
    ...files,
    rank,
    size: rank + 1,
    ...(config === undefined ? {} : { config }),
  });
}

/** Opens rank 0 with the first file root that no other run of this second has, and notes that root. */
export function openMainRank(files: RunFiles): Rank {
  const root = configuration()?.fileRoot ?? loadConfiguration().fileRoot;
  for (let number = 1; ; number++) {
    files.fileRoot = number === 1 ? root : `${root}-${number}`;
    try {
      return openRunRank(files, MAIN_RANK);
    } catch (error) {
      const taken = error instanceof TracewrightError && error.code === 'ERR_TRACE_EXISTS';
      if (!taken || number === MOST_ROOTS) throw error;
    }
  }
}

/** Writes the number of ranks to the run's metafile. */
export function writeRankCount(metafile: string, numprocs: number): void {
  try {
    writeMetafile(metafile, { ...readMetafile(metafile), numprocs });
  } catch (error) {
    warn(`${metafile} does not say that there are ${numprocs} ranks`, error);
  }
}

/** Completes the trace of a worker that has ended: one that was terminated has not closed its rank. */
export function completeRank(prefix: string, files: RunFiles, rank: number): void {
  const path = rankFileName(prefix, rank);
  try {
    const { recoverTrace } = require('../read/recover.js') as typeof import('../read/recover.js');
    recoverTrace(path);
  } catch {
    // `tracewright recover` reports what is wrong.
  }
  try {
    const bytes = sizeOf(path);
    if (bytes > BODY_OFFSET + BIASES_BYTES) return;
    // Recovery failed.
    if (existsSync(rankRings(path, undefined, '').calls)) return;
    // It was terminated before it could begin: a rank in which nothing happens.
    rmSync(path, { force: true });
    openRunRank(files, rank).close();
  } catch (error) {
    warn(`rank ${rank} has no trace`, error);
  }
}
