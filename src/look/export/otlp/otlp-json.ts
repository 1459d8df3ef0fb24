import { KINDS, STATUSES } from '../../../spans/layout.js';
import type { RecordedAttributes, RecordedValue, SpanRecord } from '../../../spans/span-record.js';
import { nameJson, textJson } from '../json-text.js';
import { clampUint64, isInt64 } from '../protobuf-bytes.js';
import { ENDS_BEFORE_START, otlpFlags, UNFINISHED } from './span-batches.js';
import type { ResourceBatch } from './span-batches.js';

/** OTLP's JSON: 64-bit integers are strings, ids are hexadecimal, what is empty is absent. */

function valueJson(value: RecordedValue): string {
  switch (typeof value) {
    case 'string':
      return `{"stringValue":${textJson(value)}}`;
    case 'boolean':
      return value ? '{"boolValue":true}' : '{"boolValue":false}';
    case 'number':
      if (Number.isSafeInteger(value)) return `{"intValue":"${value}"}`;
      return Number.isFinite(value) ? `{"doubleValue":${value}}` : `{"doubleValue":"${value}"}`;
    case 'bigint':
      return isInt64(value) ? `{"intValue":"${value}"}` : `{"stringValue":"${value}"}`;
    default:
      if (value === null) return '{}';
      return `{"arrayValue":{"values":[${value.map(valueJson).join(',')}]}}`;
  }
}

function listJson(attributes: RecordedAttributes): string {
  let json = '';
  for (const name in attributes) {
    json += `${json === '' ? '' : ','}{"key":${nameJson(name)},"value":${valueJson(attributes[name]!)}}`;
  }
  return json;
}

/** `,"attributes":[…]`, or nothing. */
function attributesJson(attributes: RecordedAttributes): string {
  const list = listJson(attributes);
  return list === '' ? '' : `,"attributes":[${list}]`;
}

function droppedJson(name: string, count: number): string {
  return count > 0 ? `,"${name}":${Math.min(count, 0xffff_ffff)}` : '';
}

function spanAttributesJson(span: SpanRecord): string {
  let list = listJson(span.attributes);
  const add = (name: string, value: RecordedValue): void => {
    list += `${list === '' ? '' : ','}{"key":"${name}","value":${valueJson(value)}}`;
  };
  if (span.unfinished) add(UNFINISHED, true);
  if (span.end < span.start) add(ENDS_BEFORE_START, span.start - span.end);
  return list === '' ? '' : `,"attributes":[${list}]`;
}

function statusJson({ code, message }: SpanRecord['status']): string {
  const description = message === '' ? '' : `"message":${textJson(message)},`;
  return `"status":{${description}"code":${STATUSES.indexOf(code)}}`;
}

function spanJson(span: SpanRecord): string {
  const { parentSpanId, traceState, dropped } = span;
  const start = clampUint64(span.start);
  const end = span.end < span.start ? start : clampUint64(span.end);
  let json =
    `{"traceId":"${span.traceId}","spanId":"${span.spanId}"` +
    (traceState === '' ? '' : `,"traceState":${textJson(traceState)}`) +
    (parentSpanId === undefined ? '' : `,"parentSpanId":"${parentSpanId}"`) +
    `,"flags":${otlpFlags(span.flags, span.parentIsRemote)}` +
    `,"name":${nameJson(span.name)},"kind":${KINDS.indexOf(span.kind) + 1}` +
    `,"startTimeUnixNano":"${start}","endTimeUnixNano":"${end}"` +
    spanAttributesJson(span) +
    droppedJson('droppedAttributesCount', dropped.attributes);
  if (span.events.length > 0) {
    const events = span.events.map(
      ({ name, time, attributes, droppedAttributes }) =>
        `{"timeUnixNano":"${clampUint64(time)}","name":${textJson(name)}${attributesJson(attributes)}` +
        `${droppedJson('droppedAttributesCount', droppedAttributes)}}`,
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
  return `${json}${droppedJson('droppedLinksCount', dropped.links)},${statusJson(span.status)}}`;
}

const schemaJson = (url: string): string => (url === '' ? '' : `,"schemaUrl":${textJson(url)}`);

/** An ExportTraceServiceRequest as JSON in one line, without the line's end. */
export function requestJson(batch: readonly ResourceBatch[]): string {
  const resources = batch.map(({ resource, scopes }) => {
    const scopeSpans = scopes.map(({ scope, spans }) => {
      const { name = '', version = '', schemaUrl = '', attributes = {} } = scope ?? {};
      const own =
        `"name":${textJson(name)}${version === '' ? '' : `,"version":${textJson(version)}`}` +
        attributesJson(attributes);
      const all = spans.map(spanJson).join(',');
      return `{"scope":{${own}},"spans":[${all}]${schemaJson(schemaUrl)}}`;
    });
    const attributes = `"attributes":[${listJson(resource?.attributes ?? {})}]`;
    const schema = schemaJson(resource?.schemaUrl ?? '');
    return `{"resource":{${attributes}},"scopeSpans":[${scopeSpans.join(',')}]${schema}}`;
  });
  return `{"resourceSpans":[${resources.join(',')}]}`;
}
