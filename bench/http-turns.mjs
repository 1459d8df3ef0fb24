// Services under load, measured in turns: a slice of one, a slice of the next, and so on.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { moveDatabaseServers } from './database-servers.mjs';
import { median, quantile } from './median.mjs';

export const CONNECTIONS = 16;
/** Long enough for thousands of requests, short against the minutes for which a machine is slow. */
export const SLICE_MS = 150;
/** Until a load that rested is under way, and until its last requests are answered. */
const SETTLE_MS = 20;
/** Until what is compiled is compiled, in a service that does little. */
const WARM_UP_MS = 2000;
/** How services of frameworks and drivers are measured: V8 still compiles them after 2 s of load. */
export const STEADY = { generations: 5, slices: 8, warmUpMs: 10_000, sliceMs: 300 };
export const SERVICE_CORE = '0';
export const LOAD_CORE = '1';

/** The option of what measures services. */
export const TRACES_OPTION = {
  help: '  --traces DIR  where the services trace, such as /dev/shm; default: the directory for temporary files',
  options: { traces: { type: 'string' } },
};

/** @param {string} command */
export function onPath(command) {
  return (process.env['PATH'] ?? '').split(':').some((each) => existsSync(join(each, command)));
}

const PINNED = onPath('taskset') && availableParallelism() > 1;

/**
 * @param {string} core
 * @param {string[]} command
 */
export function pinned(core, command) {
  return PINNED ? ['taskset', '-c', core, ...command] : command;
}

/**
 * This process, what it starts from now on, and the database servers leave the core of the services alone.
 *
 * @returns where the database servers run.
 */
