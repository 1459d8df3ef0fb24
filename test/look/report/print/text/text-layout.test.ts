import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  displayWidth,
  padded,
  shortened,
  shortenedInside,
  shortenedList,
  wrapped,
} from '../../../../../src/look/report/print/text/display-width.js';
import { textStyle } from '../../../../../src/look/report/print/text/text-style.js';
import { tableLines } from '../../../../../src/look/report/print/text/text-table.js';
import type { TextColumn } from '../../../../../src/look/report/print/text/text-table.js';

describe('width of text', () => {
  it('counts the columns of a terminal', () => {
    expect(['GET', '漢字', 'e\u0301', '🚀', '├ x'].map(displayWidth)).toEqual([3, 4, 1, 2, 3]);
    expect(shortened('漢字漢字', 5)).toBe('漢字…');
    expect(padded('漢', 4, 'right')).toBe('  漢');
    expect(shortenedInside('GET /orders/:id/items', 13)).toBe('GET …/items');
    expect(shortenedInside('GET /orders/:id/items', 20)).toBe('GET …/:id/items');
    expect(shortenedInside('GET /orders/:id/items', 10)).toBe('GET /…tems');
    expect(shortenedInside('SELECT stock.items', 13)).toBe('SELECT….items');
    const code = 'trimmed (examples/busy-shop.mjs:71), called at app.mjs:9';
    expect(shortenedInside(code, 40)).toBe('trimmed (examples/busy-shop.mjs:71)…');
    expect(shortenedInside(code, 30)).toBe('trimmed (busy-shop.mjs:71)');
    expect(shortenedInside(code, 24)).toBe('trim… (busy-shop.mjs:71)');
    // A statement is none.
    expect(shortenedInside('SELECT (a.id) FROM a', 15)).toBe('SELECT … FROM a');
    expect(shortenedInside('漢字漢字漢字', 9)).toBe('漢字…漢字');
    expect(shortenedInside('GET /cart', 9)).toBe('GET /cart');
  });

  it('drops whole items of a list, and cuts no figure and no unit', () => {
    const shares = [
      ['GET /export', '85.6 %'],
      ['POST /buy', '12.5 %'],
      ['others before', '1.9 %'],
    ] as const;
    const whole = 'GET /export 85.6 %, POST /buy 12.5 %, others before 1.9 %';
    expect(shortenedList(shares, 57)).toBe(whole);
    expect(shortenedList(shares, 56)).toBe('GET /export 85.6 %, POST /buy 12.5 %, and 1 more');
    expect(shortenedList(shares, 40)).toBe('GET /export 85.6 %, and 2 more');
    expect(shortenedList(shares, 27)).toBe('GET …ort 85.6 %, and 2 more');
    expect(shortenedList([], 20)).toBe('');
    expect([...wrapped('at charge (/data/shop/examples/busy-shop.mjs:65:11)', 30)].at(-1)).toBe(
      '  charge (busy-shop.mjs:65:11)',
    );
    for (let width = 24; width < 60; width++) {
      const lines = [...wrapped('8.05 GiB a day by GET /customers/:id 12.5 %, 3 min 2 s', width)];
      expect(lines.join(' ')).not.toMatch(/GET(?! \/)|\d {2,}|8\.05(?! GiB)|12\.5(?! %)/);
    }
  });

  it('is never more than what is asked for', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 80 }),
        (text, columns) => {
          expect(displayWidth(shortened(text, columns))).toBeLessThanOrEqual(columns);
          expect(displayWidth(shortenedInside(text, columns))).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});

describe('a table', () => {
  const columns: TextColumn<string>[] = [
    { title: 'name', unit: 'text', spare: 0, least: 8, value: (text) => text },
    { title: 'count', unit: 'count', spare: 0, value: () => 12 },
    { title: 'rate', unit: 'rate', spare: 2, value: () => 1234 },
    { title: 'max', unit: 'duration', spare: 1, value: () => 123e6 },
  ];

  it('drops columns, then shortens, until it fits', () => {
    const table = { columns, rows: ['GET /a/long/route'], more: 0, what: 'routes' };
    const at = (width: number): string[] => [...tableLines(table, textStyle(width, false))];
    expect(at(80)).toEqual([
      'name               count     rate     max',
      'GET /a/long/route     12  1,234/s  123 ms',
    ]);
    expect(at(26)).toEqual(['name         count     max', 'GET …/route     12  123 ms']);
    expect(at(16)).toEqual(['name       count', 'GET …oute     12']);
  });

  it('is as wide as the terminal at most, and lets no control character through', () => {
    const cells = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        fc.array(cells, { maxLength: 5 }),
        fc.integer({ min: 40, max: 200 }),
        (rows, width) => {
          const table = { columns, rows, more: 0, what: 'rows' };
          for (const line of tableLines(table, textStyle(width, false))) {
            // eslint-disable-next-line no-control-regex -- these are what must not be there
            expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
            expect(displayWidth(line)).toBeLessThanOrEqual(width);
          }
        },
      ),
    );
  });
});
