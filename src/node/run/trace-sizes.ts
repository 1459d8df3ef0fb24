import { checkRingOptions } from '../../core/options/ring-options.js';
import { readSizeVariables } from '../../core/options/size-limits.js';
import type { CheckedSizeOptions, SizeOptions } from '../../core/options/size-limits.js';

/** The sizes that this process may write: with `atMaxBytes: stop`, what earlier traces left of the budget. */
export function sizesOf(used: number): CheckedSizeOptions {
  const { ringBytes } = checkRingOptions({}, { onFull: 'block' });
  const sizes = readSizeVariables(ringBytes);
  if (sizes.maxBytes === 0 || sizes.atMaxBytes !== 'stop') return sizes;
  const maxBytes = sizes.maxBytes - used;
  if (maxBytes < 4 * ringBytes) {
    throw new Error(
      `earlier traces take ${used} of the ${sizes.maxBytes} bytes of TRACEWRIGHT_MAX_BYTES`,
    );
  }
  return { ...sizes, maxBytes, rotateBytes: Math.min(sizes.rotateBytes, Math.floor(maxBytes / 2)) };
}

/** As options of `openTrace`, which take no 0 for "no limit". */
export function sizeOptionsOf({
  maxBytes,
  rotateBytes,
  atMaxBytes,
}: CheckedSizeOptions): SizeOptions {
  return {
    ...(maxBytes > 0 ? { maxBytes } : {}),
    ...(rotateBytes > 0 ? { rotateBytes } : {}),
    atMaxBytes,
  };
}
