import { mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();
const SPANS = 50;

async function rowsOf(
  path: string,
  ringDirs: string[],
): Promise<{ rows: number; state: string; open: number }> {
  const index = await openLookIndex([path], { ringDirs, cache: false });
  try {
    const flags = index.parts.flatMap((part) => [...part.flags]);
    const open = flags.filter((bits) => (bits & (1 << 5)) !== 0).length;
    return { rows: index.rows, state: index.sources[0]!.state, open };
  } finally {
    index.close();
  }
}

/** Moves the rings of a directory into a new one. */
function moveRings(from: string, to: string): number {
  mkdirSync(to);
  const rings = readdirSync(from).filter((name) => name.endsWith('.ring'));
  for (const name of rings) renameSync(join(from, name), join(to, name));
  return rings.length;
}

it.each([
  ['SIGKILL', 'died'],
  ['exit', 'unfinished'],
])('a Heph trace says how its process has ended: %s', async (end, state) => {
  const own = mkdtempSync(join(directory, 'run-'));
  const path = join(own, 'a.heph');
  const { stderr, signal } = await runFixture('look/open-spans.mjs', {
    input: { path, end, SPANS },
  });
  expect([stderr, signal]).toEqual(['', end === 'exit' ? null : end]);
  const rings = join(own, 'rings');
  expect(moveRings(own, rings)).toBe(state === 'died' ? 1 : 0);
  expect(await rowsOf(path, [rings])).toEqual({ rows: SPANS + 1, state, open: 1 });
  // Without its ring nothing says that something is missing.
  if (state === 'died') expect(await rowsOf(path, [])).toMatchObject({ state: 'ended', open: 0 });
});

it('rings elsewhere complete an ovni trace', async () => {
  const own = mkdtempSync(join(directory, 'run-'));
  const [trace, rings, moved] = [join(own, 'trace'), join(own, 'rings'), join(own, 'moved')];
  mkdirSync(rings);
  const input = { traceDir: trace, ringDir: rings, version: 1, count: 10 };
  await runFixture('ovni/ring-dir-killed.mjs', { input });
  renameSync(rings, moved);
  const without = await rowsOf(trace, []);
  const whole = await rowsOf(trace, [moved]);
  expect(whole.rows).toBeGreaterThan(without.rows);
  expect(whole.state).toBe('died');
});
