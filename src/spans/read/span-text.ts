import { jsonInteger, jsonValue, numberText } from '../../core/json.js';
import type { JsonValue } from '../../core/json.js';
import { quotedText } from '../../core/readable-text.js';
import { COUNTER_OFFSET } from '../../heph/layout.js';
import type { PacketCursor } from '../../heph/read/packet-cursor.js';
import type { RecordedAttributes, SpanRecord } from '../span-record.js';

/** Spans as `tracewright dump` prints them. Times are those of the trace, in nanoseconds since its epoch. */

function shown(value: unknown): string {
  if (typeof value === 'string') return quotedText(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'number' ? numberText(value) : String(value);
}

function shownAttribute(attributes: RecordedAttributes, name: string): string {
  return ` ${quotedText(name)}=${shown(attributes[name])}`;
}

function shownAttributes(attributes: RecordedAttributes): string {
  return Object.keys(attributes)
    .map((name) => shownAttribute(attributes, name))
    .join('');
}

function shownDropped(dropped: SpanRecord['dropped']): string {
  return Object.entries(dropped)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => ` dropped ${what} ${count}`)
    .join('');
}

/** One readable line, without the line's end. */
export function spanLine(span: SpanRecord, cursor: PacketCursor): string {
  return headOf(span, cursor) + shownAttributes(span.attributes) + restOf(span);
}

/** The line of a large span in pieces, an attribute each. */
export function* spanPieces(
  span: SpanRecord,
  cursor: PacketCursor,
  json: boolean,
): Generator<string, void> {
  const { attributes } = span;
  if (!json) {
    yield headOf(span, cursor);
    for (const name in attributes) yield shownAttribute(attributes, name);
    yield restOf(span);
    return;
  }
  const line = JSON.stringify(spanObject({ ...span, attributes: {} }, cursor));
  // The first of this key: in a text it would have backslashes.
  const at = line.indexOf(OWN_ATTRIBUTES) + OWN_ATTRIBUTES.length;
  let before = line.slice(0, at);
  for (const name in attributes) {
    yield `${before}${JSON.stringify(name)}:${JSON.stringify(jsonValue(attributes[name]))}`;
    before = ',';
  }
  yield before === ',' ? line.slice(at) : line;
}

const OWN_ATTRIBUTES = ',"attributes":{';

function headOf(span: SpanRecord, cursor: PacketCursor): string {
  const { end, start, status, scope } = span;
  const parent =
    span.parentSpanId === undefined
      ? 'root'
      : `${span.parentIsRemote ? 'remote parent' : 'parent'} ${span.parentSpanId}`;
  const message = status.message === '' ? '' : ` ${quotedText(status.message)}`;
  return (
    `span stream ${span.thread} #${cursor.u32(COUNTER_OFFSET)} ` +
    `${start.toString()}..${end.toString()} ns (${(end - start).toString()} ns) ` +
    `${quotedText(span.name)} ${span.kind} ${status.code}${message}` +
    `${span.unfinished ? ' unfinished' : ''} trace ${span.traceId} span ${span.spanId} ${parent}` +
    (scope === undefined ? '' : ` scope ${quotedText(scope.name)}`)
  );
}

function restOf(span: SpanRecord): string {
  const events = span.events.map(
    ({ name, time, attributes }) =>
      ` event ${quotedText(name)} +${(time - span.start).toString()} ns${shownAttributes(attributes)}`,
  );
  const links = span.links.map(
    ({ traceId, spanId, attributes }) => ` link ${traceId} ${spanId}${shownAttributes(attributes)}`,
  );
  return shownDropped(span.dropped) + events.join('') + links.join('');
}

/** The same for `JSON.stringify`. */
export function spanObject(span: SpanRecord, cursor: PacketCursor): Record<string, JsonValue> {
  return {
    kind: 'span',
    offset: cursor.offset,
    size: cursor.size,
    stream: span.thread,
    counter: cursor.u32(COUNTER_OFFSET),
    start: jsonInteger(span.start),
    end: jsonInteger(span.end),
    name: span.name,
    spanKind: span.kind,
    status: span.status,
    unfinished: span.unfinished,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? null,
    parentIsRemote: span.parentIsRemote,
    scope: span.scope?.name ?? null,
    attributes: jsonValue(span.attributes),
    dropped: span.dropped,
    events: span.events.map(({ name, time, attributes }) => ({
      name,
      after: jsonInteger(time - span.start),
      attributes: jsonValue(attributes),
    })),
    links: span.links.map(({ traceId, spanId, attributes }) => ({
      traceId,
      spanId,
      attributes: jsonValue(attributes),
    })),
  };
}
