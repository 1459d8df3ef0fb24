import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkTrace as checkHeph } from '../../../src/heph/read/check.js';
import type { TraceStats } from '../../../src/heph/index.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { checkTrace as checkOvni } from '../../../src/ovni/read/check.js';
import { eventsOf, streamsOf } from '../../ovni/stream-content.js';
import { resultOfFixture, runFixture } from '../../fixtures/run-fixture.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tracewright-teardown-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function ringFiles(): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ring'),
  );
}

function hephEvents(file: string): number {
  let events = 0;
  for (const packet of readPackets(file)) if (packet.kind === 'event') events++;
  return events;
}

interface Held {
  mappings: number;
  descriptors: string[];
}

describe.skipIf(process.platform !== 'linux')('what a process holds (seen in /proc)', () => {
  it.each([1, 3] as const)(
    'is what it was after 56 workers that ended in every way, version %i',
    async (version) => {
      const traceDir = join(directory, 'ovni');
      const hephFile = join(directory, 'all.heph');
      const { before, after, stats } = await resultOfFixture<{
        before: Held;
        after: Held;
        stats: TraceStats;
      }>('core/teardown-workers.mjs', {
        input: { traceDir, hephFile, workers: 56, together: 7, version },
        execArgv: ['--expose-gc'],
      });
      expect(before.mappings).toBeGreaterThan(0);
      expect(after).toEqual(before);
      expect(ringFiles()).toEqual([]);
      expect(hephEvents(hephFile)).toBe(stats.recorded);
      expect(stats.dropped.events).toBe(0);
      expect([...checkHeph(hephFile)].filter(({ severity }) => severity === 'error')).toEqual([]);
      expect([...checkOvni(traceDir)].filter(({ severity }) => severity === 'error')).toEqual([]);
    },
    180_000,
  );

  it('goes down again when traces are forgotten instead of closed', async () => {
    const { before, most, after } = await resultOfFixture<{
      before: number;
      most: number;
      after: number;
    }>('core/unreferenced-traces.mjs', {
      input: { directory, count: 200 },
      execArgv: ['--expose-gc'],
    });
    expect(most).toBeGreaterThan(before);
    expect(after).toBe(before);
    expect(ringFiles()).toEqual([]);
    for (let i = 0; i < 200; i++) expect(hephEvents(join(directory, `${i}.heph`))).toBe(100);
  });
});

describe('a process that ends without closing its traces', () => {
  const COUNT = 50_000;

  it.each([
    ['exit', 5, null],
    ['throw', 1, null],
    ['reject', 1, null],
    ['return', 0, null],
    // What a shell reports as 143, 130 and 129.
    ['SIGTERM', null, 'SIGTERM'],
    ['SIGINT', null, 'SIGINT'],
    ['SIGHUP', null, 'SIGHUP'],
  ] as const)('by %s ends as ever, and the traces are whole', async (ending, code, signal) => {
    const traceDir = join(directory, 'ovni');
    const hephFile = join(directory, 'all.heph');
    const outcome = await runFixture('core/ended-early.mjs', {
      input: { traceDir, hephFile, count: COUNT, ending },
    });
    expect({ code: outcome.code, signal: outcome.signal }, outcome.stderr).toEqual({
      code,
      signal,
    });
    expect(ringFiles()).toEqual([]);
    expect(existsSync(traceDir)).toBe(true);
    expect(hephEvents(hephFile)).toBe(COUNT);
    const [stream] = streamsOf(traceDir);
    const events = eventsOf(stream!);
    expect(events.filter(({ mcv }) => mcv === 'OB.')).toHaveLength(COUNT);
    expect(events.at(-1)!.mcv).toBe('OHe');
    expect([...checkOvni(traceDir)].filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});
