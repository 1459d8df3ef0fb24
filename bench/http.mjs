// An HTTP service: plain, traced, with subscribers that do nothing, and with OpenTelemetry.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { median, quantile } from './median.mjs';

const CONNECTIONS = 16;
/** Long enough for thousands of requests, short against the minutes for which a machine is slow. */
const SLICE_MS = 150;
/** Until a load that rested is under way, and until its last requests are answered. */
const SETTLE_MS = 20;
/** Until what is compiled is compiled. */
const WARM_UP_MS = 2000;
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

const TRACED = 1;

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
 * Begins to load a service, and lets the load rest until it is measured. The connections stay open
 * all the while.
 *
 * @param {number} port
 */
async function startLoad(port) {
  const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, '-d3600s', `http://127.0.0.1:${port}/`];
  const own = [process.execPath, here('http-load.mjs'), `${port}`, `${CONNECTIONS}`];
  const commands = onPath('wrk')
    ? [pinned(LOAD_CORE, wrk)]
    : Array.from({ length: Math.max(1, availableParallelism() - 1) }, () => own);
  const load = commands.map(([command, ...args]) =>
    spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }),
  );
  for (const each of load) {
    each.once('exit', (code) => {
      if (code !== null) throw new Error(`what loads port ${port} has ended with ${code}`);
    });
  }
  await sleep(WARM_UP_MS);
  signal(load, 'SIGSTOP');
  return load;
}

/**
 * @param {import('node:child_process').ChildProcess[]} processes
 * @param {NodeJS.Signals} name
 */
function signal(processes, name) {
  for (const each of processes) each.kill(name);
}

/**
 * @param {import('node:child_process').ChildProcess} service
 * @returns {Promise<{ requests: number, cpuUs: number, ms: number }>}
 */
async function ask(service) {
  const answer = once(service, 'message');
  service.send('how much');
  const [message] = await answer;
  return message;
}

/**
 * One slice of a service's time under load.
 *
 * @param {import('node:child_process').ChildProcess} service
 * @param {import('node:child_process').ChildProcess[]} load
 */
async function measureSlice(service, load) {
  const loadSeconds = () => load.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  signal(load, 'SIGCONT');
  await sleep(SETTLE_MS);
  const loadFrom = loadSeconds();
  const from = await ask(service);
  await sleep(SLICE_MS);
  const to = await ask(service);
  const loadTo = loadSeconds();
  signal(load, 'SIGSTOP');
  await sleep(SETTLE_MS);
  const requests = to.requests - from.requests;
  const ms = to.ms - from.ms;
  const cpuUs = to.cpuUs - from.cpuUs;
  return {
    ms,
    perSecond: (requests / ms) * 1000,
    cpuUs: cpuUs / requests,
    serviceMs: cpuUs / 1000,
    loadMs: (loadTo - loadFrom) * 1000,
  };
}

/**
 * Starts all services, measures them in turns, and ends them.
 *
 * @param {string} directory where they trace.
 * @param {number} slices of each.
 * @param {Awaited<ReturnType<typeof measureSlice>>[][]} figures what is found, by service.
 * @returns requests that the traced one has served.
 */
async function measureGeneration(directory, slices, figures) {
  /** @type {{ child: import('node:child_process').ChildProcess, load: import('node:child_process').ChildProcess[] }[]} */
  const services = [];
  try {
    for (const [i, { flags }] of VARIANTS.entries()) {
      const { child, port } = await startService(flags, join(directory, `traces-${i}`));
      services.push({ child, load: await startLoad(port) });
    }
    for (let round = 0; round < slices; round++) {
      for (let turn = 0; turn < services.length; turn++) {
        // Every round another one begins.
        const i = (round + turn) % services.length;
        const { child, load } = services[i];
        figures[i].push(await measureSlice(child, load));
      }
    }
    let served = 0;
    for (const [i, { child, load }] of services.entries()) {
      signal(load, 'SIGKILL');
      if (i === TRACED) served = (await ask(child)).requests;
      const gone = once(child, 'exit');
      child.send('end');
      await gone;
    }
    return served;
  } finally {
    // A load that rests would rest for ever.
    for (const { child, load } of services) signal([child, ...load], 'SIGKILL');
  }
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  // A process is some per cent faster or slower than the next one of the same program, for good.
  const generations = quick ? 1 : 6;
  const slices = quick ? 10 : 20;
  /** @type {Awaited<ReturnType<typeof measureSlice>>[][]} */
  const figures = VARIANTS.map(() => []);
  const traced = { events: 0, served: 0 };
  for (let generation = 0; generation < generations; generation++) {
    const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
    try {
      traced.served += await measureGeneration(directory, slices, figures);
      traced.events += countTraced(join(directory, `traces-${TRACED}`));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  const [plain] = figures;
  const rows = VARIANTS.map(({ name }, i) => {
    const of = figures[i];
    /** @param {'ms' | 'serviceMs' | 'loadMs'} key */
    const sum = (key) => of.reduce((all, each) => all + each[key], 0);
    return [
      name,
      median(of.map(({ perSecond }) => perSecond)),
      100 * median(of.map(({ perSecond }, round) => perSecond / plain[round].perSecond)),
      median(of.map(({ cpuUs }) => cpuUs)),
      quantile(
        of.map(({ cpuUs }) => cpuUs),
        0.1,
      ),
      100 * median(of.map(({ cpuUs }, round) => plain[round].cpuUs / cpuUs)),
      100 * (sum('serviceMs') / sum('ms')),
      100 * (sum('loadMs') / sum('ms')),
    ];
  });
  const perSecond = /** @type {number} */ (rows[TRACED][2]);
  const perCpu = /** @type {number} */ (rows[TRACED][5]);
  return {
    tables: [
      {
        title: `A node:http service, ${CONNECTIONS} connections, ${generations} times ${slices} slices of ${SLICE_MS} ms each in turn`,
        columns: [
          '',
          'requests/s',
          '% of plain',
          'CPU us/request',
          'p10',
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
      `Load by ${onPath('wrk') ? 'wrk' : 'processes of Node'}; service ${PINNED ? `pinned to core ${SERVICE_CORE} with all its threads, load to core ${LOAD_CORE}` : 'not pinned'}. CPU time is the service's own, user and system, of all its threads. The requests/s mean something only when the service's core was busy (95 % and more).`,
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
