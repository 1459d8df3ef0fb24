import { afterEach, describe, expect, test, vi } from 'vitest';
import { checkRingOptions } from '../../../src/core/options/ring-options.js';
import { checkSizeOptions } from '../../../src/core/options/size-limits.js';

const RING = 1 << 20;

const rings = (options = {}): unknown => checkRingOptions(options, { onFull: 'block' });
const sizes = (options = {}): unknown => checkSizeOptions(options, RING);

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('an error names where the value came from', () => {
  test.each([
    [rings, 'ringBytes', 1, 'TRACEWRIGHT_RING_BYTES'],
    [rings, 'onFull', 'explode', 'TRACEWRIGHT_ON_FULL'],
    [rings, 'clock', 'sundial', 'TRACEWRIGHT_CLOCK'],
    [sizes, 'maxBytes', 5, 'TRACEWRIGHT_MAX_BYTES'],
    [sizes, 'rotateBytes', 5, 'TRACEWRIGHT_ROTATE_BYTES'],
    [sizes, 'atMaxBytes', 'never', 'TRACEWRIGHT_AT_MAX_BYTES'],
  ] as const)('%o %s', (check, option, value, variable) => {
    const fault = (field: string): unknown =>
      expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field });
    expect(() => check({ [option]: value })).toThrow(fault(option));
    vi.stubEnv(variable, String(value));
    expect(() => check()).toThrow(fault(variable));
    expect(() => check({ [option]: value })).toThrow(fault(option));
    vi.stubEnv(variable, '');
    expect(() => check()).not.toThrow();
  });
});

test('what is no number is shown as it stands in the variable', () => {
  vi.stubEnv('TRACEWRIGHT_MAX_BYTES', 'much');
  expect(() => sizes()).toThrow('TRACEWRIGHT_MAX_BYTES must be a number, got "much"');
});

test('an option goes before its variable, a variable before the default', () => {
  vi.stubEnv('TRACEWRIGHT_RING_BYTES', '100000');
  vi.stubEnv('TRACEWRIGHT_MAX_BYTES', String(16 * RING));
  expect(rings()).toMatchObject({ ringBytes: 1 << 17, onFull: 'block', clock: 'scaled' });
  expect(rings({ ringBytes: 1 << 18 })).toMatchObject({ ringBytes: 1 << 18 });
  expect(sizes()).toEqual({
    maxBytes: 16 * RING,
    rotateBytes: 2 * RING,
    atMaxBytes: 'deleteOldest',
  });
  expect(sizes({ maxBytes: 8 * RING })).toMatchObject({ maxBytes: 8 * RING });
});
