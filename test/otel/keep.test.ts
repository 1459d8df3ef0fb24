import { context, SpanStatusCode } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { TracewrightProvider } from '../../src/otel/index.js';
import { spansOf, tracer, withActive } from './api-spans.js';

const KEEP = { keep: { errors: true, limit: false } } as const;

test('traces of the API are kept whole if their root fails, and go otherwise', async () => {
  const spans = await spansOf(() => {
    for (const fails of [false, true]) {
      const root = tracer.startSpan(fails ? 'failed' : 'well');
      withActive(root, () => {
        tracer.startSpan('step').end();
      });
      if (fails) root.setStatus({ code: SpanStatusCode.ERROR, message: 'no' });
      root.end();
    }
  }, KEEP);
  expect(spans.map(({ name, kept }) => [name, kept])).toEqual([
    ['step', { reason: 'error', weight: 1 }],
    ['failed', { reason: 'error', weight: 1 }],
  ]);
});

test("the API's own sampler decides first", async () => {
  const sampler = {
    shouldSample: (_: unknown, _id: string, name: string) => ({ decision: name === 'in' ? 2 : 0 }),
  };
  const own = new TracewrightProvider({ sampler }).getTracer('own');
  const spans = await spansOf(() => {
    for (const name of ['in', 'out']) {
      const span = own.startSpan(name, {}, context.active());
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  }, KEEP);
  expect(spans.map(({ name }) => name)).toEqual(['in']);
});
