import { describe, expect, it } from 'vitest';
import type { ExportOptions } from '../../src/export/selection.js';
import { groupSpans, otlpTraceId } from '../../src/export/otlp/span-batches.js';
import { requestJson } from '../../src/export/otlp/otlp-json.js';
import { OtlpExport } from '../../src/export/otlp/otlp-export.js';
import { extract } from '../../src/spans/propagation.js';
import { Scope } from '../../src/spans/scope.js';
import { openThreadSpans } from '../../src/spans/thread-spans.js';
import { startSpan } from '../../src/spans/start-span.js';
import { findTraces } from '../../src/traces/find-traces.js';
import { encodeEpoch, encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../heph/temporary-file.js';
import { recorded } from '../spans/span-trace.js';
import { decodeFields, double, integer, messages, text } from './protobuf-fields.js';
import type { Fields } from './protobuf-fields.js';
import {
  MANY_ATTRIBUTES,
  encodeResource,
  encodeSpan,
  manyAttributes,
  withAttributes,
} from './span-file.js';

const directory = temporaryDirectory();
const EPOCH = 1_700_000_000_000_000_000n;

type Json = Record<string, unknown>;

function exported(path: string, encoding: 'json' | 'protobuf', options?: ExportOptions): Buffer {
  return Buffer.concat([...new OtlpExport(findTraces([path]), options).chunks(encoding)]);
}

function jsonRequests(path: string, options?: ExportOptions): Json[] {
  const lines = exported(path, 'json', options).toString().split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as Json);
}

/** The messages of a file, each with a varint of its length before it. */
function protobufRequests(bytes: Buffer): Fields[] {
  const requests: Fields[] = [];
  for (let at = 0; at < bytes.length;) {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    requests.push(decodeFields(bytes.subarray(at, at + length)));
    at += length;
  }
  return requests;
}

const present = (entries: Record<string, unknown>): Json =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
const list = (fields: Fields, field: number, each: (message: Fields) => unknown): unknown =>
  fields.has(field) ? messages(fields, field).map(each) : undefined;
const count = (fields: Fields, field: number): number | undefined =>
  fields.has(field) ? Number(integer(fields, field)) : undefined;
const nanos = (fields: Fields, field: number): string => integer(fields, field)!.toString();
const hex = (fields: Fields, field: number): string | undefined =>
  fields.has(field) ? Buffer.from(fields.get(field)![0] as Uint8Array).toString('hex') : undefined;

function value(any: Fields): Json {
  if (any.has(1)) return { stringValue: text(any, 1) };
  if (any.has(2)) return { boolValue: integer(any, 2) === 1n };
  if (any.has(3)) return { intValue: BigInt.asIntN(64, integer(any, 3)!).toString() };
  if (any.has(4)) {
    const number = double(any, 4)!;
    return { doubleValue: Number.isFinite(number) ? number : String(number) };
  }
  if (any.has(5)) return { arrayValue: { values: messages(messages(any, 5)[0]!, 1).map(value) } };
  if (any.has(7))
    return { bytesValue: Buffer.from(any.get(7)![0] as Uint8Array).toString('base64') };
  return {};
}

const attribute = (pair: Fields): Json => ({
  key: text(pair, 1),
  value: value(messages(pair, 2)[0]!),
});

function event(fields: Fields): Json {
  return present({
    timeUnixNano: nanos(fields, 1),
    name: text(fields, 2),
    attributes: list(fields, 3, attribute),
    droppedAttributesCount: count(fields, 4),
  });
}

function link(fields: Fields): Json {
  return present({
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    traceState: text(fields, 3),
    attributes: list(fields, 4, attribute),
    droppedAttributesCount: count(fields, 5),
    flags: count(fields, 6),
  });
}

function span(fields: Fields): Json {
  const status = messages(fields, 15)[0]!;
  return present({
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    traceState: text(fields, 3),
    parentSpanId: hex(fields, 4),
    name: text(fields, 5),
    kind: count(fields, 6),
    startTimeUnixNano: nanos(fields, 7),
    endTimeUnixNano: nanos(fields, 8),
    attributes: list(fields, 9, attribute),
    droppedAttributesCount: count(fields, 10),
    events: list(fields, 11, event),
    droppedEventsCount: count(fields, 12),
    links: list(fields, 13, link),
    droppedLinksCount: count(fields, 14),
    status: present({ message: text(status, 2), code: count(status, 3) ?? 0 }),
    flags: count(fields, 16),
  });
}

