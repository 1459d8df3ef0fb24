import { jsonValue } from '../../core/json.js';
import type { SpanRecord } from '../span-record.js';
import { valueUnderAnyName, withoutQuery } from './older-names.js';

const METHOD = 'http.request.method';

/**
 * The name of a request: `GET /users/:id`. Undefined: the attributes are of none.
 *
 * @param valueOf the value of an attribute.
 */
function requestName(valueOf: (attribute: string) => unknown): string | undefined {
  const method = valueUnderAnyName(valueOf, METHOD);
  if (typeof method !== 'string') return undefined;
  const where =
    valueOf('http.route') ??
    withoutQuery(valueUnderAnyName(valueOf, 'url.path')) ??
    withoutQuery(valueUnderAnyName(valueOf, 'url.full'));
  return typeof where === 'string' ? `${method} ${where}` : method;
}

/** OpenTelemetry calls a request without a route `GET`, which says little in a picture. */
export function drawnName({ name, attributes, unfinished }: SpanRecord): string {
  const valueOf = (attribute: string): unknown => attributes[attribute];
  const isMethod = name === valueUnderAnyName(valueOf, METHOD);
  const drawn = (isMethod ? requestName(valueOf) : undefined) ?? name;
  return unfinished ? `${drawn} (unfinished)` : drawn;
}

/** Names in all pictures for fields of a record that are no attributes. */
export const ENDS_EARLY = 'ends before its start by (ns)';

/** The attributes of a span, and what else its record says of it. */
export function* spanDetails(span: SpanRecord): Generator<readonly [string, unknown]> {
  yield* Object.entries(span.attributes);
  const { status, dropped } = span;
  yield ['trace', span.traceId];
  yield ['span', span.spanId];
  if (span.parentSpanId !== undefined) yield ['parent', span.parentSpanId];
  if (status.code !== 'unset') yield ['status', status.code];
  if (status.message !== '') yield ['message', status.message];
  if (span.unfinished) yield ['unfinished', true];
  if (span.scope !== undefined) yield ['scope', span.scope.name];
  if (span.events.length > 0) {
    yield [
      'events',
      span.events.map(({ name, time, attributes }) => {
        return { name, 'after (ns)': time - span.start, ...attributes };
      }),
    ];
  }
  if (span.links.length > 0) {
    yield ['links', span.links.map(({ traceId, spanId }) => ({ trace: traceId, span: spanId }))];
  }
  for (const [what, count] of Object.entries(dropped)) {
    if (count > 0) yield [`dropped ${what}`, count];
  }
}

/** Details as JSON has them. @param more attributes that are not among them. */
export function jsonDetails(
  attributes: Iterable<readonly [string, unknown]>,
  more = 0,
): Record<string, unknown> {
  const object: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of attributes) object[name] = jsonValue(value);
  if (more > 0) object['attributes not shown'] = more;
  return object;
}
