import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { OtlpExport } from '../../src/export/otlp/otlp-export.js';
import { hephFormat } from '../../src/spans/read/heph-format.js';
import { findTraces } from '../../src/traces/find-traces.js';
import type { RecordedValue, SpanRecord } from '../../src/spans/span-record.js';
import { startSpan } from '../../src/spans/start-span.js';
import { readEpoch } from '../../src/heph/read/reader.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from './span-trace.js';

const directory = temporaryDirectory();
const YEAR = 31_557_600n * 10n ** 9n;

interface Given {
  start: bigint;
  end: bigint;
  event: bigint;
  value: RecordedValue;
}

const scalar = fc.oneof(
  fc.constantFrom(-0, 0, NaN, Infinity, -Infinity, 'NaN', '-0', 2 ** 53, -(2 ** 53)),
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 300 }),
);
const instant = fc.bigInt({ min: -150n * YEAR, max: 140n * YEAR });
const given: fc.Arbitrary<Given> = fc.record({
  start: instant,
  end: instant,
  event: instant,
  value: fc.oneof(scalar, fc.array(scalar, { maxLength: 5 })),
});

/** Records spans of what was given, in the order of the list. */
async function record(list: readonly Given[]): Promise<{ path: string; spans: SpanRecord[] }> {
  let path = '';
  const spans = await recorded(directory, (target) => {
    path = target;
    list.forEach(({ start, end, event, value }, i) => {
      const span = startSpan(`span ${i}`, { value }, { startTime: start });
      span.event('event', { value }, event);
      span.end(end);
    });
  });
  return { path, spans };
}

type Json = Record<string, unknown>;
type AnyValue = Record<string, string | number | boolean | { values: AnyValue[] }>;

function ofOtlp(value: AnyValue): unknown {
  const [entry] = Object.entries(value);
  if (entry === undefined) return null;
  const [kind, content] = entry;
  if (kind === 'intValue') return BigInt(content as string);
  if (kind === 'doubleValue') return Number(content);
  if (kind === 'bytesValue') return Uint8Array.from(Buffer.from(content as string, 'base64'));
  if (kind === 'arrayValue') return (content as { values: AnyValue[] }).values.map(ofOtlp);
  return content;
}

/** A value as OTLP has it: integers are int64, larger ones text. */
function asOtlp(value: RecordedValue): unknown {
  if (Array.isArray(value)) return value.map(asOtlp);
  if (typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0)) {
    return BigInt(value);
  }
  return typeof value === 'bigint' && value >= 2n ** 63n ? String(value) : value;
}

const attributesOf = (of: Json): Map<string, unknown> =>
  new Map(
    ((of['attributes'] ?? []) as { key: string; value: AnyValue }[]).map(({ key, value }) => [
      key,
      ofOtlp(value),
    ]),
  );

function otlpSpans(path: string): Json[] {
  const bytes = Buffer.concat([...new OtlpExport(findTraces([path])).chunks('json')]);
  const requests = bytes.toString().trim().split('\n');
  return requests.flatMap((line) => {
    const { resourceSpans } = JSON.parse(line) as {
      resourceSpans: { scopeSpans: { spans: Json[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
}

/** A time of a span of OTLP: before 1970 an attribute has it. */
const timeOf = (of: Json, field: string, attribute: string): bigint =>
  (attributesOf(of).get(attribute) as bigint | undefined) ?? BigInt(of[field] as string);

describe('what a program gives', { timeout: 120_000 }, () => {
  it('comes back from the file, from OTLP and in dumps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(given, { minLength: 1, maxLength: 20 }), async (list) => {
        const { path, spans } = await record(list);
        expect(spans).toHaveLength(list.length);
        const exported = otlpSpans(path);
        const epoch = readEpoch(path)!;
        const dumped = [...hephFormat.dump(path, true, {})]
          .map((line) => JSON.parse(line as string) as Json)
          .filter(({ kind }) => kind === 'span');
        list.forEach(({ start, end, event, value }, i) => {
          const span = spans[i]!;
          expect([span.start, span.end, span.events[0]!.time]).toEqual([start, end, event]);
          expect(span.attributes).toEqual({ value });
          expect(span.events[0]!.attributes).toEqual({ value });
          const otlp = exported[i]!;
          const [otlpEvent] = otlp['events'] as Json[];
          expect(timeOf(otlp, 'startTimeUnixNano', 'tracewright.start_time_unix_nano')).toBe(start);
          expect(timeOf(otlpEvent!, 'timeUnixNano', 'tracewright.time_unix_nano')).toBe(event);
          const before = attributesOf(otlp).get('tracewright.ends_before_start');
          if (before === undefined) {
            expect(timeOf(otlp, 'endTimeUnixNano', 'tracewright.end_time_unix_nano')).toBe(end);
          } else {
            expect(start - (before as bigint)).toBe(end);
          }
          expect(attributesOf(otlp).get('value')).toEqual(asOtlp(value));
          expect(BigInt(dumped[i]!['start'] as string) + epoch).toBe(start);
          expect(BigInt(dumped[i]!['end'] as string) + epoch).toBe(end);
        });
      }),
      { numRuns: 30 },
    );
  });

  it('comes back if it comes often', async () => {
    const values = [-0, 0, 1, -1, 0.5, 2 ** 40];
    const spans = await recorded(directory, () => {
      for (let i = 0; i < 600; i++) {
        startSpan('often', { value: values[i % values.length] }).end();
      }
    });
    spans.forEach(({ attributes }, i) => {
      expect(attributes['value']).toBe(values[i % values.length]);
    });
  });
});

test('a span of 10 ns far from the recording has 10 ns', async () => {
  const { spans } = await record([
    { start: 200n * YEAR, end: 200n * YEAR + 10n, event: 200n * YEAR, value: 1 },
  ]);
  expect(spans[0]!.end - spans[0]!.start).toBe(10n);
});
