import { isError, rowAt } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import { NO_TRACE } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import { entryOf } from '../../../core/map-entries.js';
import { isoTime } from '../measures/units.js';
import { spanName } from '../names/row-name.js';
import type { ErrorType, FailedRequests } from '../shape/report-shape.js';
import { textPattern } from '../../condition/span-condition.js';
import { causesOf, failedSpan, joinFailures, requestAbove } from './failures.js';
import type { FailedSpan } from './failures.js';
import type { Steps } from '../../index/turns.js';

/** Names of spans of one error that are counted apart, and routes of one that are reported. */
const MOST_NAMES = 1000;
const MOST_ROUTES = 5;
/** Spans that are read in a step. */
export const READ_A_STEP = 50;

interface Tally {
  failure: FailedSpan;
  service: string | null;
  rows: number[];
  names: Map<string, number>;
  /** Of the requests that failed, by service and name. */
  requests: Map<string, FailedRequests>;
  /** Those that did not fail. */
  caught: Map<string, FailedRequests>;
  /** Ns of the index: when the first and the last one ended, and the row of that. */
  first: number;
  last: number;
  lastRow: number;
}

/** Errors by type, shape of the message, frame, and service. An error that passed through several spans counts once. */
export class ErrorGroups {
  readonly #index: LookIndex;
  readonly #failures: FailedSpan[] = [];
  /** Others of their traces, in which an error may have begun: they are not counted. */
  readonly #others: FailedSpan[] = [];
  /** Rows of those that are counted, or would be if they had been read. */
  #isSelected: (row: number) => boolean = () => true;
  #groups: Map<string, Tally> | undefined;

  constructor(index: LookIndex) {
    this.#index = index;
  }

  /** @param row of a failed span. */
  add(row: number): void {
    this.#failures.push(failedSpan(this.#index, row));
    this.#groups = undefined;
  }

