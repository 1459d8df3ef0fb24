import { errorColumns } from '../report/tables/error-table.js';
import { tableOf } from '../report/tables/report-table.js';
import type { ReportTable } from '../report/tables/report-table.js';
import { countText } from '../report/units.js';
import type { ComparedError, ComparedErrors } from './comparison-shape.js';

const LIMIT = 20;

/** `Errors by type: 2 new, 1 gone, 3 on both sides`. */
export function comparedErrorsTitle({ before, after, types }: ComparedErrors): string {
  const count = (change: ComparedError['change']): string =>
    countText(types.filter((each) => each.change === change).length);
  const isEstimate = [before, after].some((side) => side.read < side.count);
  const some = isEstimate ? ' (estimated from some of the spans, taken evenly)' : '';
  return `Errors by type: ${count('new')} new, ${count('gone')} gone, ${count(null)} on both sides${some}`;
}

/** Which errors are new, which are gone, and how often the others were. */
export function comparedErrorTable({ types }: ComparedErrors): ReportTable<ComparedError> {
  return tableOf<ComparedError>(
    [
      ...errorColumns<ComparedError>(),
      {
        title: 'change',
        unit: 'text',
        value: ({ change }) => change,
        spare: 0,
        isBad: ({ change }) => change === 'new',
      },
      {
        title: 'count',
        unit: 'change',
        value: ({ before, after }) => `${countText(before)} → ${countText(after)}`,
        spare: 0,
      },
      { title: 'first', unit: 'time', value: ({ first }) => first, spare: 5 },
      {
        title: 'example',
        explanation: 'The trace of the last one',
        unit: 'text',
        value: ({ example }) => example,
        spare: 6,
      },
    ],
    types,
    LIMIT,
    'types of errors',
  );
}
