import { hexWord } from '../../core/words-text.js';
import { KINDS, STATUSES, SERVER } from '../../spans/layout.js';
import type { SpanKind } from '../../spans/layout.js';
import {
  INSTANT_BIT,
  KIND_MASK,
  NO_TEXT,
  NO_TRACE,
  STATUS_MASK,
  STATUS_SHIFT,
  UNFINISHED_BIT,
  failedOf,
} from './look-index.js';
import type { IndexPart, LookIndex } from './look-index.js';

const CLIENT = KINDS.indexOf('client');
const CONSUMER = KINDS.indexOf('consumer');

/** Whether a row is a call of another service. */
export function isCallOf(flags: number): boolean {
  return (flags & KIND_MASK) === CLIENT;
}

/** Whether a row is a request: what a service was asked to do. */
export function isRequest(flags: number): boolean {
  const kind = flags & KIND_MASK;
  return kind === SERVER || kind === CONSUMER;
}

export function isError(flags: number): boolean {
  return failedOf(flags) === 1;
}

/** One row of the columns. Loops over many rows read the columns themselves. */
export class IndexRow {
  readonly part: IndexPart;
  /** Its number in the part. */
  readonly at: number;

  constructor(part: IndexPart, at: number) {
    this.part = part;
    this.at = at;
  }

  get row(): number {
    return this.part.firstRow + this.at;
  }

  /** Ns of the index. */
  get start(): number {
    return this.part.start[this.at]! + this.part.offset;
  }

  get duration(): number {
    return this.part.duration[this.at]!;
  }

  get end(): number {
    return this.start + this.duration;
  }

  get name(): string {
    return this.part.names.text(this.part.name[this.at]!);
  }

  /** `http`, `redis`; null: it names none. */
  get system(): string | null {
    return this.part.names.system(this.part.name[this.at]!) ?? null;
  }

  get route(): string | undefined {
    const number = this.part.route[this.at]!;
    return number === NO_TEXT ? undefined : this.part.names.text(number);
  }

  get service(): string | null {
    return this.part.source.service ?? null;
  }

  get track(): number {
    return this.part.track[this.at]!;
  }

  /** A row, NO_PARENT or MISSING_PARENT. */
  get parent(): number {
    return this.part.parent[this.at]!;
  }

  /** Null: it belongs to no trace. */
  get traceId(): string | null {
    const trace = this.part.trace[this.at]!;
    return trace === NO_TRACE ? null : this.part.traceId(trace);
  }

  /** 16 hexadecimal digits; undefined: it has none. */
  get spanId(): string | undefined {
    const { spanId } = this.part;
    const [high, low] = [spanId[2 * this.at]!, spanId[2 * this.at + 1]!];
    return high === 0 && low === 0 ? undefined : hexWord(high) + hexWord(low);
  }

  get flags(): number {
    return this.part.flags[this.at]!;
  }

  get kind(): SpanKind {
    return KINDS[Math.min(this.flags & KIND_MASK, KINDS.length - 1)]!;
  }

  get status(): 'unset' | 'ok' | 'error' {
    return STATUSES[(this.flags >> STATUS_SHIFT) & STATUS_MASK] ?? 'unset';
  }

  get unfinished(): boolean {
    return (this.flags & UNFINISHED_BIT) !== 0;
  }

  get isInstant(): boolean {
    return (this.flags & INSTANT_BIT) !== 0;
  }

  get isCall(): boolean {
    return isCallOf(this.flags);
  }

  get isRequest(): boolean {
    return isRequest(this.flags);
  }
}

export function rowAt(index: LookIndex, row: number): IndexRow {
  const part = index.partOf(row);
  return new IndexRow(part, row - part.firstRow);
}

/** A row and those above it, from below: at most so many, because a circle of parents has no end. */
export function* rowsUpward(
  index: LookIndex,
  row: number,
  most: number,
): Generator<IndexRow, void> {
  let next = row;
  for (let steps = 0; next >= 0 && steps < most; steps++) {
    const above = rowAt(index, next);
    yield above;
    next = above.parent;
  }
}
