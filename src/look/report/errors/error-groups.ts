import type { RecordedValue, SpanRecord } from '../../../spans/span-record.js';
import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { recordedSpan } from '../names/recorded-attributes.js';
import type { ErrorType } from '../shape/report-shape.js';
import { isoTime } from '../measures/units.js';

/** Characters of a message that are looked at. */
const MOST_MESSAGE = 1000;
/** Characters that a shape has at most. */
const MOST_SHAPE = 200;
/** Lines of a stack that are looked at. */
const MOST_FRAMES = 100;
const VALUE = '?';

/** In this order. An apostrophe within a word begins no quotation. */
const VALUES: readonly RegExp[] = [
  /(?<!\w)(["'`“‘«]).{0,500}?["'`”’»](?!\w)/g,
  // A UUID.
  /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi,
  // Hexadecimal ids, of digits and letters or of digits alone.
  /\b(?:0x[\da-f]+|(?=[a-f]*\d)[\da-f]{8,})\b/gi,
  // Words of letters and two digits or more: `usr_k3j9x2`.
  /\b(?=[\w-]{6})(?=[\w-]*[a-z])\w*\d[\w-]*\d\w*/gi,
  // Numbers, addresses, times.
  /(?<![\w?])-?\d+(?:[.,:_-]\d+)*|\d+(?:[.,:_-]\d+)*/g,
];

/**
 * The part that messages of one cause share: the first line, with numbers, ids and quoted values as `?`. Null: it is
 * empty.
 */
export function messageShape(message: string): string | null {
  const [line = ''] = message.slice(0, MOST_MESSAGE).trim().split('\n', 1);
  let shape = line.replace(/\s+/g, ' ').trim();
  for (const value of VALUES) shape = shape.replace(value, VALUE);
  if (shape === '') return null;
  return shape.length > MOST_SHAPE ? `${shape.slice(0, MOST_SHAPE)}…` : shape;
}

/** Where an error was made. */
interface ErrorFrame {
  /** `reserve (/app/src/stock.js:12:9)` */
  text: string;
  /** The same without line and directory, which change with every release: `reserve stock.js`. */
  key: string;
}

/** A frame of V8: `at async reserve (file:///app/stock.js:12:9)`. */
const FRAME = /^\s*at (?:async )?(?:(.{1,300}?) \()?(?:file:\/\/)?([^()]{1,1000}):(\d+):(\d+)\)?$/;
const OF_NODE = /^node:/;
const OF_PACKAGE = /[\\/]node_modules[\\/]/;

/**
 * The first frame of a stack that is the program's own. If there is none: of a package, else of Node. Null: the stack
 * has no frame.
 */
export function errorFrame(stack: string): ErrorFrame | null {
  const found: (ErrorFrame | undefined)[] = [];
  for (const line of stack.split('\n', MOST_FRAMES)) {
    const [, name = '', file = '', row, column] = FRAME.exec(line) ?? [];
    if (row === undefined) continue;
    const rank = OF_NODE.test(file) ? 2 : OF_PACKAGE.test(file) ? 1 : 0;
    const where = `${file}:${row}:${column!}`;
    found[rank] ??= {
      text: name === '' ? where : `${name} (${where})`,
      key: `${name} ${file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)}`,
    };
    if (rank === 0) break;
  }
  return found.find((frame) => frame !== undefined) ?? null;
}

const TYPE = 'error.type';
/** Names of spans of one error that are counted apart. */
const MOST_NAMES = 1000;

/** The error that a failed span has recorded. */
interface Failure {
  type: string | null;
  /** Whether the type is an attribute of the span: only those can be searched for. */
  hasAttribute: boolean;
  message: string | null;
  frame: ErrorFrame | null;
}

interface Tally {
  failure: Failure;
  service: string | null;
  hasAttribute: boolean;
  count: number;
  names: Map<string, number>;
  /** Ns of the index: when the first and the last one ended, and the row of that. */
  first: number;
  last: number;
  lastRow: number;
}

/** Failed spans by the type of their error, the shape of its message, its frame, and the service. */
export class ErrorGroups {
  readonly #index: LookIndex;
  readonly #groups = new Map<string, Tally>();

  constructor(index: LookIndex) {
    this.#index = index;
  }

  /** @param row of a failed span. */
  add(row: number): void {
    const { name, service, end } = rowAt(this.#index, row);
    const failure = failureOf(recordedSpan(this.#index, row));
    const { type, message, frame } = failure;
    // A type alone says little: what failed with it is something else for each operation.
    const own = message === null && frame === null ? name : null;
    const key = JSON.stringify([service, type, message, frame?.text, own]);
    const known = this.#groups.get(key);
    const tally: Tally = known ?? {
      failure,
      service,
      hasAttribute: true,
      count: 0,
      names: new Map(),
      first: Infinity,
      last: -Infinity,
      lastRow: row,
    };
    if (known === undefined) this.#groups.set(key, tally);
    tally.count += 1;
    tally.hasAttribute &&= failure.hasAttribute;
    const seen = tally.names.get(name);
    if (seen !== undefined || tally.names.size < MOST_NAMES) tally.names.set(name, (seen ?? 0) + 1);
    tally.first = Math.min(tally.first, end);
    if (end <= tally.last) return;
    tally.last = end;
    tally.lastRow = row;
  }

  /** By which an error is known again in another recording, or at another time: see `ErrorFrame`. */
  keys(withService: boolean): Set<string> {
    return new Set([...this.#groups.values()].map((tally) => keyOf(tally, withService)));
  }

  /**
   * The most frequent first.
   *
   * @param known keys of what is not new; undefined: nobody asks.
   */
  types(known?: ReadonlySet<string>): ErrorType[] {
    const sorted = [...this.#groups.values()].sort((a, b) => b.count - a.count);
    return sorted.map((tally) => this.#describe(tally, known));
  }

  /** Each with its key. */
  *described(withService: boolean): Generator<{ key: string; error: ErrorType }, void> {
    for (const tally of this.#groups.values()) {
      yield { key: keyOf(tally, withService), error: this.#describe(tally, undefined) };
    }
  }

  #describe(tally: Tally, known: ReadonlySet<string> | undefined): ErrorType {
    const { failure, service, count, names, first, last, lastRow, hasAttribute } = tally;
    const { type, message, frame } = failure;
    const [[name]] = [...names].sort(([, a], [, b]) => b - a) as [[string, number]];
    const { epoch } = this.#index;
    const where = [
      'status=error',
      ...(names.size === 1 ? [`name=${name}`] : []),
      ...(service === null ? [] : [`service=${service}`]),
      ...(hasAttribute && type !== null ? [`${TYPE}=${type}`] : []),
    ];
    return {
      type,
      message,
      frame: frame?.text ?? null,
      name,
      names: names.size,
      service,
      count,
      first: isoTime(epoch, first),
      last: isoTime(epoch, last),
      example: rowAt(this.#index, lastRow).traceId,
      isNew: known === undefined ? null : !known.has(keyOf(tally, true)),
      where,
    };
  }
}

function keyOf({ failure, service, names }: Tally, withService: boolean): string {
  const { type, message, frame } = failure;
  const [own] = message === null && frame === null ? names.keys() : [];
  return JSON.stringify([withService ? service : null, type, message, frame?.key, own]);
}

function failureOf(span: SpanRecord | undefined): Failure {
  const attribute = span?.attributes[TYPE];
  const exception = span?.events.findLast(({ name }) => name === 'exception')?.attributes ?? {};
  const type = attribute ?? exception['exception.type'] ?? null;
  const message = textOf(exception['exception.message']) ?? span?.status.message ?? '';
  return {
    type: type === null ? null : String(type),
    hasAttribute: attribute != null,
    message: messageShape(message),
    frame: errorFrame(textOf(exception['exception.stacktrace']) ?? ''),
  };
}

function textOf(value: RecordedValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
