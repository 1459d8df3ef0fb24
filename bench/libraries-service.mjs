// A service of Express, ioredis, pg and fetch under load: plain, with Node's context alone, with the hook, with
// OpenTelemetry's SDK and auto-instrumentations, and with dd-trace. Needs PostgreSQL and Redis at their standard
// addresses; npm installs the packages into build/libraries-service.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSpans } from 'tracewright/spans';
import { main } from './benchmark.mjs';
import {
  CONNECTIONS,
  leaveServiceCore,
  LOAD_CORE,
  loadNote,
  measureInTurns,
  pinned,
  STEADY,
  startService,
  tableOf,
} from './http-turns.mjs';
import { installPackages } from './libraries-packages.mjs';

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));

/** Requests for which spans are counted: so many that those of the connections do not matter. */
const COUNTED = 500;
/** Of a request: it, its handler, Redis, PostgreSQL and fetch. */
const SPANS = 5;

const HOOK = 'tracewright/register';
/** What context costs by Node's own means: the hook cannot do without it. */
export const FLOOR = 'a constant in AsyncLocalStorage, nothing else';
export const UNSAMPLED = { OTEL_TRACES_SAMPLER: 'always_off' };

const LEAST_SHARE = 90;
const LEAST_RATIO = 4;

/**
 * Nothing but spans, and no packages beyond those of the service.
 *
 * @param {string} instrumentations
 */
export function openTelemetry(instrumentations) {
  return {
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_NODE_ENABLED_INSTRUMENTATIONS: instrumentations,
  };
}

/**
 * A program with the hook. Its packages are OpenTelemetry's as well.
 *
 * @param {readonly string[]} program
 * @param {string} name
 * @param {NodeJS.ProcessEnv} [env]
 */
export function withHook(program, name, env) {
  return {
    name,
    flags: ['--import', import.meta.resolve('tracewright/register'), ...program],
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_INSTRUMENTATIONS: 'off', ...env },
  };
}

/** @param {readonly string[]} program */
export function withConstant(program) {
  return { name: FLOOR, flags: ['--import', here('http-entered-context.mjs'), ...program] };
}

const DATADOG = {
  DD_TRACE_STARTUP_LOGS: 'false',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
  DD_CRASHTRACKING_ENABLED: 'false',
  DD_TRACE_MIDDLEWARE_TRACING_ENABLED: 'false',
  DD_TRACE_DISABLED_INSTRUMENTATIONS: 'dns,net',
};

/**
 * @param {string} place
 * @param {number} backend
 * @returns {import('./http-turns.mjs').Variant[]}
 */
function variantsIn(place, backend) {
  const program = [here('libraries-service-program.mjs'), place, String(backend)];
  const each = { cwd: place, path: '/orders/7' };
  return [
    { ...each, name: 'plain', flags: program },
    { ...each, ...withConstant(program) },
    { ...each, ...withHook(program, `${HOOK}, nothing sampled`, UNSAMPLED) },
    { ...each, ...withHook(program, HOOK) },
    {
      ...each,
      name: '@opentelemetry/sdk-node with auto-instrumentations',
      flags: ['--require', here('libraries-opentelemetry.cjs'), ...program],
      env: openTelemetry('http,express,ioredis,pg,undici'),
    },
    {
      ...each,
      name: 'dd-trace, no agent',
      flags: ['--require', here('libraries-datadog.cjs'), ...program],
      env: DATADOG,
    },
  ];
}
/** The hook, and after it the peers. */
const OURS = 3;

/**
 * How many spans a service records of a request, when nothing loads it.
 *
 * @param {import('./http-turns.mjs').Variant} variant
 */
export async function spansOf(variant) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const file = join(directory, 'spans');
  const run = join(directory, 'run');
  try {
    const counting = { ...variant, env: { ...variant.env, BENCH_SPANS: file } };
    const { child, port } = await startService(counting, run);
    for (let i = 0; i < COUNTED; i++) {
      const response = await fetch(`http://127.0.0.1:${port}${variant.path}`);
      if (!response.ok) throw new Error(`${variant.name} answers ${response.status}`);
      await response.arrayBuffer();
    }
    const gone = once(child, 'exit');
    child.send('end');
    await gone;
    const made = readdirSync(directory);
    if (made.includes('spans')) return Number(readFileSync(file, 'utf8')) / COUNTED;
    return made.includes('run') ? (await recorded(join(run, 'heph'))) / COUNTED : 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {string} directory */
async function recorded(directory) {
  const requests = new Set();
  const spans = [];
  for await (const span of readSpans(directory)) {
    if (span.kind === 'server') requests.add(span.traceId);
    spans.push(span);
  }
  // Connecting, stalls and collections are of no request.
  return spans.filter(({ traceId }) => requests.has(traceId)).length;
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const place = installPackages();
  const how = quick ? { ...STEADY, generations: 1, slices: 10 } : STEADY;
  const serversRun = leaveServiceCore();
  const [command, ...args] = pinned(LOAD_CORE, [process.execPath, here('libraries-backend.mjs')]);
  const backend = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const [{ port }] = await once(backend, 'message');
    const variants = variantsIn(place, port);
    const counts = [];
    for (const variant of variants.slice(OURS)) counts.push(await spansOf(variant));
    const rows = await measureInTurns(variants, how);
    const [plain] = rows;
    const [ours, ...peers] = rows.slice(OURS);
    const overhead = (/** @type {{ cpuUs: number }} */ { cpuUs }) => cpuUs - plain.cpuUs;
    return {
      tables: [
        tableOf(
          `Express 5, ioredis, pg and fetch, ${CONNECTIONS} connections, ${how.generations} times ${how.slices} slices of ${how.sliceMs} ms each in turn, after ${how.warmUpMs / 1000} s of load`,
          rows,
        ),
        {
          title: 'What tracing adds',
          columns: ['', 'CPU us/request', 'times ours', 'spans a request'],
          rows: rows
            .slice(OURS)
            .map((row, i) => [row.name, overhead(row), overhead(row) / overhead(ours), counts[i]]),
        },
      ],
      goals: [
        {
          goal: `with the hook: at least ${LEAST_SHARE} % of the plain requests/s`,
          figure: ours.perSecondShare,
          met: ours.perSecondShare >= LEAST_SHARE,
        },
        {
          goal: `each peer's CPU time beyond plain: at least ${LEAST_RATIO} times ours`,
          figure: Math.min(...peers.map((peer) => overhead(peer) / overhead(ours))),
          met: peers.every((peer) => overhead(peer) >= LEAST_RATIO * overhead(ours)),
        },
        {
          goal: `each records ${SPANS} spans a request`,
          figure: counts.map((count) => count.toFixed(2)).join(', '),
          met: counts.every((count) => Math.abs(count - SPANS) < 0.1),
        },
      ],
      notes: [
        loadNote(),
        `Redis, PostgreSQL and the service that fetch asks have processes of their own; the first two run ${serversRun}.`,
        'All spans are sampled. OpenTelemetry has its batch processor and an exporter that drops them; dd-trace finds no agent.',
      ],
    };
  } finally {
    backend.kill('SIGKILL');
  }
}

await main(import.meta.url, { title: 'A service of libraries, and what others cost', measure });
