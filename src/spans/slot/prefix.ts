import { BoundedCache } from '../../core/bounded-cache.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import { COUNTER_OFFSET, nameAt } from '../../heph/layout.js';
import type { Stream } from '../../heph/write/stream.js';
import { prefixed } from '../../heph/write/event-text.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { NO_SCOPE } from '../scope.js';
import type { Scope } from '../scope.js';
import { OPEN, snapshot, Span } from '../span.js';

/** The record of an open span. */
export interface OpenRecord {
  readonly bytes: Buffer;
  /** Whether it lacks nothing but a stamp, and ends with the attributes. */
  readonly isWhole: boolean;
}

/** The part of a thread's output that compiled functions use. */
export interface SlotOutput {
  readonly stream: Stream;
  /** The number of the resource; 0: it could not be defined. */
  readonly resource: number;
}

/**
 * Starts a span in a slot that it takes, and sets its start. The slot has the prefix, these attributes, and the text if the
 * prefix ends with one. -1: it cannot, and the span has the attributes as its own; or OTHER_NAMES.
 */
export type StartWriter = (
  span: Span,
  prefix: Prefix,
  attributes: SpanAttributes | undefined,
  text: string,
) => number;

/** Encodes prefixes, and knows scopes by their numbers. */
export interface PrefixOutput extends SlotOutput {
  scopeNumber(scope: Scope): number;
  /** Of the scopes of open spans: bits above their numbers. */
  readonly openMark: number;
  /** The record of a span that is still open, of at most `limit` bytes; undefined: it cannot be so small. */
  encodeOpen(span: Span, limit: number): OpenRecord | undefined;
}

/** A prefix that came so often is encoded. */
const OFTEN = 8;
/** Not the last number that was given: see OpenRecords::put_ended. */
const NO_NUMBER = 0xffff_fffe;

/**
 * The beginning that the records of many spans share: name, kind, scope, and attributes that all of them have. The last
 * of these may end with a text that each span has of its own.
 */
export class Prefix {
  readonly scope: Scope;
  readonly name: string;
  /** The kind, in the bits of the flags. */
  readonly kind: number;
  /** Whether the last attribute ends with the text. */
  readonly hasText: boolean;
  /** Where ids and flags begin in the record. */
  idsAt = 0;
  /** Of the same name. */
  next: Prefix | undefined = undefined;
  /** The output for which it was encoded. */
  output: PrefixOutput | undefined = undefined;
  record: Buffer | undefined = undefined;
  /** Bytes of the record; 0: spans cannot begin with it. */
  bytes = 0;
  /** The reserved slot that has the record; -1: none. */
  copied = -1;
  /** Among the prefixes of the output. Spans of one number and kind are counted together. */
  number = 0;
  /** How many attributes it has, and bytes of the last value before the text. */
  count = 0;
  valueBytes = 0;
  /** The number of the scope, with the mark of open spans. */
  scopeWord = 0;
  /** The writer of the last span that began with it, and those of others. */
  writer: StartWriter | undefined = undefined;
  writers: readonly StartWriter[] = [];
  #uses = 0;
  #table: OpenRecords | undefined = undefined;
  readonly #make: ((text: string) => Record<string, SpanValue>) | undefined;

  /** @param make the attributes of a span. */
  constructor(
    scope: Scope,
    name: string,
    kind: number,
    make?: (text: string) => Record<string, SpanValue>,
    hasText = false,
  ) {
    this.scope = scope;
    this.name = name;
    this.kind = kind;
    this.#make = make;
    this.hasText = hasText;
  }

  /** All attributes of a span, as an object of its own. */
  attributesOf(
    given: SpanAttributes | undefined,
    text: string,
  ): Record<string, SpanValue> | undefined {
    const made = this.#make?.(text);
    if (given === undefined) return made;
    return made === undefined ? snapshot(given) : { ...made, ...snapshot(given) };
  }

  /** Gives it a number among those of an output, which has encoded nothing of it yet. */
  enter(output: PrefixOutput, table: OpenRecords): void {
    this.output = output;
    this.#table = table;
    this.record = undefined;
    this.bytes = 0;
    this.copied = -1;
    this.number = table.newWriter();
    this.writer = undefined;
    this.writers = [];
  }

  /** Encodes it, unless it came rarely so far. */
  encode(output: PrefixOutput, table: OpenRecords): void {
    this.#uses += 1;
    if (this.#uses < OFTEN) return;
    this.enter(output, table);
    const { scope, name, kind } = this;
    const span = new Span(undefined, OPEN, name, 0, 0, 0, 0, 0, 0, 0, 0, kind, '', undefined);
    span.start = 0;
    span.scope = output.scopeNumber(scope);
    const own = this.attributesOf(undefined, '') ?? {};
    span.attributes = own;
    // With more room than there is: a record that was cut to fit would lack attributes.
    const record = output.encodeOpen(span, 2 * table.longest);
    const isUnknown = span.scope === 0 && scope !== NO_SCOPE;
    if (isUnknown || record?.isWhole !== true || record.bytes.length > table.longest) return;
    const names = Object.keys(own).filter((each) => own[each] !== undefined);
    const last = own[names.at(-1) ?? ''];
    this.idsAt = nameAt(0) + prefixed(name).length;
    this.count = names.length;
    this.valueBytes = typeof last === 'string' ? Buffer.byteLength(last) : 0;
    this.scopeWord = span.scope | output.openMark;
    this.record = Buffer.from(record.bytes);
    this.record.writeUInt32BE(NO_NUMBER, COUNTER_OFFSET);
    this.bytes = record.bytes.length;
    this.copied = table.takeCopied();
    if (this.copied !== -1) table.bytes.set(this.record, this.copied);
  }

  /** It is in no cache any more: the next one gets its slot. */
  release(): void {
    if (this.copied !== -1) this.#table?.releaseCopied(this.copied);
    this.copied = -1;
    this.output = undefined;
    if (this.scope.last === this) this.scope.last = undefined;
  }
}

/** Names that are cached, how long they may be, and prefixes of one of them. */
const MOST_NAMES = 1024;
const LONGEST_NAME = 256;
const MOST_OF_NAME = 8;

/** The prefixes of a name. */
class Named {
  first: Prefix | undefined = undefined;
  #count = 0;

  add(prefix: Prefix): void {
    if (this.#count === MOST_OF_NAME) this.release();
    this.#count += 1;
    prefix.next = this.first;
    this.first = prefix;
  }

  release(): void {
    for (let each = this.first; each !== undefined; each = each.next) each.release();
    this.first = undefined;
    this.#count = 0;
  }
}

const named = new BoundedCache<Named>(
  MOST_NAMES,
  LONGEST_NAME,
  () => new Named(),
  (dropped) => {
    dropped.release();
  },
);

/** The prefix of spans of a name, kind and scope. */
export function prefixOf(name: string, scope: Scope, kind: number): Prefix {
  const last = scope.last as Prefix | undefined;
  return last !== undefined && last.name === name && last.kind === kind
    ? last
    : findPrefix(name, scope, kind);
}

function findPrefix(name: string, scope: Scope, kind: number): Prefix {
  const ofName = named.of(name);
  let prefix = ofName.first;
  while (prefix !== undefined && (prefix.scope !== scope || prefix.kind !== kind)) {
    prefix = prefix.next;
  }
  if (prefix === undefined) ofName.add((prefix = new Prefix(scope, name, kind)));
  scope.last = prefix;
  return prefix;
}
