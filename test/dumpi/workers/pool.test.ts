import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../src/dumpi/read/call-record.js';
import { resultOfFixture } from '../../fixtures/run-fixture.js';
import { messagesIn, ranksIn as ranksOfRun } from './ranks-of-run.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-dumpi-workers-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const execArgv = ['--import', 'tracewright/dumpi/workers'];

/** The calls of each rank, of a run that has left nothing but its files. */
function ranksIn(directory: string): CallRecord[][] {
  const ranks = ranksOfRun(directory);
  expect(readdirSync(directory)).toHaveLength(ranks.length + 1);
  return ranks;
}

function messages(ranks: CallRecord[][], call: 'MPI_Isend' | 'MPI_Irecv'): string[] {
  return messagesIn(ranks, call).map((message) => JSON.stringify(message));
}

describe('a pool of workers that knows nothing of tracing', () => {
  it('leaves a rank for each thread, and every send has its receive', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const input = { workers: 8, messages: 200 };
    const traced = await resultOfFixture('dumpi/pool.mjs', {
      input,
      execArgv: ['--max-old-space-size=512', '--no-warnings', ...execArgv],
      env: { TRACEWRIGHT_DUMPI_DIR: directory },
    });
    expect(traced).toEqual(await resultOfFixture('dumpi/pool.mjs', { input }));
    const ranks = ranksIn(directory);
    expect(ranks).toHaveLength(9);
    const sent = messages(ranks, 'MPI_Isend').sort();
    expect(sent).toHaveLength(2 * 8 * 200);
    expect(messages(ranks, 'MPI_Irecv').sort()).toEqual(sent);
    for (const calls of ranks) {
      expect(calls[0]!.name).toBe('MPI_Init');
      expect(calls.at(-1)!.name).toBe('MPI_Finalize');
      // A request is waited for, or let go of, right after it was made.
      calls.forEach(({ name, fields }, i) => {
        if (name !== 'MPI_Isend' && name !== 'MPI_Irecv') return;
        const next = calls[i + 1]!;
        expect(next.name).toBe(name === 'MPI_Isend' ? 'MPI_Request_free' : 'MPI_Wait');
        expect(next.fields).toMatchObject({ request: (fields as { request: number }).request });
      });
    }
  });

  it('is complete where its workers were terminated', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    await resultOfFixture('dumpi/pool.mjs', {
      input: { workers: 4, messages: 50, terminate: true },
      execArgv,
      env: { TRACEWRIGHT_DUMPI_DIR: directory },
    });
    const ranks = ranksIn(directory);
    expect(ranks).toHaveLength(5);
    expect(messages(ranks, 'MPI_Irecv').sort()).toEqual(messages(ranks, 'MPI_Isend').sort());
  });

  it('is traced as dumpi.conf says', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const conf = join(folder, 'workers.conf');
    writeFileSync(conf, 'timestamp full\nMPI_Request_free disable\nfileroot pool\n');
    await resultOfFixture('dumpi/pool.mjs', {
      input: { workers: 4, messages: 5 },
      execArgv,
      env: { TRACEWRIGHT_DUMPI_DIR: directory, DUMPI_CONF: conf },
    });
    expect(readdirSync(directory).every((name) => name.startsWith('pool-'))).toBe(true);
    for (const calls of ranksIn(directory)) {
      expect(calls.some(({ name }) => name === 'MPI_Request_free')).toBe(false);
      expect(calls.every(({ cpu }) => cpu !== undefined)).toBe(true);
    }
  });

  it('meets and broadcasts', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const result = await resultOfFixture('dumpi/collectives.mjs', {
      env: { TRACEWRIGHT_DUMPI_DIR: directory },
    });
    expect(result).toEqual({ ok: true, codes: [0, 0] });
    const ranks = ranksIn(directory).map((calls) =>
      calls
        .filter(({ name }) => name === 'MPI_Barrier' || name === 'MPI_Bcast')
        .map(({ name, fields }) => [name, fields]),
    );
    expect(ranks).toHaveLength(3);
    expect(ranks[0]).toHaveLength(40);
    expect(ranks[1]).toEqual(ranks[0]);
    expect(ranks[2]).toEqual(ranks[0]);
  });
});
