import { counted } from '../../../../core/readable-text.js';
import type { ErrorType, FailedSpans } from '../../shape/report-shape.js';
import { causeText, frameText, UNNAMED } from '../cause-texts.js';
import { countText, timeText } from '../../measures/units.js';
import { requestsOf } from '../interruption-texts.js';
import { ofService } from '../../names/request-name.js';
import { fieldColumn, listColumn, onlyService, serviceColumn, tableOf } from './report-table.js';
import type { ListItem, ReportColumn, ReportTable } from './report-table.js';

const LIMIT = 20;
/** Most errors whose times and example text lists one by one. */
const MOST_EXAMPLES = 5;

/** The fields of an error that a table shows. */
type NamedError = Pick<ErrorType, 'type' | 'message' | 'frame' | 'name' | 'names' | 'service'>;

/** `Errors by type: 12, in 30 failed spans`: an error that passed through several spans is one. */
function titleOf(what: string, { count, read, types }: FailedSpans): string {
  const errors = types.reduce((sum, { count: own }) => sum + own, 0);
  const some = read < count ? `${countText(read)} of ` : '';
  return `${what}: ${countText(errors)}, in ${some}${counted(count, 'failed span')}`;
}

/** Title of the types of errors. */
function errorsTitle(errors: FailedSpans): string {
  const { newSince, types } = errors;
  const fresh = types.filter(({ isNew }) => isNew === true).length;
  const since =
    newSince === null ? '' : `; ${counted(fresh, 'type')} new since ${timeText(newSince)}`;
  return `${titleOf('Errors by type', errors)}${since}`;
}

/** Columns that say which error it is. */
export function errorColumns<T extends NamedError>(): ReportColumn<T>[] {
  return [
    {
      title: 'type',
      unit: 'text',
      value: ({ type }) => type ?? UNNAMED,
      spare: 0,
      least: 12,
    },
    fieldColumn('message', 'text', 1, {
      explanation: 'Numbers, ids and quoted values are ?',
      least: 20,
      isProse: true,
    }),
    {
      title: 'at',
      explanation: 'The first frame of the stack that is not of a package or of Node',
      unit: 'text',
      value: shownFrame,
      spare: 2,
      least: 20,
    },
    {
      title: 'span',
      unit: 'text',
      value: spanText,
      spare: 0,
      least: 16,
    },
    serviceColumn<T>(3),
  ];
}

/** Why spans failed: what is new comes first. */
export function errorTable(errors: FailedSpans): ReportTable<ErrorType> {
  const { count, read, types } = errors;
  return tableOf<ErrorType>(
    errorsTitle(errors),
    [
      ...errorColumns<ErrorType>(),
      fieldColumn('count', 'count', 0, {
        title: read < count ? `of ${countText(read)}` : 'count',
        isBad: () => true,
      }),
      {
        title: 'new',
        explanation: 'Not seen before the time that is selected',
        unit: 'text',
        value: ({ isNew }) => (isNew === true ? 'new' : null),
        spare: 0,
        isBad: () => true,
      },
      fieldColumn('first', 'time', 5),
      fieldColumn('last', 'time', 4),
      fieldColumn('example', 'text', 6, { explanation: 'The trace of the last one' }),
    ],
    newFirst(types),
    LIMIT,
    'types of errors',
  );
}

function shownFrame({ frame }: Pick<ErrorType, 'frame'>): string | null {
  return frame === null ? null : frameText(frame);
}

/** A row a cause of failures: what failed, where, and which requests. */
export function causeTable(errors: FailedSpans): ReportTable<ErrorType> {
  const { count, read, types } = errors;
  const isUnnamed = types.some(({ message, frame }) => message === null && frame !== null);
  const hint = isUnnamed ? '; messages of libraries: TRACEWRIGHT_ERROR_TEXT=on' : '';
  const service = onlyService(types);
  return tableOf<ErrorType>(
    `${titleOf(`Causes of failure${ofService(service)}`, errors)}${hint}`,
    [
      fieldColumn('count', 'count', 0, {
        title: read < count ? `of ${countText(read)}` : 'count',
        isBad: () => true,
      }),
      {
        title: 'cause',
        unit: 'text',
        value: (each) => causeText({ ...each, frame: null }),
        spare: 0,
        least: 19,
        isProse: true,
      },
      {
        title: 'at',
        unit: 'text',
        value: shownFrame,
        spare: 1,
        least: 26,
      },
      listColumn('requests', failedAndOthers, 1, {
        explanation: 'Requests that failed because of it; ok: they met it and did not fail',
        least: 14,
      }),
      ...(service === null ? [serviceColumn<ErrorType>(2)] : []),
      {
        title: 'last',
        unit: 'text',
        value: ({ last, isNew }) => (isNew === true ? `${last.slice(11, 19)} new` : null),
        spare: 3,
      },
      {
        title: 'trace',
        unit: 'text',
        value: ({ example }) => example?.slice(0, 8) ?? null,
        spare: 0,
      },
    ],
    newFirst(types),
    LIMIT,
    'causes',
  );
}

/** `POST /buy 715, process mails 268 ok` */
function failedAndOthers({ requests, caught }: ErrorType): ListItem[] {
  const others = requestsOf(caught).map(([name, count]): ListItem => [name, `${count} ok`]);
  return [...requestsOf(requests), ...others];
}

/** When the first errors of the table occurred, and where one can be seen: `no stock of ? of GET /buy in shop: first …`. */
export function* errorExamples({ types }: FailedSpans): Generator<string, void> {
  for (const row of newFirst(types).slice(0, MOST_EXAMPLES)) {
    const { type, message, frame, service, first, last, example } = row;
    const what = [type ?? UNNAMED, ...(message === null ? [] : [message])].join(': ');
    const where = frame === null ? '' : ` at ${frame}`;
    const of = service === null ? '' : ` in ${service}`;
    const seen =
      first === last ? `at ${timeText(last)}` : `first ${timeText(first)}, last ${timeText(last)}`;
    const trace = example === null ? '' : `, trace ${example}`;
    yield `${what}${where}, span ${spanText(row)}${of}: ${seen}${trace}`;
  }
}

/** Names the spans of an error: `GET /buy and 2 others`. */
function spanText({ name, names }: NamedError): string {
  return names > 1 ? `${name} and ${counted(names - 1, 'other')}` : name;
}

function newFirst(types: readonly ErrorType[]): ErrorType[] {
  return types.toSorted((a, b) => Number(b.isNew === true) - Number(a.isNew === true));
}
