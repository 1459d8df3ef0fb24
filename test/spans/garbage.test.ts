import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../heph/temporary-file.js';

const directory = temporaryDirectory();
const path = fileURLToPath(new URL('../../bench/heap.mjs', import.meta.url));
const run = promisify(execFile);

/** Bytes of a million records on the heap, of which none are collected. */
async function heapOf(way: string): Promise<number> {
  const own = join(directory, String(way.length));
  mkdirSync(own);
  const flags = ['--expose-gc', '--max-semi-space-size=512', '--min-semi-space-size=512'];
  const { stdout } = await run(process.execPath, [
    ...flags,
    path,
    '--way',
    way,
    '--directory',
    own,
  ]);
  const { collections, heap } = JSON.parse(stdout) as { collections: number; heap: number };
  expect(collections).toBe(0);
  return heap;
}

test('a million spans leave their objects and their attributes, and nothing else', async () => {
  const [spans, objects] = await Promise.all([
    heapOf('Span of a service, two attributes'),
    heapOf('its object and its attributes (control)'),
  ]);
  expect(objects).toBeGreaterThan(100_000_000);
  expect(spans / objects).toBeLessThan(1.01);
}, 120_000);
