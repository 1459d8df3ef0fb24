import type { LookIndex } from '../index/look-index.js';
import { DEFAULT_SLOWEST, makeReport } from './report.js';
import type { ReportOptions, ReportWithRows } from './report.js';

const QUESTION = 'report';

/** The report that was kept of the same recordings, or a new one: one is kept that is of all, as it is by default. */
export async function reportOf(
  index: LookIndex,
  options: ReportOptions = {},
): Promise<ReportWithRows> {
  const answers = isDefault(options) ? index.answers : undefined;
  const kept = answers?.read(QUESTION) as ReportWithRows | undefined;
  if (kept !== undefined) return kept;
  const begun = performance.now();
  const made = await makeReport(index, options);
  answers?.keep(QUESTION, made, performance.now() - begun);
  return made;
}

function isDefault({ by, attributes, condition, slowest, exact, closer }: ReportOptions): boolean {
  return (
    by === undefined &&
    (attributes ?? []).length === 0 &&
    Object.keys(condition ?? {}).length === 0 &&
    (slowest ?? DEFAULT_SLOWEST) === DEFAULT_SLOWEST &&
    exact !== true &&
    closer !== true
  );
}
