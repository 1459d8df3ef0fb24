// Calls the OpenTelemetry API by `import` and by `require`: from version 1.10 on these are two copies.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as imported from '@opentelemetry/api';

const required = createRequire(import.meta.url)('@opentelemetry/api');
const { TRACEWRIGHT_DIR, TRACEWRIGHT_TEST_PACKAGE, TRACEWRIGHT_TEST_PROVIDER } = process.env;
const copies = [imported, required];
const early = copies.map(({ trace }) => trace.getTracer('early'));
let shutdown;
if (TRACEWRIGHT_TEST_PROVIDER === 'register') {
  const spans = await import(`${TRACEWRIGHT_TEST_PACKAGE}spans/index.mjs`);
  const { register } = await import(`${TRACEWRIGHT_TEST_PACKAGE}otel/index.mjs`);
  spans.configure({ target: join(TRACEWRIGHT_DIR, 'heph', 'spans.heph') });
  ({ shutdown } = register());
}
const theirs = [];
if (TRACEWRIGHT_TEST_PROVIDER === 'other') {
  const startSpan = (name) => {
    theirs.push(name);
    return imported.trace.wrapSpanContext(imported.INVALID_SPAN_CONTEXT);
  };
  const startActiveSpan = (name, fn) => fn(startSpan(name));
  imported.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) });
}

const same = [];
imported.trace.getTracer('imported').startActiveSpan('outer', (outer) => {
  same.push(required.trace.getActiveSpan() === outer);
  required.trace.getTracer('required').startActiveSpan('inner', (inner) => {
    same.push(imported.trace.getActiveSpan() === inner);
    const headers = {};
    imported.propagation.inject(required.context.active(), headers);
    same.push(headers.traceparent?.includes(inner.spanContext().spanId));
    for (const tracer of early) tracer.startSpan('early').end();
    inner.end();
  });
  outer.end();
});
await shutdown?.();
console.log(JSON.stringify({ areTwo: imported.trace !== required.trace, same, theirs }));
