import { clockNow } from '../core/clock.js';
import { START_OFFSET } from '../heph/layout.js';
import type { SpanAttributes } from './attributes.js';
import { randomWords } from './context/ids.js';
import { openOutput, output } from './recording.js';
import type { Scope } from './scope.js';
import { OPEN, snapshot, Span } from './span.js';
import type { SpanOutput } from './write/span-output.js';

const SAMPLED = 1;
/** Bytes from the end of an attribute's name to its text: type and length. */
const TYPE_AND_LENGTH = 3;
const NAME_LENGTH = 2;
const TEXT_LENGTH = 2;
const WORD = 4;
/** How often two clocks are compared, unless the readings take less than so many nanoseconds. */
const CLOCK_TRIES = 4;
const CLOCK_WIDTH = 2000;

/** Text attributes whose values native code chooses. */
interface StallTexts {
  /** Of one of `causes`, texts of four characters. */
  readonly cause: string;
  readonly causes: readonly string[];
  /** Of the stack that the thread has in the stall. */
  readonly stack: string;
}

/** Where the text of an attribute begins in a record; a number without a meaning if the record does not have it. */
function valueAt(record: Buffer, name: string): number {
  return record.indexOf(name) + name.length + TYPE_AND_LENGTH;
}

/** Whether spans of this thread are being recorded. */
export function isOpen(): boolean {
  return output !== undefined;
}

let threadTrace: Int32Array | undefined;

/** The trace of what this thread itself does. */
function ownTrace(): Int32Array {
  threadTrace ??= randomWords(4);
  return threadTrace;
}

/**
 * Spans of a thread's own activity, apart from any request: spans whose times are known when they are recorded.
 * All of a thread are roots of one trace, which viewers draw on one line. A ratio does not concern them, but a sampler
 * that records no trace records none of them.
 */
export class ThreadSpans {
  readonly #output: SpanOutput;
  readonly #scope: Scope;
  /** A slot in the table of open records; -1: there is none; undefined: none was reserved yet. */
  #slot: number | undefined;
  /** Where the last time of `recordCounters` ended. */
  #counted = -Infinity;
  /** The span whose record native code lets count. */
  #prepared: Span | undefined;

  constructor(output: SpanOutput, scope: Scope) {
    this.#output = output;
    this.#scope = scope;
  }

  /** Spans that are open now. */
  get openSpans(): number {
    return this.#output.ring.openRecords?.taken ?? 0;
  }

  /** Whether no span may be open: a target that is no file does not know. */
  get isIdle(): boolean {
    return this.#output.ring.openRecords?.taken === 0;
  }