/** A request of protobuf as its JSON says it. */
function asJson(request: Fields): Json {
  return {
    resourceSpans: messages(request, 1).map((ofResource) =>
      present({
        resource: { attributes: messages(messages(ofResource, 1)[0]!, 1).map(attribute) },
        scopeSpans: messages(ofResource, 2).map((ofScope) => {
          const scope = messages(ofScope, 1)[0]!;
          return present({
            scope: present({
              name: text(scope, 1) ?? '',
              version: text(scope, 2),
              attributes: list(scope, 3, attribute),
            }),
            spans: messages(ofScope, 2).map(span),
            schemaUrl: text(ofScope, 3),
          });
        }),
        schemaUrl: text(ofResource, 3),
      }),
    ),
  };
}

const spansIn = (requests: Json[]): Json[] =>
  requests.flatMap(({ resourceSpans }) =>
    (resourceSpans as Json[]).flatMap(({ scopeSpans }) =>
      (scopeSpans as Json[]).flatMap(({ spans }) => spans as Json[]),
    ),
  );

describe('OTLP', () => {
  it('gives what a thread itself did a trace each', async () => {
    const spans = await recorded(directory, () => {
      startSpan('request').end();
      const ofThread = openThreadSpans(new Scope('tracewright/gc', '1'))!;
      ofThread.record('gc major', {}, 1, 2);
      ofThread.record('gc minor', {}, 3, 4);
    });
    const found = spans.filter(({ name }) => name.startsWith('gc'));
    expect(found[0]!.traceId).toBe(found[1]!.traceId);
    expect(found.map(otlpTraceId)).toEqual(
      found.map(({ traceId, spanId }) => traceId.slice(0, 16) + spanId),
    );
    const request = spans.find(({ name }) => name === 'request')!;
    expect(otlpTraceId(request)).toBe(request.traceId);
    const json = requestJson(groupSpans(spans));
    for (const span of spans) expect(json).toContain(`"traceId":"${otlpTraceId(span)}"`);
  });

  it('says the same in JSON and protobuf, with all that a span has', async () => {
    let path = '';
    await recorded(
      directory,
      (target) => {
        path = target;
        const carrier = {
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
          tracestate: 'vendor=1',
        };
        const remote = extract(carrier)!;
        const server = startSpan(
          'GET /users/:id',
          {
            text: 'ö\u0000"\n\u001b',
            whole: -5,
            real: 0.1,
            infinite: -Infinity,
            yes: true,
            huge: 2n ** 70n,
            large: 2n ** 62n,
            list: ['a', null, 1, [true]] as unknown as string[],
            __proto__: 'kept',
          },
          { kind: 'server', parent: remote, startTime: EPOCH },
        );
        const child = startSpan(
          'query',
          {},
          {
            kind: 'client',
            parent: server,
            links: [{ to: server, attributes: { why: 'test' } }],
          },
        );
        child.event('row', { id: 7 });
        child.fail(new Error('lost'));
        child.end();
        server.end(EPOCH + 123_456_789n);
      },
      { service: 'shop', limits: { attributes: 5 } },
    );
    const json = jsonRequests(path);
    expect(protobufRequests(exported(path, 'protobuf')).map(asJson)).toEqual(json);
    const [child, server] = spansIn(json);
    expect(server).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      flags: 0x301,
      kind: 2,
      status: { code: 0 },
    });
    // Of other tracers, and it may say anything.
    expect(server).not.toHaveProperty('traceState');
    expect(server!['droppedAttributesCount']).toBeGreaterThan(0);
    expect(child).toMatchObject({
      traceId: server!['traceId'],
      parentSpanId: server!['spanId'],
      flags: 0x101,
      kind: 3,
      status: { code: 2, message: 'lost' },
      events: [{ name: 'row' }, { name: 'exception' }],
    });
    const [first] = json[0]!['resourceSpans'] as Json[];
    expect(first!['resource']).toMatchObject({
      attributes: expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'shop' } },
      ]) as unknown,
    });
  });

  it('keeps bytes, -0 and times before 1970', async () => {
    let path = '';
    await recorded(directory, (target) => {
      path = target;
      const span = startSpan(
        'odd',
        { bytes: Uint8Array.of(0, 255, 7), minus: -0 },
        { startTime: -5n },
      );
      span.event('before', {}, -3n);
      span.end(-2n);
    });
    const json = jsonRequests(path);
    expect(protobufRequests(exported(path, 'protobuf')).map(asJson)).toEqual(json);
    expect(spansIn(json)[0]).toMatchObject({
      startTimeUnixNano: '0',
      endTimeUnixNano: '0',
      attributes: [
        { key: 'bytes', value: { bytesValue: 'AP8H' } },
        { key: 'minus', value: { doubleValue: -0 } },
        { key: 'tracewright.start_time_unix_nano', value: { intValue: '-5' } },
        { key: 'tracewright.end_time_unix_nano', value: { intValue: '-2' } },
      ],
      events: [{ attributes: [{ key: 'tracewright.time_unix_nano', value: { intValue: '-3' } }] }],
    });
  });

  it('marks unfinished spans, and ends none before its start', () => {
    const path = writeTrace(
      directory,
      'odd.heph',
      encodeEpoch(EPOCH),
      encodeSpan({ id: 1n, start: 5n, end: 9n, flags: 1n | (1n << 13n) }),
      encodeSpan({ id: 2n, start: 50n, end: 9n }),
      encodeSpan({ id: 0n, start: 1n, end: 2n }),
      encodeSpan({ id: 3n, start: 1n, end: 2n ** 64n - 1n }),
      encodeEvent(someEvent({ start: 1n, end: 2n })),
    );
    const result = new OtlpExport(findTraces([path]));
    const spans = spansIn(
      Buffer.concat([...result.chunks('json')])
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    );
    expect([result.invalid, result.stream.otherEvents]).toEqual([1, 1]);
    expect(spans.map((each) => [each['startTimeUnixNano'], each['endTimeUnixNano']])).toEqual([
      [EPOCH + 5n, EPOCH + 9n].map(String),
      [EPOCH + 50n, EPOCH + 50n].map(String),
      [EPOCH + 1n, 2n ** 64n - 1n].map(String),
    ]);
    expect(spans[0]!['attributes']).toContainEqual({
      key: 'tracewright.unfinished',
      value: { boolValue: true },
    });
    expect(spans[1]!['attributes']).toContainEqual({
      key: 'tracewright.ends_before_start',
      value: { intValue: '41' },
    });
    expect(protobufRequests(exported(path, 'protobuf')).map(asJson)).toEqual(jsonRequests(path));
  });

  it('says a resource once a request, and keeps requests small', () => {
    const path = writeTrace(
      directory,
      'many.heph',
      encodeEpoch(EPOCH),
      encodeResource({ 'service.name': 'a' }),
      ...Array.from({ length: 2500 }, (_, i) =>
        encodeSpan({ id: BigInt(i + 1), start: 1n, end: 2n, flags: 1n << 16n }),
      ),
    );
    const requests = jsonRequests(path);
    expect(requests.map((request) => (request['resourceSpans'] as Json[]).length)).toEqual([
      1, 1, 1,
    ]);
    expect(requests.map((request) => spansIn([request]).length)).toEqual([1000, 1000, 500]);
    const selection = { range: {}, condition: { name: 'span 1*1', service: 'a' } };
    expect(spansIn(jsonRequests(path, { selection })).map(({ name }) => name)).toContain(
      'span 1501',
    );
  });

  it('survives a span of very many attributes', () => {
    const path = writeTrace(
      directory,
      'wide.heph',
      encodeEpoch(EPOCH),
      withAttributes(encodeSpan({ id: 1n, start: 1n, end: 2n }), manyAttributes(MANY_ATTRIBUTES)),
    );
    const [wide] = spansIn(jsonRequests(path));
    expect(wide!['attributes']).toHaveLength(MANY_ATTRIBUTES + 1);
  });
});
