// The index of ten million spans: how fast it is built and opened again, and how soon it answers.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import { internal } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { writeLookTrace } from './look-trace.mjs';

const SPANS = 10_000_000;
const WIDTH = 1600;
const MOST_LANES = 512;
/** Steps of a zoom from the whole recording to a microsecond and back. */
const STEPS = 120;
const MEBIBYTE = 2 ** 20;

const SEARCHES = [
  { attributes: [{ name: 'enduser.id', value: 'user-4711' }] },
  { attributes: [{ name: 'url.path', value: '/users/1234' }] },
  { attributes: [{ name: 'cached', value: 'false' }] },
  { status: 'error' },
];

const open = (path, cache) =>
  internal('look/index/open-look-index').openLookIndex([path], { cache });

/** Builds or opens in a process of its own, whose peak of memory is its own, too. */
function inProcess(path, cache) {
  const args = [fileURLToPath(import.meta.url), '--child', path, cache];
  const { stdout, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function child(path, cache) {
  const from = performance.now();
  const { rows } = await open(path, cache);
  const seconds = (performance.now() - from) / 1000;
  const mebibytes = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ rows, seconds, mebibytes }));
}

const percentile = (values, share) =>
  values.sort((a, b) => a - b)[Math.floor(values.length * share)];

function zoom(index) {
  const tracks = index.tracks.map(({ number }) => number);
  const times = [];
  let shown = 0;
  for (let step = 0; step < 2 * STEPS; step++) {
    const share = step < STEPS ? step / STEPS : 2 - step / STEPS;
    const width = index.length * (1000 / index.length) ** share;
    const middle = index.length * (0.2 + (0.6 * step) / (2 * STEPS));
    const from = performance.now();
    const windows = index.windows(middle - width / 2, middle + width / 2, WIDTH, tracks);
    times.push(performance.now() - from);
    shown += windows.length;
  }
  if (shown === 0 || shown > 2 * STEPS * tracks.length * MOST_LANES) throw new Error('no windows');
  return times;
}

async function firstMatches(index, condition) {
  const from = performance.now();
  for await (const rows of index.find(condition)) {
    if (rows.length > 0) return performance.now() - from;
  }
  // A recording of a tenth may lack one user: then this is the time of a search through all of it.
  if (condition.attributes?.[0]?.name === 'enduser.id') return performance.now() - from;
  throw new Error(`nothing is found for ${JSON.stringify(condition)}`);
}

async function measure({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const path = join(directory, 'spans.heph');
    const cache = join(directory, 'cache');
    await writeLookTrace(path, { spans: quick ? SPANS / 10 : SPANS });
    const built = inProcess(path, cache);
    const again = inProcess(path, cache);
    const index = await open(path, cache);
    zoom(index);
    const windows = percentile(zoom(index), 0.95);
    const searches = [];
    for (const condition of SEARCHES) searches.push(await firstMatches(index, condition));
    const slowest = Math.max(...searches);
    index.close();
    const rate = built.rows / built.seconds;
    const rows = [
      ['spans', built.rows.toLocaleString('en')],
      ['trace, MiB', Math.round(statSync(path).size / MEBIBYTE)],
      ['built, spans/s', Math.round(rate).toLocaleString('en')],
      ['peak of memory, MiB', Math.round(built.mebibytes)],
      ['opened again, s', again.seconds.toFixed(2)],
      ['windows, p95, ms', windows.toFixed(1)],
      ['first match of a search, slowest, ms', slowest.toFixed(0)],
    ];
    return {
      tables: [{ title: 'The index of ten million spans', columns: ['what', 'figure'], rows }],
      goals: [
        { goal: 'built at 1.5 million spans/s', figure: Math.round(rate), met: rate >= 1.5e6 },
        { goal: 'in 768 MiB', figure: Math.round(built.mebibytes), met: built.mebibytes <= 768 },
        { goal: 'opened again in 1 s', figure: again.seconds, met: again.seconds <= 1 },
        { goal: 'windows in 30 ms (p95)', figure: windows, met: windows <= 30 },
        { goal: 'first match in 300 ms', figure: slowest, met: slowest <= 300 },
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[2] === '--child') await child(process.argv[3], process.argv[4]);
else await main(import.meta.url, { title: 'Index of ten million spans', measure });
