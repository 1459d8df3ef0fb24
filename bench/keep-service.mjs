// The service of three databases, recorded whole and with keep: alone, as the second of two services, and behind an
// OpenTelemetry SDK that samples everything. Of 100 requests one is slow and five times as large, of 200 one fails.

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { controlCallgrind, instructionsOf, NOT_COUNTED, underCallgrind } from './callgrind.mjs';
import { ask, measureInTurns, signal, startFront, startLoad, startService } from './http-turns.mjs';
import { installPackages } from './libraries-packages.mjs';
import { median } from './median.mjs';

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));
const HOOK = ['--import', import.meta.resolve('tracewright/register')];
/** By its route, because all requests are slow where instructions are counted. */
const KEEP = 'slower:/reports/:id=0.1ms,errors,ratio:0.01,limit:off';
const TRACED = {
  BENCH_MIXED: '1',
  TRACEWRIGHT_CONTEXT: 'on',
  TRACEWRIGHT_INJECT: 'pg',
  TRACEWRIGHT_INSTRUMENTATIONS: 'off',
  TRACEWRIGHT_STALL_MS: 'off',
};
/** V8 chooses its hash seed anew in each process, and the size of its young generation by time. */
export const SAME_V8 = ['--hash-seed=7', '--random-seed=7', '--min-semi-space-size=16'];
/** Callgrind translates the code again when it begins to count. */
const SETTLE_MS = 3000;
const ASKED_MS = 100;

/** @param {string} place */
export function setUpsIn(place) {
  const front = here('keep-front.mjs');
  const each = {
    cwd: place,
    path: '/orders/7',
    flags: [...HOOK, here('databases-service-program.mjs'), place],
  };
  const fronts = [
    { name: 'one service' },
    {
      name: 'the second of two services',
      front: [...HOOK, front],
      frontEnv: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_KEEP: KEEP },
    },
    {
      name: "called by OpenTelemetry's SDK, always on",
      front: ['--import', here('http-opentelemetry.mjs'), front],
    },
  ];
  return fronts.map(({ name, ...rest }) => ({
    name,
    variants: [
      { ...each, ...rest, name: 'everything', env: TRACED },
      { ...each, ...rest, name: 'keep', env: { ...TRACED, TRACEWRIGHT_KEEP: KEEP } },
    ],
  }));
}

/**
 * Instructions of a request: of the main thread without the garbage collector, and of the thread that writes.
 *
 * @param {import('./http-turns.mjs').Variant} variant
 * @param {{ warmUp: number, counted: number }} requests
 */
export async function countInstructions(variant, { warmUp, counted }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const counts = join(directory, 'counts');
  mkdirSync(counts);
  const flags = [...SAME_V8, ...variant.flags];
  const { child, port } = await startService(
    { ...variant, flags, under: underCallgrind(counts) },
    join(directory, 'trace'),
  );
  const processes = [child];
  const until = async (/** @type {number} */ requests) => {
    for (;;) {
      const now = await ask(child);
      if (now.requests >= requests) return now.requests;
      await sleep(ASKED_MS);
    }
  };
  try {
    const front = await startFront(variant, port, join(directory, 'front'));
    processes.push(...front.processes);
    const load = await startLoad(front.port, variant.path ?? '/', 0);
    processes.push(...load);
    signal(load, 'SIGCONT');
    await until(warmUp);
    controlCallgrind(child.pid, '--instr=on');
    await sleep(SETTLE_MS);
    controlCallgrind(child.pid, '--zero');
    const from = (await ask(child)).requests;
    const to = await until(from + counted);
    controlCallgrind(child.pid, '--dump');
    signal(processes.slice(1), 'SIGKILL');
    const ended = once(child, 'exit');
    child.send('end');
    await ended;
    return threadsIn(counts, to - from);
  } finally {
    signal(processes, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Instructions of a request, of the main thread and of the one that writes.
 *
 * @param {string} directory of callgrind's files of the threads.
 * @param {number} requests
 */
export function threadsIn(directory, requests) {
  let main = 0;
  let drain = 0;
  for (const name of readdirSync(directory)) {
    const thread = /^callgrind\.1-(\d+)$/.exec(name)?.[1];
    if (thread === undefined) continue;
    const { all, collector, functions } = instructionsOf(
      readFileSync(join(directory, name), 'utf8'),
      '',
    );
    if (thread === '01') {
      main = all - collector;
      continue;
    }
    const ours = functions.filter(({ binary }) => binary.endsWith('tracewright.node'));
    if (ours.reduce((sum, each) => sum + each.instructions, 0) > 0) drain += all;
  }
  return { main: main / requests, drain: drain / requests };
}

/** @param {number[]} counts of processes */
function spreadOf(counts) {
  return [Math.min(...counts), Math.max(...counts)]
    .map((count) => Math.round(count).toLocaleString('en'))
    .join(' to ');
}

/** @param {{ quick: boolean }} options */
export async function timeServices({ quick }) {
  const setUps = setUpsIn(installPackages());
  const turns = quick ? { generations: 1, slices: 4 } : { generations: 3, slices: 20 };
  const rows = [];
  const goals = [];
  for (const { name, variants } of setUps) {
    const [all, kept] = await measureInTurns(variants, turns);
    const ratio = 100 / kept.cpuShare;
    rows.push([name, 'CPU us', all.cpuUs, kept.cpuUs, ratio]);
    goals.push({
      goal: `${name}: keep takes at most the CPU time of everything`,
      figure: ratio,
      met: ratio <= 1,
    });
  }
  return { rows, goals };
}

/** @param {{ quick: boolean }} options */
export async function countServices({ quick }) {
  if (NOT_COUNTED !== undefined) {
    return { rows: [], note: `Instructions are not counted: ${NOT_COUNTED}.` };
  }
  const [processes, requests] = quick
    ? [1, { warmUp: 500, counted: 200 }]
    : [3, { warmUp: 10_000, counted: 2000 }];
  const rows = [];
  for (const { name, variants } of setUpsIn(installPackages())) {
    const found = variants.map(() => ({ main: [], drain: [] }));
    for (let i = 0; i < processes; i++) {
      for (const [at, variant] of variants.entries()) {
        const { main, drain } = await countInstructions(variant, requests);
        found[at].main.push(main);
        found[at].drain.push(drain);
      }
    }
    for (const thread of /** @type {const} */ (['main', 'drain'])) {
      const [all, kept] = found.map((each) => each[thread]);
      const what = `instructions, ${thread === 'main' ? 'main' : 'writing'} thread`;
      rows.push(
        [name, what, median(all), median(kept), median(kept) / median(all)],
        [name, `fewest and most, ${thread}`, spreadOf(all), spreadOf(kept), ''],
      );
    }
  }
  return {
    rows,
    note: 'Instructions of whole services have no goal: V8 compiles each process differently, and the table has the fewest and the most of its processes. Those of the spans alone have one.',
  };
}
