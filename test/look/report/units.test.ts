import { describe, expect, it } from 'vitest';
import { bytesText, durationText, rateText, shareText } from '../../../src/look/report/units.js';

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
