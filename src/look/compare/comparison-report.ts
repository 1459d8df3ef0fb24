import { terminalText } from '../../core/terminal-text.js';
import { wellFormedJson } from '../../core/json.js';
import { counted } from '../../core/counted.js';
import { nameWithTargets } from '../report/request-name.js';
import { textTable } from '../report/text/text-table.js';
import type { Column } from '../report/text/text-table.js';
import type { TextStyle } from '../report/text/text-style.js';
import { wrapped } from '../report/text/wrapped.js';
import { countText, durationText, timeText } from '../report/units.js';
import type {
  ComparedGroup,
  ComparedRecordings,
  ComparedSide,
  Comparison,
} from './comparison-shape.js';
import {
  comparisonSummary,
  differentServicesText,
  rangeText,
  ratioText,
} from './comparison-texts.js';

type Lines = Generator<string, void>;

/** Rows of a table. `--json` has all of them. */
const MAX_GROUPS = 20;
/** Paths of a side that are named. */
const MAX_PATHS = 3;

/** A comparison as JSON in one line; what a terminal would act on is escaped. */
export function comparisonJson(comparison: Comparison): string {
  return terminalText(wellFormedJson(comparison));
}

/** The lines of a comparison for a terminal. */
export function* comparisonText(comparison: Comparison, style: TextStyle): Lines {
  const { before, after, groups } = comparison;
  yield* sideLines('Before', before, style);
  yield* sideLines('After', after, style);
  const different = differentServicesText(before.services, after.services);
  if (different !== undefined) {
    for (const line of wrapped(different, style.width)) yield style.paint('bad', line);
  }
  yield '';
  yield* wrapped(comparisonSummary(groups), style.width);
  const [slower, faster, same, few] = kindsOf(groups);
  yield* tableLines('Slower', slower, style, ratioText);
  // The groups end with what became faster the most.
  yield* tableLines('Faster', faster.toReversed(), style, ratioText);
  yield* tableLines('About the same', same, style, rangeText);
  yield* tableLines('Too few to compare', few, style);
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

type Kinds = [ComparedGroup[], ComparedGroup[], ComparedGroup[], ComparedGroup[]];

function kindsOf(groups: readonly ComparedGroup[]): Kinds {
  const kinds: Kinds = [[], [], [], []];
  for (const group of groups) {
    const { ratio } = group;
    const kind = ratio === null ? 3 : ratio.low > 1 ? 0 : ratio.high < 1 ? 1 : 2;
    kinds[kind].push(group);
  }
  return kinds;
}

function* tableLines(
  title: string,
  groups: readonly ComparedGroup[],
  style: TextStyle,
  change?: (group: ComparedGroup) => string,
): Lines {
  if (groups.length === 0) return;
  const both = (text: (side: ComparedSide) => string) => (group: ComparedGroup) =>
    `${text(group.before)} → ${text(group.after)}`;
  const percentile = (which: 'p50' | 'p95') =>
    both((side) => (side.count === 0 ? '–' : durationText(side[which])));
  const right = 'right' as const;
  const columns: Column<ComparedGroup>[] = [
    { title: 'span', spare: 0, least: 16, cell: nameWithTargets },
    ...(change === undefined ? [] : [{ title: 'a typical one takes', spare: 0, cell: change }]),
    { title: 'count', align: right, spare: 3, cell: both(({ count }) => countText(count)) },
    { title: 'p50', align: right, spare: 2, cell: percentile('p50') },
    { title: 'p95', align: right, spare: 4, cell: percentile('p95') },
  ];
  if (groups.some(({ before, after }) => before.errors + after.errors > 0)) {
    const cell = both(({ errors }) => countText(errors));
    columns.push({ title: 'errors', align: right, spare: 5, cell });
  }
  if (groups.some(({ service }) => service !== null)) {
    columns.splice(1, 0, {
      title: 'service',
      spare: 1,
      least: 8,
      cell: ({ service }) => service ?? '',
    });
  }
  yield '';
  yield style.paint('heading', title);
  yield* textTable(columns, groups.slice(0, MAX_GROUPS), style);
  if (groups.length > MAX_GROUPS) {
    yield style.paint('weak', `${countText(groups.length - MAX_GROUPS)} more: see --json`);
  }
}
