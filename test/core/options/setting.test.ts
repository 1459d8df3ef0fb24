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
    [rings, 'onFull', 'explode', 'TRACEWRIGHT_ON_FULL'],
    [rings, 'clock', 'sundial', 'TRACEWRIGHT_CLOCK'],
    [sizes, 'atMaxBytes', 'never', 'TRACEWRIGHT_AT_MAX_BYTES'],
  ] as const)('%o %s', (check, option, value, variable) => {
    const fault = (field: string): unknown =>
      expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field });
    expect(() => check({ [option]: value })).toThrow(fault(option));
    vi.stubEnv(variable, value);
    expect(() => check()).toThrow(fault(variable));
    expect(() => check({ [option]: value })).toThrow(fault(option));
    vi.stubEnv(variable, '');
    expect(() => check()).not.toThrow();
  });
});

describe('an amount', () => {
  const warned: string[] = [];
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => {
    warned.push(String(warning));
  });

  test.each([
    [rings, 'ringBytes', 'RING_BYTES', 'many', { ringBytes: 2 << 20 }],
    [rings, 'ringBytes', 'RING_BYTES', '1', { ringBytes: 2 << 20 }],
    [sizes, 'maxBytes', 'MAX_BYTES', 'much', { maxBytes: 0 }],
    [sizes, 'maxBytes', 'MAX_BYTES', '5', { maxBytes: 0 }],
    [sizes, 'rotateBytes', 'ROTATE_BYTES', '5', { rotateBytes: 0 }],
  ] as const)(
    '%o %s: of %s, %s is its default, with one line',
    (check, option, name, text, used) => {
      warned.length = 0;
      vi.stubEnv(`TRACEWRIGHT_${name}`, text);
      expect(check()).toMatchObject(used);
      expect(check()).toMatchObject(used);
      expect(warned).toEqual([
        expect.stringMatching(
          new RegExp(
            `^TRACEWRIGHT_${name} must be an integer from .*, or with a unit such as 64MiB, got "${text}"; it counts as not set$`,
          ),
        ),
      ]);
      expect(() => check({ [option]: 1 })).toThrow(
        expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: option }),
      );
    },
  );

  test('may have a unit', () => {
    vi.stubEnv('TRACEWRIGHT_RING_BYTES', '100k');
    vi.stubEnv('TRACEWRIGHT_MAX_BYTES', '1GB');
    vi.stubEnv('TRACEWRIGHT_ROTATE_BYTES', '64MiB');
    expect(rings()).toMatchObject({ ringBytes: 1 << 17 });
    expect(sizes()).toMatchObject({ maxBytes: 1e9, rotateBytes: 64 << 20 });
  });
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
