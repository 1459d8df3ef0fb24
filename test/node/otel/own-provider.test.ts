import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

async function run(how: string) {
  const service = new TracedProcess('own-provider.mjs', {
    env: {
      TRACEWRIGHT_CONTEXT: 'on',
      TRACEWRIGHT_QUIET: '0',
      TRACEWRIGHT_TEST_PROVIDER: how,
    },
  });
  const answer = JSON.parse(await service.serve('/')) as { result: boolean; sent: string[] };
  service.kill('SIGTERM');
  const { stdout, stderr } = await service.ended();
  const ended = JSON.parse(/^ended (.*)$/m.exec(stdout)![1]!) as string[];
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  expect(faultsOf(service.directory)).toEqual([]);
  return { answer, ended, spans, warnings: stderr.split('\n').slice(1).join('\n') };
}

describe('under the hook', () => {
  it.each(['register', 'setGlobalTracerProvider'])(
    "the program's sampler and processors, by %s, get what the hook records",
    async (how) => {
      const { answer, ended, spans, warnings } = await run(how);
      expect(warnings).toBe('');
      expect(answer.result).toBe(true);
      const named = (name: string) => spans.filter((span) => span.name === name);
      const [handle] = named('handle');
      const [request] = spans.filter(
        ({ kind, parentSpanId }) => kind === 'server' && !parentSpanId,
      );
      const [call] = spans.filter(({ kind }) => kind === 'client');
      expect(handle).toMatchObject({ parentSpanId: request!.spanId, attributes: { ending: true } });
      expect(named('below')).toMatchObject([{ parentSpanId: handle!.spanId }]);
      expect(named('dropped')).toEqual([]);
      expect(call).toMatchObject({ parentSpanId: handle!.spanId, attributes: { ending: true } });
      expect(answer.sent).toEqual([`00-${call!.traceId}-${call!.spanId}-03`]);
      expect(ended.sort()).toEqual([
        '0 below true',
        '0 handle true',
        '1 GET true',
        '1 GET true',
        '2 GET true',
      ]);
      expect(spans).toHaveLength(ended.length);
    },
  );
});
