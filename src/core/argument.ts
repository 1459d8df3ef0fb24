import { outOfRange, wrongType } from './errors.js';

/**
 * An argument that must be an integer in a range, both ends included.
 *
 * @throws TracewrightError that names the field, the value and the range.
 */
export function integerIn(field: string, value: unknown, low: number, high: number): number {
  const limit = `an integer from ${low} to ${high}`;
  if (typeof value !== 'number') throw wrongType(field, value, limit);
  if (!Number.isInteger(value) || value < low || value > high) {
    throw outOfRange(field, value, limit);
  }
  return value;
}
