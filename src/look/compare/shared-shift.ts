import type { ComparedGroup } from './comparison-shape.js';

/** Fewer kinds of spans can shift alike by chance, or because one calls the other. */
const LEAST_GROUPS = 5;
/** Of the kinds that are compared, so many must shift alike. */
const LEAST_SHARE = 0.8;
/** And of so many the change must be more than chance. */
const LEAST_NAMED = 0.5;
/** A shift that is worth a sentence: as large as a change that is named. */
const LEAST_SHIFT = Math.log(1.05);
/** A kind shifts alike if it may have changed by half as much to one and a half times as much as the typical one. */
const TOLERANCE = 0.5;

/** How many times longer spans of nearly all kinds take; undefined: they do not shift alike. */
export function sharedShift(groups: readonly ComparedGroup[]): number | undefined {
  // Statements are among the spans of their names.
  const compared = groups.filter(({ ratio, statement }) => ratio !== null && statement === null);
  const ratios = compared.map(({ ratio }) => ratio!);
  if (ratios.length < LEAST_GROUPS) return undefined;
  const shifts = ratios.map(({ value }) => Math.log(value)).sort((a, b) => a - b);
  const typical = shifts[shifts.length >> 1]!;
  if (Math.abs(typical) < LEAST_SHIFT) return undefined;
  const change = typical > 0 ? 'slower' : 'faster';
  const named = compared.filter((group) => group.change === change);
  if (named.length < LEAST_NAMED * compared.length) return undefined;
  const ends = [typical * (1 - TOLERANCE), typical * (1 + TOLERANCE)];
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const alike = ratios.filter(({ low, high }) => Math.log(high) >= least && Math.log(low) <= most);
  return alike.length >= LEAST_SHARE * ratios.length ? Math.exp(typical) : undefined;
}
