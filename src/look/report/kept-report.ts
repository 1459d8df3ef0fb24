import { statSync } from 'node:fs';
import { version } from '../../core/version.js';
import type { LookIndex } from '../index/look-index.js';
import { DEFAULT_SLOWEST, makeReport } from './report.js';
import type { ReportOptions, ReportWithRows } from './report.js';

/** Reports that are made in less time are not kept, in ms. */
const LEAST_TIME = 100;
const QUESTION = 'report';

/**
 * The report that was kept of the same recordings, or a new one. It is kept if it is of everything, with what a
 * report has unless asked for something else.
 */
export async function reportOf(
  index: LookIndex,
  options: ReportOptions = {},
): Promise<ReportWithRows> {
  const code = stampOfCode();
  const answers = isUsual(options) && code !== undefined ? index.answers : undefined;
  if (answers === undefined) return makeReport(index, options);
  const kept = answers.read(QUESTION, code!) as ReportWithRows | undefined;
  if (kept !== undefined) return kept;
  const begun = performance.now();
  const made = await makeReport(index, options);
  if (performance.now() - begun >= LEAST_TIME) {
    try {
      answers.keep(QUESTION, code!, made);
    } catch {
      // A full disk: the next report is made anew.
    }
  }
  return made;
}

function isUsual({ by, attributes, condition, slowest, exact, closer }: ReportOptions): boolean {
  return (
    by === undefined &&
    (attributes ?? []).length === 0 &&
    Object.keys(condition ?? {}).length === 0 &&
    (slowest ?? DEFAULT_SLOWEST) === DEFAULT_SLOWEST &&
    exact !== true &&
    closer !== true
  );
}

/** Which code makes reports; undefined: not that of a package, which a build puts into one file. */
function stampOfCode(): string | undefined {
  if (typeof __filename !== 'string' || !__filename.endsWith('.js')) return undefined;
  const { size, mtimeMs } = statSync(__filename);
  return `${version} ${size} ${mtimeMs}`;
}
