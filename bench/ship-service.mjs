// What a shipper costs the service whose spans it sends: one traced service under load, with its shipper at work and
// with its shipper stopped, in turns. Two processes of one program differ by more than what is looked for here.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { controlCallgrind, instructionsOf, NOT_COUNTED, underCallgrind } from './callgrind.mjs';
import { ON, VARIANTS } from './http.mjs';
import {
  ask,
  leaveServiceCore,
  LOAD_CORE,
  onPath,
  pinned,
  signal,
  startLoad,
  startService,
} from './http-turns.mjs';
import { median } from './median.mjs';

/** Requests a second of the service, which does nothing else. */
const RATE = 5000;
/** A shipper that goes on has what was recorded meanwhile, too. */
const TURN = { settleMs: 300, ms: 2000 };
const COUNTED = { warmUp: 30_000, settleMs: 3000, ms: 5000 };
/** Per cent: what is counted, and what is measured, varies by less. */
const MOST = { instructions: 1, cpu: 2 };

/** The process that the hook of a service has started. */
async function shipperOf({ pid }) {
  const children = `/proc/${pid}/task/${pid}/children`;
  for (let i = 0; i < 600; i++) {
    const [child] = readFileSync(children, 'utf8').split(' ');
    if (child !== '') return Number(child);
    await sleep(100);
  }
  throw new Error('the hook has started no shipper');
}

/** @param {number} port */
function startPacedLoad(port) {
  const args = [fileURLToPath(new URL('paced-load.mjs', import.meta.url)), port, RATE].map(String);
  const [command, ...rest] = pinned(LOAD_CORE, [process.execPath, ...args]);
  return Promise.resolve([spawn(command, rest, { stdio: ['ignore', 'ignore', 'inherit'] })]);
}

/**
 * Calls `measure` with a service that is loaded, and what stops its shipper or lets it go on.
 *
 * @template T
 * @param {object} how
 * @param {(directory: string) => string[]} [how.under]
 * @param {(port: number) => Promise<import('node:child_process').ChildProcess[]>} how.load
 * @param {(service: import('node:child_process').ChildProcess, turn: (isShipping: boolean) => void,
 *   directory: string) => Promise<T>} measure
 */
async function withService({ under, load: startsLoad }, measure) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  let received = 0;
  const receiver = createServer((request, response) => {
    received++;
    request.resume().on('end', () => response.end());
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const env = {
    ...VARIANTS[ON].env,
    TRACEWRIGHT_FORMATS: 'heph',
    TRACEWRIGHT_SHIP: `http://127.0.0.1:${receiver.address().port}`,
    XDG_STATE_HOME: directory,
  };
  const service = { ...VARIANTS[ON], env, under: under?.(directory) };
  const { child, port } = await startService(service, join(directory, 'trace'));
  const processes = [child];
  try {
    const shipper = await shipperOf(child);
    // It inherits the core of the service.
    if (onPath('taskset')) spawnSync('taskset', ['-acp', LOAD_CORE, String(shipper)]);
    try {
      const load = await startsLoad(port);
      processes.push(...load);
      signal(load, 'SIGCONT');
      const turn = (/** @type {boolean} */ isShipping) =>
        kill(shipper, isShipping ? 'SIGCONT' : 'SIGSTOP');
      const found = await measure(child, turn, directory);
      if (received === 0) throw new Error('nothing was sent');
      return found;
    } finally {
      kill(shipper, 'SIGKILL');
    }
  } finally {
    const ended = once(child, 'exit');
    signal(processes, 'SIGKILL');
    await ended;
    receiver.closeAllConnections();
    receiver.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** CPU microseconds of the service a request, in turns. */
function measureCpu(/** @type {number} */ turns) {
  return withService({ load: startPacedLoad }, async (service, turn) => {
    await sleep(5 * TURN.ms);
    const found = { with: [], without: [] };
    for (let i = 0; i < 2 * turns; i++) {
      // Which of the two comes first alternates, too.
      const isShipping = i % 4 === 0 || i % 4 === 3;
      turn(isShipping);
      await sleep(TURN.settleMs);
      const from = await ask(service);
      await sleep(TURN.ms);
      const to = await ask(service);
      const cpu = (to.cpuUs - from.cpuUs) / (to.requests - from.requests);
      found[isShipping ? 'with' : 'without'].push(cpu);
    }
    return found;
  });
}

/** Instructions of the service's main thread a request, in turns, without those of the garbage collector. */
function countInstructions(/** @type {{ turns: number, warmUp: number, ms: number }} */ how) {
  const load = (/** @type {number} */ port) => startLoad(port, '/', 0);
  return withService({ under: underCallgrind, load }, async (service, turn, directory) => {
    while ((await ask(service)).requests < how.warmUp) await sleep(500);
    controlCallgrind(service.pid, '--instr=on');
    // Callgrind translates the code again when it begins to count.
    await sleep(COUNTED.settleMs);
    const found = { with: [], without: [] };
    for (let i = 0; i < 2 * how.turns; i++) {
      const isShipping = i % 4 === 0 || i % 4 === 3;
      turn(isShipping);
      controlCallgrind(service.pid, '--zero');
      const from = await ask(service);
      await sleep(how.ms);
      const to = await ask(service);
      controlCallgrind(service.pid, '--dump');
      const profile = readFileSync(join(directory, `callgrind.${i + 1}-01`), 'utf8');
      const { all, collector } = instructionsOf(profile, '');
      const sum = all - collector;
      found[isShipping ? 'with' : 'without'].push(sum / (to.requests - from.requests));
    }
    return found;
  });
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (NOT_COUNTED !== undefined) return { tables: [], notes: [`Skipped: ${NOT_COUNTED}.`] };
  leaveServiceCore();
  const how = quick ? { turns: 2, warmUp: 5000, ms: 2000 } : { turns: 8, ...COUNTED };
  const cases = [
    { what: 'CPU us a request', most: MOST.cpu, found: await measureCpu(quick ? 4 : 40) },
    {
      what: 'instructions a request',
      most: MOST.instructions,
      found: await countInstructions(how),
    },
  ];
  const rows = cases.map(({ what, found }) => {
    const more = found.with.map((each, i) => 100 * (each / found.without[i] - 1));
    return [what, median(found.without), median(found.with), median(more), more.length];
  });
  return {
    tables: [
      {
        title:
          'A traced node:http service with TRACEWRIGHT_SHIP, its shipper stopped and at work in turns',
        columns: ['', 'stopped', 'at work', 'more %', 'turns of each'],
        rows,
      },
    ],
    goals: cases.map(({ what, most }, i) => ({
      goal: `${what}: at most ${most} % more with the shipper at work`,
      figure: rows[i][3],
      met: rows[i][3] <= most,
    })),
    notes: [
      `CPU time is that of all threads of the service, and of no other process, at ${RATE} requests a second. Instructions are those of its main thread at full load, without the garbage collector. A shipper at work also sends what was recorded in the turn before.`,
    ],
  };
}

await main(import.meta.url, { title: 'What a shipper costs its service', measure });
