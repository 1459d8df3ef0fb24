import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checkCommand } from '../../src/cli/commands/check.js';
import { convertCommand } from '../../src/cli/commands/convert.js';
import { dumpCommand } from '../../src/cli/commands/dump.js';
import { reportCommand } from '../../src/cli/commands/report.js';
import { openLookIndex } from '../../src/look/index/open-look-index.js';
import { drawnEvents } from '../export/perfetto/drawn-events.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { Served } from '../look/server/served.js';
import {
  CHILD,
  EPOCH,
  LARGEST,
  PARENT,
  TRACE,
  writeTicks,
} from './fixtures/ticks/ticks-example.js';

// The one line that a new format adds to the table.
vi.mock(import('../../src/traces/formats.js'), async (original) => {
  const { ticksFormat } = await import('./fixtures/ticks/ticks-format.js');
  const { allFormats, ...rest } = await original();
  return { ...rest, allFormats: (endian) => [ticksFormat, ...allFormats(endian)] };
});

const directory = temporaryDirectory();
const path = join(directory, 'made-up.ticks');
writeTicks(path);

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
  expect(await reportCommand.run(['--all', path])).toBe(0);
  expect(printed).toMatch(/^Ticks +.*made-up\.ticks/m);
  expect(printed).toMatch(/^15 ns .* tick .*\n +4 ns .* └ tock/m);
});

it('is indexed with its own tracks, times, spans and attributes', async () => {
  const index = await openLookIndex([path], { cache: false });
  expect(index.sources.map(({ format }) => format)).toEqual(['Ticks']);
  expect(index.tracks.map(({ kind, name }) => [kind, name])).toEqual([
    ['thread', 'worker 1'],
    ['thread', 'worker 2'],
  ]);
  expect(index.epoch).toBe(EPOCH - 5n);
  expect(index.span(1)).toMatchObject({
    ...{ name: 'tock', kind: 'server', status: { code: 'error' } },
    ...{ traceId: TRACE.toString(16), spanId: CHILD.toString(16) },
    ...{ parentSpanId: PARENT.toString(16), attributes: { value: 7n } },
    ...{ start: EPOCH + 3n, end: EPOCH + 7n },
  });
  expect(index.rowsOfTrace(TRACE.toString(16))).toEqual([0, 1]);
  expect(index.span(2)).toBeUndefined();
  expect(index.details(2)).toEqual({ value: 0 });
  expect(index.details(0)).toMatchObject({ value: String(LARGEST), span: PARENT.toString(16) });
  const attributes = [{ name: 'value', value: String(LARGEST) }];
  for await (const rows of index.find({ attributes })) expect([...rows]).toEqual([0]);
  expect.assertions(9);
  index.close();
});

it('is served to the page under its name', async () => {
  const served = await Served.of(path);
  const { sources, tracks } = await served.json<{ sources: unknown[]; tracks: unknown[] }>(
    '/data/recording',
  );
  expect(sources).toMatchObject([{ format: 'Ticks', content: 'spans' }]);
  expect(tracks).toMatchObject([{ name: 'worker 1' }, { name: 'worker 2' }]);
  await served.close();
});

it('is converted', async () => {
  const out = (name: string): string => join(directory, name);
  expect(await convertCommand.run(['--to', 'perfetto', path, out('perfetto')])).toBe(0);
  const slices = drawnEvents(readFileSync(out('perfetto'))).filter(({ ph }) => ph === 'X');
  expect(new Set(slices.map(({ name, ts, dur }) => [name, ts, dur]))).toEqual(
    new Set([
      ['tick', 0, 0.015],
      ['tock', 0.008, 0.004],
      ['rest', 0.025, 0.01],
    ]),
  );
  expect(await convertCommand.run(['--to', 'parquet', path, out('parquet')])).toBe(0);
  expect(await convertCommand.run(['--to', 'otlp', path, out('otlp')])).toBe(0);
  expect(JSON.parse(readFileSync(out('otlp'), 'utf8'))).toMatchObject({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              { traceId: TRACE.toString(16), name: 'tick', startTimeUnixNano: String(EPOCH - 5n) },
              { parentSpanId: PARENT.toString(16), name: 'tock', kind: 2, status: { code: 2 } },
            ],
          },
        ],
      },
    ],
  });
});
