import { KINDS, STATUSES } from '../../../spans/layout.js';
import { includesSource } from '../../condition/source-condition.js';
import { attributesCondition, textPattern } from '../../condition/span-condition.js';
import {
  type Condition,
  type FoundRows,
  KIND_MASK,
  MISSING_PARENT,
  NO_TRACE,
  STATUS_MASK,
  STATUS_SHIFT,
  UNFINISHED_BIT,
} from '../look-index.js';
import { BLOCK_ROWS } from '../parts/attribute-blocks.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import { Turns } from '../turns.js';
import { AttributeMatch, NO, type Verdict, YES } from './attribute-match.js';

const NONE = new Int32Array(0);
const TRACE_ID = /^[0-9a-f]{32}$/;

/** Reads records of a part by the rows of the part. */
export interface PartRecords {
  /** Whether a row has some attributes, as far as its bytes say it. */
  meets(row: number, match: AttributeMatch): Verdict;
  attributes(row: number): Readonly<Record<string, unknown>>;
  /** Closes the file that was opened for it. */
  close(): void;
}

/**
 * Yields the rows of parts that meet a condition, block by block, and once a turn of the event loop how far it has come:
 * also where nothing is found.
 */
export async function* findRows(
  parts: readonly IndexedPart[],
  condition: Condition,
  recordsOf: (part: IndexedPart) => PartRecords,
): AsyncGenerator<FoundRows, void> {
  // Rows that are given meet the rest.
  const { attributes = [] } = condition.rows === undefined ? condition : {};
  const match = attributes.length > 0 ? new AttributeMatch(attributes) : undefined;
  const hasAttributes = attributesCondition({ attributes });
  const turns = new Turns();
  for (const part of parts) {
    const test = testOf(part, condition);
    if (test === undefined) continue;
    const records = match && recordsOf(part);
    // Other rows have no hashes of their attributes.
    const filters = match && part.stored.openAttributes === undefined ? part.filters : undefined;
    try {
      for (let first = 0; first < part.count; first += BLOCK_ROWS) {
        if (turns.isOver) {
          await turns.next();
          yield { rows: NONE, upTo: part.firstRow + first };
        }
        if (filters && match?.isInBlock(filters, first / BLOCK_ROWS) === false) continue;
        const found: number[] = [];
        const to = Math.min(part.count, first + BLOCK_ROWS);
        for (let row = first; row < to; row++) {
          if (!test(row)) continue;
          if (records) {
            const verdict = records.meets(row, match);
            if (verdict === NO) continue;
            if (verdict !== YES && hasAttributes?.(records.attributes(row)) !== true) continue;
          }
          found.push(part.firstRow + row);
        }
        if (found.length > 0) yield { rows: Int32Array.from(found), upTo: part.firstRow + to };
      }
    } finally {
      records?.close();
    }
  }
}

/** A test of the part's rows by its columns alone; undefined: none can meet the condition. */
function testOf(part: IndexedPart, condition: Condition): ((row: number) => boolean) | undefined {
  const tests: ((row: number) => boolean)[] = [];
  const { from, to, name, system, status, kind, traceId, cause, rows } = condition;
  if (!includesSource(condition, part.source)) return undefined;
  if (cause !== undefined && rows === undefined) return undefined;
  if (rows !== undefined) return (row) => rows.has(part.firstRow + row);
  if (traceId !== undefined) {
    if (!TRACE_ID.test(traceId)) return undefined;
    const trace = part.findTrace(wordsOf(traceId));
    if (trace === -1) return undefined;
    const { trace: traces } = part;
    tests.push((row) => traces[row] === trace);
  }
  if (from !== undefined || to !== undefined) {
    const { start, duration } = part;
    const first = (from ?? -Infinity) - part.offset;
    const last = (to ?? Infinity) - part.offset;
    tests.push((row) => {
      const begin = start[row]!;
      return begin < last && (begin >= first || begin + duration[row]! > first);
    });
  }
  if (name !== undefined) {
    const matches = textPattern(name);
    tests.push(namesThat(part, (number) => matches(part.names.text(number))));
  }
  if (system !== undefined) {
    tests.push(namesThat(part, (number) => part.names.system(number) === system));
  }
  if (status !== undefined) {
    const wanted = STATUSES.indexOf(status);
    const isStatus = (flags: number): boolean => ((flags >> STATUS_SHIFT) & STATUS_MASK) === wanted;
    const { trace, flags } = part;
    tests.push((row) => trace[row] !== NO_TRACE && isStatus(flags[row]!));
  }
  if (kind !== undefined) {
    const wanted = KINDS.indexOf(kind);
    const { trace, flags } = part;
    tests.push((row) => trace[row] !== NO_TRACE && (flags[row]! & KIND_MASK) === wanted);
  }
  if (condition.unfinished !== undefined) {
    const { unfinished } = condition;
    const { flags } = part;
    tests.push((row) => ((flags[row]! & UNFINISHED_BIT) !== 0) === unfinished);
  }
  if (condition.missingParent !== undefined) {
    const { missingParent } = condition;
    const { parent } = part;
    tests.push((row) => (parent[row] === MISSING_PARENT) === missingParent);
  }
  const { minDuration, maxDuration } = condition;
  if (minDuration !== undefined || maxDuration !== undefined) {
    const { duration } = part;
    const [least, most] = [minDuration ?? -Infinity, maxDuration ?? Infinity];
    tests.push((row) => duration[row]! >= least && duration[row]! <= most);
  }
  return (row) => tests.every((test) => test(row));
}

/** Four words of 32 hexadecimal digits. */
export function wordsOf(traceId: string): number[] {
  return [0, 8, 16, 24].map((at) => Number.parseInt(traceId.slice(at, at + 8), 16));
}

const UNKNOWN = 0;
const IS = 1;
const IS_NOT = 2;

/** Which names are as wanted. Each is looked at once. */
function namesThat(
  { names, name }: IndexedPart,
  test: (name: number) => boolean,
): (row: number) => boolean {
  const known = new Uint8Array(names.count);
  return (row) => {
    const number = name[row]!;
    if (known[number] === UNKNOWN) known[number] = test(number) ? IS : IS_NOT;
    return known[number] === IS;
  };
}
