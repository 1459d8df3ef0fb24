import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { install, place, recordedIn } from './installed.js';

const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));
const SERVICES = ['neighbour-service.cjs', 'neighbour-service.mjs'];
const FILES = ['neighbour.cjs', 'neighbour-program.cjs', ...SERVICES];
const AGENTS = ['sentry', 'elastic', 'datadog', 'newrelic', 'opentelemetry'];
/** Those that record both sides of HTTP/2. */
const WITH_HTTP2 = ['elastic', 'datadog'];
/** Those that record its calls alone. */
const WITH_HTTP2_CALLS = ['newrelic'];
const REQUESTS = 10;
/** Node 20 publishes nothing of HTTP/2 servers. */
const SERVED = Number.parseInt(process.versions.node) < 22 ? 2 : 3;

/** What an agent says of a span of its own. */
interface TheirSpan {
  trace: string;
  id: string;
  parent?: string;
  kind: 'server' | 'client';
  path?: string;
}

function theirsIn(stdout: string): TheirSpan[] {
  return JSON.parse(/^theirs (.*)$/m.exec(stdout)![1]!) as TheirSpan[];
}

/** Each call to a path is below a request of its trace. */
function expectCalls(spans: readonly TheirSpan[], path: string): void {
  const ids = new Map(spans.map((span) => [span.id, span]));
  const calls = spans.filter((span) => span.kind === 'client' && span.path === path);
  expect(calls).toHaveLength(REQUESTS);
  for (const { parent, trace } of calls) {
    let above = ids.get(parent!);
    while (above?.kind === 'client') above = ids.get(above.parent!);
    expect(above, path).toMatchObject({ kind: 'server', trace, path: '/outer' });
  }
}

/** Each request to the service, with its calls and what they have reached, is one trace of the agent. */
function expectWhole(spans: readonly TheirSpan[], paths: readonly string[]): void {
  const ids = new Map(spans.map((span) => [span.id, span]));
  const traces = new Set<string>();
  for (const path of paths) {
    const inner = spans.filter((span) => span.kind === 'server' && span.path === path);
    expect(inner).toHaveLength(REQUESTS);
    for (const { parent, trace } of inner) {
      const call = ids.get(parent!);
      expect(call, path).toMatchObject({ kind: 'client', trace, path });
      let above = ids.get(call!.parent!);
      while (above?.kind === 'client') above = ids.get(above.parent!);
      expect(above, path).toMatchObject({ kind: 'server', trace, path: '/outer' });
      traces.add(trace);
    }
  }
  expect(traces.size).toBe(REQUESTS);
}

describe.skipIf(place === undefined)('next to another agent in the process', () => {
  it.each(
    AGENTS.flatMap((agent) =>
      SERVICES.flatMap((file) => [
        [agent, 'before', file] as const,
        [agent, 'after', file] as const,
      ]),
    ),
  )(
    'every request has one traceparent, and no trace is cut: %s %s the hook, %s',
    async (agent, order, file) => {
      const directory = install('neighbours', FILES, {});
      const theirs = ['-r', join(directory, 'neighbour.cjs')];
      const ours = ['-r', register];
      const service = new TracedProcess(join(directory, file), {
        hook: 'none',
        flags: order === 'before' ? [...theirs, ...ours] : [...ours, ...theirs],
        cwd: directory,
        env: {
          TRACEWRIGHT_CONTEXT: 'on',
          TRACEWRIGHT_QUIET: '1',
          TRACEWRIGHT_TEST_AGENT: agent,
        },
      });
      const port = await service.port();
      for (let i = 0; i < REQUESTS; i++) {
        expect(await (await fetch(`http://127.0.0.1:${port}/outer`)).text()).toBe('outer');
      }
      service.kill('SIGTERM');
      const { stdout } = await service.ended();
      expect(stdout).toContain(`counts ${'1'.repeat(3 * REQUESTS)}\n`);

      // Not all of them see what an ES module imports of Node.
      if (file.endsWith('.cjs')) {
        const theirs = theirsIn(stdout);
        const others = WITH_HTTP2.includes(agent) ? ['/inner-http2'] : [];
        expectWhole(theirs, ['/inner-http', '/inner-fetch', ...others]);
        if (WITH_HTTP2_CALLS.includes(agent)) expectCalls(theirs, '/inner-http2');
      }
      const spans = await recordedIn(service.directory);
      const ids = new Map(spans.map((span) => [span.spanId, span]));
      const inner = spans.filter(
        ({ kind, attributes }) =>
          kind === 'server' && String(attributes['url.path']).startsWith('/inner'),
      );
      expect(inner).toHaveLength(SERVED * REQUESTS);
      for (const { parentSpanId, traceId } of inner) {
        const call = ids.get(parentSpanId!)!;
        expect(call).toMatchObject({ kind: 'client', traceId });
        expect(ids.get(call.parentSpanId!)).toMatchObject({ kind: 'server', traceId });
      }
      expect(new Set(inner.map(({ traceId }) => traceId)).size).toBe(REQUESTS);
    },
  );
});
