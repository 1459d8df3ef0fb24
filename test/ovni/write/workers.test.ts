import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkTrace as checkHeph } from '../../../src/heph/read/check.js';
import type { TraceStats } from '../../../src/heph/index.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { resultOfFixture } from '../../fixtures/run-fixture.js';
import { eventsOf, faultsOf, streamsOf, withoutFlushes } from '../stream-content.js';
import { temporaryFolder } from '../trace-building.js';

const COUNT = 10_000;

it.each([
  ['free', 1],
  ['free', 3],
  ['return', 3],
  ['throw', 3],
  ['exit', 3],
  ['exit', 1],
  ['terminate', 3],
  ['terminate', 1],
  ['main exits', 3],
] as const)('three workers and the main thread: %s, version %i', async (ending, version) => {
  const traceDir = join(temporaryFolder(), 'ovni');
  const counts = await resultOfFixture<Record<string, number>>('ovni/workers.mjs', {
    input: { traceDir, version, count: COUNT, ending },
  });
  expect(faultsOf(traceDir)).toEqual([]);
  const streams = streamsOf(traceDir);
  expect(streams.map(({ tid }) => tid)).toEqual([1, 2, 3, 4]);
  for (const stream of streams) {
    const { events } = withoutFlushes(eventsOf(stream));
    expect(events[0]!.mcv).toBe('OHx');
    expect(events.at(-1)!.mcv).toBe('OHe');
    const numbers = events.slice(1, -1).map(({ payload }) => payload.readUInt32LE(0));
    numbers.forEach((number, i) => {
      if (number !== i) throw new Error(`thread ${stream.tid}: ${number} in place of ${i}`);
    });
    // Every event that a thread surely emitted; the last one may not have been counted yet.
    const counted = counts[stream.tid]!;
    expect(counted).toBeGreaterThanOrEqual(COUNT);
    const more = numbers.length - counted;
    if (ending === 'main exits') expect(more).toBeGreaterThanOrEqual(0);
    else expect([0, 1]).toContain(more);
  }
  const leftovers = readdirSync(traceDir, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ring') || name.endsWith('.finished'),
  );
  expect(leftovers).toEqual([]);
  expect(existsSync(traceDir)).toBe(true);
});

it('workers terminated at any moment leave the process alive and the traces right', async () => {
  const folder = temporaryFolder();
  const traceDir = join(folder, 'ovni');
  const hephFile = join(folder, 'trace.heph');
  const stats = await resultOfFixture<TraceStats>('ovni/terminated-early.mjs', {
    input: { traceDir, hephFile, workers: 24 },
  });
  expect(faultsOf(traceDir)).toEqual([]);
  const process = join(traceDir, 'loom.node.1', 'proc.1');
  const threads = readdirSync(process).filter((name) => name.startsWith('thread.'));
  expect(threads.filter((name) => readdirSync(join(process, name)).length === 0)).toEqual([]);
  expect([...checkHeph(hephFile)].filter(({ rule }) => !rule.startsWith('converter'))).toEqual([]);
  const events = [...readPackets(hephFile)].filter(({ kind }) => kind === 'event');
  expect(stats.written.events).toBe(events.length);
  expect(stats.recorded).toBe(events.length);
  expect(readdirSync(folder).filter((name) => name.endsWith('.ring'))).toEqual([]);
});
