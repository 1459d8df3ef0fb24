import { expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import type { Hook } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const version = Number.parseInt(process.versions.node);

interface Line {
  name: string;
  traceId?: string;
  headers?: Record<string, string>;
  thrown?: string;
}

async function run(
  way: string,
  env: Record<string, string> = {},
  hook: Hook = '--import',
): Promise<{ lines: Line[]; service: TracedProcess }> {
  const service = new TracedProcess('http2-calls.mjs', {
    hook,
    args: [way],
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
  });
  const { code, stdout, stderr } = await service.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return { lines, service };
}

async function spansOf(service: TracedProcess): Promise<SpanRecord[]> {
  expect(faultsOf(service.directory)).toEqual([]);
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  return spans;
}

it('a request of an HTTP/2 client carries its span', async () => {
  const { lines, service } = await run('listen first');
  const asked = lines.filter(({ headers }) => headers !== undefined);
  const spans = await spansOf(service);
  expect(asked.map(({ name }) => name)).toEqual([
    'object',
    'nothing',
    'own',
    'missing',
    ...(version >= 22 ? ['list'] : []),
  ]);
  for (const { name, traceId, headers } of asked) {
    const { traceparent, 'x-own': own } = headers!;
    expect(own).toBe(['object', 'list'].includes(name) ? 'a' : undefined);
    if (name === 'own') {
      expect(traceparent).toBe('mine');
      continue;
    }
    const [, trace, id] = traceparent!.split('-');
    expect(trace).toBe(traceId);
    const parent = spans.find((span) => span.name === name)!;
    const call = spans.find(({ spanId }) => spanId === id)!;
    expect(call).toMatchObject({ name: 'GET', kind: 'client', parentSpanId: parent.spanId });
    expect(call.attributes['http.response.status_code']).toBe(name === 'missing' ? 404 : 200);
    if (version < 22) continue;
    const served = spans.filter(
      ({ kind, parentSpanId }) => kind === 'server' && parentSpanId === id,
    );
    expect(served).toHaveLength(1);
  }
});

it('every request ends, whatever becomes of it', async () => {
  const { service } = await run('listen first');
  const spans = await spansOf(service);
  expect(spans.filter(({ unfinished }) => unfinished)).toEqual([]);
  const ending = (path: string): unknown =>
    spans.find(({ attributes }) => String(attributes['url.full']).endsWith(path))?.attributes[
      'error.type'
    ];
  expect(ending('/aborted')).toBe(undefined);
  expect(['ERR_HTTP2_INVALID_SESSION', 'ERR_HTTP2_STREAM_ERROR']).toContain(ending('/refused'));
});

it('what throws without the hook throws with it', async () => {
  const withHook = await run('listen first');
  const without = await run('listen first', {}, 'none');
  const others = ({ lines }: { lines: Line[] }): Line[] =>
    lines.filter(({ headers }) => headers === undefined);
  expect(others(withHook)).toEqual(others(without));
  expect(others(without).length).toBeGreaterThan(3);
});

it.runIf(version >= 22)('at the latest the second request carries its span', async () => {
  const { lines } = await run('request first');
  const sent = lines.filter(({ headers }) => headers !== undefined);
  expect(sent[1]!.headers!['traceparent']).toContain(sent[1]!.traceId);
});

it.each([
  ['off', false],
  ['127.0.0.1', true],
  ['example.org', false],
])('with TRACEWRIGHT_PROPAGATE=%s it depends on the host', async (hosts, isSent) => {
  const { lines } = await run('listen first', { TRACEWRIGHT_PROPAGATE: hosts });
  expect(lines.find(({ name }) => name === 'nothing')!.headers).toEqual(
    isSent
      ? expect.objectContaining({ traceparent: expect.any(String) as unknown })
      : expect.not.objectContaining({ traceparent: expect.anything() as unknown }),
  );
});
