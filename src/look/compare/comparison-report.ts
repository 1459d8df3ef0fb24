import { sectionLines } from '../report/text/text-table.js';
import { terminalText } from '../../core/terminal-text.js';
import { wellFormedJson } from '../../core/json.js';
import { counted } from '../../core/counted.js';
import { wrapped } from '../report/text/display-width.js';
import type { TextStyle } from '../report/text/text-style.js';
import { durationText, timeText } from '../report/units.js';
import type { ComparedGroup, ComparedRecordings, Comparison } from './comparison-shape.js';
import {
  comparisonSummary,
  differentServicesText,
  rangeText,
  ratioText,
} from './comparison-texts.js';
import { comparedErrorTable, comparisonTable } from './comparison-table.js';

type Lines = Generator<string, void>;

/** Paths of a side that are named. */
const MAX_PATHS = 3;

/** A comparison as JSON in one line; what a terminal would act on is escaped. */
export function comparisonJson(comparison: Comparison): string {
  return terminalText(wellFormedJson(comparison));
}

/** The lines of a comparison for a terminal. */
export function* comparisonText(comparison: Comparison, style: TextStyle): Lines {
  const { before, after, groups, errors } = comparison;
  yield* sideLines('Before', before, style);
  yield* sideLines('After', after, style);
  const different = differentServicesText(before.services, after.services);
  if (different !== undefined) {
    for (const line of wrapped(different, style.width)) yield style.paint('bad', line);
  }
  yield '';
  yield* wrapped(comparisonSummary(groups), style.width);
  const of = (kind: ComparedGroup['change']): ComparedGroup[] =>
    groups.filter(({ change }) => change === kind);
  yield* sectionLines(comparedErrorTable(errors), style);
  yield* kindLines('Slower', of('slower'), style, ratioText);
  // The groups end with what became faster the most.
  yield* kindLines('Faster', of('faster').toReversed(), style, ratioText);
  yield* kindLines('About the same', of('same'), style, rangeText);
  yield* kindLines('Too few to compare', of(null), style, () => '');
}

function* sideLines(title: string, side: ComparedRecordings, style: TextStyle): Lines {
  const { paths, spans, length, from, to } = side;
  const further = paths.length - MAX_PATHS;
  const named = paths.slice(0, MAX_PATHS).join(', ');
  const where = further > 0 ? `${named} and ${counted(further, 'more')}` : named;
  const all = `${title}: ${counted(spans, 'span')} in ${durationText(length)}, from ${where}`;
  for (const line of wrapped(all, style.width)) yield style.paint('title', line);
  for (const line of wrapped(`${timeText(from)} to ${timeText(to)}`, style.width)) {
    yield style.paint('weak', line);
  }
}

function* kindLines(
  title: string,
  groups: readonly ComparedGroup[],
  style: TextStyle,
  change: (group: ComparedGroup) => string,
): Lines {
  yield* sectionLines(comparisonTable(title, groups, change), style);
}
