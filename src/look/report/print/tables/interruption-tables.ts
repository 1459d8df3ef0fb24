import { codeText } from '../../names/code-text.js';
import {
  AT_START,
  causeText,
  countsText,
  ranText,
  delayedOf,
  ranInText,
  stallsIn,
  stallsText,
} from '../interruption-texts.js';
import type {
  Interruptions,
  LongStall,
  SlowShare,
  StallLine,
  ThreadInterruption,
} from '../../shape/thread-shape.js';
import { nameWithSystem } from '../../names/request-name.js';
import { fieldColumn, listColumn, processColumn, serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const THREADS_LIMIT = 20;
const LINES_LIMIT = 10;
const STALLS_LIMIT = 5;
const SLOW_LIMIT = 30;

export const NOTHING_SLOWED = 'The slowest 5 % of each group did not meet any of these.';

/** Stalls and collections of each thread. */
export function interruptionTable({ threads }: Interruptions): ReportTable<ThreadInterruption> {
  return tableOf<ThreadInterruption>(
    'Stalls of event loops and garbage collections',
    [
      fieldColumn('name', 'text', 0, { title: 'what', least: 16 }),
      serviceColumn(0),
      processColumn(3),
      fieldColumn('thread', 'text', 2),
      fieldColumn('count', 'count', 0),
      fieldColumn('total', 'duration', 0),
      fieldColumn('max', 'duration', 1, { title: 'longest' }),
    ],
    threads,
    THREADS_LIMIT,
    'threads',
  );
}

/** The code that blocked event loops. */
export function stallLineTable(interruptions: Interruptions): ReportTable<StallLine> {
  const { lines } = interruptions;
  const count = lines.reduce((sum, line) => sum + line.count, 0);
  const rest =
    count === stallsIn(interruptions) ? '' : '; the rest: no CPU, collections, starts, no stack';
  return tableOf<StallLine>(
    `Code that blocked event loops in ${stallsText(count, interruptions)}${rest}`,
    [
      { title: 'code', unit: 'text', value: codeText, spare: 0, least: 28 },
      {
        title: 'in',
        explanation: 'The requests whose code it was',
        unit: 'text',
        value: ranInText,
        spare: 0.6,
        least: 16,
      },
      fieldColumn('count', 'count', 2),
      fieldColumn('total', 'duration', 0),
      fieldColumn('max', 'duration', 1, { title: 'longest' }),
      listColumn('delayed', delayedOf, 0.5, {
        explanation:
          'Requests that were open on the thread meanwhile, and were not the cause; unread: they waited before their span began',
        least: 22,
      }),
    ],
    lines,
    LINES_LIMIT,
    'lines of code',
  );
}

/** The table of the longest stalls: what the thread did meanwhile, and what waited for it. */
export function longStallTable(interruptions: Interruptions): ReportTable<LongStall> {
  const table = tableOf<LongStall>(
    'The longest stalls',
    [
      fieldColumn('duration', 'duration', 0, { title: 'took' }),
      fieldColumn('start', 'time', 1, { title: 'at' }),
      serviceColumn(2),
      processColumn(4),
      fieldColumn('thread', 'text', 3),
      { title: 'cause', unit: 'text', value: whyText, spare: 5, isProse: true },
      {
        title: 'ran',
        explanation: 'The code that ran, or the spans that ran on the thread, the innermost first',
        unit: 'text',
        value: ranText,
        spare: 0,
        least: 16,
        isProse: true,
      },
      {
        title: 'delayed',
        explanation: 'Spans of the thread that were open before and after it',
        unit: 'text',
        value: ({ delayed }) => countsText(delayed),
        spare: 0,
        least: 16,
        isProse: true,
      },
    ],
    shownStalls(interruptions.longest),
    STALLS_LIMIT,
    'stalls',
  );
  return { ...table, more: stallsIn(interruptions) - table.rows.length };
}

function whyText(stall: LongStall): string | null {
  const texts = [causeText(stall), stall.atStart ? AT_START : ''].filter((text) => text !== '');
  return texts.length === 0 ? null : texts.join(', ');
}

/** The first ones, and the longest at the start of a process: the table above may name its length. */
function shownStalls(longest: readonly LongStall[]): readonly LongStall[] {
  const atStart = longest.findIndex((stall) => stall.atStart);
  if (atStart < STALLS_LIMIT) return longest;
  const rows = [...longest];
  rows.splice(STALLS_LIMIT - 1, 0, ...rows.splice(atStart, 1));
  return rows;
}

/** How much of the time of the slow spans of each group lay within stalls and collections. */
export function slowShareTable({ slow }: Interruptions): ReportTable<SlowShare> {
  return tableOf<SlowShare>(
    slowShareText(slow),
    [
      { title: 'slowest 5 % of', unit: 'text', value: nameWithSystem, spare: 0, least: 16 },
      serviceColumn(2),
      fieldColumn('count', 'count', 1),
      fieldColumn('time', 'duration', 3),
      {
        title: 'stalled',
        explanation:
          'Their thread was stalled, by any code: also by their own, and while they waited for something else',
        unit: 'share',
        value: ({ stalls, time }) => stalls / time,
        spare: 0,
      },
      {
        title: 'gc',
        explanation: 'Garbage collections',
        unit: 'share',
        value: ({ collections, time }) => collections / time,
        spare: 0,
      },
      {
        title: 'called',
        explanation: 'In a call, while the called thread was stalled or collected garbage',
        unit: 'share',
        value: ({ called, time }) => (slow.some((row) => row.called > 0) ? called / time : null),
        spare: 0,
      },
      { title: 'any', unit: 'share', value: ({ either, time }) => either / time, spare: 2 },
    ],
    slow.filter(({ either }) => either > 0),
    SLOW_LIMIT,
    'groups',
  );
}

/** The title of the table of slow shares. */
function slowShareText(slow: readonly SlowShare[]): string {
  const own =
    'The slowest 5 %: how much of their time their thread was stalled, by any code, or collected garbage (gc)';
  return slow.some(({ called }) => called > 0)
    ? `${own}, and how much that of a called service (called):`
    : `${own}:`;
}
