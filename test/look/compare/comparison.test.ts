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
    expect(groups[0]!.before).toEqual({ count: 20, errors: 0, p50: 102e6, p95: 104e6 });
    for (const width of [60, 80, 200]) {
      const lines = [...comparisonText({ ...sides, groups }, textStyle(width, false))];
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
      expect(lines.filter((line) => /^[SFAT][a-z ]+$/.test(line))).toEqual([
        'Slower',
        'Faster',
        'About the same',
        'Too few to compare',
      ]);
      expect(lines[lines.indexOf('Slower') + 2]).toMatch(
        /^GET \/a .*9\d % slower \(9\d % to \d+ %\)/,
      );
      expect(lines[lines.indexOf('Faster') + 2]).toMatch(/^GET \/b .*49 % faster/);
    }
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
});
