import { context, createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterAll, expect, test } from 'vitest';
import { TracewrightContextManager } from '../../src/otel/index.js';
import { activeSpan } from '../../src/spans/active-span.js';
import { startSpan } from '../../src/spans/start-span.js';
import { spansOf } from './api-spans.js';

const KEY = createContextKey('of a test');
const manager = new TracewrightContextManager();

afterAll(() => {
  manager.disable();
});

test('a manager that was made without a root shows the one of the API', () => {
  expect(manager.active()).toBe(ROOT_CONTEXT);
});

test('disable lets go of what is active, in later turns too', async () => {
  await spansOf(async () => {
    const span = startSpan('left active');
    await span.run(async () => {
      expect(activeSpan()).toBe(span);
      manager.disable();
      expect(manager.active()).toBe(ROOT_CONTEXT);
      expect(activeSpan()).toBeUndefined();
      manager.enable();
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect(manager.active()).toBe(ROOT_CONTEXT);
      expect(trace.getActiveSpan()).toBeUndefined();
    });
    span.end();
  });
});

test('with, bound functions and attach work after disable', () => {
  const given = ROOT_CONTEXT.setValue(KEY, 1);
  const bound = manager.bind(given, () => manager.active());
  const ways = [
    () => manager.with(given, () => manager.active()),
    bound,
    () => {
      const attached = manager.attach(given);
      const active = manager.active();
      attached.dispose();
      return active;
    },
  ];
  for (const active of ways) {
    manager.disable();
    expect(active()).toBe(given);
    expect(manager.active()).toBe(ROOT_CONTEXT);
  }
});

test('the manager of the API and another one show the same', () => {
  const given = ROOT_CONTEXT.setValue(KEY, 2);
  context.with(given, () => {
    expect(manager.active()).toBe(given);
  });
});

test('a context that is none leaves nothing active', () => {
  context.with('no context' as never, () => {
    expect(context.active()).toBe(ROOT_CONTEXT);
    expect(trace.getActiveSpan()).toBeUndefined();
  });
});
