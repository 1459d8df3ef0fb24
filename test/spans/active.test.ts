import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configure, shutdown } from '../../src/spans/recording.js';
import { activeSpan, bind, withSpan } from '../../src/spans/active-span.js';
import { startSpan } from '../../src/spans/start-span.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { allSpans } from './span-trace.js';
import { join } from 'node:path';

const directory = temporaryDirectory();
const path = join(directory, 'active.heph');

beforeAll(() => {
  configure({ target: path });
});
afterAll(() => shutdown());

/** What frameworks have a program throw to answer a request. */
const answers: [string, unknown][] = [
  [
    'redirect of Next.js',
    Object.assign(new Error('NEXT_REDIRECT'), { digest: 'NEXT_REDIRECT;replace;/;307;' }),
  ],
  ['page of Next.js', Object.assign(new Error(), { digest: 'NEXT_HTTP_ERROR_FALLBACK;404' })],
  ['redirect of SvelteKit', { status: 303, location: '/' }],
  ['error of SvelteKit', { status: 404, body: { message: 'none' } }],
  ['response of React Router', new Response('none', { status: 404 })],
  ['data of React Router', { type: 'DataWithResponseInit', data: 'none', init: { status: 404 } }],
];
const failures: [string, unknown][] = [
  ['digest of another error', Object.assign(new Error('x'), { digest: '1234' })],
  ['error of SvelteKit that is a failure', { status: 500, body: { message: 'x' } }],
  ['failed response', new Response('x', { status: 503 })],
  ['error of a client', Object.assign(new Error('x'), { status: 404 })],
  ['answer of a client', { status: 404, body: {}, headers: {} }],
];

test('a span is active across awaits, timers, streams and generators, and only there', async () => {
  await withSpan('outer', undefined, async (outer) => {
    expect(activeSpan()).toBe(outer);
    await sleep(1);
    expect(activeSpan()).toBe(outer);
    await new Promise<void>((resolve) =>
      setImmediate(() => {
        expect(activeSpan()).toBe(outer);
        resolve();
      }),
    );
    for await (const text of Readable.from(['a', 'b'])) {
      expect([text, activeSpan()]).toEqual([text, outer]);
    }
    async function* generate(): AsyncGenerator {
      yield activeSpan();
      await sleep(1);
      yield activeSpan();
    }
    for await (const active of generate()) expect(active).toBe(outer);
    await Promise.all(
      ['a', 'b'].map((name) =>
        withSpan(name, undefined, async (inner) => {
          await sleep(1);
          expect(activeSpan()).toBe(inner);
        }),
      ),
    );
    expect(activeSpan()).toBe(outer);
  });
  expect(activeSpan()).toBeUndefined();
});

test('listeners and pools run where they are called, unless bound', async () => {
  const emitter = new EventEmitter();
  const span = startSpan('held');
  const seen: unknown[] = [];
  span.run(() => {
    emitter.on('a', () => seen.push(activeSpan()));
    emitter.on(
      'a',
      bind(() => seen.push(activeSpan())),
    );
  });
  emitter.emit('a');
  expect(seen).toEqual([undefined, span]);
  const bound = span.run(() =>
    bind(function (this: unknown, a: number, b: number) {
      return [this, a, b, activeSpan()];
    }),
  );
  expect(bound.call('self', 1, 2)).toEqual(['self', 1, 2, span]);
  const waiting = once(emitter, 'b');
  emitter.emit('b');
  await waiting;
  span.end();
});

test('a promise that begins with its own `then` begins below the span', async () => {
  let begun: unknown;
  class Query extends Promise<string> {
    static override get [Symbol.species]() {
      return Promise;
    }
    readonly #settle: (value: string) => void;
    constructor() {
      let settle: (value: string) => void;
      super((resolve) => {
        settle = resolve;
      });
      this.#settle = settle!;
    }
    override then<A, B>(
      fulfilled?: ((value: string) => A | PromiseLike<A>) | null,
      rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
    ): Promise<A | B> {
      begun = activeSpan();
      setTimeout(this.#settle, 1, 'rows');
      return super.then(fulfilled, rejected);
    }
  }
  let own: unknown;
  const rows = await withSpan('lazy', undefined, (span) => {
    own = span;
    return new Query();
  });
  expect(rows).toBe('rows');
  expect(begun).toBe(own);
});

test('only promises of the language are waited for', async () => {
  let started = 0;
  const lazy = {
    then(resolve: (value: string) => void) {
      started++;
      resolve('rows');
    },
  };
  const result = withSpan('query', undefined, () => lazy);
  expect(result).toBe(lazy);
  expect(started).toBe(0);
  expect(await result).toBe('rows');
  expect(started).toBe(1);
});

test('what a function throws is recorded and thrown on', async () => {
  expect(() =>
    withSpan('throws', undefined, () => {
      throw new RangeError('no');
    }),
  ).toThrow('no');
  await expect(
    withSpan('rejects', undefined, () => Promise.reject(new Error('later'))),
  ).rejects.toThrow('later');
  withSpan('odd', undefined, (span) =>
    span
      .fail(null)
      .fail(Symbol('s'))
      .fail({
        get message(): string {
          throw new Error();
        },
      }),
  );
  for (const [name, answer] of answers) {
    expect(() =>
      withSpan(name, undefined, () => {
        throw answer;
      }),
    ).toThrow();
  }
  for (const [name, failure] of failures) {
    await expect(withSpan(name, undefined, () => Promise.reject(failure as Error))).rejects.toBe(
      failure,
    );
  }
  await shutdown();
  const spans = await allSpans(path);
  const status = (name: string): unknown => spans.find((span) => span.name === name)?.status;
  expect(status('throws')).toEqual({ code: 'error', message: 'no' });
  expect(status('rejects')).toEqual({ code: 'error', message: 'later' });
  expect(status('odd')).toMatchObject({ code: 'error' });
  for (const [name] of answers)
    expect([name, status(name)]).toMatchObject([name, { code: 'unset' }]);
  for (const [name] of failures)
    expect([name, status(name)]).toMatchObject([name, { code: 'error' }]);
  const [outer] = spans.filter(({ name }) => name === 'outer');
  for (const name of ['a', 'b']) {
    const inner = spans.find((span) => span.name === name)!;
    expect([inner.traceId, inner.parentSpanId]).toEqual([outer!.traceId, outer!.spanId]);
  }
});
