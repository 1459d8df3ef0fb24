import { describe, expect, it } from 'vitest';
import { compareRecordings, comparisonText } from '../../../src/look/compare/compare-recordings.js';
import type { Comparison } from '../../../src/look/compare/comparison-shape.js';
import type { Condition } from '../../../src/look/index/look-index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { SERVER, service } from '../report/handmade-service.js';
import type { MadeSpan } from '../report/handmade-service.js';

/** Twenty spans of a name that take about so many ms. */
function spans(name: string, around: number, first: bigint): MadeSpan[] {
  return Array.from({ length: 20 }, (_, i): MadeSpan => {
    const begin = 1000 * i;
    const id = first + BigInt(i);
    return { id, trace: id, name, flags: SERVER, at: [begin, begin + around + (i % 5)] };
  });
}

async function comparison(
  before: string,
  after: string,
  condition: Condition = {},
): Promise<Comparison> {
  const [first, second] = [await openLookIndex([before]), await openLookIndex([after])];
  const compared = await compareRecordings(
    { index: first, condition },
    { index: second, condition },
  );
  first.close();
  second.close();
  return compared;
}

const BEFORE = [
  ...spans('GET /a', 100, 100n),
  ...spans('GET /b', 100, 200n),
  ...spans('GET /c', 100, 300n),
  { id: 1n, trace: 1n, name: 'GET /old', flags: SERVER, at: [0, 5] as [number, number] },
];
const AFTER = [
  ...spans('GET /a', 200, 100n),
  ...spans('GET /b', 50, 200n),
  ...spans('GET /c', 100, 300n),
];

/** Attributes of a stall. */
function ranIn(stack: string): NonNullable<MadeSpan['attributes']> {
  return [
    { name: 'eventloop.cause', type: 'string', value: 'code' },
    { name: 'code.stacktrace', type: 'string', value: stack },
  ];
}

