import { SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { startSpan } from '../../src/spans/start-span.js';
import { registration, spanOf, spansOf, tracer } from './api-spans.js';

test('an exception that answers a request is no failure', async () => {
  const redirect = Object.assign(new Error('NEXT_REDIRECT'), {
    digest: 'NEXT_REDIRECT;push;/;307;',
  });
  const code = SpanStatusCode.ERROR;
  const statusOf = async (exception: Error, message?: string): Promise<unknown> => {
    const { status, events } = await spanOf((span) => {
      span.recordException(exception);
      span.setStatus(message === undefined ? { code } : { code, message });
    });
    expect(events).toHaveLength(1);
    return status.code;
  };
  expect(await statusOf(redirect)).toBe('unset');
  expect(await statusOf(redirect, 'NEXT_REDIRECT')).toBe('unset');
  expect(await statusOf(redirect, 'the payment failed')).toBe('error');
  expect(await statusOf(new Error('x'))).toBe('error');
});

test('attributes of every type come back; null and undefined change nothing', async () => {
  const { attributes } = await spanOf((span) => {
    span.setAttribute('text', 'x').setAttribute('text', 'y');
    span.setAttributes({
      number: 1.5,
      boolean: true,
      list: ['a', 'b'],
      numbers: [1, 2],
      mixed: [true],
    });
    const list = [1, 2];
    span.setAttribute('copied', list);
    list.push(3);
    span.setAttribute('text', undefined as unknown as string);
    span.setAttribute('number', null as unknown as string);
    span.setAttribute('empty', []);
    span.setAttribute('__proto__', 'own');
  });
  expect({ ...attributes }).toEqual({
    text: 'y',
    number: 1.5,
    boolean: true,
    list: ['a', 'b'],
    numbers: [1, 2],
    mixed: [true],
    copied: [1, 2],
    empty: [],
    ['__proto__']: 'own',
  });
});

test.each<[string, { code: SpanStatusCode; message?: string }[], string, string]>([
  ['unset by default', [], 'unset', ''],
  ['ok', [{ code: SpanStatusCode.OK, message: 'ignored' }], 'ok', ''],
  ['error with a message', [{ code: SpanStatusCode.ERROR, message: 'bad' }], 'error', 'bad'],
  [
    'an error may become ok',
    [{ code: SpanStatusCode.ERROR, message: 'bad' }, { code: SpanStatusCode.OK }],
    'ok',
    '',
  ],
  [
    'ok is final',
    [{ code: SpanStatusCode.OK }, { code: SpanStatusCode.ERROR, message: 'bad' }],
    'ok',
    '',
  ],
  [
    'unset is ignored',
    [{ code: SpanStatusCode.ERROR, message: 'bad' }, { code: SpanStatusCode.UNSET }],
    'error',
    'bad',
  ],
  [
    'the last error counts',
    [
      { code: SpanStatusCode.ERROR, message: 'a' },
      { code: SpanStatusCode.ERROR, message: 'b' },
    ],
    'error',
    'b',
  ],
  [
    'an error without a message',
    [{ code: SpanStatusCode.ERROR, message: 'a' }, { code: SpanStatusCode.ERROR }],
    'error',
    '',
  ],
])('status: %s', async (_, calls, code, message) => {
  const { status } = await spanOf((span) => {
    for (const call of calls) span.setStatus(call);
  });
  expect(status).toEqual({ code, message });
});

test('events have their attributes and times', async () => {
  const at = Date.now() - 1000;
  const { events, start } = await spanOf((span) => {
    span.addEvent('bare');
    span.addEvent('with', { a: 1 });
    span.addEvent('at', at);
    span.addEvent('both', { b: true }, [Math.floor(at / 1000), (at % 1000) * 1e6]);
    span.addEvent('date', new Date(at));
  });
  expect(events.map(({ name, attributes }) => [name, { ...attributes }])).toEqual([
    ['bare', {}],
    ['with', { a: 1 }],
    ['at', {}],
    ['both', { b: true }],
    ['date', {}],
  ]);
  expect(events[0]!.time).toBeGreaterThanOrEqual(start);
  for (const index of [2, 3, 4]) {
    expect(Math.abs(Number(events[index]!.time / 1000n) - at * 1000)).toBeLessThan(1000);
  }
});

test('exceptions of every kind become events', async () => {
  const { events, status } = await spanOf((span) => {
    span.recordException(new TypeError('wrong'));
    span.recordException('a text');
    span.recordException({ code: 42, message: 'coded' });
    span.recordException({ code: 'ENOENT', name: 'Error', message: 'none' });
    span.recordException({} as Error);
    span.recordException(undefined as unknown as Error);
  });
  expect(status.code).toBe('unset');
  expect(
    events.map(({ attributes }) => [attributes['exception.type'], attributes['exception.message']]),
  ).toEqual([
    ['TypeError', 'wrong'],
    [undefined, 'a text'],
    ['42', 'coded'],
    ['ENOENT', 'none'],
  ]);
  expect(events[0]!.attributes['exception.stacktrace']).toContain('span-methods.test');
  expect(new Set(events.map(({ name }) => name))).toEqual(new Set(['exception']));
});

test('links come from the options and from addLink and addLinks', async () => {
  const context = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.SAMPLED,
  };
  const [other, span] = await spansOf(() => {
    const first = tracer.startSpan('other');
    first.end();
    const links = [{ context: first.spanContext(), attributes: { n: 1 } }];
    const span = tracer.startSpan('linked', { links });
    span.addLink({ context: { ...context, isRemote: true } });
    span.addLinks([{ context }, { context: { ...context, spanId: 'no' } }]);
    span.end();
  });
  const ids = { traceId: context.traceId, spanId: context.spanId, flags: 1 };
  expect(span?.links).toMatchObject([
    { traceId: other?.traceId, spanId: other?.spanId, attributes: { n: 1 }, remote: false },
    { ...ids, remote: true },
    { ...ids, remote: false },
  ]);
});

