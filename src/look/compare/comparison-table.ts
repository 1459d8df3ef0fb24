import { nameWithTargets } from '../report/request-name.js';
import { kindColumns, serviceColumn, tableOf } from '../report/tables/report-table.js';
import type { ReportColumn, ReportTable } from '../report/tables/report-table.js';
import { countText, durationText } from '../report/units.js';
import type { ComparedGroup, ComparedSide } from './comparison-shape.js';

const LIMIT = 50;

/** A figure before and after: `12 ms → 15 ms`. */
function both(
  title: string,
  spare: number,
  text: (side: ComparedSide) => string,
): ReportColumn<ComparedGroup> {
  return {
    title,
    unit: 'change',
    value: ({ before, after }) => `${text(before)} → ${text(after)}`,
    spare,
  };
}

/** @param change what a person reads of the ratio of a group; empty: nothing. */
export function comparisonTable(
  groups: readonly ComparedGroup[],
  change: (group: ComparedGroup) => string,
): ReportTable<ComparedGroup> {
  const percentile = (which: 'p50' | 'p95', spare: number) =>
    both(which, spare, (side) => (side.count === 0 ? '–' : durationText(side[which])));
  const failed = groups.some(({ before, after }) => before.errors + after.errors > 0);
  return tableOf(
    [
      { title: 'span', unit: 'text', value: nameWithTargets, spare: 0, least: 16 },
      {
        title: 'statement',
        explanation: 'Of the spans of this name, those of one statement',
        unit: 'text',
        value: ({ statement }) => statement,
        spare: 0,
        least: 24,
      },
      ...kindColumns(groups),
      serviceColumn<ComparedGroup>(1),
      {
        title: 'a typical one takes',
        explanation: 'The geometric mean of the durations, with its 95 % confidence interval',
        unit: 'text',
        value: (group) => change(group) || null,
        spare: 0,
        isBad: (group) => group.change === 'slower',
      },
      both('count', 3, ({ count }) => countText(count)),
      percentile('p50', 2),
      percentile('p95', 4),
      ...(failed ? [both('errors', 5, ({ errors }) => countText(errors))] : []),
    ],
    groups,
    LIMIT,
    'groups',
  );
}
