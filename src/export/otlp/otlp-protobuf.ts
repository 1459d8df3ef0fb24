import { isFloat } from '../../core/json.js';
import { KINDS, STATUSES } from '../../spans/layout.js';
import type { RecordedAttributes, RecordedValue, SpanRecord } from '../../spans/span-record.js';
import {
  BYTES,
  clampUint64,
  FIXED32,
  FIXED64,
  isInt64,
  ProtobufBytes,
  tagOf,
  VARINT,
} from '../protobuf-bytes.js';
import { furtherAttributes, furtherOfEvent, otlpFlags, otlpTraceId } from './span-batches.js';
import type { ResourceBatch } from './span-batches.js';

/** Tags of OpenTelemetry's published schema (opentelemetry/proto, version 1). */
const REQUEST = { resourceSpans: tagOf(1, BYTES) };
const RESOURCE_SPANS = {
  resource: tagOf(1, BYTES),
  scopeSpans: tagOf(2, BYTES),
  schemaUrl: tagOf(3, BYTES),
};
const SCOPE_SPANS = { scope: tagOf(1, BYTES), spans: tagOf(2, BYTES), schemaUrl: tagOf(3, BYTES) };
const RESOURCE = { attributes: tagOf(1, BYTES) };
const SCOPE = { name: tagOf(1, BYTES), version: tagOf(2, BYTES), attributes: tagOf(3, BYTES) };
const KEY_VALUE = { key: tagOf(1, BYTES), value: tagOf(2, BYTES) };
const ANY_VALUE = {
  string: tagOf(1, BYTES),
  bool: tagOf(2, VARINT),
  int: tagOf(3, VARINT),
  double: tagOf(4, FIXED64),
  array: tagOf(5, BYTES),
  bytes: tagOf(7, BYTES),
};
const ARRAY_VALUE = { values: tagOf(1, BYTES) };
const SPAN = {
  traceId: tagOf(1, BYTES),
  spanId: tagOf(2, BYTES),
  traceState: tagOf(3, BYTES),
  parentSpanId: tagOf(4, BYTES),
  name: tagOf(5, BYTES),
  kind: tagOf(6, VARINT),
  start: tagOf(7, FIXED64),
  end: tagOf(8, FIXED64),
  attributes: tagOf(9, BYTES),
  droppedAttributes: tagOf(10, VARINT),
  events: tagOf(11, BYTES),
  droppedEvents: tagOf(12, VARINT),
  links: tagOf(13, BYTES),
  droppedLinks: tagOf(14, VARINT),
  status: tagOf(15, BYTES),
  flags: tagOf(16, FIXED32),
};
const EVENT = {
  time: tagOf(1, FIXED64),
  name: tagOf(2, BYTES),
  attributes: tagOf(3, BYTES),
  droppedAttributes: tagOf(4, VARINT),
};
const LINK = {
  traceId: tagOf(1, BYTES),
  spanId: tagOf(2, BYTES),
  traceState: tagOf(3, BYTES),
  attributes: tagOf(4, BYTES),
  droppedAttributes: tagOf(5, VARINT),
  flags: tagOf(6, FIXED32),
};
const STATUS = { message: tagOf(2, BYTES), code: tagOf(3, VARINT) };

/** Encodes requests one after another. */
export class RequestEncoder {
  readonly #bytes = new ProtobufBytes(1 << 20);

  /** An ExportTraceServiceRequest with its length as a varint before it. */
  encode(batch: readonly ResourceBatch[]): Buffer {
    const request = this.request(batch);
    const length = new ProtobufBytes(16);
    length.varint(request.length);
    return Buffer.concat([length.take(), request]);
  }

  /** An ExportTraceServiceRequest. */
  request(batch: readonly ResourceBatch[]): Buffer {
    const bytes = this.#bytes;
    for (const { resource, scopes } of batch) {
      const ofResource = bytes.begin(REQUEST.resourceSpans);
      const own = bytes.begin(RESOURCE_SPANS.resource);
      this.#attributes(RESOURCE.attributes, resource?.attributes ?? {});
      bytes.end(own);
      for (const { scope, spans } of scopes) {
        const ofScope = bytes.begin(RESOURCE_SPANS.scopeSpans);
        const scopeItself = bytes.begin(SCOPE_SPANS.scope);
        if (scope !== undefined) {
          this.#text(SCOPE.name, scope.name);
          this.#text(SCOPE.version, scope.version);
          this.#attributes(SCOPE.attributes, scope.attributes);
        }
        bytes.end(scopeItself);
        for (const span of spans) this.#span(span);
        this.#text(SCOPE_SPANS.schemaUrl, scope?.schemaUrl ?? '');
        bytes.end(ofScope);
      }
      this.#text(RESOURCE_SPANS.schemaUrl, resource?.schemaUrl ?? '');
      bytes.end(ofResource);
    }
    return bytes.take();
  }

