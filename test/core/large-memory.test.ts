import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inLargePages, newMemory } from '../../src/core/large-memory.js';

const BYTES = 64 << 20;

/** Bytes of this process in large pages. */
function largeBytes(): number {
  const [, kilobytes] = /AnonHugePages:\s+(\d+)/.exec(
    readFileSync('/proc/self/smaps_rollup', 'utf8'),
  )!;
  return Number(kilobytes) * 1024;
}

/** Why there are none: undefined if there are. */
function noLargePages(): string | undefined {
  try {
    const setting = readFileSync('/sys/kernel/mm/transparent_hugepage/enabled', 'utf8');
    return setting.includes('[madvise]') ? undefined : `large pages are ${setting.trim()}`;
  } catch {
    return 'the system says nothing of large pages';
  }
}

describe('large pages', () => {
  const reason = noLargePages();
  it.skipIf(reason !== undefined)('memory gets them that asks for them', () => {
    const before = largeBytes();
    const usual = Buffer.allocUnsafeSlow(BYTES).fill(1);
    expect(largeBytes() - before).toBeLessThan(BYTES / 2);
    const large = newMemory(BYTES).fill(1);
    expect(largeBytes() - before).toBeGreaterThan(BYTES / 2);
    expect(usual.length + large.length).toBe(2 * BYTES);
  });

  it('memory of any size may ask', () => {
    for (const bytes of [0, 1, 4096, 5000]) {
      expect(inLargePages(new ArrayBuffer(bytes)).byteLength).toBe(bytes);
    }
  });
});
