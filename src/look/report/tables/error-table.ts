import { counted } from '../../../core/counted.js';
import type { ErrorType, FailedSpans } from '../report-shape.js';
import { countText, timeText } from '../units.js';
import { serviceColumn, tableOf } from './report-table.js';
import type { ReportColumn, ReportTable } from './report-table.js';

const LIMIT = 20;
/** Errors whose times and example are told one by one in text. */
const MOST_EXAMPLES = 5;

/** What a table of errors shows of each. */
export type NamedError = Pick<
  ErrorType,
  'type' | 'message' | 'place' | 'name' | 'names' | 'service'
>;

/** Title of the types of errors. */
export function errorsTitle({ count, read, newSince, types }: FailedSpans): string {
  const some = read < count ? `; the types are those of ${countText(read)}, taken evenly` : '';
  const fresh = types.filter(({ isNew }) => isNew === true).length;
  const since =
    newSince === null ? '' : `; ${counted(fresh, 'type')} new since ${timeText(newSince)}`;
  return `Errors by type: ${counted(count, 'span')} failed${since}${some}`;
}

/** Columns that say which error it is. */
export function errorColumns<T extends NamedError>(): ReportColumn<T>[] {
  return [
    {
      title: 'type',
      unit: 'text',
      value: ({ type }) => type ?? 'no error.type',
      spare: 0,
      least: 12,
    },
    {
      title: 'message',
      explanation: 'Numbers, ids and quoted values are ?',
      unit: 'text',
      value: ({ message }) => message,
      spare: 2,
      least: 20,
    },
    {
      title: 'at',
      explanation: 'The first frame of the stack that is not of a package or of Node',
      unit: 'text',
      value: ({ place }) => place,
      spare: 3,
      least: 20,
    },
    {
      title: 'span',
      unit: 'text',
      value: ({ name, names }) => (names > 1 ? `${name} and ${counted(names - 1, 'other')}` : name),
      spare: 0,
      least: 16,
    },
    serviceColumn<T>(1),
  ];
}

/** Why spans failed: what is new comes first. */
export function errorTable({ count, read, types }: FailedSpans): ReportTable<ErrorType> {
  return tableOf<ErrorType>(
    [
      ...errorColumns<ErrorType>(),
      {
        title: read < count ? `of ${countText(read)}` : 'count',
        unit: 'count',
        value: (type) => type.count,
        spare: 0,
        isBad: () => true,
      },
      {
        title: 'new',
        explanation: 'Not seen before the time that is selected',
        unit: 'text',
        value: ({ isNew }) => (isNew === true ? 'new' : null),
        spare: 0,
        isBad: () => true,
      },
      { title: 'first', unit: 'time', value: ({ first }) => first, spare: 5 },
      { title: 'last', unit: 'time', value: ({ last }) => last, spare: 4 },
      {
        title: 'example',
        explanation: 'The trace of the last one',
        unit: 'text',
        value: ({ example }) => example,
        spare: 6,
      },
    ],
    newFirst(types),
    LIMIT,
    'types of errors',
  );
}

/** When the first errors of the table occurred, and where one can be seen: `no stock of ?: 3 times, first …`. */
export function* errorExamples({ types }: FailedSpans): Generator<string, void> {
  for (const { type, message, place, first, last, example } of newFirst(types).slice(
    0,
    MOST_EXAMPLES,
  )) {
    const what = [type ?? 'no error.type', ...(message === null ? [] : [message])].join(': ');
    const where = place === null ? '' : ` at ${place}`;
    const seen =
      first === last ? `at ${timeText(last)}` : `first ${timeText(first)}, last ${timeText(last)}`;
    yield `${what}${where}: ${seen}${example === null ? '' : `, trace ${example}`}`;
  }
}

function newFirst(types: readonly ErrorType[]): ErrorType[] {
  return types.toSorted((a, b) => Number(b.isNew === true) - Number(a.isNew === true));
}
