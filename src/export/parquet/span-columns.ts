import { valueUnderAnyName } from '../../spans/read/older-names.js';
import type { RecordedResource, RecordedValue, SpanRecord } from '../../spans/span-record.js';
import { LargeAttributes } from '../../spans/read/attribute-values.js';
import {
  attributePieces,
  attributesJson,
  attributeTypesJson,
  furtherTypesJson,
  inPieces,
  nameJson,
} from '../json-text.js';
import {
  BooleanColumn,
  DictionaryColumn,
  Int32Column,
  Int64Column,
  TextColumn,
} from './columns.js';

const MAX_INT32 = 0x7fff_ffff;

const text = (value: RecordedValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
const int32 = (value: RecordedValue | undefined): number | undefined =>
  typeof value === 'number' && Math.abs(value) <= MAX_INT32 ? Math.trunc(value) : undefined;
const capped = (count: number): number => Math.min(count, MAX_INT32);
const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

/** The columns of a file of spans: one row a span. */
export class SpanColumns {
  readonly #traceId = new TextColumn('trace_id');
  readonly #spanId = new TextColumn('span_id');
  readonly #parent = new TextColumn('parent_span_id', true);
  readonly #parentIsRemote = new BooleanColumn('parent_is_remote');
  readonly #name = new DictionaryColumn('name');
  readonly #kind = new DictionaryColumn('kind');
  readonly #service = new DictionaryColumn('service_name', true);
  readonly #start = new Int64Column('start_time', true);
  readonly #end = new Int64Column('end_time', true);
  readonly #duration = new Int64Column('duration_ns', false);
  readonly #status = new DictionaryColumn('status_code');
  readonly #message = new DictionaryColumn('status_message', true);
  readonly #unfinished = new BooleanColumn('unfinished');
  readonly #route = new DictionaryColumn('http_route', true);
  readonly #httpStatus = new Int32Column('http_response_status_code', true);
  readonly #attributes = new TextColumn('attributes', false, true);
  readonly #events = new TextColumn('events', true, true);
  readonly #links = new TextColumn('links', true, true);
  readonly #droppedAttributes = new Int32Column('dropped_attributes');
  readonly #droppedEvents = new Int32Column('dropped_events');
  readonly #droppedLinks = new Int32Column('dropped_links');
  readonly #flags = new Int32Column('trace_flags');
  readonly #traceState = new DictionaryColumn('trace_state', true);
  readonly #scope = new DictionaryColumn('scope_name', true);
  readonly #scopeVersion = new DictionaryColumn('scope_version', true);
  readonly #thread = new Int64Column('thread', false);
  readonly #pid = new Int32Column('process_pid', true);
  readonly #resource = new DictionaryColumn('resource', true, true);
  readonly #attributeTypes = new DictionaryColumn('attribute_types', true, true);

  readonly all = [
    this.#traceId,
    this.#spanId,
    this.#parent,
    this.#parentIsRemote,
    this.#name,
    this.#kind,
    this.#service,
    this.#start,
    this.#end,
    this.#duration,
    this.#status,
    this.#message,
    this.#unfinished,
    this.#route,
    this.#httpStatus,
    this.#attributes,
    this.#events,
    this.#links,
    this.#droppedAttributes,
    this.#droppedEvents,
    this.#droppedLinks,
    this.#flags,
    this.#traceState,
    this.#scope,
    this.#scopeVersion,
    this.#thread,
    this.#pid,
    this.#resource,
    this.#attributeTypes,
  ];
  #lastResource: RecordedResource | undefined;
  #resourceJson: string | undefined;

  /** Bytes of the row group so far. */
  get size(): number {
    let size = 0;
    for (const column of this.all) size += column.size;
    return size;
  }

  add(span: SpanRecord): void {
    const { attributes, dropped, scope, resource, start, end } = span;
    this.#traceId.add(span.traceId);
    this.#spanId.add(span.spanId);
    this.#parent.add(span.parentSpanId);
    this.#parentIsRemote.add(span.parentIsRemote);
    this.#name.add(span.name);
    this.#kind.add(span.kind);
    this.#service.add(text(resource?.attributes['service.name']));
    this.#start.add(start);
    this.#end.add(end);
    this.#duration.add(end - start);
    this.#status.add(span.status.code);
    this.#message.add(given(span.status.message));
    this.#unfinished.add(span.unfinished);
    this.#route.add(text(attributes['http.route']));
    const httpStatus = valueUnderAnyName((name) => attributes[name], 'http.response.status_code');
    this.#httpStatus.add(int32(httpStatus));
    if (attributes instanceof LargeAttributes) {
      this.#attributes.addPieces(inPieces(attributePieces(attributes)));
    } else {
      this.#attributes.add(attributesJson(attributes));
    }
    this.#events.add(span.events.length === 0 ? undefined : eventsJson(span));
    this.#links.add(span.links.length === 0 ? undefined : linksJson(span));
    this.#droppedAttributes.add(capped(dropped.attributes));
    this.#droppedEvents.add(capped(dropped.events));
    this.#droppedLinks.add(capped(dropped.links));
    this.#flags.add(span.flags);
    this.#traceState.add(given(span.traceState));
    this.#scope.add(scope?.name);
    this.#scopeVersion.add(given(scope?.version));
    this.#thread.add(BigInt(span.thread));
    this.#pid.add(int32(span.pid));
    this.#resource.add(this.#jsonOf(resource));
    this.#attributeTypes.add(attributeTypesJson(attributes));
  }

  #jsonOf(resource: RecordedResource | undefined): string | undefined {
    if (resource !== this.#lastResource) {
      this.#lastResource = resource;
      this.#resourceJson = resource && attributesJson(resource.attributes);
    }
    return this.#resourceJson;
  }
}

function eventsJson({ events }: SpanRecord): string {
  const each = events.map(
    ({ name, time, attributes, droppedAttributes }) =>
      `{"name":${nameJson(name)},"time_unix_nano":${time},"attributes":${attributesJson(attributes)}` +
      furtherTypesJson(attributes) +
      `,"dropped_attributes":${droppedAttributes}}`,
  );
  return `[${each.join(',')}]`;
}

function linksJson({ links }: SpanRecord): string {
  const each = links.map(
    (link) =>
      `{"trace_id":"${link.traceId}","span_id":"${link.spanId}","trace_flags":${link.flags}` +
      `,"trace_state":${nameJson(link.traceState)},"is_remote":${link.remote}` +
      `,"attributes":${attributesJson(link.attributes)}${furtherTypesJson(link.attributes)}` +
      `,"dropped_attributes":${link.droppedAttributes}}`,
  );
  return `[${each.join(',')}]`;
}
