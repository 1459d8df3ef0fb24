import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkTrace } from '../../../src/ovni/read/check.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { recoverTrace } from '../../../src/ovni/read/recover.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const COUNT = 10_000;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tracewright-moved-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A killed process's trace and rings, from relative names, moved with the directory around them. */
async function movedTrace(
  version: 1 | 3,
): Promise<{ trace: string; rings: string; first: string }> {
  const first = join(folder, 'first');
  mkdirSync(join(first, 'rings'), { recursive: true });
  const input = { traceDir: 'ovni', ringDir: 'rings', version, count: COUNT };
  const { signal } = await runFixture('ovni/ring-dir-killed.mjs', { input, cwd: first });
  expect(signal).toBe('SIGKILL');
  const second = join(folder, 'second');
  renameSync(first, second);
  return { trace: join(second, 'ovni'), rings: join(second, 'rings'), first };
}

function eventsIn(trace: string, version: 1 | 3): number {
  const [stream] = readTraceDirectory(trace).streams;
  let events = 0;
  for (const { mcv } of readStream(stream!.path, { version })) if (mcv === 'OB.') events++;
  return events;
}

describe.each([1, 3] as const)('a trace that was moved with its rings, version %i', (version) => {
  it('is not finished without them, and is complete with them', async () => {
    const { trace, rings } = await movedTrace(version);
    const without = recoverTrace(trace);
    expect(without.streams).toEqual([]);
    expect(without.faults).toMatchObject([{ code: 'ERR_ORDER', field: 'ringDir' }]);
    expect(readdirSync(rings)).toHaveLength(1);

    const found = recoverTrace(trace, { ringDir: rings });
    expect(found.faults).toEqual([]);
    expect(found.streams).toHaveLength(1);
    expect(readdirSync(rings)).toEqual([]);
    expect(eventsIn(trace, version)).toBe(COUNT);
    expect([...checkTrace(trace)].filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('is finished without them where their directory is there and they are not', async () => {
    const { trace, rings, first } = await movedTrace(version);
    rmSync(rings, { recursive: true });
    mkdirSync(join(first, 'rings'), { recursive: true });
    expect(recoverTrace(trace).faults).toEqual([]);
    expect(eventsIn(trace, version)).toBeLessThan(COUNT);
    expect([...checkTrace(trace)].filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});
