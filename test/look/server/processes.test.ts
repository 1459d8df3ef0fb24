import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sourceTable } from '../../../src/look/report/print/tables/source-tables.js';
import type { RecordingAnswer } from '../../../src/look/wire/answers.js';
import { TracedProcess } from '../../node/traced-process.js';
import { reportOn } from '../report/recorded-service.js';
import { Served } from './served.js';

async function recordingOf(...paths: string[]): Promise<RecordingAnswer> {
  const served = await Served.of(...paths);
  try {
    return await served.json<RecordingAnswer>('/data/recording');
  } finally {
    await served.close();
  }
}

/** For each process the formats of its sources. */
function formatsOf({ processes, sources }: RecordingAnswer): string[] {
  return processes.map((process) =>
    process.sources.map((number) => sources[number]!.format).join('+'),
  );
}

describe('a process that writes Heph and ovni', () => {
  let run = '';
  let pid = 0;
  let heph = '';

  beforeAll(async () => {
    const service = new TracedProcess('busy-service.mjs', {
      env: { TRACEWRIGHT_FORMATS: 'heph,ovni' },
    });
    run = service.directory;
    await service.port();
    await service.get('/');
    service.kill('SIGTERM');
    await service.ended();
    const [file] = readdirSync(join(run, 'heph')).filter((name) => name.endsWith('.heph'));
    heph = join(run, 'heph', file!);
    pid = Number(/-(\d+)\.heph$/.exec(file!)![1]);
  }, 60_000);

  it('is one group, in which the tracks of a thread follow each other', async () => {
    const recording = await recordingOf(run);
    expect(formatsOf(recording)).toEqual(['Heph+ovni']);
    expect(recording.processes[0]).toMatchObject({ number: 0, pid });
    const main = recording.tracks.filter(({ name }) => /^main\b/.test(name));
    expect(new Set(main.map(({ kind }) => kind))).toEqual(new Set(['thread', 'states']));
    expect(new Set(main.map(({ order }) => order)).size).toBe(1);
    expect(new Set(recording.tracks.map(({ process }) => process))).toEqual(new Set([0]));
  });

  it('ends its curves when it has ended, and not before', async () => {
    const service = new TracedProcess('busy-service.mjs', { env: {} });
    await service.get('/');
    const living = await recordingOf(service.directory);
    expect(living.counters).not.toEqual([]);
    expect(new Set(living.counters.map(({ end }) => end))).toEqual(new Set([null]));
    service.kill('SIGKILL');
    await service.ended();
    const { counters, sources } = await recordingOf(service.directory);
    const last = Math.max(...sources.map(({ end }) => end));
    for (const { end } of counters) expect(end).toBeGreaterThanOrEqual(last);
  });

  it('is one line of the report, whose JSON has both traces', async () => {
    const { report } = await reportOn([run]);
    const sources = report.sources.map(({ format, process }) => `${format} ${process}`);
    expect(sources.sort()).toEqual(['Heph 0', 'ovni 0']);
    const { rows } = sourceTable(report);
    expect(rows.map(({ format }) => format)).toEqual(['Heph, ovni']);
  });

  it('is two groups if the traces were moved apart', async () => {
    const apart = `${run}-apart`;
    cpSync(join(run, 'ovni'), join(apart, 'states'), { recursive: true });
    mkdirSync(join(apart, 'spans'));
    cpSync(heph, join(apart, 'spans', 'moved.heph'));
    const recording = await recordingOf(join(apart, 'states'), join(apart, 'spans'));
    expect(formatsOf(recording).sort()).toEqual(['Heph', 'ovni']);
  });
});
