import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endRequest, startRequest } from '../../../src/spans/begin-span.js';
import { KIND_SHIFT, KINDS } from '../../../src/spans/layout.js';
import { extract, inject } from '../../../src/spans/propagation.js';
import { Scope } from '../../../src/spans/scope.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { Prefix } from '../../../src/spans/slot/prefix.js';
import { began, child, kept, request, SLOW, tracesOf } from './kept-run.js';

test('slow and failed traces are kept whole, and the others are counted', async () => {
  const { spans, released } = await kept({ slowerThan: SLOW, errors: true }, () => {
    for (let n = 0; n < 20_000; n++) request(n % 100 === 7 ? 2 * SLOW : 0, n % 200 === 9);
  });
  const traces = tracesOf(spans.filter(({ unfinished }) => !unfinished));
  expect(traces).toHaveLength(300);
  for (const trace of traces) expect(trace).toHaveLength(3);
  const reasons = traces.map(([first]) => first!.kept?.reason);
  expect(reasons.filter((reason) => reason === 'slow')).toHaveLength(200);
  expect(reasons.filter((reason) => reason === 'error')).toHaveLength(100);
  expect(spans.every(({ kept: why }) => why?.weight === 1 || why?.reason === 'undecided')).toBe(
    true,
  );
  expect(released).toEqual({ count: 19_700, errors: 0, limited: 0 });
});

test('errors: any keeps a trace of which one span has failed', async () => {
  const run = (errors: boolean | 'any') =>
    kept({ errors }, () => {
      const root = began(0);
      child(root).fail(new Error('no')).end();
      root.end();
    });
  expect((await run(true)).spans).toHaveLength(0);
  expect((await run('any')).spans).toHaveLength(2);
});

test('a share is kept by trace id, with its weight', async () => {
  const { spans, released } = await kept({ ratio: 0.1 }, () => {
    for (let n = 0; n < 10_000; n++) request(0, false);
  });
  const traces = tracesOf(spans.filter(({ unfinished }) => !unfinished));
  // Five times the standard deviation.
  expect(traces.length).toBeGreaterThan(850);
  expect(traces.length).toBeLessThan(1150);
  expect(traces.length + released.count).toBe(10_000);
  for (const [span] of traces) {
    expect(span!.kept).toEqual({ reason: 'ratio', weight: 10 });
    expect(Number.parseInt(span!.traceId.slice(18), 16)).toBeGreaterThanOrEqual(0.9 * 2 ** 56);
    expect(span!.traceState).toBe('ot=th:e6666666666668');
  }
});

test('late children go where their trace has gone', async () => {
  const { spans } = await kept({ slowerThan: SLOW }, () => {
    const slow = began(2 * SLOW, 'slow');
    const fast = began(0, 'fast');
    const late = [child(slow, 'late'), child(fast, 'late')];
    slow.end();
    fast.end();
    for (const span of late) span.end();
    // They begin after the decision.
    child(slow, 'later').end();
    child(fast, 'later').end();
  });
  expect(spans.map(({ name }) => name).sort()).toEqual(['late', 'later', 'slow']);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
});

test('a late span begins no trace, however many others there were meanwhile', async () => {
  const { spans, released } = await kept({ slowerThan: SLOW, errors: 'any' }, () => {
    const first = began(0, 'first');
    first.end();
    for (let n = 0; n < 40_000; n++) began(0).end();
    const late = startSpan('late', {}, { parent: first, startTime: Date.now() - 2 * SLOW });
    child(late).fail(new Error('no')).end();
    late.end();
  });
  expect(spans).toHaveLength(0);
  expect(released.count).toBe(40_001);
});

test('two local roots of one trace are decided together', async () => {
  const from = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const run = (slowest: number) =>
    kept({ slowerThan: SLOW }, () => {
      const parent = extract(from)!;
      const first = startSpan('first', {}, { parent, kind: 'server' });
      const second = startSpan('second', {}, { parent, startTime: Date.now() - slowest });
      child(first).end();
      first.end();
      child(second).end();
      second.end();
    });
  const whole = await run(2 * SLOW);
  expect(whole.spans.map(({ name }) => name).sort()).toEqual(['first', 'query', 'query', 'second']);
  const none = await run(0);
  expect(none.spans).toHaveLength(0);
  expect(none.released.count).toBe(2);
});

const server = KINDS.indexOf('server') << KIND_SHIFT;
const template = new Prefix(new Scope('test'), 'GET', server, (path) => ({ path }), true);

/** Requests in a process that is older than the limit: what they sent, of those in `calling`. */
async function requestsOfTemplate(count: number, children: number): Promise<string[]> {
  const open = [];
  for (let n = 0; n < count; n++)
    open.push(startRequest(template, undefined, '/', undefined, true));
  for (let n = 0; n < children; n++) for (const root of open) child(root).end();
  const sent = open.map((root) => root.run(() => inject<Record<string, string>>({})));
  open.forEach(endRequest);
  await Promise.resolve();
  return sent.flatMap(({ tracestate }) => tracestate ?? []);
}

test('a request is as old as itself, however old its process is', async () => {
  const { spans, released } = await kept({ slowerThan: 4000 }, async () => {
    await sleep(4050);
    expect(await requestsOfTemplate(3, 1)).toEqual([]);
    // More than the waiting ring holds.
    expect(await requestsOfTemplate(200, 60)).toEqual([]);
  });
  expect(spans).toEqual([]);
  expect(released.count).toBe(203);
});

test('roots of one trace that follow each other are as old as the last one', async () => {
  const from = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const startAt = (name: string, ms: number) =>
    startSpan(name, {}, { parent: extract(from)!, startTime: Date.now() - ms });
  await kept({ slowerThan: SLOW }, () => {
    const first = startAt('first', 0.9 * SLOW);
    const second = startAt('second', 0);
    first.end();
    const third = second.run(() => inject<Record<string, string>>({}));
    expect(third['tracestate']).toBeUndefined();
    second.end();
  });
});

