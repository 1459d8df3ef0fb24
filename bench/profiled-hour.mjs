// How long `tracewright report --section profile` takes on an hour of four threads, each with 20 samples a second and a
// record of its loop, and a million spans.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { writeLookTrace } from './look-trace.mjs';
import { median } from './median.mjs';

const SPANS = 1_000_000;
const ROUNDS = 5;
const MOST_S = 2;
const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** Seconds that the command takes. */
function report(path, ...options) {
  const from = performance.now();
  const args = [cli, 'report', path, '--section', 'profile', ...options];
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0 || !stdout.includes('samples')) throw new Error(`no profile: ${stderr}`);
  return (performance.now() - from) / 1000;
}

async function measure({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-hour-'));
  try {
    const path = join(directory, 'hour.heph');
    await writeLookTrace(path, { spans: SPANS, attributes: 'many', profile: true });
    const cache = ['--cache', join(directory, 'index')];
    const times = (/** @type {string[]} */ ...options) =>
      median(Array.from({ length: quick ? 1 : ROUNDS }, () => report(path, ...cache, ...options)));
    const cases = [
      ['from the file, without an index', times('--clear-cache')],
      // Of one trace less than usual: such a report is not kept.
      ['from the index', times('--slowest', '4')],
      ['the same report again', times()],
    ];
    return {
      tables: [
        {
          title: `${(statSync(path).size / 2 ** 20).toFixed(0)} MiB of Heph, ${SPANS.toLocaleString('en')} spans, 288,000 samples`,
          columns: ['', 's'],
          rows: cases.map(([name, seconds]) => [name, Number(seconds.toFixed(2))]),
        },
      ],
      goals: [
        {
          goal: `from the index in at most ${MOST_S} s`,
          figure: `${cases[1][1].toFixed(2)} s`,
          met: cases[1][1] <= MOST_S,
        },
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, { title: 'An hour of four threads, with their samples', measure });
