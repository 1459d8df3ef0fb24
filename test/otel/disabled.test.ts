import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as api from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { register } from '../../src/otel/index.js';
import { configure, extract, inject, withSpan } from '../../src/spans/index.js';

const HEADERS = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
  baggage: 'tenant=acme',
};

test('OTEL_SDK_DISABLED has no effect on propagators', () => {
  process.env['OTEL_SDK_DISABLED'] = 'true';
  const target = join(mkdtempSync(join(tmpdir(), 'tracewright-disabled-')), 'spans.heph');
  configure({ target });
  register({ api });
  const { context, propagation, trace } = api;

  const incoming = propagation.extract(context.active(), HEADERS);
  const span = trace.getTracer('shop').startSpan('order', {}, incoming);
  expect(span.isRecording()).toBe(false);
  const outgoing: Record<string, string> = {};
  propagation.inject(trace.setSpan(incoming, span), outgoing);
  expect(outgoing).toEqual(HEADERS);

  const parent = extract(HEADERS);
  expect(withSpan('order', {}, () => ({ ...inject({}) }), { parent: parent! })).toEqual(HEADERS);
  expect(withSpan('order', {}, () => ({ ...inject({}) }))).toEqual({});
  expect(existsSync(target)).toBe(false);
});
