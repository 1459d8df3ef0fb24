import { compareErrors } from '../../compare/compare-errors.js';
import { compareMemory } from '../../compare/compare-memory.js';
import { compareGroups, type RowsOfSide } from '../../compare/compare-groups.js';
import { type IndexRow, rowAt } from '../../index/index-row.js';
import type { GroupExamples } from '../../report/groups/examples.js';
import { selectedCounts } from '../../report/groups/released-groups.js';
import type { LookIndex } from '../../index/look-index.js';
import { reportOf } from '../../report/kept-report.js';
import {
  type CompareAnswer,
  type ExampleRow,
  MOST_OPEN,
  type ReportAnswer,
  type ReportedRow,
} from '../../wire/view-answers.js';
import { WrongQuestion } from '../route.js';
import type { Query, Route } from '../route.js';
import type { Recording } from '../recording.js';
import { chosenRows, conditionOf, conditionOfText, groupsOfText } from '../rows/chosen-rows.js';

/** The report of `tracewright report --json`, of what `where`, `from` and `to` leave, grouped by `by`. */
export const reportRoute: Route = {
  path: '/data/report',
  method: 'GET',
  async answer({ recording, query }) {
    return { json: await reportAnswer(recording, query) };
  },
};

/** Reports of a recording that are kept: one returns to a view. */
const KEPT = 8;
const kept = new WeakMap<Recording, Map<string, Promise<ReportAnswer>>>();

/** The report that is asked for; while a recording stays as it is, an earlier one. */
export function reportAnswer(recording: Recording, query: Query): Promise<ReportAnswer> {
  const { index, live } = recording;
  if (live) return makeAnswer(index, query);
  const answers = kept.get(recording) ?? new Map<string, Promise<ReportAnswer>>();
  kept.set(recording, answers);
  const { key } = query;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const answer = makeAnswer(index, query);
  answers.set(key, answer);
  if (answers.size > KEPT) answers.delete(answers.keys().next().value!);
  answer.catch(() => answers.delete(key));
  return answer;
}

async function makeAnswer(index: LookIndex, query: Query): Promise<ReportAnswer> {
  const slowest = query.integer('slowest', 0, 20);
  const condition = await conditionOf(index, query);
  const by = groupsOfText(query.text('by') ?? '');
  const closer = query.text('closer') !== undefined;
  const options = { condition, slowest, closer, ...by };
  const { report, rows, closer: group } = await reportOf(index, options);
  const reported = (row: number): ReportedRow => {
    const { start, duration } = rowAt(index, row);
    return { row, start, duration };
  };
  return {
    report,
    slowest: rows.slowest.map(reported),
    open: rows.open.slice(0, MOST_OPEN).map(reported),
    threads: rows.threads.map(reported),
    stalls: rows.stalls.map(reported),
    closer: group === undefined ? null : { ...group, examples: exampleRows(group) },
  };
}

/** Those there are, each once. */
function exampleRows({ examples }: { examples: GroupExamples }): ExampleRow[] {
  const found = Object.entries(examples) as [ExampleRow['what'], IndexRow | undefined][];
  return found.flatMap(([what, span]) => {
    if (span === undefined || (what === 'notBlocked' && span.row === examples.slowest?.row))
      return [];
    const { row, start, duration, traceId } = span;
    return [{ what, row, start, duration, traceId }];
  });
}

/**
 * Compares sources with others. It takes the numbers of the sources of each side, the text of the search bar, and
 * attributes to group by, with commas between them.
 */
export const compareRoute: Route = {
  path: '/data/compare',
  method: 'POST',
  async answer({ recording, body, signal }) {
    const question = (body ?? {}) as Record<string, unknown>;
    const { index } = recording;
    const { sources } = index;
    const before = numbersOf('before', question['before'], sources.length);
    const after = numbersOf('after', question['after'], sources.length);
    const { where = '', by = '' } = question;
    if (typeof where !== 'string' || typeof by !== 'string') {
      throw new WrongQuestion('where and by must be texts');
    }
    const { attributes } = groupsOfText(by);
    const condition = await conditionOfText(index, where);
    const rows = await chosenRows(recording, condition, signal);
    const released = [...selectedCounts(index, condition)];
    // What is on both sides counts as before.
    const others = new Set([...after].filter((number) => !before.has(number)));
    const first: RowsOfSide = { index, rows, sources: before, released };
    const second: RowsOfSide = { index, rows, sources: others, released };
    const answer: CompareAnswer = {
      groups: compareGroups(first, second, attributes),
      errors: await compareErrors(first, second),
      memory: compareMemory(first, second),
    };
    return { json: answer };
  },
};

function numbersOf(field: string, value: unknown, end: number): Set<number> {
  const isNumber = (each: unknown): each is number =>
    Number.isInteger(each) && (each as number) >= 0 && (each as number) < end;
  if (!Array.isArray(value) || value.length > end || !value.every(isNumber)) {
    throw new WrongQuestion(`${field} must be a list of numbers of sources, below ${end}`);
  }
  return new Set(value);
}
