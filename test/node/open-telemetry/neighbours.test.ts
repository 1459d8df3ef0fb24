import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { install, place, recordedIn } from './installed.js';

const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));
const FILES = ['neighbour.cjs', 'neighbour-service.mjs'];
const AGENTS = ['sentry', 'elastic', 'datadog', 'newrelic', 'opentelemetry'];
const REQUESTS = 10;
/** Node 20 publishes nothing of HTTP/2 servers. */
const SERVED = Number.parseInt(process.versions.node) < 22 ? 2 : 3;

describe.skipIf(place === undefined)('next to another agent in the process', () => {
  it.each(AGENTS.flatMap((agent) => [[agent, 'before'] as const, [agent, 'after'] as const]))(
    'every request has one traceparent, and no trace is cut: %s %s the hook',
    async (agent, order) => {
      const directory = install('neighbours', FILES, {});
      const theirs = ['-r', join(directory, 'neighbour.cjs')];
      const ours = ['-r', register];
      const service = new TracedProcess(join(directory, 'neighbour-service.mjs'), {
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
