import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesText, durationText, rateText, shareText } from '../../../src/look/report/units.js';
import {
  displayWidth,
  padded,
  shortened,
  shortenedInside,
} from '../../../src/look/report/text/display-width.js';
import { textStyle } from '../../../src/look/report/text/text-style.js';
import { tableLines } from '../../../src/look/report/text/text-table.js';
import type { TextColumn } from '../../../src/look/report/text/text-table.js';

describe('units', () => {
  it('have three digits', () => {
    const durations: [number, string][] = [
      [0, '0 ns'],
      [999, '999 ns'],
      [999.6, '1 µs'],
      [47_630, '47.6 µs'],
      [154_447_179, '154 ms'],
      [1_234_000_000, '1.23 s'],
      [119e9, '119 s'],
      [192e9, '3 min 12 s'],
      [3600e9, '1 h 00 min'],
      [86_400e9 * 3, '3 days'],
      [9.2e18, '292 years'],
    ];
    for (const [ns, text] of durations) expect(durationText(ns)).toBe(text);
    expect([0, 0.004, 1.234, 123.4, 12_345].map(rateText)).toEqual([
      '0/s',
      '< 0.01/s',
      '1.23/s',
      '123/s',
      '12,345/s',
    ]);
    expect([0, 0.0001, 0.1234, 0.9999, 1].map(shareText)).toEqual([
      '0 %',
      '< 0.1 %',
      '12.3 %',
      '100 %',
      '100 %',
    ]);
    expect([0, 1023, 1024, 1.5 * 2 ** 30].map(bytesText)).toEqual([
      '0 B',
      '1023 B',
      '1 KiB',
      '1.5 GiB',
    ]);
  });
});

describe('width of text', () => {
  it('counts the columns of a terminal', () => {
    expect(['GET', '漢字', 'e\u0301', '🚀', '├ x'].map(displayWidth)).toEqual([3, 4, 1, 2, 3]);
    expect(shortened('漢字漢字', 5)).toBe('漢字…');
    expect(padded('漢', 4, 'right')).toBe('  漢');
    expect(shortenedInside('GET /orders/:id/items', 13)).toBe('GET /o…/items');
    expect(shortenedInside('漢字漢字漢字', 9)).toBe('漢字…漢字');
    expect(shortenedInside('GET /cart', 9)).toBe('GET /cart');
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
    expect(at(26)).toEqual(['name         count     max', 'GET /…route     12  123 ms']);
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