  /**
   * Reads the spans that failed with those that were added: one of a request alone says only that it failed.
   *
   * @param most that are read.
   * @param isSelected whether one is to be added, too.
   */
  *addOthers(most: number, isSelected: (row: number) => boolean): Steps<void> {
    const index = this.#index;
    this.#isSelected = isSelected;
    const known = new Set(this.#failures.map(({ row }) => row));
    const traces = new Set<number>();
    for (const row of known) {
      const { part, at } = rowAt(index, row);
      traces.add(traceWord(part, at));
    }
    for (const part of index.parts) {
      yield;
      const { flags, firstRow, count } = part;
      for (let at = 0; at < count; at++) {
        if (!isError(flags[at]!) || !traces.has(traceWord(part, at))) continue;
        if (known.has(firstRow + at)) continue;
        if (this.#others.length === most) return;
        this.#others.push(failedSpan(index, firstRow + at));
        if (this.#others.length % READ_A_STEP === 0) yield;
      }
    }
  }

  /** By which an error is known again in another recording, or at another time: see `ErrorFrame`. */
  keys(withService: boolean): Set<string> {
    return new Set([...this.#tallies.values()].map((tally) => keyOf(tally, withService)));
  }

  /**
   * The most frequent first.
   *
   * @param known keys of what is not new; undefined: nobody asks.
   */
  types(known?: ReadonlySet<string>): ErrorType[] {
    const sorted = [...this.#tallies.values()].sort((a, b) => b.rows.length - a.rows.length);
    return sorted.map((tally) => this.#describe(tally, known));
  }

  /** Each with its key. */
  *described(withService: boolean): Generator<{ key: string; error: ErrorType }, void> {
    for (const tally of this.#tallies.values()) {
      yield { key: keyOf(tally, withService), error: this.#describe(tally, undefined) };
    }
  }

  /** `causeOf` each. */
  get causes(): string[] {
    return [...this.#tallies.values()].map(causeOf);
  }

  /** The rows of the errors whose `causeOf` matches, where `*` is any text. */
  rowsOf(cause: string): Set<number> {
    const matches = textPattern(cause);
    const found = [...this.#tallies.values()].filter((tally) => matches(causeOf(tally)));
    return new Set(found.flatMap(({ rows }) => rows));
  }

  /** The calls that failed. */
  *calls(): Generator<IndexRow, void> {
    for (const { row } of this.#failures) {
      const own = rowAt(this.#index, row);
      if (own.isCall) yield own;
    }
  }

  get #tallies(): ReadonlyMap<string, Tally> {
    return (this.#groups ??= this.#count());
  }

  #count(): Map<string, Tally> {
    joinFailures(this.#index, [...this.#failures, ...this.#others]);
    const groups = new Map<string, Tally>();
    const counted = new Set<number | string>();
    for (const span of this.#failures) {
      const causes = [...causesOf(span)];
      if (causes.some(({ row }) => this.#isSelected(row))) continue;
      this.#add(span, causes.at(-1) ?? span, groups, counted);
    }
    return groups;
  }

  /**
   * @param failure that of the span, or the one in which it began.
   * @param counted rows of the failed requests that are counted, and keys of errors with rows of others.
   */
  #add(
    { row, end }: FailedSpan,
    failure: FailedSpan,
    groups: Map<string, Tally>,
    counted: Set<number | string>,
  ): void {
    const { name, type, message, frame } = failure;
    const { service } = rowAt(this.#index, failure.row);
    // A type alone says little: what failed with it is something else for each operation.
    const own = message === null && frame === null ? name : null;
    const key = [service, type, message, frame?.text, own].join('\0');
    const tally = entryOf(groups, key, (): Tally => ({
      failure,
      service,
      rows: [],
      names: new Map(),
      requests: new Map(),
      caught: new Map(),
      first: Infinity,
      last: -Infinity,
      lastRow: row,
    }));
    tally.rows.push(row);
    const seen = tally.names.get(name);
    if (seen !== undefined || tally.names.size < MOST_NAMES) tally.names.set(name, (seen ?? 0) + 1);
    const request = requestAbove(this.#index, row);
    if (request !== undefined) {
      // A request fails once, and may catch several errors.
      const hasFailed = isError(request.flags);
      const once = hasFailed ? request.row : `${request.row} ${key}`;
      const named = { name: spanName(request), service: request.service, count: 0 };
      const of = hasFailed ? tally.requests : tally.caught;
      if (!counted.has(once)) entryOf(of, `${named.service} ${named.name}`, () => named).count += 1;
      counted.add(once);
    }
    tally.first = Math.min(tally.first, end);
    if (end <= tally.last) return;
    tally.last = end;
    tally.lastRow = row;
  }

  #describe(tally: Tally, known: ReadonlySet<string> | undefined): ErrorType {
    const { failure, service, rows, names, first, last, lastRow, requests, caught } = tally;
    const { type, message, frame } = failure;
    const [[name]] = [...names].sort(([, a], [, b]) => b - a) as [[string, number]];
    const { epoch } = this.#index;
    return {
      type,
      message,
      frame: frame?.text ?? null,
      name,
      names: names.size,
      service,
      count: rows.length,
      requests: mostOf(requests),
      caught: mostOf(caught),
      first: isoTime(epoch, first),
      last: isoTime(epoch, last),
      example: rowAt(this.#index, lastRow).traceId,
      isNew: known === undefined ? null : !known.has(keyOf(tally, true)),
      where: [`cause=${causeOf(tally)}`],
    };
  }
}

function mostOf(requests: ReadonlyMap<string, FailedRequests>): FailedRequests[] {
  return [...requests.values()].sort((a, b) => b.count - a.count).slice(0, MOST_ROUTES);
}

/** The last word of the id of a row's trace, which is random; -1: it has none. */
function traceWord({ trace, traceIds }: IndexPart, at: number): number {
  const number = trace[at]!;
  return number === NO_TRACE ? -1 : traceIds[4 * number + 3]!;
}

/** `shop: RangeError at reserve (/app/stock.js:12:9): no stock of ?`: differs where errors do. */
function causeOf({ service, failure }: Tally): string {
  const { type, message, frame, name } = failure;
  const at = frame === null ? '' : ` at ${frame.text}`;
  const more = message === null ? (frame === null ? ` of ${name}` : '') : `: ${message}`;
  // A search has no sign for it within a quotation.
  return `${service ?? 'no service'}: ${type ?? 'an error'}${at}${more}`.replaceAll('"', "'");
}

function keyOf({ failure, service }: Tally, withService: boolean): string {
  const { name, type, message, frame } = failure;
  const own = message === null && frame === null ? name : undefined;
  return JSON.stringify([withService ? service : null, type, message, frame?.key, own]);
}
