import { expect, it, vi } from 'vitest';
import { fileOfRing, piecesAmong } from '../../src/heph/file-names.js';
import { traceOf } from '../../src/heph/read/living-pass.js';

// Paths as Windows has them.
vi.mock('node:path', async (original) => {
  const { win32 } = await original<typeof import('node:path')>();
  return { ...win32, default: win32 };
});

it('finds rings, pieces and traces by paths of Windows', () => {
  const piece = 'C:\\traces\\run.1\\trace.000012.heph';
  const ring = 'C:\\traces\\run.1\\.trace.000012.heph.1-2-3.ring';
  expect(fileOfRing(ring)).toBe(piece);
  expect(traceOf(piece)).toBe('C:\\traces\\run.1\\trace.heph');
  expect(piecesAmong([piece], 'C:\\traces\\run.1\\trace.heph')).toEqual([piece]);
});
