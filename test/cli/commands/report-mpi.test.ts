import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Report } from '../../../src/look/report/shape/report-shape.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { main, tracewright } from '../run-command.js';

const directory = temporaryDirectory();

it('reports the calls of MPI ranks, and what they sent to each other', () => {
  const runs = join(directory, 'rod');
  const register = join(dirname(main), '../dumpi/workers/index.mjs');
  const example = fileURLToPath(new URL('../../../examples/mpi-ranks.mjs', import.meta.url));
  const run = spawnSync(process.execPath, ['--import', register, example], {
    env: { ...process.env, TRACEWRIGHT_DUMPI_DIR: runs },
    encoding: 'utf8',
  });
  expect(run.status).toBe(0);
  const { status, stdout } = tracewright('report', runs, '--json');
  expect(status).toBe(0);
  const { mpi, groups, threads } = JSON.parse(stdout) as Report;
  expect(groups).toEqual([]);
  expect(mpi).toHaveLength(1);
  const [{ ranks, calls, traffic }] = mpi as [Report['mpi'][0]];
  expect(ranks).toBe(5);
  expect(threads.map(({ kind }) => kind)).toEqual(Array(5).fill('rank'));
  const sends = calls.find(({ name }) => name === 'MPI_Isend')!;
  const receives = calls.find(({ name }) => name === 'MPI_Irecv')!;
  expect(receives.count).toBe(sends.count);
  const sum = (of: (pair: (typeof traffic)[0]) => number): number =>
    traffic.reduce((total, pair) => total + of(pair), 0);
  expect(sum(({ messages }) => messages)).toBe(sends.count);
  expect(sum(({ bytes }) => bytes!)).toBe(sends.bytes);
  // Workers talk to the main thread only.
  expect(traffic).toHaveLength(8);
  expect(traffic.every(({ from, to }) => (from === 0) !== (to === 0))).toBe(true);
  const text = tracewright('report', runs).stdout;
  expect(text).toContain('Bytes from rank (down) to rank (across):');
});
