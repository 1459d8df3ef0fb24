// What tracing a pool of workers as MPI ranks costs, with a million messages through it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { checkRun, readCalls } from 'tracewright/dumpi';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const WORKERS = 8;
const IN_FLIGHT = 16;

/** The pool: each worker answers every message; prints the messages a second, both ways counted. */
async function runPool(/** @type {number} */ messages) {
  const each = messages / 2 / WORKERS;
  const workers = Array.from({ length: WORKERS }, () => new Worker(new URL(import.meta.url)));
  await Promise.all(workers.map((worker) => new Promise((done) => worker.once('online', done))));
  const from = performance.now();
  await Promise.all(
    workers.map(
      (worker) =>
        new Promise((done) => {
          let sent = 0;
          let received = 0;
          const send = () => worker.postMessage({ id: sent++, text: 'a message of a pool' });
          worker.on('message', () => {
            received += 1;
            if (received === each) done(undefined);
            else if (sent < each) send();
          });
          for (let i = 0; i < Math.min(IN_FLIGHT, each); i++) send();
        }),
    ),
  );
  console.log(messages / ((performance.now() - from) / 1000));
  for (const worker of workers) worker.postMessage('end');
}

/**
 * Sends without a receive of the same tag, size and ends, and receives without a send.
 *
 * @param {string} directory
 */
function unmatched(directory) {
  /** @type {Map<string, number>} */
  const open = new Map();
  const files = readdirSync(directory)
    .filter((name) => name.endsWith('.bin'))
    .sort();
  files.forEach((file, own) => {
    for (const { name, fields } of readCalls(join(directory, file))) {
      if (name !== 'MPI_Isend' && name !== 'MPI_Irecv') continue;
      const { count, tag, comm } = fields;
      const ends = name === 'MPI_Isend' ? `${own}>${fields.dest}` : `${fields.source}>${own}`;
      const key = `${ends} ${tag} ${count} ${comm}`;
      const left = (open.get(key) ?? 0) + (name === 'MPI_Isend' ? 1 : -1);
      if (left === 0) open.delete(key);
      else open.set(key, left);
    }
  });
  return [...open.values()].reduce((sum, count) => sum + Math.abs(count), 0);
}

/**
 * What `check` has to say of the run.
 *
 * @param {string} directory
 */
function findings(directory) {
  const metafile = readdirSync(directory).find((name) => name.endsWith('.meta'));
  return metafile === undefined ? 1 : [...checkRun(join(directory, metafile))].length;
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const messages = quick ? 100_000 : 1_000_000;
  const script = fileURLToPath(import.meta.url);
  /** @type {Record<'plain' | 'traced', number[]>} */
  const rates = { plain: [], traced: [] };
  let left = 0;
  let bytes = 0;
  let found = 0;
  const rounds = quick ? 1 : 3;
  for (let round = 0; round < rounds; round++) {
    const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
    try {
      for (const kind of /** @type {const} */ (['plain', 'traced'])) {
        const preload = kind === 'traced' ? ['--import', 'tracewright/dumpi/workers'] : [];
        const env = { ...process.env, TRACEWRIGHT_DUMPI_DIR: directory };
        const args = [...preload, script, '--pool', String(messages)];
        rates[kind].push(Number(execFileSync(process.execPath, args, { env, encoding: 'utf8' })));
      }
      left += unmatched(directory);
      // It reads every call of every rank: once is enough.
      if (round === rounds - 1) found = findings(directory);
      bytes = readdirSync(directory)
        .map((name) => statSync(join(directory, name)).size)
        .reduce((sum, size) => sum + size, 0);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  const [plain, traced] = [median(rates.plain), median(rates.traced)];
  return {
    tables: [
      {
        title: `${messages} messages between a main thread and ${WORKERS} workers`,
        columns: ['', 'messages/s', 'ns each'],
        rows: [
          ['untraced', Math.round(plain), 1e9 / plain],
          ['traced as MPI ranks', Math.round(traced), 1e9 / traced],
        ],
      },
    ],
    goals: [
      { goal: 'every send has its receive (unmatched)', figure: left, met: left === 0 },
      { goal: 'the files are accepted (findings of check)', figure: found, met: found === 0 },
    ],
    notes: [
      `The traces of a run take ${(bytes / 1e6).toFixed(1)} MB. Each message is four calls, two at each end.`,
    ],
  };
}

if (!isMainThread) {
  parentPort?.on('message', (message) => {
    if (message === 'end') parentPort?.close();
    else parentPort?.postMessage(message);
  });
} else if (process.argv[2] === '--pool') {
  await runPool(Number(process.argv[3]));
} else {
  await main(import.meta.url, { title: 'A pool of workers traced as MPI ranks', measure });
}
