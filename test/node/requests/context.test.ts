import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { temporaryDirectory, TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

function start(env: Record<string, string> = {}): TracedProcess {
  return new TracedProcess('context-service.mjs', { env: { TRACEWRIGHT_CONTEXT: 'on', ...env } });
}

async function spansOf(service: TracedProcess): Promise<SpanRecord[]> {
  service.kill('SIGTERM');
  expect((await service.ended()).stderr).toBe('');
  expect(faultsOf(service.directory)).toEqual([]);
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  return spans;
}

async function get(
  service: TracedProcess,
  path: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${await service.port()}${path}`, { headers });
  const body = await response.text();
  await service.printed(new RegExp(`^done ${path.replace(/\?.*/, '')}$`, 'm'));
  return body;
}

/** The span of a server request by its path. */
function served(spans: SpanRecord[], path: string): SpanRecord {
  return spans.find(
    ({ kind, attributes }) => kind === 'server' && attributes['url.path'] === path,
  )!;
}

describe('requests with context', () => {
  it('have the attributes of the conventions', async () => {
    const service = start();
    const port = await service.port();
    await get(service, '/ids?token=s3cret');
    await get(service, '/fail');
    const spans = await spansOf(service);
    const attributes = {
      'http.request.method': 'GET',
      'url.path': '/ids',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'server.address': '127.0.0.1',
      'server.port': port,
      'http.response.status_code': 200,
    };
    const ids = served(spans, '/ids');
    expect(ids).toMatchObject({ name: 'GET', status: { code: 'unset' }, attributes });
    expect(Object.keys(ids.attributes)).toHaveLength(7);
    expect(ids.parentSpanId).toBeUndefined();
    expect(served(spans, '/fail')).toMatchObject({
      status: { code: 'error' },
      attributes: { 'http.response.status_code': 500, 'error.type': '500' },
    });
  });

  it('are active in the handler, one by one on a connection', async () => {
    const service = start();
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    const first = JSON.parse(await get(service, '/ids', headers)) as Record<string, string>;
    const second = JSON.parse(await get(service, '/ids')) as Record<string, string>;
    expect(first['trace_id']).toBe(TRACE);
    expect(second['trace_id']).not.toBe(TRACE);
    await service.printed(/(?:^done \/ids\n[^]*){2}/m);
    const spans = await spansOf(service);
    const ofFirst = spans.find(({ traceId }) => traceId === TRACE)!;
    expect(ofFirst.spanId).toBe(first['span_id']);
    expect(ofFirst.parentSpanId).toBe(PARENT);
    expect(ofFirst.parentIsRemote).toBe(true);
    expect(spans.map(({ spanId }) => spanId)).toContain(second['span_id']);
  });

  it('are parents of spans of the program, and of outgoing requests', async () => {
    const service = start();
    await get(service, '/http');
    const spans = await spansOf(service);
    const outer = served(spans, '/http');
    const step = spans.find(({ name }) => name === 'step')!;
    const call = spans.find(({ kind }) => kind === 'client')!;
    const inner = served(spans, '/inner');
    expect(step.parentSpanId).toBe(outer.spanId);
    expect(call.parentSpanId).toBe(step.spanId);
    expect(call.attributes['url.full']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/inner$/);
    expect(call.attributes['http.response.status_code']).toBe(200);
    expect(inner.parentSpanId).toBe(call.spanId);
    expect(new Set([outer, step, call].map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('need no variable, and no OpenTelemetry next to the program', async () => {
    const script = join(temporaryDirectory(), 'newcomer.mjs');
    writeFileSync(
      script,
      `import { createServer } from 'node:http';
      const server = createServer(async ({ url }, response) => {
        if (url === '/') await fetch(\`http://127.0.0.1:\${server.address().port}/called\`);
        response.end();
      });
      server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));`,
    );
    const service = new TracedProcess(script);
    await service.get('/');
    const spans = await spansOf(service);
    const call = spans.find(({ kind }) => kind === 'client')!;
    expect(call.parentSpanId).toBe(served(spans, '/').spanId);
    expect(served(spans, '/called').parentSpanId).toBe(call.spanId);
  });

  it('of fetch carry ids, and baggage only to hosts that are named', async () => {
    for (const [propagate, baggage] of [
      ['auto', undefined],
      ['auto,127.0.0.1', 'user=u1'],
    ] as const) {
      const service = start({ TRACEWRIGHT_PROPAGATE: propagate });
      const headers = JSON.parse(await get(service, '/fetch')) as Record<string, string>;
      expect(headers['baggage']).toBe(baggage);
      const spans = await spansOf(service);
      const call = spans.find(({ kind }) => kind === 'client')!;
      expect(headers['traceparent']).toBe(`00-${call.traceId}-${call.spanId}-03`);
      expect(served(spans, '/inner').parentSpanId).toBe(call.spanId);
    }
  });

  it('carry nothing if propagation is off', async () => {
    const service = start({ TRACEWRIGHT_PROPAGATE: 'off' });
    const headers = JSON.parse(await get(service, '/fetch')) as Record<string, string>;
    expect(headers['traceparent']).toBeUndefined();
    expect(await spansOf(service)).toHaveLength(3);
  });

  it('that fail or are aborted say so', async () => {
    const service = start();
    const port = Number(await get(service, '/refused'));
    const aborted = connect(await service.port(), '127.0.0.1');
    aborted.write('GET /hold HTTP/1.1\r\nHost: a\r\n\r\n');
    await service.printed(/^held$/m);
    aborted.destroy();
    await service.printed(/^done \/hold$/m);
    const spans = await spansOf(service);
    expect(spans.find(({ kind }) => kind === 'client')).toMatchObject({
      status: { code: 'error' },
      attributes: { 'error.type': 'ECONNREFUSED', 'server.port': port },
    });
    const hold = served(spans, '/hold');
    expect(hold).toMatchObject({
      status: { code: 'error' },
      attributes: { 'error.type': 'aborted' },
    });
    expect(hold.attributes).not.toHaveProperty('http.response.status_code');
  });

  it('that the caller cancels are no error', async () => {
    const service = start();
    await get(service, '/cancelled');
    const calls = (await spansOf(service)).filter(({ kind }) => kind === 'client');
    expect(calls).toHaveLength(2);
    for (const { attributes, status } of calls) {
      expect(status.code).toBe('unset');
      expect(attributes).not.toHaveProperty(['error.type']);
    }
  });

  it.each([
    ['loopback', 0],
    ['none', 1],
    ['10.0.0.1', 1],
  ])('of a caller that does not record are recorded by trust in %s', async (trust, count) => {
    const service = start({ TRACEWRIGHT_TRUST: trust });
    const headers = { traceparent: `00-${TRACE}-${PARENT}-00`, tracestate: 'tracewright=0' };
    const ids = JSON.parse(await get(service, '/ids', headers)) as Record<string, string>;
    expect(ids['trace_id']).toBe(TRACE);
    expect(await spansOf(service)).toHaveLength(count);
  });
});
