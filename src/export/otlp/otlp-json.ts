import { KINDS, STATUSES } from '../../spans/layout.js';
import type { RecordedAttributes, RecordedValue, SpanRecord } from '../../spans/span-record.js';
import { isFloat, numberText } from '../../core/json.js';
import { nameJson, textJson } from '../json-text.js';
import { clampUint64, isInt64 } from '../protobuf-bytes.js';
import { LargeAttributes } from '../../spans/read/attribute-values.js';
import { furtherAttributes, furtherOfEvent, otlpFlags, otlpTraceId } from './span-batches.js';
import type { ResourceBatch } from './span-batches.js';

/** OTLP's JSON: 64-bit integers are strings, ids are hexadecimal, what is empty is absent. */

function valueJson(value: RecordedValue): string {
  switch (typeof value) {
    case 'string':
      return `{"stringValue":${textJson(value)}}`;
    case 'boolean':
      return value ? '{"boolValue":true}' : '{"boolValue":false}';
    case 'number':
      if (!isFloat(value)) return `{"intValue":"${value}"}`;
      return Number.isFinite(value)
        ? `{"doubleValue":${numberText(value)}}`
        : `{"doubleValue":"${value}"}`;
    case 'bigint':
      return isInt64(value) ? `{"intValue":"${value}"}` : `{"stringValue":"${value}"}`;
    default:
      if (value === null) return '{}';
      if (value instanceof Uint8Array) {
        return `{"bytesValue":"${Buffer.from(value).toString('base64')}"}`;
      }
      return `{"arrayValue":{"values":[${value.map(valueJson).join(',')}]}}`;
  }
}

function attributeJson(name: string, value: RecordedValue): string {
  return `{"key":${nameJson(name)},"value":${valueJson(value)}}`;
}

function listJson(
  attributes: RecordedAttributes,
  further: Iterable<readonly [name: string, value: RecordedValue]> = [],
): string {
  let json = '';
  const add = (name: string, value: RecordedValue): void => {
    json += (json === '' ? '' : ',') + attributeJson(name, value);
  };
  for (const name in attributes) add(name, attributes[name]!);
  for (const [name, value] of further) add(name, value);
  return json;
}

/** `,"attributes":[…]`, or nothing. */
function attributesJson(...given: Parameters<typeof listJson>): string {
  const list = listJson(...given);
  return list === '' ? '' : `,"attributes":[${list}]`;
}

function droppedJson(name: string, count: number): string {
  return count > 0 ? `,"${name}":${Math.min(count, 0xffff_ffff)}` : '';
}

function statusJson({ code, message }: SpanRecord['status']): string {
  const description = message === '' ? '' : `"message":${textJson(message)},`;
  return `"status":{${description}"code":${STATUSES.indexOf(code)}}`;
}

/** A span in JSON, in two parts: before and after its attributes. */
function frameOf(span: SpanRecord): [head: string, rest: string] {
  const { parentSpanId, traceState, dropped } = span;
  const start = clampUint64(span.start);
  const end = span.end < span.start ? start : clampUint64(span.end);
  const head =
    `{"traceId":"${otlpTraceId(span)}","spanId":"${span.spanId}"` +
    (traceState === '' ? '' : `,"traceState":${textJson(traceState)}`) +
    (parentSpanId === undefined ? '' : `,"parentSpanId":"${parentSpanId}"`) +
    `,"flags":${otlpFlags(span.flags, span.parentIsRemote)}` +
    `,"name":${nameJson(span.name)},"kind":${KINDS.indexOf(span.kind) + 1}` +
    `,"startTimeUnixNano":"${start}","endTimeUnixNano":"${end}"`;
  let json = droppedJson('droppedAttributesCount', dropped.attributes);
  if (span.events.length > 0) {
    const events = span.events.map(
      (event) =>
        `{"timeUnixNano":"${clampUint64(event.time)}","name":${textJson(event.name)}` +
        attributesJson(event.attributes, furtherOfEvent(event)) +
        `${droppedJson('droppedAttributesCount', event.droppedAttributes)}}`,
    );
    json += `,"events":[${events.join(',')}]`;
  }
  json += droppedJson('droppedEventsCount', dropped.events);
  if (span.links.length > 0) {
    const links = span.links.map(
      (link) =>
        `{"traceId":"${link.traceId}","spanId":"${link.spanId}"` +
        (link.traceState === '' ? '' : `,"traceState":${textJson(link.traceState)}`) +
        attributesJson(link.attributes) +
        droppedJson('droppedAttributesCount', link.droppedAttributes) +
        `,"flags":${otlpFlags(link.flags, link.remote)}}`,
    );
    json += `,"links":[${links.join(',')}]`;
  }
  json += `${droppedJson('droppedLinksCount', dropped.links)},${statusJson(span.status)}}`;
  return [head, json];
}

/** A span, a large one in pieces. */
function* spanPieces(span: SpanRecord): Generator<string, void> {
  const { attributes } = span;
  const [head, rest] = frameOf(span);
  if (!(attributes instanceof LargeAttributes)) {
    yield head + attributesJson(attributes, furtherAttributes(span)) + rest;
    return;
  }
  let before = `${head},"attributes":[`;
  for (const name in attributes) {
    yield before + attributeJson(name, attributes[name]!);
    before = ',';
  }
  for (const [name, value] of furtherAttributes(span)) {
    yield before + attributeJson(name, value);
    before = ',';
  }
  yield before === ',' ? `]${rest}` : head + rest;
}

const schemaJson = (url: string): string => (url === '' ? '' : `,"schemaUrl":${textJson(url)}`);

/** An ExportTraceServiceRequest as JSON in one line, without the line's end, in pieces. */
export function* requestPieces(batch: readonly ResourceBatch[]): Generator<string, void> {
  let before = '{"resourceSpans":[';
  for (const { resource, scopes } of batch) {
    before += `{"resource":{"attributes":[${listJson(resource?.attributes ?? {})}]},"scopeSpans":[`;
    for (const { scope, spans } of scopes) {
      const { name = '', version = '', schemaUrl = '', attributes = {} } = scope ?? {};
      const ofVersion = version === '' ? '' : `,"version":${textJson(version)}`;
      yield `${before}{"scope":{"name":${textJson(name)}${ofVersion}${attributesJson(attributes)}},"spans":[`;
      before = '';
      for (const span of spans) {
        yield before;
        yield* spanPieces(span);
        before = ',';
      }
      yield `]${schemaJson(schemaUrl)}}`;
      before = ',';
    }
    yield `]${schemaJson(resource?.schemaUrl ?? '')}}`;
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

/** The whole request. */
export function requestJson(batch: readonly ResourceBatch[]): string {
  return [...requestPieces(batch)].join('');
}
