import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordingAnswer } from '../../../src/look/wire/answers.js';
import { TracedProcess } from '../../node/traced-process.js';
import { reportOn } from '../report/recorded-service.js';
import { Served } from './served.js';

const SIZES = { TRACEWRIGHT_RING_BYTES: '65536', TRACEWRIGHT_ROTATE_BYTES: '524288' };

describe('an ovni trace that has rotated', () => {
  let pieces: string[] = [];
  let directory = '';

  beforeAll(async () => {
    const service = new TracedProcess('busy-service.mjs', { env: SIZES });
    directory = join(service.directory, 'ovni');
    await service.port();
    const all = (): string[] => readdirSync(directory).filter((name) => /\.\d{6}$/.test(name));
    while (all().length < 3) {
      await service.get('/');
      await sleep(20);
    }
    service.kill('SIGTERM');
    await service.ended();
    pieces = all().sort();
  }, 60_000);

  it('is a recording for each piece in a report, one after the other', async () => {
    const { report } = await reportOn([directory]);
    expect(report.sources.map(({ path, format }) => [basename(path), format])).toEqual(
      pieces.map((name) => [name, 'ovni']),
    );
    expect(report.losses).toEqual([]);
    for (const { path, rows } of report.sources) {
      expect(rows).toBeGreaterThan(0);
      const threads = report.threads.filter((each) => each.path === path);
      expect(threads.some(({ thread, busy }) => thread.includes('main') && busy > 0)).toBe(true);
    }
  });

  describe('in the server of the page', () => {
    let served: Served;
    beforeAll(async () => {
      served = await Served.of(directory);
    });
    afterAll(() => served.close());

    it('has tracks of each piece, whose rows do not overlap those of the next', async () => {
      const { sources, tracks, length, problems } =
        await served.json<RecordingAnswer>('/data/recording');
      expect(problems).toEqual([]);
      expect(sources.map(({ path }) => basename(path))).toEqual(pieces);
      expect(sources.flatMap(({ losses }) => losses)).toEqual([]);
      for (const { number } of sources) {
        expect(tracks.some(({ source, kind }) => source === number && kind === 'states')).toBe(
          true,
        );
      }
      expect(length).toBeGreaterThan(0);
    });
  });
});
