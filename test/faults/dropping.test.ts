import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const benchmark = fileURLToPath(new URL('../../bench/drop.mjs', import.meta.url));
const hasLimits = spawnSync('prlimit', ['--version'], { stdio: 'ignore' }).status === 0;

// It also makes sure that every dropped event is counted.
it.skipIf(!hasLimits)('an event that is dropped costs about what one that is written costs', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [benchmark, '--quick', '--json'], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const { goals } = JSON.parse(stdout) as { goals: { goal: string; met: boolean }[] };
  expect(goals.map(({ goal }) => goal.split(',', 1)[0])).toEqual(
    expect.arrayContaining(['ovni', 'Heph', 'DUMPI', 'Laplace']),
  );
  expect(goals.filter(({ met }) => !met)).toEqual([]);
  expect(status).toBe(0);
});
