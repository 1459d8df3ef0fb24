import { counted } from '../../../core/counted.js';
import type { ErrorType, FailedSpans } from '../report-shape.js';
import { countText } from '../units.js';
import { serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const LIMIT = 20;

/** Title of the types of errors. */
export function errorsTitle({ count, read }: FailedSpans): string {
  const some = read < count ? `; the types are those of ${countText(read)}, taken evenly` : '';
  return `Errors by type: ${counted(count, 'span')} failed${some}`;
}

/** Why spans failed. */
export function errorTable({ count, read, types }: FailedSpans): ReportTable<ErrorType> {
  return tableOf<ErrorType>(
    [
      {
        title: 'type',
        unit: 'text',
        value: ({ type }) => type ?? 'no error.type',
        spare: 0,
        least: 16,
      },
      { title: 'span', unit: 'text', value: ({ name }) => name, spare: 0, least: 16 },
      serviceColumn(1),
      {
        title: read < count ? `of ${countText(read)}` : 'count',
        unit: 'count',
        value: (type) => type.count,
        spare: 0,
        isBad: () => true,
      },
    ],
    types,
    LIMIT,
    'types of errors',
  );
}
