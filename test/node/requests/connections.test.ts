import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const version = Number.parseInt(process.versions.node);

async function recorded(): Promise<SpanRecord[]> {
  const service = new TracedProcess('connections-service.mjs', {
    env: { TRACEWRIGHT_CONTEXT: 'on' },
  });
  expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
  expect(faultsOf(service.directory)).toEqual([]);
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  const held = spans.filter(({ unfinished, kind }) => unfinished && kind === 'server');
  expect(held.map(({ name, attributes }) => [name, attributes['http.route']])).toEqual(
    version >= 22 ? [['GET /items/:id', '/items/:id']] : [],
  );
  return spans.filter(({ unfinished }) => !unfinished);
}

function parentOf(spans: SpanRecord[], name: string): SpanRecord[] {
  return spans
    .filter((span) => span.name === name)
    .map(({ parentSpanId }) => spans.find(({ spanId }) => spanId === parentSpanId)!);
}

describe('what leaves HTTP', () => {
  it('is a span that ends with its connection, and is active in the listener', async () => {
    const spans = await recorded();
    const served = spans.filter(({ kind }) => kind === 'server');
    const sessions = parentOf(spans, 'session');
    expect(sessions.map(({ attributes }) => attributes['url.path'])).toEqual(
      version >= 22 ? ['/chat', '/global'] : ['/chat'],
    );
    for (const span of sessions) {
      expect(span.name).toBe('GET');
      expect(span.attributes['network.protocol.name']).toBe('websocket');
      const session = spans.find(({ parentSpanId }) => parentSpanId === span.spanId)!;
      expect(span.end).toBeGreaterThan(session.end);
    }
    const [tunnel] = parentOf(spans, 'tunnel');
    expect(tunnel).toMatchObject({ name: 'CONNECT', kind: 'server' });
    expect(tunnel!.attributes['url.path']).toBe('db.example:5432');
    // Without a listener of the program the server answers upgrades as it did.
    const ignored = served.filter(({ attributes }) => attributes['url.path'] === '/ignored');
    expect(ignored.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([
      200, 200,
    ]);
    const calls = spans.filter(({ kind }) => kind === 'client');
    const upgrade = calls.find(({ attributes }) => /chat$/.test(String(attributes['url.full'])))!;
    expect(upgrade.attributes['http.response.status_code']).toBe(101);
    expect(upgrade.end).toBeGreaterThan(sessions[0]!.start + 5_000_000n);
  });
});

describe.skipIf(version < 22)('requests of HTTP/2', () => {
  it('are spans with routes, on both sides', async () => {
    const spans = (await recorded()).filter(
      ({ attributes, kind }) =>
        attributes['http.route'] !== undefined ||
        (kind === 'client' && String(attributes['url.full']).includes('/items/')),
    );
    const seen = (kind: string): unknown[] =>
      spans
        .filter((span) => span.kind === kind)
        .map(({ name, attributes, status }) => [
          name,
          attributes['http.response.status_code'],
          attributes['error.type'],
          status.code,
        ]);
    const name = 'GET /items/:id';
    expect(seen('server')).toEqual([
      [name, 200, undefined, 'unset'],
      [name, 500, '500', 'error'],
      [name, undefined, 'aborted', 'error'],
    ]);
    expect(seen('client')).toEqual([
      ['GET', 200, undefined, 'unset'],
      ['GET', 500, '500', 'error'],
      ['GET', undefined, 'ERR_HTTP2_STREAM_ERROR', 'error'],
    ]);
    expect(spans[0]!.attributes).toMatchObject({ 'network.protocol.version': '2' });
  });
});
