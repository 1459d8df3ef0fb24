import { expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

it('without context requests are spans all the same, and nothing is below them', async () => {
  const service = new TracedProcess('without-context.cjs', {
    env: { TRACEWRIGHT_CONTEXT: 'off', TRACEWRIGHT_PROPAGATE: 'auto' },
  });
  const { code, stdout, stderr } = await service.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(faultsOf(service.directory)).toEqual([]);
  const { sent, name, made } = JSON.parse(stdout) as {
    sent: unknown[];
    name: string;
    made: [ofRequests: number, ofSpans: number];
  };
  // Calls carry no header but the program's own.
  expect(sent).toEqual([
    `00-${TRACE}-b7ad6b7169203331-01`,
    null,
    null,
    expect.stringMatching(/-00$/),
  ]);
  // What context needs is made by the program's spans, and not by requests. From Node 24 on a second storage checks it.
  expect({ name, ofRequests: made[0] }).toEqual({ name: 'inner', ofRequests: 0 });
  expect(made[1]).toBeGreaterThan(0);
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  const of = (kind: SpanRecord['kind']) =>
    spans
      .filter((span) => span.kind === kind)
      .map(({ attributes, traceId, parentSpanId, status }) => {
        const url = attributes['url.path'] ?? attributes['url.full'];
        const path = String(url).replace(/^http:\/\/[^/]*/, '');
        return [path, traceId === TRACE, parentSpanId, status.code];
      })
      .sort();
  // The caller of the last one does not record.
  expect(of('server')).toEqual([
    ['/fetch', false, undefined, 'unset'],
    ['/http', false, undefined, 'unset'],
    ['/outer', true, 'b7ad6b7169203331', 'unset'],
  ]);
  expect(of('client')).toEqual(
    ['/fetch', '/http', '/outer', '/unsampled'].map((path) => [path, false, undefined, 'unset']),
  );
  // A report knows why nothing is below requests.
  const { report } = await reportOn(hephFiles(service.directory));
  expect(report.withoutContext).toEqual([report.sources[0]!.service]);
  // No library is recorded. Spans of the program are below each other.
  const own = spans.find((span) => span.name === 'own')!;
  expect(own.parentSpanId).toBeUndefined();
  expect(spans.find((span) => span.name === 'inner')!.parentSpanId).toBe(own.spanId);
  expect(spans).toHaveLength(9);
});
