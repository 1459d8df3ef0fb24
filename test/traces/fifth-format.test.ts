import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checkCommand } from '../../src/cli/commands/check.js';
import { convertCommand } from '../../src/cli/commands/convert.js';
import { dumpCommand } from '../../src/cli/commands/dump.js';
import { reportCommand } from '../../src/cli/commands/report.js';
import type { ChromeEvent } from '../../src/export/chrome/chrome-event.js';
import { openLookIndex } from '../../src/look/index/open-look-index.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { Served } from '../look/server/served.js';

// The one line that a new format adds to the table.
vi.mock(import('../../src/traces/formats.js'), async (original) => {
  const { ticksFormat } = await import('./fixtures/ticks/ticks-format.js');
  const { allFormats, ...rest } = await original();
  return { ...rest, allFormats: (endian) => [ticksFormat, ...allFormats(endian)] };
});

const directory = temporaryDirectory();
const path = join(directory, 'made-up.ticks');
const EPOCH = 1_700_000_000_000_000_000n;
writeFileSync(path, `${EPOCH}\n1 -5 10 tick\n2 3 7 tock\n`);

let printed = '';
beforeEach(() => {
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation(((text: string | Buffer, ...rest) => {
    printed += text.toString();
    for (const each of rest) if (typeof each === 'function') (each as () => void)();
    return true;
  }) as typeof process.stdout.write);
});
afterEach(() => {
  vi.restoreAllMocks();
});

it('is dumped, checked and reported under its name', async () => {
  expect(await dumpCommand.run([path])).toBe(0);
  expect(printed).toContain('Ticks');
  expect(printed).toContain('-5 tick\n3 tock\n');
  printed = '';
  expect(await checkCommand.run([path])).toBe(0);
  expect(printed).toContain('Ticks');
  printed = '';
  expect(await reportCommand.run([path])).toBe(0);
  expect(printed).toMatch(/^Ticks +.*made-up\.ticks/m);
});

it('is indexed with its own tracks, times and attributes', async () => {
  const index = await openLookIndex([path], { cache: false });
  expect(index.sources.map(({ format }) => format)).toEqual(['Ticks']);
  expect(index.tracks.map(({ kind, name }) => [kind, name])).toEqual([
    ['thread', 'worker 1'],
    ['thread', 'worker 2'],
  ]);
  expect(index.epoch).toBe(EPOCH - 5n);
  expect(index.details(1)).toEqual({ line: '2 3 7 tock' });
  const attributes = [{ name: 'line', value: '1 -5 10 tick' }];
  for await (const rows of index.find({ attributes })) expect([...rows]).toEqual([0]);
  expect.assertions(5);
  index.close();
});

it('is shown by the page under its name', async () => {
  const served = await Served.of(path);
  const { sources, tracks } = await served.json<{ sources: unknown[]; tracks: unknown[] }>(
    '/data/recording',
  );
  expect(sources).toMatchObject([{ format: 'Ticks', content: 'events' }]);
  expect(tracks).toMatchObject([{ name: 'worker 1' }, { name: 'worker 2' }]);
  await served.close();
});

it('is converted', async () => {
  const out = join(directory, 'out.json');
  expect(await convertCommand.run(['--to', 'chrome', path, out])).toBe(0);
  const { traceEvents } = JSON.parse(readFileSync(out, 'utf8')) as { traceEvents: ChromeEvent[] };
  const slices = traceEvents.filter(({ ph }) => ph === 'X');
  expect(slices.map(({ name, ts, dur, tid }) => [name, ts, dur, tid])).toEqual([
    ['tick', 0, 0.015, 1],
    ['tock', 0.008, 0.004, 2],
  ]);
  expect(await convertCommand.run(['--to', 'perfetto', path, join(directory, 'out')])).toBe(0);
});
