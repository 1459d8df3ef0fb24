import { describe, expect, it } from 'vitest';
import {
  bytesText,
  durationText,
  rateText,
  shareText,
  timeText,
} from '../../../../src/look/report/measures/units.js';

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

  it('have no date where a clock counts from elsewhere', () => {
    const times = [
      '2026-11-22T11:07:43.113456789Z',
      '1970-01-01T00:20:50.096000000Z',
      '1970-01-13T10:00:00.000000001Z',
      '1969-12-31T23:59:59.999000000Z',
    ];
    expect(times.map(timeText)).toEqual([
      '2026-11-22 11:07:43.113 UTC',
      '00:20:50.096 of its clock',
      '12 d 10:00:00.000 of its clock',
      '1969-12-31 23:59:59.999 UTC',
    ]);
  });
});
