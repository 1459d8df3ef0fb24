import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { drawn } from '../../export/perfetto/drawn-events.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, streamsOf } from '../written-traces.js';
import type { EventRecord } from '../written-traces.js';

const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const MS = 1e6;
const env = { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_STALL_MS: '50' };

function statesOf(directory: string, thread: string): EventRecord[] {
  return streamsOf(directory)
    .get(thread)!
    .filter(({ mcv }) => mcv.startsWith('OH'));
}

/** Nanoseconds of each pause. */
function pausesOf(states: readonly EventRecord[]): number[] {
  return states.flatMap(({ mcv, clock }, i) =>
    mcv === 'OHp' ? [Number(states[i + 1]!.clock - clock)] : [],
  );
}

async function run(script: string, given: Record<string, string>, ...args: string[]) {
  const traced = new TracedProcess(script, { env: { ...env, ...given }, args });
  const ending = await traced.ended();
  return { directory: traced.directory, ...ending };
}

describe('a worker of a pool that waits for its tasks', () => {
  it.each(['heph,ovni', 'ovni'])('is paused in a trace of %s', async (formats) => {
    const { directory, stderr } = await run('pool-worker.mjs', { TRACEWRIGHT_FORMATS: formats });
    expect(stderr).toBe('');
    expect(faultsOf(directory)).toEqual([]);
    const pauses = pausesOf(statesOf(directory, 'worker 1'));
    expect(pauses.length).toBeGreaterThan(2);
    // Twenty times 150 ms, unless the machine has other things to do.
    expect(pauses.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(300 * MS);
    expect(pausesOf(statesOf(directory, 'main'))).toEqual([]);
  });

  it('is one thread of the page and of the report, with its states', async () => {
    const { directory } = await run('pool-worker.mjs', {});
    const { report } = await reportOn([directory]);
    expect(report.threads.map(({ thread, kind }) => [thread, kind]).sort()).toEqual([
      ['main', 'thread'],
      ['worker 1', 'thread'],
    ]);
    const index = await openLookIndex([directory]);
    const { tracks } = index;
    index.close();
    const names = tracks.filter(({ kind }) => kind === 'thread').map(({ name }) => name);
    expect(names.sort()).toEqual(['main', 'worker 1']);
  });
});

describe('a worker that sleeps', () => {
  it.each(['terminate', 'exit', 'kill'])('leaves a stream that ends, by %s', async (way) => {
    const { directory } = await run(
      'sleeping-worker.mjs',
      { TRACEWRIGHT_FORMATS: 'heph,ovni' },
      way,
    );
    if (way === 'kill') {
      const { stderr } = spawnSync(process.execPath, [command, 'recover', directory], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
    }
    expect(faultsOf(directory)).toEqual([]);
    const states = statesOf(directory, 'worker 1');
    // What does not sleep is no pause.
    expect(states.map(({ mcv }) => mcv)).toEqual(['OHx', 'OHp', 'OHr', 'OHe']);
  });

  it('is shown as paused by convert, and as time without work by report', async () => {
    const { directory } = await run('sleeping-worker.mjs', { TRACEWRIGHT_FORMATS: 'ovni' }, 'exit');
    const states = statesOf(directory, 'worker 1');
    const [pause = 0] = pausesOf(states);
    expect(pause).toBeGreaterThan(200 * MS);
    const ovni = join(directory, 'ovni');
    const { report } = await reportOn([ovni]);
    const { busy } = report.threads.find(({ thread }) => thread.startsWith('worker 1'))!;
    const life = Number(states.at(-1)!.clock - states[0]!.clock);
    expect(busy).toBeLessThan(life - pause + MS);
    const paused = drawn(ovni).filter(({ name }) => name === 'paused');
    expect(paused.map(({ dur }) => Math.round(dur!))).toEqual([Math.round(pause / 1000)]);
  });
});

it('a sleep within a request is no pause', async () => {
  const service = new TracedProcess('blocked-service.mjs', {
    env: { ...env, TRACEWRIGHT_FORMATS: 'ovni' },
  });
  await service.get('/nothing');
  expect(await service.get('/wait')).toBe('wait\n');
  await service.get('/exit');
  await service.ended();
  expect(faultsOf(service.directory)).toEqual([]);
  expect(pausesOf(statesOf(service.directory, 'main'))).toEqual([]);
});