  #span(span: SpanRecord): void {
    const bytes = this.#bytes;
    const from = bytes.begin(SCOPE_SPANS.spans);
    bytes.hex(SPAN.traceId, otlpTraceId(span));
    bytes.hex(SPAN.spanId, span.spanId);
    this.#text(SPAN.traceState, span.traceState);
    if (span.parentSpanId !== undefined) bytes.hex(SPAN.parentSpanId, span.parentSpanId);
    bytes.text(SPAN.name, span.name);
    bytes.uint(SPAN.kind, KINDS.indexOf(span.kind) + 1);
    const start = clampUint64(span.start);
    bytes.fixed64Of(SPAN.start, start);
    bytes.fixed64Of(SPAN.end, span.end < span.start ? start : clampUint64(span.end));
    this.#attributes(SPAN.attributes, span.attributes);
    for (const [name, value] of furtherAttributes(span)) {
      this.#attribute(SPAN.attributes, name, value);
    }
    this.#count(SPAN.droppedAttributes, span.dropped.attributes);
    for (const event of span.events) {
      const ofEvent = bytes.begin(SPAN.events);
      bytes.fixed64Of(EVENT.time, clampUint64(event.time));
      bytes.text(EVENT.name, event.name);
      this.#attributes(EVENT.attributes, event.attributes);
      for (const [name, value] of furtherOfEvent(event)) {
        this.#attribute(EVENT.attributes, name, value);
      }
      this.#count(EVENT.droppedAttributes, event.droppedAttributes);
      bytes.end(ofEvent);
    }
    this.#count(SPAN.droppedEvents, span.dropped.events);
    for (const link of span.links) {
      const ofLink = bytes.begin(SPAN.links);
      bytes.hex(LINK.traceId, link.traceId);
      bytes.hex(LINK.spanId, link.spanId);
      this.#text(LINK.traceState, link.traceState);
      this.#attributes(LINK.attributes, link.attributes);
      this.#count(LINK.droppedAttributes, link.droppedAttributes);
      bytes.fixed32(LINK.flags, otlpFlags(link.flags, link.remote));
      bytes.end(ofLink);
    }
    this.#count(SPAN.droppedLinks, span.dropped.links);
    const status = bytes.begin(SPAN.status);
    this.#text(STATUS.message, span.status.message);
    this.#count(STATUS.code, STATUSES.indexOf(span.status.code));
    bytes.end(status);
    bytes.fixed32(SPAN.flags, otlpFlags(span.flags, span.parentIsRemote));
    bytes.end(from);
  }

  #text(tag: number, text: string): void {
    if (text !== '') this.#bytes.text(tag, text);
  }

  #count(tag: number, count: number): void {
    if (count > 0) this.#bytes.uint(tag, Math.min(count, 0xffff_ffff));
  }

  #attributes(tag: number, attributes: RecordedAttributes): void {
    for (const name in attributes) this.#attribute(tag, name, attributes[name]!);
  }

  #attribute(tag: number, name: string, value: RecordedValue): void {
    const bytes = this.#bytes;
    const from = bytes.begin(tag);
    bytes.text(KEY_VALUE.key, name);
    this.#value(KEY_VALUE.value, value);
    bytes.end(from);
  }

  #value(tag: number, value: RecordedValue): void {
    const bytes = this.#bytes;
    const from = bytes.begin(tag);
    if (typeof value === 'string') bytes.text(ANY_VALUE.string, value);
    else if (typeof value === 'boolean') bytes.uint(ANY_VALUE.bool, value ? 1 : 0);
    else if (typeof value === 'number') {
      if (isFloat(value)) bytes.double(ANY_VALUE.double, value);
      else bytes.int(ANY_VALUE.int, value);
    } else if (typeof value === 'bigint') {
      if (isInt64(value)) bytes.int(ANY_VALUE.int, value);
      else bytes.text(ANY_VALUE.string, value.toString());
    } else if (value instanceof Uint8Array) {
      bytes.octets(ANY_VALUE.bytes, value);
    } else if (value !== null) {
      const array = bytes.begin(ANY_VALUE.array);
      for (const element of value) this.#value(ARRAY_VALUE.values, element);
      bytes.end(array);
    }
    bytes.end(from);
  }
}
