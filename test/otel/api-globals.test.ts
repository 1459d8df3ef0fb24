import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { ContextManager } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { spansOf, tracer } from './api-spans.js';

const KEY = Symbol.for('opentelemetry.js.api.1');
const globals = globalThis as unknown as Record<symbol, object | null | undefined>;
const registered = globals[KEY];

afterEach(() => {
  globals[KEY] = registered;
});

test("another global object's context manager counts from the next span on", async () => {
  const spans = await spansOf(() => {
    const outer = tracer.startSpan('outer');
    const theirs = trace.setSpan(ROOT_CONTEXT, outer);
    tracer.startSpan('before').end();
    const manager = { active: () => theirs } as unknown as ContextManager;
    globals[KEY] = { ...registered, context: manager };
    expect(context.active()).toBe(theirs);
    tracer.startSpan('below').end();
    // Tests of the API remove it, or set it to null.
    globals[KEY] = null;
    tracer.startSpan('alone').end();
    globals[KEY] = registered;
    tracer.startSpan('after').end();
    outer.end();
  });
  const byName = new Map(spans.map((span) => [span.name, span]));
  const { spanId } = byName.get('outer')!;
  expect(byName.get('below')!.parentSpanId).toBe(spanId);
  for (const name of ['before', 'alone', 'after']) {
    expect(byName.get(name)!.parentSpanId).toBeUndefined();
  }
});
