// What an idle service uses: plain, under the hook, and under the hook with a request that is open.

import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { startService } from './http-turns.mjs';

const PROGRAM = fileURLToPath(new URL('idle-service-program.mjs', import.meta.url));
const HOOK = ['--import', 'tracewright/register'];
const CONTEXT = { TRACEWRIGHT_CONTEXT: 'on' };

const VARIANTS = [
  { name: 'plain', flags: [PROGRAM], isOpen: false },
  { name: 'plain, one open request', flags: [PROGRAM], isOpen: true },
  { name: 'tracewright/register', flags: [...HOOK, PROGRAM], env: CONTEXT, isOpen: false },
  {
    name: 'tracewright/register, one open request',
    flags: [...HOOK, PROGRAM],
    env: CONTEXT,
    isOpen: true,
  },
];
/** After the last request, until V8 has collected the garbage of all: for some 30 s it does that now and then. */
const SETTLE_MS = 40_000;
/** Requests before: no code runs for the first time while the service is measured. */
const REQUESTS = 500;

/**
 * What all threads of a process have used so far.
 *
 * @param {number} pid
 */
function usage(pid) {
  let cpuNs = 0;
  let switches = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const own = `/proc/${pid}/task/${thread}`;
    cpuNs += Number(readFileSync(`${own}/schedstat`, 'utf8').split(' ')[0]);
    const status = readFileSync(`${own}/status`, 'utf8');
    for (const [, count] of status.matchAll(/ctxt_switches:\s+(\d+)/g)) switches += Number(count);
  }
  return { cpuNs, switches };
}

/**
 * @param {typeof VARIANTS[number]} variant
 * @param {string} directory
 */
async function startIdle(variant, directory) {
  const { child, port } = await startService(variant, directory);
  const socket = connect(port, '127.0.0.1');
  const ask = (/** @type {string} */ path) =>
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  for (let i = 0; i < REQUESTS; i++) {
    ask('/');
    await once(socket, 'data');
  }
  if (variant.isOpen) ask('/open');
  return { child, socket };
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (!existsSync('/proc/self/schedstat')) throw new Error('idle-service needs /proc of Linux');
  const seconds = quick ? 3 : 60;
  const settleMs = quick ? SETTLE_MS / 10 : SETTLE_MS;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const services = [];
  try {
    for (const [i, variant] of VARIANTS.entries()) {
      services.push(await startIdle(variant, join(directory, `traces-${i}`)));
    }
    await sleep(settleMs);
    const from = services.map(({ child }) => usage(child.pid));
    await sleep(seconds * 1000);
    const rows = services.map(({ child }, i) => {
      const { cpuNs, switches } = usage(child.pid);
      return {
        cpuUs: (cpuNs - from[i].cpuNs) / 1000 / seconds,
        switches: (switches - from[i].switches) / seconds,
      };
    });
    const [plain, plainOpen, hook, open] = rows;
    const hookMore = (hook.cpuUs - plain.cpuUs) / 10_000;
    const openMore = (open.cpuUs - hook.cpuUs) / 10_000;
    const openSwitches = open.switches - hook.switches - (plainOpen.switches - plain.switches);
    return {
      tables: [
        {
          title: `A node:http service with one idle connection, all at once, ${seconds} s`,
          columns: ['', 'CPU us/s', 'context switches/s'],
          rows: rows.map(({ cpuUs, switches }, i) => [VARIANTS[i].name, cpuUs, switches]),
        },
      ],
      goals: [
        {
          goal: 'the hook takes at most 0.05 % of a core of an idle service',
          figure: hookMore,
          met: hookMore <= 0.05,
        },
        {
          goal: 'an open request takes at most 0.05 % of a core more',
          figure: openMore,
          met: openMore <= 0.05,
        },
        {
          goal: 'an open request causes at most two context switches a second more',
          figure: openSwitches,
          met: openSwitches <= 2,
        },
      ],
      notes: [
        'CPU time and context switches are those of all threads, as the kernel counts them. Nothing asks the services meanwhile.',
      ],
    };
  } finally {
    for (const { child, socket } of services) {
      socket.destroy();
      child.kill('SIGKILL');
    }
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, { title: 'What an idle service uses', measure });
