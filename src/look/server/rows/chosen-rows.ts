import { TracewrightError } from '../../../core/errors.js';
import { entryOf } from '../../../core/map-entries.js';
import { enlarged } from '../../../rows/row-columns.js';
import { groupsBy, parseFindText } from '../../condition/where.js';
import {
  type Condition,
  type IndexPart,
  INSTANT_BIT,
  type LookIndex,
} from '../../index/look-index.js';
import { withCauseRows } from '../../report/errors/error-types.js';
import { type Query, WrongQuestion } from '../route.js';
import type { Recording } from '../recording.js';
import { listedParts } from './listed-parts.js';

/** Answers that are kept: several tables ask for the same rows. */
const KEPT = 4;

const counted = new WeakMap<IndexPart, number>();
const kept = new WeakMap<Recording, Map<string, Int32Array>>();

/**
 * The rows that a question is about: `where` (the text of the search), without `hidden` services, and `from` and `to`.
 *
 * @throws WrongQuestion for a text that is no condition.
 */
export function conditionOf(index: LookIndex, query: Query): Promise<Condition> {
  const hidden = query.text('hidden');
  return conditionOfText(index, query.text('where') ?? '', {
    ...(hidden !== undefined && { hidden: hidden.split('\n') }),
    ...(query.text('from') !== undefined && query.range()),
  });
}

/** The condition of a text of the search bar, and more of it. @throws WrongQuestion if it is none. */
export async function conditionOfText(
  index: LookIndex,
  text: string,
  more: Condition = {},
): Promise<Condition> {
  try {
    return await withCauseRows(index, { ...parseFindText(text), ...more });
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    const { value, limit } = error;
    throw new WrongQuestion(`“${String(value)}” is not understood: use ${String(limit)}.`);
  }
}

/** Reads the grouping of a text; empty: the usual one. @throws WrongQuestion if the text names none. */
export function groupsOfText(text: string): ReturnType<typeof groupsBy> {
  try {
    return text === '' ? {} : groupsBy([text]);
  } catch (error) {
    throw new WrongQuestion(`what to group by ${(error as Error).message}`);
  }
}

/** Whether every span meets a condition. */
export function isEverySpan(condition: Condition): boolean {
  return Object.keys(condition).length === 0;
}

/** The result of an earlier `chosenRows`, if it is kept. */
export function knownRows(
  recording: Recording,
  condition: Condition,
  states: boolean,
): Int32Array | undefined {
  return kept.get(recording)?.get(keyOf(recording, condition, states));
}

/** How many rows of listed parts have a duration. Each part is counted once. */
export function countSpans(recording: Recording, states: boolean): number {
  let count = 0;
  for (const part of listedParts(recording.index, states)) count += countSpansOf(part);
  return count;
}

export function countSpansOf(part: IndexPart): number {
  return entryOf(counted, part, () => spansIn(part.flags));
}

function spansIn(flags: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < flags.length; at++) if ((flags[at]! & INSTANT_BIT) === 0) count += 1;
  return count;
}

/** Rows that meet a condition, ascending by part. */
export async function chosenRows(
  recording: Recording,
  condition: Condition,
  signal: AbortSignal,
  states = true,
): Promise<Int32Array> {
  const answers = kept.get(recording) ?? new Map<string, Int32Array>();
  kept.set(recording, answers);
  const key = keyOf(recording, condition, states);
  const known = answers.get(key);
  if (known !== undefined) return known;
  const rows = isEverySpan(condition)
    ? everyRow(recording, states)
    : await matchingRows(recording, condition, signal, states);
  answers.set(key, rows);
  for (const old of answers.keys()) {
    if (answers.size <= KEPT) break;
    answers.delete(old);
  }
  return rows;
}

/** The rows of a cause follow from the rest. */
function keyOf({ revision }: Recording, condition: Condition, states: boolean): string {
  return `${revision} ${states} ${JSON.stringify({ ...condition, rows: undefined })}`;
}

function everyRow(recording: Recording, states: boolean): Int32Array {
  const rows = new Int32Array(recording.index.rows);
  let size = 0;
  for (const part of listedParts(recording.index, states)) {
    const { flags, firstRow, count } = part;
    for (let at = 0; at < count; at++) {
      if ((flags[at]! & INSTANT_BIT) === 0) rows[size++] = firstRow + at;
    }
  }
  return rows.subarray(0, size);
}

async function matchingRows(
  recording: Recording,
  condition: Condition,
  signal: AbortSignal,
  states: boolean,
): Promise<Int32Array> {
  const { index } = recording;
  const listed = new Set(listedParts(recording.index, states));
  let rows = new Int32Array(4096);
  let size = 0;
  for await (const { rows: found } of index.search(condition)) {
    signal.throwIfAborted();
    // Those of one part come together.
    if (found.length === 0 || !listed.has(index.partOf(found[0]!))) continue;
    if (size + found.length > rows.length) {
      rows = enlarged(rows, Math.max(2 * rows.length, size + found.length));
    }
    rows.set(found, size);
    size += found.length;
  }
  return rows.subarray(0, size);
}
