import { clockNow } from '../core/clock.js';
import { systemRandom } from '../core/system-random.js';
import { START_OFFSET } from '../heph/layout.js';
import type { SpanAttributes } from './attributes.js';
import { openOutput, output } from './recording.js';
import type { Scope } from './scope.js';
import { OPEN, snapshot, Span } from './span.js';
import type { SpanOutput } from './write/span-output.js';

const SAMPLED = 1;
/** Bytes from the end of an attribute's name to its text: type and length. */
const TYPE_AND_LENGTH = 3;
const WORD = 4;

/** A text attribute whose value native code chooses: texts of four characters. */
export interface StallCauses {
  readonly attribute: string;
  readonly texts: readonly string[];
}

/** Whether spans of this thread are being recorded. */
export function isOpen(): boolean {
  return output !== undefined;
}

/** Words that are random, or as good as. */
function randomWords(count: number): Int32Array<ArrayBuffer> {
  const words = new Int32Array(count);
  if (!systemRandom(new Uint8Array(words.buffer))) {
    for (let i = 0; i < count; i++) words[i] = Math.random() * 2 ** 32;
  }
  return words;
}

/**
 * What a thread itself did, apart from any request: spans whose times are known when they are recorded.
 * All of a thread are roots of one trace, which viewers draw on one line. Sampling does not concern them.
 */
export class ThreadSpans {
  readonly #output: SpanOutput;
  readonly #scope: Scope;
  readonly #trace = randomWords(4);
  /** A reserved place in the table of open records; -1: there is none. */
  readonly #place: number;
  /** The span whose record native code lets count. */
  #prepared: Span | undefined;

  constructor(output: SpanOutput, scope: Scope) {
    this.#output = output;
    this.#scope = scope;
    this.#place = output.ring.openRecords?.reserve() ?? -1;
  }

  /** Spans that are open now. */
  get openSpans(): number {
    return this.#output.ring.openRecords?.taken ?? 0;
  }

  /**
   * Records a span.
   *
   * @param from nanoseconds of CLOCK_MONOTONIC, as is `to`.
   */
  record(name: string, attributes: SpanAttributes, from: number, to: number): void {
    this.#record(this.#span(name, attributes), from, to, -1);
  }

  /**
   * Records the stall that native code has recorded as lasting, by its prepared record, which is vacant
   * then.
   */
  recordStall(name: string, attributes: SpanAttributes, from: number, to: number): void {
    const prepared = this.#prepared;
    if (prepared === undefined) {
      this.record(name, attributes, from, to);
      return;
    }
    prepared.attributes = snapshot(attributes);
    this.#record(prepared, from, to, this.#place);
    this.#output.ring.openRecords!.vacate(this.#place);
    this.#prepared = undefined;
  }

  /**
   * Prepares the record of a stall that is yet to come, so that one is recorded from which the thread
   * never returns. Without a table of open records it does nothing.
   */
  prepareStall(name: string, { attribute, texts }: StallCauses): void {
    const table = this.#output.ring.openRecords;
    if (table === undefined || this.#place === -1) return;
    const span = this.#span(name, { [attribute]: texts[0] });
    const now = this.#output.timeOf(undefined);
    span.start = now;
    const bytes = this.#output.encodeOpen(span, table.longest);
    const nameAt = bytes?.indexOf(attribute) ?? -1;
    if (bytes === undefined || nameAt === -1) return;
    const causeAt = nameAt + attribute.length + TYPE_AND_LENGTH;
    // What is redacted stays so.
    if (bytes.toString('latin1', causeAt, causeAt + WORD) !== texts[0]) return;
    const words = texts.map((text) => Buffer.from(text, 'latin1').readUInt32BE(0));
    table.bytes.set(bytes, this.#place);
    const causes = Uint32Array.from(words);
    table.prepareStall(this.#place, bytes.length, START_OFFSET, causeAt, causes);
    this.#prepared = span;
  }

  #span(name: string, attributes: SpanAttributes): Span {
    const output = this.#output;
    const [t0, t1, t2, t3] = this.#trace as unknown as [number, number, number, number];
    const [s0, s1] = randomWords(2) as unknown as [number, number];
    const span = new Span(output, OPEN, name, t0, t1, t2, t3, s0, s1, 0, 0, SAMPLED, '', undefined);
    span.attributes = snapshot(attributes);
    span.scope = output.scopeNumber(this.#scope);
    if (span.scope === 0) span.extra().scope = this.#scope;
    return span;
  }

  #record(span: Span, from: number, to: number, place: number): void {
    const output = this.#output;
    const ago = output.timeOf(undefined) - Number(clockNow());
    span.start = Math.round(ago + from);
    output.recordPast(span, Math.round(ago + to), place);
  }
}

/** Opens the place of this thread's spans if need be; undefined: there is none now. */
export function openThreadSpans(scope: Scope): ThreadSpans | undefined {
  const to = openOutput();
  return to === undefined ? undefined : new ThreadSpans(to, scope);
}
