// An HTTP service: plain, traced, with subscribers that do nothing, and with OpenTelemetry.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import {
  CONNECTIONS,
  loadNote,
  measureInTurns,
  processTableOf,
  SLICE_MS,
  tableOf,
  TRACES_OPTION,
} from './http-turns.mjs';

/** @param {string} name */
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const SERVICE = here('http-service.mjs');
const HOOK = ['--import', 'tracewright/register'];

export const VARIANTS = [
  { name: 'plain', flags: [SERVICE] },
  {
    name: 'tracewright/register, context off',
    flags: [...HOOK, SERVICE],
    env: { TRACEWRIGHT_CONTEXT: 'off' },
  },
  {
    name: 'tracewright/register, context on',
    flags: [...HOOK, SERVICE],
    env: { TRACEWRIGHT_CONTEXT: 'on' },
  },
  {
    name: 'subscribers that do nothing',
    flags: ['--import', here('http-idle-subscribers.mjs'), SERVICE],
  },
  {
    name: 'plain, AsyncLocalStorage loaded first',
    flags: ['--import', here('http-early-context.mjs'), SERVICE],
  },
  {
    name: 'OpenTelemetry HTTP instrumentation',
    flags: ['--import', here('http-opentelemetry.mjs'), SERVICE],
  },
  {
    name: 'AsyncLocalStorage.enterWith of a constant, and subscribers that do nothing',
    flags: ['--import', here('http-entered-context.mjs'), SERVICE],
  },
  {
    name: 'tracewright/register, context on, nothing sampled',
    flags: [...HOOK, SERVICE],
    env: { TRACEWRIGHT_CONTEXT: 'on', OTEL_TRACES_SAMPLER: 'always_off' },
  },
  {
    name: 'the least recorder: context, and two events of ovni',
    flags: ['--import', here('http-least-recorder.mjs'), SERVICE],
  },
];

export const OFF = 1;
export const ON = 2;
const FLOOR = 6;
const UNSAMPLED = 7;
/** Per cent of the plain requests/s with context, by version of Node. */
const LEAST_WITH_CONTEXT = { 20: 88, 22: 90 };
const LEAST_ON_OTHERS = 95;
/** Per cent that the hook may cost beyond Node's own context, where that alone costs more than the goal. */
const MOST_BEYOND_FLOOR = 2;
const MOST_UNSAMPLED = 1 / 3;

/** @param {{ quick: boolean, traces?: string }} options */
async function measure({ quick, traces }) {
  const how = {
    traces,
    ...(quick ? { generations: 1, slices: 10 } : { generations: 6, slices: 20 }),
  };
  const traced = { events: 0, served: 0 };
  const rows = await measureInTurns(VARIANTS, how, (directories, served) => {
    traced.served += served[OFF] + served[ON];
    traced.events += countTraced(directories[OFF]) + countTraced(directories[ON]);
  });
  const wanted = LEAST_WITH_CONTEXT[Number.parseInt(process.versions.node)] ?? LEAST_ON_OTHERS;
  const withContext = Math.min(wanted, rows[FLOOR].perSecondShare - MOST_BEYOND_FLOOR);
  const added = (/** @type {number} */ row) => rows[row].cpuUs - rows[0].cpuUs;
  const unsampled = added(UNSAMPLED) / added(ON);
  const leastUnsampled = rows[FLOOR].perSecondShare - MOST_BEYOND_FLOOR;
  const goals = [
    { row: rows[OFF], what: 'context off', least: 95 },
    { row: rows[ON], what: 'context on', least: Math.round(10 * withContext) / 10 },
  ].flatMap(({ row, what, least }) => [
    {
      goal: `traced, ${what}: at least ${least} % of the plain requests/s`,
      figure: row.perSecondShare,
      met: row.perSecondShare >= least,
    },
    {
      goal: `traced, ${what}: at least ${least} % of the plain requests per CPU second`,
      figure: row.cpuShare,
      met: row.cpuShare >= least,
    },
  ]);
  return {
    tables: [
      tableOf(
        `A node:http service, ${CONNECTIONS} connections, ${how.generations} times ${how.slices} slices of ${SLICE_MS} ms each in turn`,
        rows,
      ),
      processTableOf(rows),
    ],
    goals: [
      ...goals,
      {
        goal: `with context and unsampled: at most a third of the CPU time that a sampled request adds, or at least ${leastUnsampled.toFixed(1)} % of the plain requests/s, ${MOST_BEYOND_FLOOR} less than Node's own context alone`,
        figure: `${unsampled.toFixed(2)}, ${rows[UNSAMPLED].perSecondShare.toFixed(1)} %`,
        met: unsampled <= MOST_UNSAMPLED || rows[UNSAMPLED].perSecondShare >= leastUnsampled,
      },
      {
        goal: `a Heph event for every request that was served (${traced.served})`,
        figure: traced.events,
        met: traced.events >= traced.served,
      },
    ],
    notes: [loadNote()],
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
        if (packet.kind === 'event' && packet.description === 'GET') events += 1;
      }
    }
    console.log(events);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script, directory], {
    cwd: here('.'),
    encoding: 'utf8',
  });
  return Number(output);
}

await main(import.meta.url, {
  title: 'The cost of tracing an HTTP service',
  ...TRACES_OPTION,
  measure,
});
