import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { convertToPicture } from '../../export/perfetto/drawn-events.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { tracewright } from '../run-command.js';

const COUNT = 50;
/** Bytes of the files of both traces, without an event. */
const HEADS = 500;

describe('tracewright convert, of a trace whose process was killed', { timeout: 60_000 }, () => {
  const base = temporaryDirectory();
  let directory = '';
  let hephFile = '';
  let traceDir = '';

  const files = (): string[] => readdirSync(directory, { recursive: true }).map(String).sort();
  const written = (): number =>
    files()
      .filter((name) => /\.(?:heph|obs)$/.test(name))
      .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

  beforeAll(async () => {
    // Few enough to be in the rings alone, unless the process gets no CPU for a while before its end.
    do {
      directory = mkdtempSync(join(base, 'killed-'));
      [hephFile, traceDir] = [join(directory, 'killed.heph'), join(directory, 'ovni')];
      const input = { traceDir, version: 3, hephFile, count: COUNT };
      const { signal } = await runFixture('killed.mjs', { input });
      expect(signal).toBe('SIGKILL');
    } while (written() > HEADS);
  }, 60_000);

  it('reads its rings, and with --no-rings the file alone', () => {
    const before = files();
    const named = (...options: string[]): number[] => {
      const { status, events } = convertToPicture(...options, hephFile);
      const slices = events.filter(({ name, ph }) => name === 'event' && ph === 'X');
      return [status ?? -1, slices.length];
    };
    expect(named()).toEqual([0, COUNT]);
    expect(named('--no-rings')).toEqual([0, 0]);
    expect(files()).toEqual(before);
    expect(tracewright('recover', hephFile).status).toBe(0);
    expect(named('--no-rings')).toEqual([0, COUNT]);
  });

  it('does so for ovni, too', () => {
    const converted = (...options: string[]): ReturnType<typeof convertToPicture> =>
      convertToPicture(...options, traceDir);
    const before = files();
    const [whole, inFiles] = [converted(), converted('--no-rings')];
    expect([whole.status, inFiles.status]).toEqual([0, 0]);
    expect(whole.stderr).toContain('was killed: this is what `tracewright recover');
    expect(inFiles.stderr).toContain('rings contain a part of');
    expect(inFiles.events.length).toBeLessThan(whole.events.length);
    expect(files()).toEqual(before);
    expect(tracewright('recover', traceDir).status).toBe(0);
    expect(converted('--no-rings').bytes).toEqual(whole.bytes);
  });
});
