// What it costs that the hook counts look-ups: CPU time of one, without `net` and with it.

import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const LOOP = 'loop';
const AT_ONCE = 4;
const VARIANTS = ['off', 'net'];

/** @param {number} count */
async function lookUp(count) {
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => lookup('localhost')));
  }
}

/** In a process of its own: microseconds of CPU time a look-up. */
async function runLoop(count) {
  await lookUp(count / 4);
  const from = process.cpuUsage();
  await lookUp(count);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / count;
}

function runVariant(libraries, count) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const flags = ['--import', 'tracewright/register', fileURLToPath(import.meta.url)];
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [...flags, LOOP, String(count)],
      {
        encoding: 'utf8',
        env: {
          ...process.env,
          TRACEWRIGHT_QUIET: '1',
          TRACEWRIGHT_DIR: directory,
          TRACEWRIGHT_LIBRARIES: libraries,
        },
      },
    );
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function measure({ quick }) {
  const [rounds, count] = quick ? [1, 2_000] : [9, 20_000];
  const results = VARIANTS.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, libraries] of VARIANTS.entries()) results[i].push(runVariant(libraries, count));
  }
  const beyond = results[1].map((each, round) => each - results[0][round]);
  return Promise.resolve({
    tables: [
      {
        title: `dns.lookup of localhost, ${AT_ONCE} at once, ${rounds} rounds in turn`,
        columns: ['TRACEWRIGHT_LIBRARIES', 'µs of CPU time a look-up', 'beyond off'],
        rows: [
          ['off', median(results[0]), ''],
          ['net', median(results[1]), median(beyond)],
        ],
      },
    ],
  });
}

const [, , mode, count] = process.argv;
if (mode === LOOP) {
  console.log(JSON.stringify(await runLoop(Number(count))));
} else {
  await main(import.meta.url, { title: 'Counting look-ups of names', measure });
}
