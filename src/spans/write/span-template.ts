import type { OpenRecords } from '../../core/ring/open-records.js';
import { DESCRIPTION_OFFSET, TYPE_STRING } from '../../heph/layout.js';
import { prefixed } from '../../heph/write/event-text.js';
import type { SpanValue } from '../attributes.js';
import { RESOURCE_SHIFT, UNFINISHED } from '../layout.js';
import type { Scope } from '../scope.js';
import { OPEN, Span } from '../span.js';
import { HeldNames } from './held-attributes.js';
import type { ShapedSpans } from './span-shapes.js';

/** What encodes open spans, and knows scopes by their numbers. */
export interface TemplateOutput extends ShapedSpans {
  scopeNumber(scope: Scope): number;
  /** The record of a span that is still open, of at most `limit` bytes; undefined: it cannot be so small. */
  encodeOpen(span: Span, limit: number): Buffer | undefined;
}

/**
 * Spans that differ in ids, times and one text alone: the value of their last attribute. The rest of their
 * records is encoded once.
 */
export class SpanTemplate {
  readonly scope: Scope;
  readonly name: string;
  /** The kind, in the bits of the flags. */
  readonly kind: number;
  /** Where ids and flags begin in the record: after the name. */
  readonly idsAt: number;
  /** Flags of the record, in addition to those of its span. */
  flags = UNFINISHED;
  /** The number of the record among the writers of open records: it differs in ids, times and text alone. */
  writer = 0;
  /** Names of the attributes. */
  heldNames: HeldNames | undefined;
  /** Makes the attributes of a span. */
  readonly attributesOf: (text: string) => Record<string, SpanValue>;
  /** The record of an open span whose text is empty; undefined: it is too long. */
  #record: Buffer | undefined;
  /** What the record was encoded for. */
  #output: TemplateOutput | undefined;
  #resource = 0;

  constructor(
    scope: Scope,
    name: string,
    kind: number,
    attributesOf: (text: string) => Record<string, SpanValue>,
  ) {
    this.scope = scope;
    this.name = name;
    this.kind = kind;
    this.idsAt = DESCRIPTION_OFFSET + prefixed(name).length;
    this.attributesOf = attributesOf;
  }

  /** The record of an open span in `table`, without ids, times and text, of which the length is last. */
  recordFor(output: TemplateOutput, table: OpenRecords): Buffer | undefined {
    if (this.#output === output && this.#resource === output.resource) return this.#record;
    this.#output = output;
    this.#resource = output.resource;
    this.flags = UNFINISHED | (output.resource << RESOURCE_SHIFT);
    this.#record = this.#encode(output, table.longest);
    this.writer = table.newWriter();
    return this.#record;
  }

  #encode(output: TemplateOutput, limit: number): Buffer | undefined {
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
    span.scope = output.scopeNumber(this.scope);
    span.attributes = this.attributesOf('');
    const record = output.encodeOpen(span, limit);
    const { own = {} } = span;
    const names = Object.keys(own).filter((name) => own[name] !== undefined);
    this.heldNames = new HeldNames(names);
    const last = names.at(-1) ?? '';
    const end = Buffer.concat([prefixed(last), Buffer.of(TYPE_STRING, 0, 0)]);
    // Of a record that was cut, the text may be missing.
    if (span.scope === 0 || record?.subarray(-end.length).equals(end) !== true) return undefined;
    return Buffer.from(record);
  }
}
