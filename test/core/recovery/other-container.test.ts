import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Recovery } from '../../../src/core/recovery/recovery.js';
import { recoverTrace as recoverDumpi } from '../../../src/dumpi/index.js';
import { recoverTrace as recoverHeph } from '../../../src/heph/index.js';
import { recoverTrace as recoverLaplace } from '../../../src/laplace/index.js';
import { recoverTrace as recoverOvni } from '../../../src/ovni/index.js';
import { fixturePath } from '../../fixtures/run-fixture.js';

const place = mkdtempSync(join(tmpdir(), 'tracewright-container-'));
afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

/** A pid namespace of its own, whose processes go with its first. */
const UNSHARE = ['--fork', '--pid', '--mount-proc', '--kill-child'];
const refused =
  process.platform === 'linux'
    ? spawnSync('unshare', [...UNSHARE, 'true'], { encoding: 'utf8' })
    : undefined;

const traces: [string, string, (path: string) => Recovery][] = [
  ['ovni', 'ovni', recoverOvni],
  ['Heph', 'trace.heph', recoverHeph],
  ['Laplace', 'trace.references', recoverLaplace],
  ['DUMPI', 'dumpi', recoverDumpi],
];

function rings(): string[] {
  return readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ring'),
  );
}

/** What becomes of a trace that the first process of another container opens in the same place. */
function replaceAsFirstProcess(path: string): unknown {
  const script = fixturePath('core/replacing.mjs');
  const command = [...UNSHARE, process.execPath, script, JSON.stringify({ path })];
  const { stdout, stderr } = spawnSync('unshare', command, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('a process whose pid says nothing here', () => {
  it('is seen to be alive by its rings, also where it has the same pid, and its traces are recovered once it is dead', async ({
    skip,
  }) => {
    skip(refused?.status !== 0, 'this machine lets nobody make a pid namespace here');
    const input = JSON.stringify({ place });
    const other = spawn(
      'unshare',
      [...UNSHARE, process.execPath, fixturePath('core/other-container.mjs'), input],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(other, 'close');
    try {
      const [said] = (await Promise.race([once(other.stdout, 'data'), ended])) as unknown[];
      expect(String(said)).toBe('pid 1\n');
      const before = rings();
      expect(before.length).toBeGreaterThanOrEqual(4);
      for (const [, path, recover] of traces) {
        expect(() => recover(join(place, path))).toThrow(/is alive/);
      }
      expect(rings()).toEqual(before);
      expect(replaceAsFirstProcess(join(place, 'trace.heph'))).toMatchObject({
        pid: 1,
        code: 'ERR_TRACE_EXISTS',
        message: expect.stringContaining('is being written by a live process') as string,
      });
    } finally {
      other.kill('SIGKILL');
      await ended;
    }
    for (const [name, path, recover] of traces) {
      const { streams, faults } = recover(join(place, path));
      expect([name, streams.length, faults]).toEqual([name, 1, []]);
    }
    expect(rings()).toEqual([]);
  });
});