describe('a comparison of two recordings', () => {
  it('says what became slower, what faster, and what neither', async () => {
    const { groups, ...sides } = await comparison(service('shop', BEFORE), service('shop', AFTER));
    expect(sides.before).toMatchObject({ services: ['shop'], spans: 61 });
    expect(sides.after).toMatchObject({ services: ['shop'], spans: 60 });
    const ratios = groups.map(({ name, service: of, ratio }) => [
      name,
      of,
      ratio && [ratio.low > 1, ratio.high < 1],
    ]);
    expect(ratios).toEqual([
      ['GET /a', 'shop', [true, false]],
      ['GET /c', 'shop', [false, false]],
      ['GET /old', 'shop', null],
      ['GET /b', 'shop', [false, true]],
    ]);
    expect(groups[0]!.before).toEqual({ count: 20, errors: 0, p50: 102e6, p95: 104e6, p99: 104e6 });
    for (const width of [40, 60, 80, 200]) {
      const lines = [...comparisonText({ ...sides, groups }, textStyle(width, false))];
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
      expect(lines.filter((line) => /^(?:Slower|Faster|About|Too few)/.test(line))).toEqual([
        'Slower',
        'Faster',
        expect.stringMatching(/^About the same: within chance, or less/),
        'Too few to compare',
      ]);
      expect(lines[lines.indexOf('Slower') + 2]).toMatch(
        /^GET \/a .*9\d % slower \(9\d % to \d+ %\)/,
      );
      expect(lines[lines.indexOf('Faster') + 2]).toMatch(/^GET \/b .*49 % faster/);
    }
  });

  it('names first what costs the most time, and how many times as long it takes', async () => {
    const side = (long: number, short: number): string =>
      service('shop', [...spans('GET /long', long, 100n), ...spans('GET /short', short, 200n)]);
    const compared = await comparison(side(400, 1), side(600, 30));
    expect(compared.groups.map(({ name }) => name)).toEqual(['GET /long', 'GET /short']);
    const text = [...comparisonText(compared, textStyle(200, false))].join('\n');
    expect(text).toMatch(/GET \/short .* 1\d times as slow \(\d+ to \d+\)/);
    const back = await comparison(side(600, 30), side(400, 1));
    expect(back.groups.map(({ name }) => name)).toEqual(['GET /short', 'GET /long']);
    const repaired = [...comparisonText(back, textStyle(200, false))].join('\n');
    expect(repaired).toMatch(/GET \/short .* 1\d times as fast \(\d+ to \d+\)/);
  });

  it('says whether all kinds shift alike, as on a busy machine', async () => {
    const names = ['GET /a', 'GET /b', 'GET /c', 'GET /d', 'GET /e'];
    const side = (times: (at: number) => number): string =>
      service(
        'shop',
        names.flatMap((name, at) =>
          spans(name, Math.round(100 * (at + 1) * times(at)), BigInt(100 * (at + 1))),
        ),
      );
    const summaryOf = async (times: (at: number) => number): Promise<string> =>
      [
        ...comparisonText(
          await comparison(
            side(() => 1),
            side(times),
          ),
          textStyle(500, false),
        ),
      ].join('\n');
    const alike = 'alike, by some';
    expect(await summaryOf((at) => 1.3 + 0.02 * at)).toContain(
      'Nearly all are slower alike, by some 34 %: the machine, or other work on it, may be the cause',
    );
    expect(await summaryOf((at) => 0.7 - 0.02 * at)).toContain('Nearly all are faster alike');
    expect(await summaryOf(() => 1)).not.toContain(alike);
    // One cause in a part of the program.
    expect(await summaryOf((at) => (at < 2 ? 1.3 : 1))).not.toContain(alike);
    expect(await summaryOf((at) => [1.3, 4, 1.1, 9, 0.8][at]!)).not.toContain(alike);
  });

  it('is of a part of each side, and warns of different services', async () => {
    const paths = [service('shop', BEFORE), service('mail', AFTER)] as const;
    const { groups, ...sides } = await comparison(...paths, { name: 'GET /a' });
    expect(groups.map(({ name, service: of }) => [name, of])).toEqual([['GET /a', null]]);
    const text = [...comparisonText({ ...sides, groups }, textStyle(200, false))].join('\n');
    expect(text).toContain('These are different services: shop before, mail after.');
  });

  it('names a tail that was repaired while the usual spans stay as they were', async () => {
    // One of ten took a second; afterwards a tenth of it.
    const side = (slow: number): string =>
      service(
        'shop',
        Array.from({ length: 600 }, (_, at): MadeSpan => {
          const id = BigInt(at + 1);
          const begin = 100 * at;
          const length = at % 10 === 3 ? slow + (at % 7) : 20 + ((at * 31) % 11);
          return { id, trace: id, name: 'GET /a', flags: SERVER, at: [begin, begin + length] };
        }),
      );
    const compared = await comparison(side(1000), side(100));
    const [group] = compared.groups;
    expect(group).toMatchObject({ change: 'faster', tail: { percent: 95 } });
    expect(group!.tail!.high).toBeLessThan(0.2);
    expect(group!.before.p50).toBe(group!.after.p50);
    const lines = [...comparisonText(compared, textStyle(100, false))];
    const row = lines[lines.indexOf('Faster') + 2]!;
    expect(row).toMatch(/p95 90 % faster \(/);
    expect(row).toContain('1 s → 103 ms');
    const worse = await comparison(side(100), side(1000));
    expect(worse.groups).toMatchObject([{ change: 'slower', tail: { percent: 95 } }]);
    const same = await comparison(side(100), side(101));
    expect(same.groups).toMatchObject([{ change: 'same', tail: null }]);
  });

  it('shows first what is gone or new, and the functions that block no longer', async () => {
    const stalled = (id: bigint, line: number): MadeSpan => ({
      ...{ id, trace: id, name: 'event loop blocked', at: [Number(id), Number(id) + 50] },
      attributes: ranIn(`at distance (/app/search.js:${line}:9)`),
    });
    const stalls = (line: number, count: number, first: bigint): MadeSpan[] =>
      Array.from({ length: count }, (_, at) => stalled(first + BigInt(at), line));
    const calls = spans('GET /old', 5, 500n);
    const other = (id: bigint): MadeSpan => {
      return { ...stalled(id, 1), attributes: ranIn('at parse (/app/orders.js:4:9)') };
    };
    const compared = await comparison(
      service('shop', [...BEFORE, ...calls, ...stalls(6, 30, 600n), other(700n)]),
      // A release has moved the function by a line.
      service('shop', [
        ...AFTER,
        ...stalls(7, 2, 600n),
        ...Array.from({ length: 9 }, (_, at) => other(700n + BigInt(at))),
      ]),
    );
    const seen = compared.groups.flatMap(({ name, statement, change }) =>
      change === 'gone' || change === 'new' || change === 'fewer' || change === 'more'
        ? [[statement ?? name, change]]
        : [],
    );
    expect(seen.toSorted()).toEqual([
      ['GET /old', 'gone'],
      ['distance (app/search.js)', 'fewer'],
      ['parse (app/orders.js)', 'more'],
    ]);
    const lines = [...comparisonText(compared, textStyle(100, false))];
    const titles = lines.filter((line) =>
      /^(?:Gone and new|Slower|Faster|About|Too few)/.test(line),
    );
    expect(titles[0]).toBe('Gone and new');
    const rows = lines.slice(lines.indexOf('Gone and new') + 2).slice(0, 3);
    expect(rows.map((row) => row.trim())).toEqual([
      expect.stringMatching(/distance \(app\/search\.js\).*nearly gone +30 → 2/),
      expect.stringMatching(/^GET \/old .*gone +21 → 0/),
      expect.stringMatching(/parse \(app\/orders\.js\).*hardly there before +1 → 9/),
    ]);
    expect(lines.join(' ')).toContain(
      'Other kinds of spans: 1 gone, 1 nearly gone, 1 hardly there before.',
    );
  });
});
