import { nameWithTargets } from '../report/names/request-name.js';
import { errorColumns } from '../report/print/tables/error-table.js';
import { growthText, MEMORY_NAMES } from '../report/print/tables/resource-tables.js';
import {
  fieldColumn,
  kindColumns,
  serviceColumn,
  tableOf,
  type ReportColumn,
  type ReportTable,
} from '../report/print/tables/report-table.js';
import { bytesText, countText, durationText } from '../report/measures/units.js';
import {
  callsText,
  changeText,
  isPresence,
  oftenText,
  rangeText,
  sideText,
} from './comparison-texts.js';
import type {
  ComparedCalls,
  ComparedError,
  ComparedErrors,
  ComparedGroup,
  ComparedMemory,
  ComparedSide,
  Comparison,
} from './comparison-shape.js';

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

/** A call, and how often requests of a route make it. */
interface RouteCall {
  group: ComparedGroup;
  calls: ComparedCalls;
}

interface ComparisonTables {
  presence: ReportTable<ComparedGroup>;
  calls: ReportTable<RouteCall>;
  slower: ReportTable<ComparedGroup>;
  faster: ReportTable<ComparedGroup>;
  errors: ReportTable<ComparedError>;
  memory: ReportTable<ComparedMemory>;
  same: ReportTable<ComparedGroup>;
  few: ReportTable<ComparedGroup>;
}

/** What changed, in the order in which the command and the page show it. */
export function comparisonTables({
  groups,
  errors,
  memory,
}: Pick<Comparison, 'groups' | 'errors' | 'memory'>): ComparisonTables {
  const of = (kind: ComparedGroup['change']): ComparedGroup[] =>
    groups.filter(({ change }) => change === kind);
  const present = groups.filter(({ change }) => isPresence(change));
  const mostOf = ({ before, after }: ComparedGroup): number => Math.max(before.count, after.count);
  return {
    presence: timeTable(
      'Gone and new',
      'change',
      present.toSorted((a, b) => mostOf(b) - mostOf(a)),
      sideText,
    ),
    calls: callsTable(groups),
    slower: timeTable('Slower', CHANGE, of('slower'), changeText),
    // The groups end with what became faster the most.
    faster: timeTable('Faster', CHANGE, of('faster').toReversed(), changeText),
    errors: comparedErrorTable(errors),
    memory: memoryTable(memory),
    same: timeTable('About the same: within chance, or less than 5 %', MEAN, of('same'), rangeText),
    few: timeTable('Too few to compare', 'change', of(null), sideText),
  };
}

const MEAN = 'geometric mean';
const CHANGE = `${MEAN}, or p95, p99`;

/**
 * @param heading of the column of changes.
 * @param change what a person reads of the change of a group; empty: nothing.
 */
function timeTable(
  title: string,
  heading: string,
  groups: readonly ComparedGroup[],
  change: (group: ComparedGroup) => string,
): ReportTable<ComparedGroup> {
  const percentile = (which: 'p50' | 'p95' | 'p99', spare: number) =>
    both(which, spare, (side) => (side.count === 0 ? '–' : durationText(side[which])));
  const isCounted = groups.some(({ ratio }) => ratio === null);
  const failed = groups.some(({ before, after }) => before.errors + after.errors > 0);
  return tableOf(
    title,
    [
      { title: 'span', unit: 'text', value: nameWithTargets, spare: 0, least: 16 },
      fieldColumn('statement', 'text', 0.5, {
        explanation:
          'Of the spans of this name, those of one statement, or of stalls of one function',
        least: 24,
      }),
      ...kindColumns(groups),
      serviceColumn<ComparedGroup>(3),
      {
        title: heading,
        explanation: 'With the 95 % confidence interval',
        unit: 'text',
        value: (group) => change(group) || null,
        spare: 0,
        least: 50,
        isProse: true,
        isBad: (group) => group.change === 'slower',
        isGood: (group) => group.change === 'faster',
      },
      both('count', isCounted ? 0.7 : 4, ({ count }) => countText(count)),
      percentile('p50', 2),
      percentile('p95', 1),
      ...(groups.some(({ tail }) => tail?.percent === 99) ? [percentile('p99', 1)] : []),
      ...(failed ? [both('errors', 5, ({ errors }) => countText(errors))] : []),
    ],
    groups,
    LIMIT,
    'groups',
  );
}

