import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IntervalSet } from '../../../../src/look/report/measures/interval-set.js';

it('says how much of a time lies within its intervals', () => {
  const moment = fc.nat(60);
  const intervals = fc.array(fc.tuple(moment, moment));
  fc.assert(
    fc.property(intervals, moment, moment, (all, from, to) => {
      const set = new IntervalSet();
      for (const [start, end] of all) set.add(start, end);
      let expected = 0;
      for (let at = from; at < to; at++) {
        if (all.some(([start, end]) => start <= at && at < end)) expected++;
      }
      expect(set.overlap(from, to)).toBe(expected);
    }),
  );
});
