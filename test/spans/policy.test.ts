import { ROOT_CONTEXT } from '@opentelemetry/api';
import { TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { configure, shutdown } from '../../src/spans/recording.js';
import { checkSampler, isInShare } from '../../src/spans/sampling.js';
import { activeSpan, withSpan } from '../../src/spans/active-span.js';
import { startSpan } from '../../src/spans/start-span.js';
import type { RemoteParent } from '../../src/spans/context/remote-parent.js';
import { extract, inject } from '../../src/spans/propagation.js';
import type { Span } from '../../src/spans/span.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from './span-trace.js';
import { join } from 'node:path';

const directory = temporaryDirectory();

afterEach(async () => {
  await shutdown();
  configure({ sample: 1, limits: {}, redact: {} });
  for (const name of Object.keys(process.env)) {
    if (/^OTEL_|^TRACEWRIGHT_REDACT/.test(name)) Reflect.deleteProperty(process.env, name);
  }
});

test('a share of the traces is recorded, whole', async () => {
  const spans = await recorded(
    directory,
    () => {
      for (let i = 0; i < 4000; i++) {
        withSpan('root', undefined, () => {
          withSpan('child', undefined, () => activeSpan());
        });
      }
    },
    { sample: 0.25 },
  );
  const roots = spans.filter(({ name }) => name === 'root');
  expect(roots.length).toBeGreaterThan(800);
  expect(roots.length).toBeLessThan(1200);
  expect(spans).toHaveLength(2 * roots.length);
});

test('the same traces are in a share everywhere, and in every larger one', () => {
  fc.assert(
    fc.property(
      fc.integer(),
      fc.integer(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (a, b, ratio) => {
        const has = (share: number): boolean => isInShare(checkSampler(share), 0, 0, a, b, '');
        if (has(ratio)) expect(has(Math.min(1, ratio * 1.1))).toBe(true);
        expect(has(1)).toBe(true);
        expect(has(0)).toBe(false);
      },
    ),
  );
});

test("a caller's decision holds if it is trusted, and says that it is about the trace", async () => {
  const parent = (flags: string, tracestate?: string, trusted = true): RemoteParent => {
    const traceparent = `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`;
    const remote = extract({ traceparent, ...(tracestate === undefined ? {} : { tracestate }) })!;
    remote.trusted = trusted;
    return remote;
  };
  const start = (name: string, remote: RemoteParent): void => {
    startSpan(name, undefined, { parent: remote }).end();
  };
  const spans = await recorded(
    directory,
    () => {
      start('yes', parent('01'));
      start('ours says no', parent('00', 'tracewright=0'));
      start('ot says no', parent('00', 'other=1,ot=rv:6e6d1a75832a2f'));
      start('no without a word', parent('00'));
      start('no of another tracer', parent('00', 'other@nr=0-0-1'));
      start('stranger', parent('00', 'tracewright=0', false));
    },
    { sample: 1 },
  );
  expect(spans.map(({ name, parentIsRemote }) => [name, parentIsRemote])).toEqual([
    ['yes', true],
    ['no without a word', true],
    ['no of another tracer', true],
    ['stranger', true],
  ]);
});

test('what is decided travels: a threshold, or that nothing is recorded', async () => {
  const state = (span: Span): string | undefined =>
    (inject({ traceparent: '' }) as { tracestate?: string }).tracestate ?? `none ${span.name}`;
  const sent = (from: object | undefined): string | undefined => {
    const parent = from === undefined ? null : extract(from)!;
    return withSpan('x', undefined, state, { parent });
  };
  const traceparent = (trace: string): string => `00-${trace}-b7ad6b7169203331-00`;
  const high = traceparent('0af7651916cd43dd84ffffffffffffff');
  const low = traceparent('0af7651916cd43dd8400000000000000');
  await recorded(
    directory,
    () => {
      expect(sent({ traceparent: high })).toBe('ot=th:c');
      expect(sent({ traceparent: low })).toBe('tracewright=0');
      expect(sent({ traceparent: high, tracestate: 'a=1' })).toBe('ot=th:c,a=1');
      expect(sent({ traceparent: low, tracestate: 'a=1' })).toBe('tracewright=0,a=1');
      // A random value decides in place of the id.
      const value = {
        traceparent: low.replace(/00$/, '01'),
        tracestate: 'ot=th:0;rv:c0000000000000',
      };
      const stranger = extract(value)!;
      stranger.trusted = false;
      expect(withSpan('x', undefined, state, { parent: stranger })).toBe(
        'ot=th:c;rv:c0000000000000',
      );
      expect(sent(value)).toBe('ot=th:0;rv:c0000000000000');
    },
    { sample: 0.25 },
  );
  await recorded(
    directory,
    () => {
      expect(sent(undefined)).toBe('none x');
    },
    { sample: 1 },
  );
});

test('a threshold is that of the ratio, to 56 bits', () => {
  expect(checkSampler(0.5).recorded).toBe('ot=th:8');
  expect(checkSampler(0.01).recorded).toBe('ot=th:fd70a3d70a3d7');
  expect(checkSampler(1).recorded).toBe('');
  expect(checkSampler(0).recorded).toBe('');
  expect(checkSampler(1e-30)).toMatchObject({ ratio: 0, recorded: '' });
});

test("the JavaScript SDK's rule chooses the traces that its sampler chooses", () => {
  process.env['TRACEWRIGHT_RATIO_RULE'] = 'javascript';
  try {
    for (const ratio of [0, 0.001, 0.1, 0.5, 0.999, 1]) {
      const theirs = new TraceIdRatioBasedSampler(ratio);
      const ours = checkSampler(ratio);
      expect(ours.recorded).toBe('');
      for (let i = 0; i < 4000; i++) {
        const words = crypto.getRandomValues(new Int32Array(4));
        const [t0 = 0, t1 = 0, t2 = 0, t3 = 0] = words;
        const id = [...words].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
        const { decision } = theirs.shouldSample(ROOT_CONTEXT, id);
        expect(isInShare(ours, t0, t1, t2, t3, '')).toBe(decision === 2);
      }
    }
  } finally {
    delete process.env['TRACEWRIGHT_RATIO_RULE'];
  }
});

test.each([
  ['always_off', undefined, { ratio: 0, parentBased: false }],
  ['parentbased_traceidratio', '0.5', { ratio: 0.5, parentBased: true }],
  ['traceidratio', 'half', { ratio: 1, parentBased: false }],
  ['what', undefined, { ratio: 1, parentBased: true }],
])('OTEL_TRACES_SAMPLER %s %s', (name, argument, sampler) => {
  process.env['OTEL_TRACES_SAMPLER'] = name;
  if (argument !== undefined) process.env['OTEL_TRACES_SAMPLER_ARG'] = argument;
  expect(checkSampler(undefined)).toMatchObject(sampler);
});

test('limits count what they leave out', async () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${i}`, i]));
  const [given, set] = await recorded(
    directory,
    () => {
      startSpan('given', { ...many, text: 'x' }).end();
      const span = startSpan('set', { text: 'long text' });
      for (const [name, value] of Object.entries(many)) span.set(name, value);
      for (let i = 0; i < 5; i++) span.event('e', many);
      span.end();
    },
    { limits: { attributes: 10, events: 2, eventAttributes: 3, valueLength: 4 } },
  );
  expect(Object.keys(given!.attributes)).toHaveLength(10);
  expect(given!.dropped.attributes).toBe(41);
  expect(Object.keys(set!.attributes)).toHaveLength(10);
  expect(set!.attributes['text']).toBe('long');
  expect(set!.dropped).toEqual({ attributes: 41, events: 3, links: 0 });
  expect(set!.events).toHaveLength(2);
  expect(set!.events[0]).toMatchObject({
    attributes: { a0: 0, a1: 1, a2: 2 },
    droppedAttributes: 47,
  });
});

test('redaction removes, masks and replaces', async () => {
  const spans = await recorded(
    directory,
    () => {
      for (let i = 0; i < 100; i++) {
        startSpan('GET /users/42', {
          'user.email': 'a@b.c',
          'db.query.text': 'select 1',
          'url.path': '/users/42/cards/7',
          note: '/users/42',
        }).end();
      }
      startSpan('failed').fail(new Error('no such user')).end();
    },
    {
      redact: {
        drop: ['user.*', 'exception.*'],
        mask: ['db.query.text'],
        paths: [[/\/\d+/, '/:id']],
      },
    },
  );
  const failed = spans.pop();
  expect(failed?.status).toEqual({ code: 'error', message: '' });
  expect(failed?.events[0]?.attributes).toEqual({});
  expect(spans).toHaveLength(100);
  for (const span of spans) {
    expect(span.name).toBe('GET /users/:id');
    expect(span.attributes).toEqual({
      'db.query.text': '***',
      'url.path': '/users/:id/cards/:id',
      note: '/users/42',
    });
  }
});

test('wrong arguments and options are typed errors, and a target does not change', async () => {
  configure({ target: join(directory, 'first.heph') });
  expect(() => {
    configure({ target: join(directory, 'second.heph') });
  }).toThrow(/target is/);
  configure({ target: join(directory, 'first.heph') });
  expect(() => {
    configure({ sample: 2 });
  }).toThrow(/sample must be/);
  expect(() => {
    configure({ limits: { event: 1 } as never });
  }).toThrow(/limits option/);
  expect(() => {
    configure({ redact: { paths: [['(', '']] } });
  }).toThrow(/regular expression/);
  expect(() => {
    configure({ what: 1 } as never);
  }).toThrow(/one of/);
  expect(() => startSpan(1 as never)).toThrow(/name must be a string/);
  expect(() => startSpan('a', 1 as never)).toThrow(/attributes must be/);
  expect(() => startSpan('a', {}, { kind: 'x' as never })).toThrow(/kind must be/);
  expect(() => startSpan('a', {}, { startTime: 'x' as never })).toThrow(/startTime must be/);
  expect(() => withSpan('a', {}, 1 as never)).toThrow(/fn must be a function/);
  await shutdown();
});

test('hostile attributes break nothing', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const [span] = await recorded(directory, () => {
    startSpan('hostile', {
      a: 1,
      get b(): never {
        throw new Error('getter');
      },
      cyclic,
      proxy,
      symbol: Symbol('x') as never,

      function: () => {},
      array: [proxy],
      json: {
        toJSON: () => {
          throw new Error('toJSON');
        },
      },
      ['__proto__']: 2,
    }).end();
    startSpan('proxy', proxy).end();
  });
  expect(span!.attributes).toMatchObject({ a: 1 });
  expect(span!.dropped.attributes).toBeGreaterThanOrEqual(5);
});

test('ten thousand spans can be open, each of another name', async () => {
  const spans = await recorded(directory, () => {
    const open = Array.from({ length: 10_000 }, (_, i) => startSpan(`open ${i}`));
    for (const span of open) span.end();
  });
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(10_000);
});
