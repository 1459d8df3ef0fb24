import { expect, test } from 'vitest';
import { extract, inject } from '../../../src/spans/propagation.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { Span } from '../../../src/spans/span.js';
import { began, child, kept, SLOW } from './kept-run.js';

/** Milliseconds: what begins later after the end of its trace is no part of it. */
const LATE = 5000;
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** A span that begins so long from now. */
function later(parent: Span, ms: number, name = 'later', kind: 'internal' | 'client' = 'internal') {
  return startSpan(name, { n: 1 }, { parent, kind, startTime: Date.now() + ms });
}

/** What a call under a span carries. */
function sentBy(span: Span): string {
  return span.run(() => inject<Record<string, string>>({}))['tracestate'] ?? '';
}

/** A request whose caller says so. */
function received(tracestate: string, kind: 'server' | 'consumer' = 'server'): Span {
  const parent = extract({ traceparent: PARENT, tracestate })!;
  return startSpan('received', {}, { parent, kind });
}

const until = (tracestate: string) =>
  Number(/^tracewright=keep:(\d+)$/.exec(tracestate)?.[1] ?? NaN);

test('what begins long after a trace was kept is decided anew, with a link', async () => {
  const { spans, released } = await kept({ errors: true }, () => {
    const root = began(0, 'root');
    const open = child(root, 'open');
    root.fail(new Error('no')).end();
    later(root, LATE - 200, 'soon').end();
    later(root, LATE + 200, 'healthy').end();
    later(open, LATE + 200, 'below what is open').end();
    const failed = later(root, LATE + 200, 'failed');
    child(failed).end();
    failed.fail(new Error('no')).end();
    open.end();
  });
  expect(spans.map(({ name }) => name).sort()).toEqual(['failed', 'open', 'query', 'root', 'soon']);
  const of = (wanted: string) => spans.find(({ name }) => name === wanted)!;
  expect([of('soon'), of('open')].map((span) => [span.traceId, span.kept?.reason])).toEqual(
    Array(2).fill([of('root').traceId, 'error']),
  );
  const failed = of('failed');
  expect(failed.traceId).not.toBe(of('root').traceId);
  expect(failed.parentSpanId).toBeUndefined();
  expect(failed.links.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([
    [of('root').traceId, of('root').spanId],
  ]);
  expect(failed.kept).toEqual({ reason: 'error', weight: 1 });
  expect(of('query').traceId).toBe(failed.traceId);
  expect(released.count).toBe(2);
});

test('the same long after it was released', async () => {
  const { spans } = await kept({ errors: true }, () => {
    const root = began(0, 'root');
    root.end();
    later(root, LATE - 200, 'soon')
      .fail(new Error('no'))
      .end();
    later(root, LATE + 200, 'late')
      .fail(new Error('no'))
      .end();
  });
  expect(spans.map(({ name }) => name)).toEqual(['late']);
});

test('what is sent says until when the trace is kept', async () => {
  await kept({ slowerThan: SLOW }, () => {
    const slow = began(2 * SLOW, 'slow');
    const now = Date.now();
    expect(until(sentBy(slow))).toBeGreaterThanOrEqual(now + LATE);
    expect(until(sentBy(slow))).toBeLessThan(now + LATE + 1000);
    slow.end();
    const ended = Date.now();
    const soon = later(slow, 0, 'soon');
    expect(until(sentBy(soon))).toBeLessThan(ended + LATE + 20);
    expect(until(sentBy(soon))).toBeGreaterThan(now + LATE - 1000);
    expect(sentBy(later(slow, LATE + 200))).toBe('');
  });
});

test('a received word holds until its time', async () => {
  const now = Date.now();
  const { spans } = await kept({ slowerThan: SLOW }, () => {
    for (const [state, isKept] of [
      [`tracewright=keep:${now + LATE}`, true],
      [`tracewright=keep:${now - 1}`, false],
      [`tracewright=keep:${now + 3 * LATE}`, false],
      [`a=b,tracewright=keep:${now + LATE}`, true],
    ] as const) {
      const root = received(state);
      const part = child(root);
      const sent = sentBy(part);
      part.end();
      expect(sent.includes('tracewright=keep:'), state).toBe(isKept);
      if (isKept) expect(sent).toContain(`keep:${now + LATE}`);
      root.end();
    }
  });
  expect(spans.map(({ name, kept: why }) => `${name}: ${why?.reason}`).sort()).toEqual([
    ...Array<string>(2).fill('query: caller'),
    ...Array<string>(2).fill('received: caller'),
  ]);
});

test('a word without a time holds when it comes, and is passed on with one', async () => {
  const before = Date.now();
  const { spans } = await kept({ slowerThan: SLOW }, () => {
    for (const state of ['tracewright=keep', 'foo=1,tracewright=keep']) {
      const root = received(state);
      const part = child(root);
      const sent = sentBy(part);
      part.end();
      root.end();
      expect(sent.match(/tracewright=keep/g)).toHaveLength(1);
      expect(Number(/tracewright=keep:(\d+)/.exec(sent)?.[1])).toBeGreaterThanOrEqual(
        before + LATE,
      );
    }
  });
  expect(spans.map(({ name, kept: why }) => `${name}: ${why?.reason}`).sort()).toEqual([
    ...Array<string>(2).fill('query: caller'),
    ...Array<string>(2).fill('received: caller'),
  ]);
});

test('the second request of a trace is decided by itself', async () => {
  const { spans, released } = await kept({ errors: true }, () => {
    received('').fail(new Error('no')).end();
    received('').end();
  });
  expect(spans).toHaveLength(1);
  expect(released.count).toBe(1);
});

test('a message that a kept message has led to is decided by itself', async () => {
  const state = `tracewright=keep:${Date.now() + LATE}`;
  await kept({ errors: true }, () => {
    const job = received(state, 'consumer');
    const next = startSpan('next', {}, { parent: job, kind: 'producer' });
    expect(sentBy(next)).toBe('');
    expect(sentBy(job)).toBe('');
    const call = startSpan('call', {}, { parent: job, kind: 'client' });
    expect(sentBy(call)).toBe(state);
    job.end();
    expect(sentBy(later(job, 0, 'late', 'client'))).toBe(state);
    expect(sentBy(later(job, 0))).toBe('');
  });
});

test('the limit holds for what is sent', async () => {
  const { spans, released } = await kept({ slowerThan: SLOW, limit: 10 }, () => {
    for (let n = 0; n < 200; n++) {
      const slow = began(2 * SLOW, 'slow');
      slow.set('sent', sentBy(slow) !== '');
      slow.end();
    }
    let passedOn = 0;
    for (let n = 0; n < 200; n++) {
      const root = received(`tracewright=keep:${Date.now() + LATE}`);
      if (sentBy(child(root)) !== '') passedOn++;
      root.end();
    }
    expect(passedOn).toBeGreaterThan(0);
    expect(passedOn).toBeLessThan(100);
  });
  const slow = spans.filter(({ name }) => name === 'slow');
  expect(slow.length).toBeGreaterThanOrEqual(10);
  expect(slow.length).toBeLessThan(100);
  expect(slow.every(({ attributes }) => attributes['sent'])).toBe(true);
  expect(released.limited).toBe(200 - slow.length);
});

test('a rule of the program has the last word about what is sent', async () => {
  const decide = () => false;
  await kept({ slowerThan: SLOW, decide }, () => {
    expect(sentBy(began(2 * SLOW))).toBe('');
  });
});
