import { describe, expect, it } from 'vitest';
import { compareRecordings, comparisonText } from '../../../src/look/compare/compare-recordings.js';
import type { Comparison } from '../../../src/look/compare/comparison-shape.js';
import { failureReasons, parseFailIf } from '../../../src/look/compare/fail-if.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { recording, seededNumbers } from '../report/recorded-service.js';

interface Shop {
  seed?: number;
  products?: number;
  cache?: boolean;
  /** Of a request, in parts of the usual one. */
  length?: number;
  error?: string;
  count?: number;
  /** How often `GET /item` reads the stock, and `GET /list` in turn does not. */
  stock?: number;
}

/** Requests over a minute, each with one query, some with two, and others. */
async function shop(options: Shop = {}): Promise<string> {
  const { seed = 1, products = 1, cache = true, length = 1, error, count = 600 } = options;
  const { stock = 0 } = options;
  const numbers = seededNumbers(seed);
  const begin = (BigInt(Date.now()) - 60_000n) * 1_000_000n;
  const { path } = await recording(
    () => {
      for (let at = 0; at < count; at++) {
        const startTime = begin + (BigInt(at) * 60_000_000_000n) / BigInt(count);
        const name = numbers.next().value < 0.3 ? 'GET /list' : 'GET /item';
        const request = startSpan(name, {}, { kind: 'server', parent: null, startTime });
        const call = (query: string): void => {
          const attributes = { 'db.system.name': 'postgresql' };
          const span = startSpan(query, attributes, { kind: 'client', parent: request, startTime });
          span.end(startTime + 500_000n + BigInt(Math.floor(1e6 * numbers.next().value)));
        };
        for (let each = 0; each < products; each++) call('SELECT products');
        if (numbers.next().value < 0.5) call('SELECT items');
        if (name === 'GET /item') for (let each = 0; each < stock; each++) call('SELECT stock');
        if (cache) call('GET cache');
        if (error !== undefined && at % 50 === 0) request.fail(new RangeError(error));
        const ms = length * (5 + 5 * numbers.next().value);
        request.end(startTime + BigInt(Math.floor(ms * 1e6)));
      }
    },
    { service: 'shop' },
  );
  return path;
}

async function compared(before: string, after: string): Promise<Comparison> {
  const [first, second] = [await openLookIndex([before]), await openLookIndex([after])];
  try {
    return await compareRecordings(
      { index: first, condition: {} },
      { index: second, condition: {} },
    );
  } finally {
    first.close();
    second.close();
  }
}

const WANTED = parseFailIf('slower:20%,errors:new,calls:2x');

