import { describe, expect, it } from 'vitest';
import type { SpanRecord } from '../../src/spans/index.js';
import { requestTo, runLibrary } from './traced-library.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const FORMATS = ['b3', 'b3multi', 'jaeger', 'xray'] as const;

interface Received {
  path: string;
  traceId?: string;
  spanId?: string;
  traceFlags?: number;
  w3c: boolean;
}

const isTo = ({ kind, attributes }: SpanRecord, path: string): boolean =>
  kind === 'server' && attributes['url.path'] === path;

describe("OpenTelemetry's propagators", () => {
  it.each(FORMATS.flatMap((format) => [[format, false] as const, [format, true] as const]))(
    'of %s read what the hook sends, and the hook what they send; the program registers it: %s',
    async (format, registers) => {
      const { spans, stdout } = await runLibrary(
        'propagators',
        'newest',
        '@opentelemetry/api',
        { TRACEWRIGHT_PROPAGATE: 'auto', ...(registers ? {} : { OTEL_PROPAGATORS: format }) },
        [format, registers ? 'registers' : ''],
      );
      const { received, viaApi } = JSON.parse(stdout.split('\n')[1]!) as {
        received: Received[];
        viaApi: Record<string, string>;
      };
      const caller = spans.find(({ name }) => name === 'caller')!;
      expect(Object.values(viaApi).join()).toMatch(new RegExp(caller.spanId));
      for (const path of ['/fetch', '/http']) {
        const call = spans.find(
          ({ kind, attributes }) =>
            kind === 'client' && String(attributes['url.full']).endsWith(path),
        )!;
        expect(call.parentSpanId).toBe(caller.spanId);
        expect(received.find((each) => each.path === path)).toEqual({
          path,
          traceId: call.traceId,
          spanId: call.spanId,
          traceFlags: 1,
          w3c: false,
        });
        expect(requestTo(spans, path)).toMatchObject({
          traceId: call.traceId,
          parentSpanId: call.spanId,
        });
      }
      // What the program sends itself stays as it is.
      expect(received.find(({ path }) => path === '/sampled')).toMatchObject({ traceId: TRACE });
      expect(requestTo(spans, '/sampled')).toMatchObject({
        traceId: TRACE,
        parentSpanId: 'b7ad6b7169203331',
      });
      // These formats say that a trace is not to be recorded. Of a propagator of the program nobody knows.
      expect(spans.some((span) => isTo(span, '/unsampled'))).toBe(registers);
    },
  );
});