  get #isOff(): boolean {
    return this.#output.policy.sampler.ratio === 0;
  }

  /**
   * Records a span.
   *
   * @param from nanoseconds of CLOCK_MONOTONIC, as is `to`.
   * @param by another span that has caused it: it gets a link.
   */
  record(name: string, attributes: SpanAttributes, from: number, to: number, by?: Span): void {
    if (this.#isOff) return;
    this.#record(this.#span(name, attributes), from, to, -1, by);
  }

  /**
   * Records the stall that native code has recorded as lasting, by its prepared record, which is vacant
   * then.
   */
  recordStall(name: string, attributes: SpanAttributes, from: number, to: number, by?: Span): void {
    const prepared = this.#prepared;
    if (prepared === undefined) {
      this.record(name, attributes, from, to, by);
      return;
    }
    prepared.attributes = snapshot(attributes);
    const slot = this.#slot!;
    this.#record(prepared, from, to, slot, by);
    this.#output.ring.openRecords!.vacate(slot);
    this.#prepared = undefined;
  }

  /**
   * Prepares the record of a stall that is yet to come, so that one is recorded from which the thread
   * never returns. Without a table of open records it does nothing.
   */
  prepareStall(name: string, { cause, causes, stack }: StallTexts): void {
    const table = this.#output.ring.openRecords;
    if (table === undefined || this.#isOff) return;
    this.#slot ??= table.reserve();
    if (this.#slot === -1) return;
    const span = this.#span(name, { [cause]: causes[0], [stack]: '' });
    const now = this.#output.timeOf(undefined);
    span.start = now;
    const bytes = this.#output.encodeOpen(span, table.longest)?.bytes;
    if (bytes === undefined) return;
    // What is redacted stays so.
    const causeAt = valueAt(bytes, cause);
    if (bytes.toString('latin1', causeAt, causeAt + WORD) !== causes[0]) return;
    const stackAt = valueAt(bytes, stack);
    const hasStack = stackAt === bytes.length;
    const length = hasStack ? stackAt - TYPE_AND_LENGTH - stack.length - NAME_LENGTH : bytes.length;
    table.bytes.set(bytes, this.#slot);
    table.prepareStall(
      this.#slot,
      length,
      START_OFFSET,
      causeAt,
      Uint32Array.from(causes, (text) => Buffer.from(text, 'latin1').readUInt32BE(0)),
      hasStack ? stackAt - TEXT_LENGTH : 0,
    );
    this.#prepared = span;
  }

  #span(name: string, attributes: SpanAttributes): Span {
    const output = this.#output;
    const [t0, t1, t2, t3] = ownTrace() as unknown as [number, number, number, number];
    const [s0, s1] = randomWords(2) as unknown as [number, number];
    const span = new Span(output, OPEN, name, t0, t1, t2, t3, s0, s1, 0, 0, SAMPLED, '', undefined);
    span.attributes = snapshot(attributes);
    span.scope = output.scopeNumber(this.#scope);
    if (span.scope === 0) span.extra().scope = this.#scope;
    return span;
  }

  /**
   * Records numbers that were counted within a time, as an event that is no span. Times follow each other.
   *
   * @param values u64 each.
   * @param from nanoseconds of CLOCK_MONOTONIC, as is `to`.
   */
  recordCounters(
    description: string,
    values: readonly (readonly [name: string, value: number])[],
    from: number,
    to: number,
  ): void {
    if (this.#isOff) return;
    const zero = this.#clockAtEpoch();
    // Two readings of a clock differ by less than they take.
    const start = Math.max(this.#counted, Math.round(from - zero));
    this.#counted = Math.max(start, Math.round(to - zero));
    this.#output.recordNote(description, values, start, this.#counted);
  }

  /**
   * Records an event that is no span, with numbers and texts.
   *
   * @param from nanoseconds of CLOCK_MONOTONIC, as is `to`.
   */
  recordNote(
    description: string,
    values: readonly (readonly [name: string, value: number | string])[],
    from: number,
    to: number,
  ): void {
    if (this.#isOff) return;
    const zero = this.#clockAtEpoch();
    const [start, end] = [Math.round(from - zero), Math.round(to - zero)];
    this.#output.recordNote(description, values, start, end);
  }

  /** Records that the thread runs since `from`, nanoseconds of CLOCK_MONOTONIC. Whatever ends it writes its end. */
  recordLife(from: number): void {
    if (!this.#isOff) this.#output.recordLife(Math.round(from - this.#clockAtEpoch()));
  }

  /** Has it recorded that the process ran out of heap, if that is its end. Of the main thread. */
  prepareHeapEnd(): void {
    if (!this.#isOff) this.#output.prepareHeapEnd();
  }

  #record(span: Span, from: number, to: number, slot: number, by?: Span): void {
    if (by !== undefined) span.extra().links = [{ to: by }];
    const zero = this.#clockAtEpoch();
    span.start = Math.round(from - zero);
    this.#output.recordPast(span, Math.round(to - zero), slot);
  }

  /** CLOCK_MONOTONIC at the trace's time 0, in nanoseconds. */
  #clockAtEpoch(): number {
    let best = { width: Infinity, zero: 0 };
    // The thread may lose its CPU between two readings.
    for (let i = 0; i < CLOCK_TRIES && best.width > CLOCK_WIDTH; i++) {
      const before = Number(clockNow());
      const time = this.#output.timeOf(undefined);
      const width = Number(clockNow()) - before;
      if (width < best.width) best = { width, zero: Math.round(before + width / 2 - time) };
    }
    return best.zero;
  }
}

/** Opens the output of this thread's spans if need be; undefined: there is none now. */
export function openThreadSpans(scope: Scope): ThreadSpans | undefined {
  const to = openOutput();
  return to === undefined ? undefined : new ThreadSpans(to, scope);
}