test('limits hold for links and events, and what exceeds them is counted', async () => {
  const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };
  const [span] = await spansOf(
    () => {
      const span = tracer.startSpan('limited', { links: [{ context }] });
      for (let i = 0; i < 5; i++) {
        span.addLink({ context }).addEvent(`e${i}`).setAttribute(`a${i}`, i);
      }
      span.end();
    },
    { limits: { links: 2, events: 3, attributes: 4 } },
  );
  expect(span?.links).toHaveLength(2);
  expect(span?.events).toHaveLength(3);
  expect(span?.dropped).toEqual({ attributes: 1, events: 2, links: 4 });
  await spansOf(() => undefined, { limits: {} });
});

test('updateName renames, and nothing changes a span that has ended', async () => {
  const [span] = await spansOf(() => {
    const span = tracer.startSpan('before');
    expect(span.isRecording()).toBe(true);
    span.updateName('after');
    span.end();
    expect(span.isRecording()).toBe(false);
    span
      .updateName('late')
      .setAttribute('late', 1)
      .addEvent('late')
      .setStatus({ code: SpanStatusCode.ERROR });
    span.addLink({ context: span.spanContext() });
    span.recordException(new Error('late'));
    span.end();
  });
  expect(span).toMatchObject({ name: 'after', attributes: {}, events: [], links: [] });
  expect(span?.status.code).toBe('unset');
});

test('spans of tracewright/spans have the methods of the API too', async () => {
  const [span] = await spansOf(() => {
    const own = startSpan('own', { a: 1 });
    (own as unknown as ReturnType<typeof tracer.startSpan>).setAttribute('b', 2).end();
  });
  expect(span?.attributes).toEqual({ a: 1, b: 2 });
});

test('spanContext has the ids that are recorded', async () => {
  let context: unknown;
  const span = await spanOf((each) => {
    context = each.spanContext();
    expect(trace.isSpanContextValid(each.spanContext())).toBe(true);
  });
  expect(context).toEqual({ traceId: span.traceId, spanId: span.spanId, traceFlags: 3 });
});

test('times of every form are the start and the end of a span', async () => {
  const ms = 1_700_000_000_123.5;
  const start = BigInt(ms * 1000) * 1000n;
  const forms: [unknown, unknown][] = [
    [ms, ms + 2],
    [new Date(Math.floor(ms)), new Date(Math.floor(ms) + 2)],
    [
      [1_700_000_000, 123_500_000],
      [1_700_000_000, 125_500_000],
    ],
    [start, start + 2_000_000n],
  ];
  for (const [from, to] of forms) {
    const [span] = await spansOf(() => {
      tracer.startSpan('timed', { startTime: from as number }).end(to as number);
    });
    expect(Math.abs(Number(span!.start - start)), String(from)).toBeLessThan(600_000);
    // Two clocks are read for each, one after the other.
    expect(Math.abs(Number(span!.end - span!.start) - 2_000_000), String(from)).toBeLessThan(
      50_000,
    );
  }
});

test('what performance.now returned is a time of this process', async () => {
  let before = 0;
  let after = 0;
  const [span] = await spansOf(() => {
    before = Date.now();
    const now = performance.now();
    after = Date.now();
    tracer.startSpan('timed', { startTime: now - 50 }).end(now - 20);
  });
  expect(Number(span!.start) / 1e6).toBeGreaterThanOrEqual(before - 52);
  expect(Number(span!.start) / 1e6).toBeLessThanOrEqual(after - 48);
  expect(span!.end).toBeGreaterThan(span!.start);
});

test.each([
  Number.NaN,
  Infinity,
  -Infinity,
  'now',
  {},
  [],
  [1],
  [1, 2, 3],
  [NaN, 0],
  true,
  new Date(NaN),
])('the time %s counts as wrong, and means now', async (time) => {
  const before = registration.provider.stats().wrongArguments;
  const [span] = await spansOf(() => {
    tracer.startSpan('a', { startTime: time as number }).end(time as number);
  });
  expect(Math.abs(Number(span!.start / 1_000_000n) - Date.now())).toBeLessThan(10_000);
  expect(registration.provider.stats().wrongArguments).toBe(before + 2);
});
