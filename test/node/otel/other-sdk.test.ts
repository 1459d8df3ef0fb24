import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import type { Hook } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const sdk = fileURLToPath(new URL('../fixtures/sdk.mjs', import.meta.url));
const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));

interface Answer {
  /** Whether the span that a tracer has made active is the API's active one. */
  sameSpan: boolean;
  carrier: { traceparent?: string };
  /** What a request within the span carried. */
  sent: string[];
  id: string;
}

async function recordedIn(directory: string): Promise<SpanRecord[]> {
  const spans: SpanRecord[] = [];
  const files = hephFiles(directory);
  if (files.length > 0) for await (const span of readSpans(files)) spans.push(span);
  return spans;
}

async function run(
  when: string,
  options: { hook?: Hook; flags?: string[]; env?: Record<string, string> } = {},
) {
  const env = { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_TEST_SDK: when, ...options.env };
  const service = new TracedProcess('other-sdk.mjs', { ...options, env });
  const answer = JSON.parse(await service.serve('/')) as Answer;
  service.kill('SIGTERM');
  const { stdout, stderr } = await service.ended();
  const theirs = JSON.parse(/^theirs (.*)$/m.exec(stdout)![1]!) as unknown[];
  return { answer, theirs, stderr, ours: await recordedIn(service.directory), service };
}

const THEIRS = [
  { name: 'below', scope: 'kept', isRoot: false },
  { name: 'handle', scope: 'early', isRoot: true },
];

const LINE =
  'tracewright: the program has registered another OpenTelemetry SDK, which gets the spans of the API\n';

describe('the OpenTelemetry API under the hook', () => {
  it('records what tracers start, below the request that is active', async () => {
    const { answer, theirs, stderr, ours, service } = await run('never');
    expect(stderr).toBe('');
    expect(theirs).toEqual([]);
    expect(faultsOf(service.directory)).toEqual([]);
    const [request] = ours.filter(({ kind, parentSpanId }) => kind === 'server' && !parentSpanId);
    const handle = ours.find(({ name }) => name === 'handle')!;
    const below = ours.find(({ name }) => name === 'below')!;
    const call = ours.find(({ kind }) => kind === 'client')!;
    expect(handle).toMatchObject({
      traceId: request!.traceId,
      parentSpanId: request!.spanId,
      spanId: answer.id,
      scope: { name: 'early', version: '1.0.0' },
    });
    expect(below).toMatchObject({ parentSpanId: handle.spanId, scope: { name: 'kept' } });
    expect(call.parentSpanId).toBe(handle.spanId);
    expect(answer.sameSpan).toBe(true);
    expect(answer.carrier.traceparent).toBe(`00-${handle.traceId}-${handle.spanId}-03`);
    expect(answer.sent).toEqual([`00-${call.traceId}-${call.spanId}-03`]);
    // Both requests, the call, and the program's own.
    expect(ours).toHaveLength(5);
  });

  it.each(['after', 'async', 'disabled'])(
    'goes to an SDK that is registered later: %s',
    async (when) => {
      const { answer, theirs, stderr, ours } = await run(when, {
        env: { TRACEWRIGHT_QUIET: '0' },
      });
      expect(theirs).toEqual(THEIRS);
      expect(stderr.split('\n').slice(1).join('\n')).toBe(LINE);
      expect(answer.sameSpan).toBe(true);
      expect(answer.carrier.traceparent).toContain(answer.id);
      // The SDK sends none, so that the hook's own chain is whole.
      const call = ours.find(({ kind }) => kind === 'client')!;
      expect(answer.sent).toEqual([`00-${call.traceId}-${call.spanId}-03`]);
      expect(ours.filter(({ parentSpanId }) => parentSpanId === call.spanId)).toHaveLength(1);
      // What it records by itself it goes on recording.
      const names = ours.map(({ name, kind }) => `${kind} ${name}`).sort();
      const before = when === 'async' ? ['internal before the SDK'] : [];
      expect(names).toEqual(['client GET', ...before, 'server GET', 'server GET']);
    },
  );

  it('stays with an SDK that was registered before the hook', async () => {
    const { theirs, stderr, ours } = await run('before', {
      hook: 'none',
      flags: ['--import', sdk, '--import', register],
      env: { TRACEWRIGHT_QUIET: '1' },
    });
    expect(stderr).toBe('');
    expect(theirs).toEqual(THEIRS);
    expect(ours.map(({ kind }) => kind).sort()).toEqual(['client', 'server', 'server']);
  });

  it('is served to requests without context with TRACEWRIGHT_OTEL=on', async () => {
    const env = { TRACEWRIGHT_CONTEXT: 'off', TRACEWRIGHT_OTEL: 'on' };
    const { answer, ours } = await run('never', { env });
    const handle = ours.find(({ name }) => name === 'handle')!;
    expect(handle.spanId).toBe(answer.id);
    expect(handle.parentSpanId).toBeUndefined();
    expect(ours.find(({ name }) => name === 'below')!.parentSpanId).toBe(handle.spanId);
  });

  it('is left alone with TRACEWRIGHT_OTEL=off', async () => {
    const { answer, ours } = await run('never', { env: { TRACEWRIGHT_OTEL: 'off' } });
    expect(answer.id).toBe('0000000000000000');
    expect(ours.map(({ kind }) => kind).sort()).toEqual(['client', 'server', 'server']);
  });
});
