import { rowAt } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { entryOf } from '../../../core/map-entries.js';
import { isoTime } from '../measures/units.js';
import { spanName } from '../names/row-name.js';
import type { ErrorType, FailedRequests } from '../shape/report-shape.js';
import { textPattern } from '../../condition/span-condition.js';
import { failedRequest, failedSpan, joinFailures } from './failures.js';
import type { FailedSpan } from './failures.js';

/** Names of spans of one error that are counted apart, and routes of one that are reported. */
const MOST_NAMES = 1000;
const MOST_ROUTES = 5;

interface Tally {
  failure: FailedSpan;
  service: string | null;
  rows: number[];
  names: Map<string, number>;
  /** Of the requests that failed, by service and name. */
  requests: Map<string, FailedRequests>;
  /** Ns of the index: when the first and the last one ended, and the row of that. */
  first: number;
  last: number;
  lastRow: number;
}

/** Errors by type, shape of the message, frame, and service. An error that passed through several spans counts once. */
export class ErrorGroups {
  readonly #index: LookIndex;
  readonly #failures: FailedSpan[] = [];
  #groups: Map<string, Tally> | undefined;

  constructor(index: LookIndex) {
    this.#index = index;
  }

  /** @param row of a failed span. */
  add(row: number): void {
    this.#failures.push(failedSpan(this.#index, row));
    this.#groups = undefined;
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
    joinFailures(this.#index, this.#failures);
    const groups = new Map<string, Tally>();
    const failed = new Set<number>();
    for (const failure of this.#failures) {
      if (failure.cause === undefined) this.#add(failure, groups, failed);
    }
    return groups;
  }

  /** @param failed rows of the requests that are counted. */
  #add(failure: FailedSpan, groups: Map<string, Tally>, failed: Set<number>): void {
    const { row, end, name, type, message, frame } = failure;
    const { service } = rowAt(this.#index, row);
    // A type alone says little: what failed with it is something else for each operation.
    const own = message === null && frame === null ? name : null;
    const key = [service, type, message, frame?.text, own].join('\0');
    const tally = entryOf(groups, key, (): Tally => ({
      failure,
      service,
      rows: [],
      names: new Map(),
      requests: new Map(),
      first: Infinity,
      last: -Infinity,
      lastRow: row,
    }));
    tally.rows.push(row);
    const seen = tally.names.get(name);
    if (seen !== undefined || tally.names.size < MOST_NAMES) tally.names.set(name, (seen ?? 0) + 1);
    const request = failedRequest(this.#index, row);
    if (request !== undefined && !failed.has(request)) {
      failed.add(request);
      const own = rowAt(this.#index, request);
      const named = { name: spanName(own), service: own.service, count: 0 };
      entryOf(tally.requests, `${named.service} ${named.name}`, () => named).count += 1;
    }
    tally.first = Math.min(tally.first, end);
    if (end <= tally.last) return;
    tally.last = end;
    tally.lastRow = row;
  }

  #describe(tally: Tally, known: ReadonlySet<string> | undefined): ErrorType {
    const { failure, service, rows, names, first, last, lastRow, requests } = tally;
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
      requests: [...requests.values()].sort((a, b) => b.count - a.count).slice(0, MOST_ROUTES),
      first: isoTime(epoch, first),
      last: isoTime(epoch, last),
      example: rowAt(this.#index, lastRow).traceId,
      isNew: known === undefined ? null : !known.has(keyOf(tally, true)),
      where: [`cause=${causeOf(tally)}`],
    };
  }
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
