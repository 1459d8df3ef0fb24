// An HTTP service plain, traced, watched by nobody in particular, and with OpenTelemetry.

import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const CONNECTIONS = 16;
const SERVICE_CORE = '0';
const LOAD_CORE = '1';

/** @param {string} name */
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What each service is started with. */
const VARIANTS = [
  { name: 'plain', flags: [] },
  { name: 'tracewright/register, ovni and Heph', flags: ['--import', 'tracewright/register'] },
  { name: 'subscribers that do nothing', flags: ['--import', here('http-idle-subscribers.mjs')] },
  {
    name: 'OpenTelemetry HTTP instrumentation',
    flags: ['--import', here('http-opentelemetry.mjs')],
  },
];

/** @param {string} command */
function onPath(command) {
  return (process.env['PATH'] ?? '').split(':').some((each) => existsSync(join(each, command)));
}

const PINNED = onPath('taskset') && availableParallelism() > 1;

/**
 * @param {string} core
 * @param {string[]} command
 */
function pinned(core, command) {
  return PINNED ? ['taskset', '-c', core, ...command] : command;
}

/**
 * Seconds of CPU that a process has used, or NaN where there is no /proc.
 *
 * @param {number | undefined} pid
 */
function cpuSeconds(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return NaN;
  }
}

/**
 * @param {string[]} flags
 * @param {string} directory
 */
async function startService(flags, directory) {
  const [command, ...args] = pinned(SERVICE_CORE, [
    process.execPath,
    ...flags,
    here('http-service.mjs'),
  ]);
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, TRACEWRIGHT_QUIET: '1', TRACEWRIGHT_DIR: directory },
  });
  const [{ port }] = await once(child, 'message');
  return { child, port };
}

/**
 * Loads a service until the returned function is called.
 *
 * @param {number} port
 * @param {number} seconds
 */
function startLoad(port, seconds) {
  if (onPath('wrk')) {
    const [command, ...args] = pinned(LOAD_CORE, [
      'wrk',
      '-t1',
      `-c${CONNECTIONS}`,
      `-d${Math.ceil(seconds)}s`,
      `http://127.0.0.1:${port}/`,
    ]);
    const load = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    load.stdout.on('data', (chunk) => (output += String(chunk)));
    return {
      pids: [load.pid],
      async end() {
        await once(load, 'close');
        if (/Non-2xx|Socket errors/.test(output)) throw new Error(output);
      },
    };
  }
  const processes = Array.from({ length: Math.max(1, availableParallelism() - 1) }, () =>
    fork(here('http-load.mjs'), [`${port}`, `${CONNECTIONS}`]),
  );
  return {
    pids: processes.map(({ pid }) => pid),
    async end() {
      await Promise.all(
        processes.map(async (each) => {
          const gone = once(each, 'exit');
          each.disconnect();
          await gone;
        }),
      );
    },
  };
}

/**
 * @param {{ child: import('node:child_process').ChildProcess, port: number }} service
 * @param {number} seconds
 */
async function measureService({ child, port }, seconds) {
  const ask = async () => {
    const answer = once(child, 'message');
    child.send('how much');
    const [message] = await answer;
    return message;
  };
  const load = startLoad(port, seconds + 1);
  await sleep(300);
  const loadFrom = load.pids.map(cpuSeconds);
  const from = await ask();
  await sleep(seconds * 1000);
  const to = await ask();
  const loadTo = load.pids.map(cpuSeconds);
  await load.end();
  const requests = to.requests - from.requests;
  const ms = to.ms - from.ms;
  const loadCpu = loadTo.reduce((sum, each, i) => sum + each - loadFrom[i], 0);
  return {
    perSecond: (requests / ms) * 1000,
    cpuUs: (to.cpuUs - from.cpuUs) / requests,
    busy: (to.cpuUs - from.cpuUs) / 1000 / ms,
    loadBusy: (loadCpu * 1000) / ms,
  };
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  // Short rounds, so that what is compared ran within seconds on a machine that others use too.
  const rounds = quick ? 2 : 25;
  const seconds = 1;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  /** @type {Awaited<ReturnType<typeof measureService>>[][]} */
  const figures = VARIANTS.map(() => []);
  let traced = { events: 0, served: 0 };
  try {
    const services = [];
    for (const [i, { flags }] of VARIANTS.entries()) {
      services.push(await startService(flags, join(directory, `traces-${i}`)));
    }
    // The first round compiles, and does not count.
    for (let round = -1; round < rounds; round++) {
      for (const [i, service] of services.entries()) {
        const found = await measureService(service, round < 0 ? 1 : seconds);
        if (round >= 0) figures[i].push(found);
      }
    }
    for (const [i, { child }] of services.entries()) {
      if (i === 1) {
        const answer = once(child, 'message');
        child.send('how much');
        [{ requests: traced.served }] = await answer;
      }
      const gone = once(child, 'exit');
      child.send('end');
      await gone;
    }
    traced.events = countTraced(join(directory, 'traces-1'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }

  const [plain] = figures;
  const rows = VARIANTS.map(({ name }, i) => {
    const of = figures[i];
    return [
      name,
      median(of.map(({ perSecond }) => perSecond)),
      100 * median(of.map(({ perSecond }, round) => perSecond / plain[round].perSecond)),
      median(of.map(({ cpuUs }) => cpuUs)),
      100 * median(of.map(({ cpuUs }, round) => plain[round].cpuUs / cpuUs)),
      100 * median(of.map(({ busy }) => busy)),
      100 * median(of.map(({ loadBusy }) => loadBusy)),
    ];
  });
  const perSecond = /** @type {number} */ (rows[1][2]);
  const perCpu = /** @type {number} */ (rows[1][4]);
  return {
    tables: [
      {
        title: `A node:http service, ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s each in turn`,
        columns: [
          '',
          'requests/s',
          '% of plain',
          'CPU us/request',
          '% of plain',
          'service core %',
          'load core %',
        ],
        rows,
      },
    ],
    goals: [
      {
        goal: 'traced: at least 95 % of the plain requests/s',
        figure: perSecond,
        met: perSecond >= 95,
      },
      {
        goal: 'traced: at least 95 % of the plain requests per CPU second',
        figure: perCpu,
        met: perCpu >= 95,
      },
      {
        goal: `a Heph event for every request that was served (${traced.served})`,
        figure: traced.events,
        met: traced.events >= traced.served,
      },
    ],
    notes: [
      `Load by ${onPath('wrk') ? 'wrk' : 'processes of Node'}; service ${PINNED ? `pinned to core ${SERVICE_CORE} with all its threads, load to core ${LOAD_CORE}` : 'not pinned'}. CPU time is the service's own, user and system, of all its threads. The requests/s speak only where the service's core was busy (95 % and more).`,
    ],
  };
}

/**
 * Heph events in the traces of a run, counted by the command.
 *
 * @param {string} directory
 */
function countTraced(directory) {
  const script = `
    import { readPackets } from 'tracewright/heph';
    import { readdirSync } from 'node:fs';
    let events = 0;
    for (const each of readdirSync(process.argv[1], { recursive: true })) {
      if (!each.endsWith('.heph')) continue;
      for (const packet of readPackets(process.argv[1] + '/' + each)) {
        if (packet.kind === 'event' && packet.description === 'request') events += 1;
      }
    }
    console.log(events);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script, directory], {
    cwd: here('.'),
    encoding: 'utf8',
  });
  return Number(output);
}

await main(import.meta.url, { title: 'The cost of tracing an HTTP service', measure });
