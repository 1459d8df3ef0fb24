import type { OpenRecords } from '../../core/ring/open-records.js';
import { nameAt } from '../../heph/layout.js';
import { prefixed } from '../../heph/write/event-text.js';
import type { SpanValue } from '../attributes.js';
import type { Scope } from '../scope.js';
import { OPEN, Span } from '../span.js';
import type { ShapedSpans, TemplateRecord } from './span-shapes.js';

/** The record of an open span. */
export interface OpenRecord {
  readonly bytes: Buffer;
  /** Whether it lacks nothing but a stamp, and ends with the attributes. */
  readonly isWhole: boolean;
}

/** What encodes open spans, and knows scopes by their numbers. */
export interface TemplateOutput extends ShapedSpans {
  scopeNumber(scope: Scope): number;
  /** Of the scopes of open spans: bits above their numbers. */
  readonly openMark: number;
  /** The record of a span that is still open, of at most `limit` bytes; undefined: it cannot be so small. */
  encodeOpen(span: Span, limit: number): OpenRecord | undefined;
}

/**
 * Spans that differ in ids and times, and in one text if they have one: the end of the value of their last attribute.
 * The rest of their records is encoded once.
 */
export class SpanTemplate implements TemplateRecord {
  readonly scope: Scope;
  readonly name: string;
  /** The kind, in the bits of the flags. */
  readonly kind: number;
  /** Makes the attributes of a span. */
  readonly attributesOf: (text: string) => Record<string, SpanValue>;
  /** Whether the last attribute ends with the text. */
  readonly hasText: boolean;
  prefixBytes = 0;
  readonly idsAt: number;
  /** What the record was encoded for. */
  output: TemplateOutput | undefined;
  record: Buffer | undefined;
  bytes = 0;
  copied = -1;
  /** The number of the scope; 0: it has none. */
  scopeNumber = 0;
  /** The same with the mark of open spans. */
  scopeWord = 0;
  writer = 0;
  count = 0;

  constructor(
    scope: Scope,
    name: string,
    kind: number,
    attributesOf: (text: string) => Record<string, SpanValue>,
    hasText: boolean,
  ) {
    this.scope = scope;
    this.name = name;
    this.kind = kind;
    this.attributesOf = attributesOf;
    this.hasText = hasText;
    this.idsAt = nameAt(0) + prefixed(name).length;
  }

  /** Encodes the record for a table. */
  encode(output: TemplateOutput, table: OpenRecords): void {
    this.output = output;
    this.record = undefined;
    this.bytes = 0;
    const span = new Span(
      undefined,
      OPEN,
      this.name,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      this.kind,
      '',
      undefined,
    );
    span.start = 0;
    this.scopeNumber = output.scopeNumber(this.scope);
    this.scopeWord = this.scopeNumber | output.openMark;
    span.scope = this.scopeNumber;
    span.attributes = this.attributesOf('');
    // With more room than there is: a record that was cut to fit would lack attributes.
    const record = output.encodeOpen(span, 2 * table.longest)?.bytes;
    const { own = {} } = span;
    const names = Object.keys(own).filter((name) => own[name] !== undefined);
    if (span.scope === 0 || record === undefined || record.length > table.longest) return;
    this.count = names.length;
    const last = own[names.at(-1) ?? ''];
    if (this.hasText && typeof last === 'string') this.prefixBytes = Buffer.byteLength(last);
    this.writer = table.newWriter();
    this.record = Buffer.from(record);
    this.bytes = record.length;
    this.copied = table.reserveCopied();
    if (this.copied !== -1) table.bytes.set(record, this.copied);
  }
}
