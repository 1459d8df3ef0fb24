import { describe, expect, it } from 'vitest';
import type { SpanRecord } from '../../src/spans/index.js';
import { below, childrenOf, lineOf, runLibrary, treeOf } from './traced-library.js';

/** Node 20 publishes nothing of HTTP/2 servers. */
const hasServers = Number.parseInt(process.versions.node) >= 22;

function tree(spans: SpanRecord[], name: string): string[] {
  const parent = spans.find((span) => span.name === name)!;
  // The server's spans are below the client's.
  return treeOf(spans, parent);
}

/** The lines of a server, where it is recorded. */
const served = (...lines: string[]): string[] => (hasServers ? lines : []);

describe('grpc', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded', async (age) => {
    const { spans, stdout } = await runLibrary('grpc', age, '@grpc/grpc-js');
    // NOT_FOUND, UNKNOWN, UNIMPLEMENTED, DEADLINE_EXCEEDED and UNAVAILABLE.
    expect(stdout).toContain('codes 5,2,12,4,14, kept 0\n');
    const find = 'shop.Orders/Find';
    const answered = ['answered'];
    const load = hasServers ? [`  ${find}`, '    load'] : [];
    expect(tree(spans, 'found')).toEqual([find, ...load, ...answered]);
    const waiting = tree(spans, 'waiting').filter((line) => !line.startsWith(' '));
    expect(waiting.sort()).toEqual(['answered', 'answered', find, find]);
    // By the conventions NOT_FOUND is the caller's fault, and none of the server's.
    expect(tree(spans, 'absent')).toEqual([`${find}: NOT_FOUND`, ...load, ...answered]);
    expect(tree(spans, 'broken')).toEqual([
      `${find}: UNKNOWN`,
      ...served(`  ${find}: UNKNOWN`, '    load'),
      ...answered,
    ]);
    expect(tree(spans, 'unknown')).toEqual([
      'shop.Orders/Missing: UNIMPLEMENTED',
      ...served('  _OTHER: UNIMPLEMENTED'),
      ...answered,
    ]);
    expect(tree(spans, 'late')[0]).toBe('shop.Orders/Slow: DEADLINE_EXCEEDED');
    for (const [name, method] of [
      ['listing', 'List'],
      ['adding', 'Add'],
      ['chatting', 'Chat'],
    ] as const) {
      const line = `shop.Orders/${method}`;
      expect(tree(spans, name), name).toEqual([line, ...served(`  ${line}`)]);
    }
    expect(tree(spans, 'refused')).toEqual([`${find}: UNAVAILABLE`]);

    const [call] = below(spans, 'absent') as [SpanRecord];
    expect(call.kind).toBe('client');
    expect(call.attributes).toMatchObject({
      'rpc.system.name': 'grpc',
      'rpc.method': find,
      'rpc.response.status_code': 'NOT_FOUND',
      'error.type': 'NOT_FOUND',
      'server.address': '127.0.0.1',
      'server.port': expect.any(Number) as number,
    });
    expect(call.scope).toMatchObject({ name: 'tracewright/grpc' });
    if (!hasServers) return;
    const [handled] = childrenOf(spans, call) as [SpanRecord];
    expect(handled.kind).toBe('server');
    expect(handled.attributes).toEqual({
      'rpc.system.name': 'grpc',
      'rpc.method': find,
      'rpc.response.status_code': 'NOT_FOUND',
      'server.address': '127.0.0.1',
      'server.port': call.attributes['server.port'],
    });
    // Nothing is recorded twice, as requests of HTTP/2.
    expect(spans.filter(({ attributes }) => 'http.request.method' in attributes)).toEqual([]);
  });

  it('is recorded as requests of HTTP/2 where no channels are put into it', async () => {
    const env = { TRACEWRIGHT_INJECT: 'off' };
    const { spans } = await runLibrary('grpc', 'newest', '@grpc/grpc-js', env);
    const calls = below(spans, 'absent').filter(({ kind }) => kind === 'client');
    expect(calls.map(lineOf)).toEqual(['shop.Orders/Find: NOT_FOUND']);
    expect(calls[0]!.attributes).toMatchObject({
      'rpc.method': 'shop.Orders/Find',
      'rpc.response.status_code': 'NOT_FOUND',
    });
    expect(spans.filter(({ attributes }) => 'http.request.method' in attributes)).toEqual([]);
  });
});
