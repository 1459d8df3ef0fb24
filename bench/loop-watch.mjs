// What the watch over the event loop costs: a busy service, and one whose connections are idle.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { CONNECTIONS, loadNote, measureInTurns, SLICE_MS, tableOf } from './http-turns.mjs';
import { median } from './median.mjs';

const SERVICE = fileURLToPath(new URL('http-service.mjs', import.meta.url));
const FLAGS = ['--import', 'tracewright/register', SERVICE];
const VARIANTS = [
  { name: 'tracewright/register, TRACEWRIGHT_STALL_MS=off', env: { TRACEWRIGHT_STALL_MS: 'off' } },
  { name: 'tracewright/register', env: {} },
].map((each) => ({ ...each, flags: FLAGS }));
const REQUEST = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';
/** After the last request, until the loop is idle for good. */
const SETTLE_MS = 3000;

/**
 * The share of a core that a service uses while its connections are open and nothing comes.
 *
 * @param {typeof VARIANTS[number]} variant
 * @param {number} idleMs
 */
async function measureIdle({ flags, env }, idleMs) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const child = spawn(process.execPath, flags, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, TRACEWRIGHT_QUIET: '1', TRACEWRIGHT_DIR: directory, ...env },
  });
  try {
    const [{ port }] = await once(child, 'message');
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) {
      socket.write(REQUEST);
      await once(socket, 'data');
    }
    await sleep(SETTLE_MS);
    const ask = async () => {
      child.send('how much');
      const [{ cpuUs }] = await once(child, 'message');
      return cpuUs;
    };
    const from = await ask();
    await sleep(idleMs);
    const used = (await ask()) - from;
    const gone = once(child, 'exit');
    for (const socket of sockets) socket.destroy();
    child.send('end');
    await gone;
    return (100 * used) / (idleMs * 1000);
  } finally {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const how = quick ? { generations: 1, slices: 20 } : { generations: 6, slices: 40 };
  const rows = await measureInTurns(VARIANTS, how);
  const rounds = quick ? 1 : 5;
  const idle = VARIANTS.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < rounds; round++) {
    for (const [i, variant] of VARIANTS.entries()) {
      idle[i].push(await measureIdle(variant, quick ? 4000 : 10_000));
    }
  }
  const busyMore = 10_000 / rows[1].cpuShare - 100;
  const idleMore = median(idle[1]) - median(idle[0]);
  return {
    tables: [
      tableOf(
        `A node:http service, ${CONNECTIONS} connections, ${how.generations} times ${how.slices} slices of ${SLICE_MS} ms each in turn; % of the first row`,
        rows,
      ),
      {
        title: `The same service with ${CONNECTIONS} idle connections, median of ${rounds}`,
        columns: ['', 'CPU, % of a core'],
        rows: VARIANTS.map(({ name }, i) => [name, median(idle[i])]),
      },
    ],
    goals: [
      {
        goal: 'the watch takes at most 0.5 % more CPU time a request',
        figure: busyMore,
        met: busyMore <= 0.5,
      },
      {
        goal: 'the watch takes at most 0.2 % of a core of an idle service',
        figure: idleMore,
        met: idleMore <= 0.2,
      },
    ],
    notes: [loadNote()],
  };
}

await main(import.meta.url, { title: 'The cost of the watch over the event loop', measure });