test('a request for which its template has no room is one local root, too', async () => {
  const { spans, released } = await kept({ slowerThan: SLOW }, () => {
    for (const path of ['/', '/short', '/long'.padEnd(1000, 'g')]) {
      endRequest(startRequest(template, undefined, path, undefined, true));
    }
  });
  expect(spans).toHaveLength(0);
  expect(released.count).toBe(3);
});

test('a long request among many is whole', async () => {
  const { spans } = await kept({ slowerThan: SLOW, errors: true }, () => {
    const long = began(0, 'long');
    const slow = began(2 * SLOW, 'slow');
    child(long, 'of long').end();
    child(slow, 'of slow').end();
    for (let n = 0; n < 40_000; n++) {
      request(0, false);
      if (n % 4000 === 0) child(long, 'of long').end();
    }
    child(slow, 'of slow').end();
    slow.end();
    long.fail(new Error('no')).end();
  });
  const finished = spans.filter(({ unfinished }) => !unfinished);
  expect(finished.filter(({ name }) => name === 'of long')).toHaveLength(11);
  expect(finished.filter(({ name }) => name === 'of slow')).toHaveLength(2);
  expect(finished.filter(({ name }) => name === 'long' || name === 'slow')).toHaveLength(2);
});

test('the limit keeps something of each route and type of error', async () => {
  const { spans, released } = await kept({ errors: true, limit: 50 }, () => {
    for (let n = 0; n < 5000; n++) {
      const route = n % 1000 === 3 ? '/rare' : '/often';
      const root = began(0, `GET ${route}`);
      root.fail(new Error('no'));
      root.end();
    }
  });
  const often = spans.filter(({ name }) => name === 'GET /often');
  expect(spans.filter(({ name }) => name === 'GET /rare')).toHaveLength(5);
  expect(often.length).toBeGreaterThanOrEqual(25);
  expect(often.length).toBeLessThan(2500);
  expect(spans.length + released.count).toBe(5000);
  expect(released.errors).toBe(released.count);
  expect(released.limited).toBe(released.count);
  // The weights make up for what was released.
  const weights = often.reduce((sum, { kept: why }) => sum + why!.weight, 0);
  expect(weights).toBeGreaterThan(500);
});

test('a service that is called later hears that a trace is kept, and keeps it', async () => {
  const { spans } = await kept({ slowerThan: SLOW }, () => {
    const slow = began(2 * SLOW, 'slow');
    const fast = began(0, 'fast');
    const headers = slow.run(() => inject<Record<string, string>>({}));
    const others = fast.run(() => inject<Record<string, string>>({}));
    expect(headers['tracestate']).toMatch(/^tracewright=keep:\d{13}$/);
    expect(others['tracestate']).toBeUndefined();
    expect(others['traceparent']).toMatch(/-0[13]$/);
    for (const each of [headers, others]) {
      startSpan('called', {}, { parent: extract(each)!, kind: 'server' }).end();
    }
    slow.end();
    fast.end();
  });
  expect(spans.map(({ name }) => name).sort()).toEqual(['called', 'slow']);
});

test('what is not decided when recording ends is kept, and says so', async () => {
  const { spans } = await kept({ slowerThan: SLOW }, () => {
    const root = began(0, 'open');
    child(root).end();
    startRequest(template, undefined, '/open', undefined, true);
  });
  expect(spans.map(({ name, unfinished }) => [name, unfinished])).toEqual([
    ['query', false],
    ['open', true],
    ['GET', true],
  ]);
  expect(spans.map(({ kept: why }) => why?.reason)).toEqual(Array(3).fill('undecided'));
});

test('the program decides first', async () => {
  const decide = ({ attributes }: { attributes: Record<string, unknown> }) =>
    attributes['n'] === 1 ? undefined : attributes['n'] === 2;
  const { spans } = await kept({ errors: true, decide }, () => {
    for (const n of [1, 2, 3]) {
      const root = startSpan('root', { n }, { parent: null });
      root.fail(new Error('no'));
      root.end();
    }
  });
  expect(spans.map(({ attributes, kept: why }) => [attributes['n'], why?.reason])).toEqual([
    [1, 'error'],
    [2, 'chosen'],
  ]);
});

test('the first requests of each route are kept', async () => {
  const { spans, released } = await kept({ first: 3 }, () => {
    for (let n = 0; n < 10; n++) for (const name of ['GET /a', 'GET /b']) began(0, name).end();
  });
  expect(spans).toHaveLength(6);
  expect(released.count).toBe(14);
});

test('roots that never end take no memory from others', async () => {
  const { spans, released } = await kept({ slowerThan: SLOW, errors: true }, () => {
    for (let n = 0; n < 40_000; n++) began(0, 'never');
    request(2 * SLOW, false);
    request(0, false);
  });
  expect(tracesOf(spans).filter((trace) => trace.length === 3)).toHaveLength(1);
  expect(released.count).toBe(1);
});

test('a root that has ended is counted where its trace makes way for newer ones', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const { spans, released } = await kept({ slowerThan: SLOW }, () => {
    const parent = extract({ traceparent })!;
    const first = startSpan('first', {}, { parent, kind: 'server' });
    const second = startSpan('second', {}, { parent });
    first.end();
    for (let n = 0; n < 20_000; n++) began(0).end();
    for (let n = 0; n < 20_000; n++) began(0, 'never');
    second.end();
  });
  expect(spans.map(({ name }) => name)).not.toContain('first');
  expect(released.count).toBe(20_002);
});