/** What requests of a route call more or less often than before, what changed most first. */
function callsTable(groups: readonly ComparedGroup[]): ReportTable<RouteCall> {
  const changed = groups.flatMap((group) =>
    group.calls.filter(({ change }) => change !== null).map((calls) => ({ group, calls })),
  );
  const sizeOf = ({ calls }: RouteCall): number => Math.abs(calls.after - calls.before);
  return tableOf<RouteCall>(
    'Called more or less often a request',
    [
      {
        title: 'call',
        unit: 'text',
        value: ({ group }) => group.statement ?? nameWithTargets(group),
        spare: 0,
        least: 16,
      },
      {
        title: 'by',
        explanation: 'The route of the requests; empty: all requests of the service',
        unit: 'text',
        value: ({ calls }) => calls.route,
        spare: 0.5,
        least: 16,
      },
      { title: 'service', unit: 'text', value: ({ group }) => group.service, spare: 2 },
      { title: 'change', unit: 'text', value: ({ calls }) => calls.change, spare: 2.5 },
      {
        title: 'is called',
        unit: 'text',
        value: ({ calls }) => callsText(calls),
        spare: 0,
        least: 34,
        isProse: true,
        isBad: ({ calls }) => ['appeared', 'more'].includes(calls.change!),
        isGood: ({ calls }) => ['vanished', 'fewer'].includes(calls.change!),
      },
      {
        title: 'times as often',
        explanation: 'The 95 % confidence interval',
        unit: 'text',
        value: ({ calls }) => oftenText(calls),
        spare: 1,
      },
      {
        title: 'count',
        unit: 'change',
        value: ({ calls: { calls } }) => `${countText(calls.before)} → ${countText(calls.after)}`,
        spare: 3,
      },
    ],
    changed.toSorted((a, b) => sizeOf(b) - sizeOf(a)),
    LIMIT,
    'calls',
  );
}

const ERRORS_LIMIT = 20;

/** `Errors by type: 2 new, 1 gone, 3 on both sides`. */
function comparedErrorsTitle({ before, after, types }: ComparedErrors): string {
  const count = (change: ComparedError['change']): string =>
    countText(types.filter((each) => each.change === change).length);
  const isEstimate = [before, after].some((side) => side.read < side.count);
  const some = isEstimate ? ' (estimated from some of the spans, taken evenly)' : '';
  return `Errors by type: ${count('new')} new, ${count('gone')} gone, ${count(null)} on both sides${some}`;
}

/** Which errors are new, which are gone, and how often the others were. */
function comparedErrorTable(errors: ComparedErrors): ReportTable<ComparedError> {
  return tableOf<ComparedError>(
    comparedErrorsTitle(errors),
    [
      ...errorColumns<ComparedError>(),
      fieldColumn('change', 'text', 0.5, {
        isBad: ({ change }) => change === 'new',
        isGood: ({ change }) => change === 'gone',
      }),
      {
        title: 'count',
        unit: 'change',
        value: ({ before, after }) => `${countText(before)} → ${countText(after)}`,
        spare: 0,
      },
      fieldColumn('first', 'time', 5),
      fieldColumn('example', 'text', 6, { explanation: 'The trace of the last one' }),
    ],
    errors.types,
    ERRORS_LIMIT,
    'types of errors',
  );
}

/** What the memory of services came to. What is chance nobody can say of one curve a side. */
function memoryTable(memory: readonly ComparedMemory[]): ReportTable<ComparedMemory> {
  const change = (
    title: string,
    figure: 'last' | 'max' | 'hourly',
    spare: number,
    text = bytesText,
  ): ReportColumn<ComparedMemory> => ({
    title,
    unit: 'change',
    value({ before, after }) {
      const figures = [before, after].map((side) => side?.[figure] ?? null);
      if (figures.every((each) => each === null)) return null;
      return figures.map((each) => (each === null ? '?' : text(each))).join(' → ');
    },
    spare,
  });
  return tableOf<ComparedMemory>(
    'Memory, of the thread or process that had the most: not judged, may be chance',
    [
      {
        title: 'memory',
        unit: 'text',
        value: ({ kind }) => MEMORY_NAMES[kind],
        spare: 0,
        least: 8,
      },
      serviceColumn(0.5),
      change('at end', 'last', 0),
      change('highest', 'max', 1),
      change('growth an hour', 'hourly', 2, growthText),
    ],
    memory,
    LIMIT,
    'curves',
  );
}