describe('a comparison', () => {
  it('names calls that are made more or less often a request, appeared or vanished, first', async () => {
    const comparison = await compared(
      await shop({ cache: false, products: 40 }),
      await shop({ seed: 2 }),
    );
    const calls = comparison.groups.flatMap(({ name, calls: own }) =>
      own.flatMap(({ route, change }) => (change === null ? [] : [[name, route, change]])),
    );
    expect(calls.toSorted()).toEqual([
      ['GET cache', 'GET /item', 'appeared'],
      ['GET cache', 'GET /list', 'appeared'],
      ['SELECT products', 'GET /item', 'fewer'],
      ['SELECT products', 'GET /list', 'fewer'],
    ]);
    const products = comparison.groups.find(({ name }) => name === 'SELECT products')!;
    for (const each of products.calls) expect(each).toMatchObject({ before: 40, after: 1 });
    for (const width of [40, 80, 94]) {
      for (const line of comparisonText(comparison, textStyle(width, false))) {
        expect(line.length).toBeLessThanOrEqual(width);
      }
    }
    const lines = [...comparisonText(comparison, textStyle(110, false))];
    const title = lines.indexOf('Called more or less often a request');
    expect(lines[title + 2]).toMatch(
      /^SELECT products +GET \/(?:item|list) .*fewer +1 time a request, before 40 /,
    );
    expect(lines[title + 4]).toMatch(
      /^GET cache +GET \/(?:item|list) .*appeared +1 time a request, before never/,
    );
    expect(lines.findIndex((line) => /^(?:Slower|Faster|About)/.test(line))).toBeGreaterThan(title);
  });

  it('says which route calls more often, and leaves out what may be chance', async () => {
    const comparison = await compared(
      await shop({ stock: 1 }),
      await shop({ seed: 2, stock: 21, count: 900 }),
    );
    const stock = comparison.groups.find(({ name }) => name === 'SELECT stock')!.calls;
    expect(stock).toMatchObject([{ route: 'GET /item', before: 1, after: 21, change: 'more' }]);
    expect(stock[0]!.calls.after).toBe(21 * Math.round(stock[0]!.calls.after / 21));
    expect(failureReasons(comparison, parseFailIf('calls:2x'))).toEqual([
      expect.stringMatching(
        /^calls: SELECT stock of shop is called by GET \/item 21 times a request, before 1 /,
      ),
    ]);
    // Of so few requests, none may make it by chance.
    const few = await compared(await shop({ count: 90 }), await shop({ seed: 2, products: 2 }));
    const items = few.groups.find(({ name }) => name === 'SELECT items')!.calls;
    expect(items.map(({ change }) => change)).toEqual(items.map(() => null));
  });

  it('compares by service what has too few requests of each route', async () => {
    const named = (calls: number) =>
      recording(
        () => {
          const begin = (BigInt(Date.now()) - 60_000n) * 1_000_000n;
          for (let at = 0; at < 100; at++) {
            const startTime = begin + BigInt(at) * 500_000_000n;
            const own = { kind: 'server', parent: null, startTime } as const;
            const request = startSpan(`GET /item-${at % 10}`, {}, own);
            for (let each = 0; each < calls; each++) {
              const call = { kind: 'client', parent: request, startTime } as const;
              startSpan('SELECT stock', {}, call).end(startTime + 500_000n);
            }
            request.end(startTime + 5_000_000n);
          }
        },
        { service: 'shop' },
      );
    const { groups } = await compared((await named(1)).path, (await named(3)).path);
    const stock = groups.find(({ name }) => name === 'SELECT stock')!.calls;
    expect(stock).toMatchObject([{ route: null, before: 1, after: 3, change: 'more' }]);
  });

  it('fails for what is slower, called more often, or a new error', async () => {
    const before = await shop();
    const after = await shop({ seed: 2, products: 5, length: 2, error: 'no stock' });
    const reasons = failureReasons(await compared(before, after), WANTED);
    expect(reasons).toEqual([
      expect.stringMatching(/^slower: GET \/(?:item|list) of shop is \d+ % slower \(/),
      expect.stringMatching(/^slower: GET \/(?:item|list) of shop is \d+ % slower \(/),
      expect.stringMatching(
        /^calls: SELECT products of shop is called by GET \/(?:item|list) 5 times a request, before 1 /,
      ),
      expect.stringMatching(
        /^calls: SELECT products of shop is called by GET \/(?:item|list) 5 times a request, before 1 /,
      ),
      expect.stringMatching(/^errors: new is RangeError at .*: "no stock", 12 times$/),
    ]);
    expect(failureReasons(await compared(after, before), WANTED)).toEqual([]);
    expect(failureReasons(await compared(before, after), parseFailIf('slower:200%'))).toEqual([]);
  });

  it('does not fail of a service with itself, nor of few requests', async () => {
    const before = await shop({ error: 'once in a while' });
    for (let seed = 2; seed < 12; seed++) {
      const after = await shop({ seed, error: 'once in a while' });
      expect(failureReasons(await compared(before, after), WANTED)).toEqual([]);
    }
    const [few, slow] = [await shop({ count: 90 }), await shop({ count: 90, length: 3 })];
    expect(failureReasons(await compared(few, slow), WANTED)).toEqual([]);
  });

  it.each(['', 'slower', 'slower:20', 'calls:0.5x', 'errors:old', 'slower:20%,'])(
    'refuses the conditions %j',
    (text) => {
      expect(() => parseFailIf(text)).toThrow(/--fail-if takes slower:N%, calls:Nx and errors:new/);
    },
  );
});
