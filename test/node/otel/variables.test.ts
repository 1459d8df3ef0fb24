import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

/** Runs a service that calls itself by fetch, with baggage. */
async function run(env: Record<string, string>) {
  const service = new TracedProcess('context-service.mjs', {
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
  });
  const headers = JSON.parse(await service.serve('/fetch')) as Record<string, string>;
  service.kill('SIGTERM');
  const { stdout, stderr } = await service.ended();
  const spans: SpanRecord[] = [];
  if (existsSync(service.directory)) {
    for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  }
  const warnings = stderr.split('\n').filter((line) => line.includes('TracewrightWarning'));
  return { headers, spans, stdout, stderr, warnings, directory: service.directory };
}

describe('variables of OpenTelemetry under the hook', () => {
  it('OTEL_SDK_DISABLED records nothing and sends nothing', async () => {
    const { headers, directory, stderr } = await run({ OTEL_SDK_DISABLED: 'True' });
    expect(existsSync(directory)).toBe(false);
    expect(headers).not.toHaveProperty('traceparent');
    expect(stderr).toBe('');
  });

  it('TRACEWRIGHT_ENABLED overrides it', async () => {
    const { headers, spans } = await run({ OTEL_SDK_DISABLED: 'true', TRACEWRIGHT_ENABLED: '1' });
    expect(headers['traceparent']).toMatch(/^00-/);
    expect(spans).toHaveLength(3);
  });

  it.each([
    ['none', false, false],
    ['tracecontext', true, false],
    ['tracecontext,baggage', true, true],
  ])('OTEL_PROPAGATORS=%s chooses the headers', async (value, trace, baggage) => {
    const { headers, spans, warnings } = await run({
      OTEL_PROPAGATORS: value,
      TRACEWRIGHT_PROPAGATE: 'auto,127.0.0.1',
    });
    expect([headers['traceparent'] !== undefined, headers['baggage'] !== undefined]).toEqual([
      trace,
      baggage,
    ]);
    const requests = spans.filter(({ kind }) => kind === 'server');
    expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(trace ? 1 : 2);
    expect(warnings).toEqual([]);
  });

  it('what is not followed is said once, each in its line', async () => {
    const { warnings } = await run({
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_TRACES_SAMPLER: 'bogus',
      OTEL_SERVICE_NAME: 'shop',
    });
    expect(warnings).toHaveLength(2);
    expect(warnings.join('\n')).toContain('OTEL_TRACES_SAMPLER must be one of always_on');
    expect(warnings.join('\n')).toContain(
      'OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: not used; spans are written to files',
    );
  });

  it('always_off records no garbage collection either', async () => {
    const { spans } = await run({ OTEL_TRACES_SAMPLER: 'always_off', TRACEWRIGHT_GC_MS: '0' });
    expect(spans).toEqual([]);
  });

  it('OTEL_LOG_LEVEL has the API print on standard error', async () => {
    const service = new TracedProcess('own-provider.mjs', {
      env: {
        TRACEWRIGHT_CONTEXT: 'on',
        TRACEWRIGHT_TEST_PROVIDER: 'register',
        OTEL_LOG_LEVEL: 'info',
      },
    });
    await service.serve('/');
    service.kill('SIGTERM');
    const { stdout, stderr } = await service.ended();
    expect(stderr).toContain('opentelemetry info: tracewright records the spans of the API');
    expect(stdout).not.toContain('opentelemetry');
  });
});
