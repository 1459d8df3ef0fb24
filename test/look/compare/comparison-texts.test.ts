import { expect, it } from 'vitest';
import { shortSideText, sizeText } from '../../../src/look/compare/comparison-texts.js';

it('says of a change whose interval is wide its direction alone', () => {
  expect(sizeText({ value: 1.5, low: 1.2, high: 1.9 })).toBe('50 % slower (20 % to 90 %)');
  expect(sizeText({ value: 5.95, low: 2.18, high: 100.8 })).toBe(
    'slower (too few to say how much)',
  );
  expect(sizeText({ value: 0.2, low: 0.01, high: 0.8 })).toBe('faster (too few to say how much)');
});

it('warns of a side that is short', () => {
  expect(shortSideText(60.2e9, 30.4e9)).toBe(
    'Short recordings: after is 30.4 s long. Rare spans are too few then: record some minutes of both.',
  );
  expect(shortSideText(60e9, 300e9)).toBeUndefined();
});
