// The longest time for which a thread waits that emits a million events a second, compared with a loop
// that only reads the clock.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { event, procFini, procInit, procStats, threadFree, threadInit } from 'tracewright/ovni';
import { internal } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const EVENTS_PER_MS = 1000;
/** Most events between two readings of the clock. */
const CHUNK = 1000;
const GOAL_MS = 1;
const ROUNDS = 5;
/** Before the loop counts: V8 compiles it, and the drain thread measures the clock. */
const WARM_UP_MS = 500;

/** The argument of a process that runs one loop. */
const LOOP = '--loop';

const CLOCK = 'the clock only';
const PRESENT = 'events, ring in memory from the start';
const LATE = 'events, ring takes memory as it fills (the register hook)';

/**
 * Reads the clock without a pause, and calls `act` a thousand times a millisecond. Returns the longest
 * time between two readings.
 *
 * @param {number} ms
 * @param {() => void} act
 */
function longestGap(ms, act) {
  const from = performance.now();
  let last = from;
  let longest = 0;
  let acts = 0;
  while (last - from < ms) {
    const now = performance.now();
    if (now - last > longest) longest = now - last;
    last = now;
    // After a pause of the machine it catches up, and still reads the clock every now and then.
    const due = Math.min((now - from) * EVENTS_PER_MS, acts + CHUNK);
    for (; acts < due; acts++) act();
  }
  return { longest, acts };
}

/**
 * One loop in this process.
 *
 * @param {string} name
 * @param {number} seconds
 */
function runLoop(name, seconds) {
  if (name === CLOCK) {
    const act = () => undefined;
    longestGap(WARM_UP_MS, act);
    return { ...longestGap(seconds * 1000, act), dropped: 0 };
  }
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    if (name === LATE) internal('core/addon').core.mapPagesLate();
    procInit(1, 'bench', process.pid, { traceDir: directory });
    threadInit();
    const bare = event('OB.');
    longestGap(WARM_UP_MS, bare);
    const result = longestGap(seconds * 1000, bare);
    const dropped = procStats().droppedEvents;
    threadFree();
    procFini();
    return { ...result, dropped };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const file = fileURLToPath(import.meta.url);

/**
 * @param {string} name
 * @param {number} seconds
 */
function runInProcess(name, seconds) {
  const args = [file, LOOP, name, `${seconds}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: exit code ${status}\n${stderr}`);
  return JSON.parse(stdout);
}

/** @param {{ quick: boolean, seconds?: string }} options */
async function measure({ quick, seconds = quick ? '1' : '60' }) {
  const names = [CLOCK, PRESENT, LATE];
  /** @type {Map<string, { longest: number, acts: number, dropped: number }[]>} */
  const runs = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      // Every round another one begins.
      const name = names[(turn + round) % names.length];
      runs.get(name).push(runInProcess(name, Number(seconds)));
    }
  }
  const longest = (name) => runs.get(name).map((run) => run.longest);
  const beyond = (name) =>
    median(longest(name).map((ms, round) => ms - runs.get(CLOCK)[round].longest));
  const perSecond = (name) => median(runs.get(name).map(({ acts }) => acts / Number(seconds)));
  return {
    tables: [
      {
        title: `The longest time between two readings of the clock, ${ROUNDS} rounds of ${seconds} s in turns`,
        columns: ['', 'M events/s', 'median ms', 'least ms', 'most ms', 'beyond the clock ms'],
        rows: names.map((name) => [
          name,
          name === CLOCK ? '' : perSecond(name) / 1e6,
          median(longest(name)),
          Math.min(...longest(name)),
          Math.max(...longest(name)),
          name === CLOCK ? '' : beyond(name),
        ]),
      },
    ],
    goals: [
      ...[PRESENT, LATE].map((name) => ({
        goal: `${name}: at most ${GOAL_MS} ms beyond the clock`,
        figure: beyond(name),
        met: beyond(name) <= GOAL_MS,
      })),
      ...[PRESENT, LATE].map((name) => {
        const dropped = runs.get(name).reduce((sum, run) => sum + run.dropped, 0);
        return { goal: `${name}: no event dropped`, figure: dropped, met: dropped === 0 };
      }),
    ],
    notes: [
      'Beyond the clock: the median, over the rounds, of the difference to the loop that only reads the clock in the same round. Each loop is a process of its own.',
    ],
  };
}

const [, , mode, loop, duration] = process.argv;
if (mode !== LOOP) {
  await main(import.meta.url, {
    title: 'The longest stall of an emitting thread',
    help: '  --seconds N  of each loop, default 60',
    options: { seconds: { type: 'string' } },
    measure,
  });
} else {
  console.log(JSON.stringify(runLoop(loop, Number(duration))));
}
