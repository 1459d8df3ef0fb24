import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TracedProcess, temporaryDirectory } from '../traced-process.js';

const RING = 65_536;
const MALLORY = 65_534;

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' });
}

async function until(service: TracedProcess, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 30_000; !holds() && Date.now() < deadline;) {
    await Promise.all(Array.from({ length: 100 }, () => service.get('/')));
    await sleep(20);
  }
  expect(holds()).toBe(true);
}

it('a directory of a run that is replaced by a link leads a rotating service nowhere', async () => {
  const place = temporaryDirectory();
  const run = join(place, 'run');
  const victim = join(place, 'victim');
  mkdirSync(run);
  mkdirSync(victim);
  const service = new TracedProcess('busy-service.mjs', {
    env: {
      TRACEWRIGHT_DIR: run,
      TRACEWRIGHT_RING_BYTES: String(RING),
      TRACEWRIGHT_ROTATE_BYTES: String(2 * RING),
    },
  });
  await service.port();
  const pieces = (directory: string) =>
    readdirSync(directory).filter((name) => !name.startsWith('.'));
  await until(service, () => pieces(join(run, 'heph')).length > 1);
  const moved = join(run, 'heph.moved');
  renameSync(join(run, 'heph'), moved);
  symlinkSync(victim, join(run, 'heph'));
  const before = pieces(moved).length;
  await until(service, () => pieces(moved).length > before + 1);
  service.kill('SIGTERM');
  const { stderr } = await service.ended();
  expect(stderr).toBe('');
  expect(filesBelow(victim)).toEqual([]);
  expect(filesBelow(run).filter((name) => name.endsWith('.ring'))).toEqual([]);
});

it.runIf(process.geteuid?.() === 0)(
  'a directory that another user has made before is not written to',
  async () => {
    const run = join(temporaryDirectory(), 'run');
    mkdirSync(join(run, 'heph'), { recursive: true });
    chownSync(join(run, 'heph'), MALLORY, MALLORY);
    chmodSync(join(run, 'heph'), 0o777);
    const service = new TracedProcess('service.mjs', {
      env: {
        TRACEWRIGHT_FORMATS: 'heph,ovni',
        TRACEWRIGHT_DIR: run,
        TRACEWRIGHT_RUN: JSON.stringify({ directory: run, firstClock: '1', setting: run }),
      },
    });
    await service.port();
    await service.get('/');
    service.kill('SIGTERM');
    expect((await service.ended()).stderr).toMatch(/no Heph trace is written: .*another user/);
    expect(readdirSync(join(run, 'heph'))).toEqual([]);
    expect(statSync(join(run, 'ovni')).uid).toBe(0);
  },
);