export function leaveServiceCore() {
  if (!PINNED) return 'on any core';
  spawnSync('taskset', ['-acp', LOAD_CORE, String(process.pid)]);
  return moveDatabaseServers(LOAD_CORE) ? 'on the core of the load' : 'on either core';
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
 * What a service is started with.
 *
 * @typedef {object} Variant
 * @property {string} name
 * @property {string[]} flags of Node, and the program.
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {string} [path] what is asked for; default: `/`.
 * @property {string} [core] default: that of the services.
 * @property {string[]} [under] the command that runs Node; default: none.
 * @property {'inherit' | 'pipe'} [output] what becomes of its standard output; default: inherit.
 * @property {string[]} [front] flags and program of a service that is loaded instead, and asks this one.
 * @property {NodeJS.ProcessEnv} [frontEnv]
 */

/**
 * @param {Variant} variant
 * @param {string} directory
 */
export async function startService(
  { flags, env, cwd, under = [], output = 'inherit', core = SERVICE_CORE },
  directory,
) {
  const [command, ...args] = pinned(core, [...under, process.execPath, ...flags]);
  const child = spawn(command, args, {
    stdio: ['ignore', output, 'inherit', 'ipc'],
    env: { ...process.env, TRACEWRIGHT_QUIET: '1', TRACEWRIGHT_DIR: directory, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a service has ended with ${code} before it listened`);
  });
  const [{ port }] = await Promise.race([once(child, 'message'), ended]);
  // It ends at the end.
  ended.catch(() => undefined);
  return { child, port };
}

/**
 * Starts what is loaded instead of a service, if there is such a thing.
 *
 * @param {Variant} variant
 * @param {number} port of the service.
 * @param {string} directory
 * @returns {Promise<{ port: number, processes: import('node:child_process').ChildProcess[] }>} the port to be loaded.
 */
export async function startFront({ front, frontEnv, cwd }, port, directory) {
  if (front === undefined) return { port, processes: [] };
  const env = { ...frontEnv, BENCH_BACK: String(port) };
  const started = await startService(
    { name: 'front', flags: front, env, core: LOAD_CORE, ...(cwd === undefined ? {} : { cwd }) },
    directory,
  );
  return { port: started.port, processes: [started.child] };
}

/**
 * Begins to load a service, and lets the load rest until it is measured. The connections stay open
 * all the while.
 *
 * @param {number} port
 * @param {string} path
 * @param {number} [warmUpMs]
 */
export async function startLoad(port, path, warmUpMs = WARM_UP_MS) {
  const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, '-d3600s', `http://127.0.0.1:${port}${path}`];
  const own = [
    process.execPath,
    fileURLToPath(new URL('http-load.mjs', import.meta.url)),
    `${port}`,
    `${CONNECTIONS}`,
    path,
  ];
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
  await sleep(warmUpMs);
  signal(load, 'SIGSTOP');
  return load;
}

/**
 * @param {import('node:child_process').ChildProcess[]} processes
 * @param {NodeJS.Signals} name
 */
export function signal(processes, name) {
  for (const each of processes) each.kill(name);
}

/**
 * @param {import('node:child_process').ChildProcess} service
 * @returns {Promise<{ requests: number, cpuUs: number, systemUs: number, pageFaults: number, preemptions: number,
 *   ms: number, delayP99Ms: number }>}
 */
export async function ask(service) {
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
 * @param {number} [sliceMs]
 */
async function measureSlice(service, load, sliceMs = SLICE_MS) {
  const loadSeconds = () => load.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  signal(load, 'SIGCONT');
  await sleep(SETTLE_MS);
  const loadFrom = loadSeconds();
  const from = await ask(service);
  await sleep(sliceMs);
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
    systemUs: (to.systemUs - from.systemUs) / requests,
    pageFaults: (1000 * (to.pageFaults - from.pageFaults)) / requests,
    preemptions: (1000 * (to.preemptions - from.preemptions)) / requests,
    delayP99Ms: to.delayP99Ms,
    serviceMs: cpuUs / 1000,
    loadMs: (loadTo - loadFrom) * 1000,
  };
}

/**
 * Starts all services, measures them in turns, and ends them.
 *
 * @param {readonly Variant[]} variants
 * @param {string} directory where they trace.
 * @param {{ slices: number, warmUpMs?: number, sliceMs?: number }} how slices: of each.
 * @param {Awaited<ReturnType<typeof measureSlice>>[][]} figures what is found, by service.
 * @returns requests that each has served.
 */
async function measureGeneration(variants, directory, { slices, warmUpMs, sliceMs }, figures) {
  /** @typedef {import('node:child_process').ChildProcess} Process */
  /** @type {{ child: Process, load: Process[], front: Process[] }[]} */
  const services = [];
  try {
    for (const [i, variant] of variants.entries()) {
      const { child, port } = await startService(variant, join(directory, `traces-${i}`));
      const front = await startFront(variant, port, join(directory, `front-${i}`));
      const load = await startLoad(front.port, variant.path ?? '/', warmUpMs);
      services.push({ child, load, front: front.processes });
    }
    for (let round = 0; round < slices; round++) {
      for (let turn = 0; turn < services.length; turn++) {
        // Every round another one begins.
        const i = (round + turn) % services.length;
        const { child, load } = services[i];
        figures[i].push(await measureSlice(child, load, sliceMs));
      }
    }
    const served = [];
    for (const { child, load, front } of services) {
      signal([...load, ...front], 'SIGKILL');
      served.push((await ask(child)).requests);
      const gone = once(child, 'exit');
      child.send('end');
      await gone;
    }
    return served;
  } finally {
    // A load that rests would rest for ever.
    for (const { child, load, front } of services) signal([child, ...load, ...front], 'SIGKILL');
  }
}

/**
 * Measures services in turns, the first of which is the plain one.
 *
 * @param {readonly Variant[]} variants
 * @param {{ generations: number, slices: number, warmUpMs?: number, sliceMs?: number, traces?: string }} how
 *   traces: a directory for the traces, instead of one for temporary files.
 * @param {(directories: string[], served: number[]) => void} [inspect] called after each generation.
 */
export async function measureInTurns(
  variants,
  { generations, traces = tmpdir(), ...how },
  inspect,
) {
  // A process is some per cent faster or slower than the next one of the same program, for good.
  /** @type {Awaited<ReturnType<typeof measureSlice>>[][]} */
  const figures = variants.map(() => []);
  for (let generation = 0; generation < generations; generation++) {
    const directory = mkdtempSync(join(traces, 'tracewright-bench-'));
    try {
      const served = await measureGeneration(variants, directory, how, figures);
      inspect?.(
        variants.map((_, i) => join(directory, `traces-${i}`)),
        served,
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  const [plain] = figures;
  return variants.map(({ name }, i) => {
    const of = figures[i];
    const shares = of.map(({ perSecond }, round) => (100 * perSecond) / plain[round].perSecond);
    /** @param {'ms' | 'serviceMs' | 'loadMs'} key */
    const sum = (key) => of.reduce((all, each) => all + each[key], 0);
    return {
      name,
      perSecond: median(of.map(({ perSecond }) => perSecond)),
      perSecondShare: median(shares),
      cpuUs: median(of.map(({ cpuUs }) => cpuUs)),
      cpuUsBest: quantile(
        of.map(({ cpuUs }) => cpuUs),
        0.1,
      ),
      cpuShare: 100 * median(of.map(({ cpuUs }, round) => plain[round].cpuUs / cpuUs)),
      systemUs: median(of.map(({ systemUs }) => systemUs)),
      pageFaults: median(of.map(({ pageFaults }) => pageFaults)),
      preemptions: median(of.map(({ preemptions }) => preemptions)),
      delayP99Ms: median(of.map(({ delayP99Ms }) => delayP99Ms)),
      delayShare: median(of.map(({ delayP99Ms }, round) => delayP99Ms / plain[round].delayP99Ms)),
      serviceCore: 100 * (sum('serviceMs') / sum('ms')),
      loadCore: 100 * (sum('loadMs') / sum('ms')),
      byProcess: Array.from({ length: generations }, (_, generation) => {
        const from = generation * how.slices;
        const own = of.slice(from, from + how.slices);
        /** @param {'cpuUs' | 'systemUs' | 'pageFaults' | 'preemptions'} key */
        const middle = (key) => median(own.map((each) => each[key]));
        return {
          perSecondShare: median(shares.slice(from, from + how.slices)),
          cpuUs: middle('cpuUs'),
          systemUs: middle('systemUs'),
          pageFaults: middle('pageFaults'),
          preemptions: middle('preemptions'),
        };
      }),
    };
  });
}

/** @typedef {Awaited<ReturnType<typeof measureInTurns>>} Rows */

/** What other tables have. */
const OTHER_TABLES = new Set(['delayP99Ms', 'delayShare', 'byProcess']);

/**
 * @param {string} title
 * @param {Rows} rows
 */
export function tableOf(title, rows) {
  return {
    title,
    columns: [
      '',
      'requests/s',
      '% of plain',
      'CPU us/request',
      'p10',
      '% of plain',
      'system us/request',
      'page faults/1000',
      'preemptions/1000',
      'service core %',
      'load core %',
    ],
    rows: rows.map((row) =>
      Object.entries(row)
        .filter(([key]) => !OTHER_TABLES.has(key))
        .map(([, cell]) => cell),
    ),
  };
}

/**
 * Two processes of one program can differ by some per cent for as long as they run: what each of them reached.
 *
 * @param {Rows} rows
 */
export function processTableOf(rows) {
  return {
    title: 'Each process by itself',
    columns: [
      '',
      'process',
      '% of plain requests/s',
      'CPU us/request',
      'system us/request',
      'page faults/1000',
      'preemptions/1000',
    ],
    rows: rows.flatMap(({ name, byProcess }) =>
      byProcess.map((each, i) => [name, i + 1, ...Object.values(each)]),
    ),
    detail: true,
  };
}

/** How the load came about, for the reader of the figures. */
export function loadNote() {
  return `Load by ${onPath('wrk') ? 'wrk' : 'processes of Node'}; service ${PINNED ? `pinned to core ${SERVICE_CORE} with all its threads, load to core ${LOAD_CORE}` : 'not pinned'}. CPU time is the service's own, user and system, of all its threads; page faults are those without a disk, preemptions switches that it did not ask for, of a thousand requests. The requests/s mean something only when the service's core was busy (95 % and more).`;
}
