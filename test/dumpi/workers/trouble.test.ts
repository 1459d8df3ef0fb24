import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../src/dumpi/read/call-record.js';
import { resultOfFixture, runFixture } from '../../fixtures/run-fixture.js';
import { messagesIn, ranksIn } from './ranks-of-run.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-dumpi-trouble-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const execArgv = ['--import', 'tracewright/dumpi/workers'];

/** Runs a mode of the fixture with and without tracing, and returns the directory of the trace. */
async function traced(mode: string, env: Record<string, string> = {}): Promise<string> {
  const directory = mkdtempSync(join(folder, 'run-'));
  const result = await resultOfFixture('dumpi/trouble.mjs', {
    input: { mode },
    execArgv,
    env: { TRACEWRIGHT_DUMPI_DIR: directory, ...env },
  });
  expect(result).toEqual(await resultOfFixture('dumpi/trouble.mjs', { input: { mode } }));
  return directory;
}

function messages(ranks: CallRecord[][], call: 'MPI_Isend' | 'MPI_Irecv'): string[] {
  return messagesIn(ranks, call)
    .map(({ from, to, tag, count }) => `${from} to ${to}, tag ${tag}: ${count} bytes`)
    .sort();
}

describe('a program that is traced', () => {
  it('forks children in the same second, each of which leaves a trace', async () => {
    const names = readdirSync(await traced('fork'));
    expect(names.filter((name) => name.endsWith('-0000.bin'))).toHaveLength(4);
    expect(names.filter((name) => name.endsWith('.meta'))).toHaveLength(4);
  });

  it('runs on where there can be no trace, with a warning', async () => {
    const file = join(folder, 'a file');
    writeFileSync(file, '');
    for (const mode of ['odd', 'eval', 'fork']) {
      const { code, stdout, stderr } = await runFixture('dumpi/trouble.mjs', {
        input: { mode },
        execArgv,
        env: { TRACEWRIGHT_DUMPI_DIR: join(file, 'x') },
      });
      expect(stderr).toContain('TracewrightWarning: this thread is not traced');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toEqual(
        await resultOfFixture('dumpi/trouble.mjs', { input: { mode } }),
      );
    }
  });

  it('leaves no files if it makes no worker', async () => {
    expect(readdirSync(await traced('nothing'))).toEqual([]);
  });

  it('has whole ranks for workers that are alive at its end', async () => {
    const directory = await traced('unref');
    const ranks = ranksIn(directory);
    expect(ranks).toHaveLength(6);
    // Nothing is left to recover.
    expect(readdirSync(directory, { recursive: true })).toHaveLength(7);
    expect(messages(ranks.slice(0, 5), 'MPI_Irecv').sort()).toEqual(
      messages(ranks.slice(0, 5), 'MPI_Isend').sort(),
    );
    expect(ranks.at(0)!.at(-1)!.name).toBe('MPI_Finalize');
  });

  it('sees the options of its workers that it chose', async () => {
    await traced('options');
  });

  it('opens its rank when it uses it', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const use = (path: string) =>
      resultOfFixture('dumpi/use-rank.mjs', { env: { TRACEWRIGHT_DUMPI_DIR: path } });
    expect(await use(directory)).toEqual({ before: [], calls: ['MPI_Barrier'] });
    expect(ranksIn(directory)[0]!.map(({ name }) => name)).toEqual([
      'MPI_Init',
      'MPI_Barrier',
      'MPI_Finalize',
    ]);
    expect(await use('/dev/null/x')).toEqual({ before: [], calls: [] });
  });

  it('sends whatever Node sends, of one size at both ends', async () => {
    const ranks = ranksIn(await traced('odd'));
    const sent = messages(ranks, 'MPI_Isend');
    expect(sent).toHaveLength(13 + 1 + 12);
    expect(messages(ranks, 'MPI_Irecv')).toEqual(sent);
  });

  it('receives each message once, however listeners come and go', async () => {
    const ranks = ranksIn(await traced('listen'));
    const sent = messages(ranks, 'MPI_Isend');
    expect(sent).toHaveLength(5 * (9 + 9));
    expect(messages(ranks, 'MPI_Irecv')).toEqual(sent);
  });

  it('has no messages that Node drops', async () => {
    const ranks = ranksIn(await traced('dropped'));
    expect(messages(ranks, 'MPI_Isend')).toEqual(['0 to 1, tag 0: 5 bytes']);
    expect(messages(ranks, 'MPI_Irecv')).toEqual(['0 to 1, tag 0: 5 bytes']);
  });

  it('has no rank for a worker whose code is a text', async () => {
    const ranks = ranksIn(await traced('eval'));
    expect(ranks).toHaveLength(2);
    expect(messages(ranks, 'MPI_Isend')).toEqual(['0 to 1, tag 0: 5 bytes']);
    expect(messages(ranks, 'MPI_Irecv')).toEqual(['0 to 1, tag 0: 5 bytes']);
  });

  it('has a rank for a worker that is terminated before it begins', async () => {
    expect(ranksIn(await traced('early'))).toHaveLength(2);
  });

  it('waits in its receives, whatever dumpi.conf says', async () => {
    for (const [i, text] of ['timestamp wall', 'timestamp full', 'MPI_Init disable'].entries()) {
      const conf = join(folder, `wait-${i}.conf`);
      writeFileSync(conf, `${text}\n`);
      const [main] = ranksIn(await traced('wait', { DUMPI_CONF: conf }));
      const { wall } = main!.find(({ name }) => name === 'MPI_Irecv')!;
      const { start, stop } = wall!;
      const seconds = stop.seconds - start.seconds + (stop.nanoseconds - start.nanoseconds) / 1e9;
      // The worker's answer takes 0.3 s, in which the main thread has nothing to do.
      expect(seconds).toBeGreaterThan(0.1);
    }
  });
});

describe('a barrier', () => {
  const barrierOf = (mode: string, directory = mkdtempSync(join(folder, 'run-'))) =>
    resultOfFixture('dumpi/missing-rank.mjs', {
      input: { mode },
      env: { TRACEWRIGHT_DUMPI_DIR: directory },
    });

  it.each(['before', 'meanwhile', 'terminated'])('says which rank has ended (%s)', async (mode) => {
    expect(await barrierOf(mode)).toEqual({
      code: 'ERR_ORDER',
      message: 'barrier: rank 0 would wait for rank 1, which has ended',
    });
  });

  it('does not wait for a worker whose code is a text', async () => {
    expect(await barrierOf('eval')).toBe('met');
  });

  it('is one where nothing can be traced, too', async () => {
    expect(await barrierOf('untraced', '/dev/null/x')).toBe('met');
  });
});
