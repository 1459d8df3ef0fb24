// What the samples of the CPU profiler cost the service of three databases: the hook alone, and with 20 and 100 samples a
// second, in turns. Needs PostgreSQL, MariaDB and Redis at their standard addresses.

import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { CONNECTIONS, STEADY, leaveServiceCore, loadNote, measureInTurns } from './http-turns.mjs';
import { installPackages } from './libraries-packages.mjs';
import { withHook } from './libraries-service.mjs';

const PROGRAM = fileURLToPath(new URL('databases-service-program.mjs', import.meta.url));
const HOOK = 'the hook';
/** Of the hook's requests a second, per cent, by samples a second. */
const LEAST = { 20: 99, 100: 97 };
const RATES = Object.keys(LEAST);

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const place = installPackages();
  const variant = (/** @type {string} */ name, /** @type {NodeJS.ProcessEnv} */ env) => ({
    cwd: place,
    path: '/orders/7',
    ...withHook([PROGRAM, place], name, env),
  });
  const variants = [
    variant(HOOK, { TRACEWRIGHT_PROFILE: 'off' }),
    ...RATES.map((hz) =>
      variant(`${HOOK}, ${hz} samples a second`, { TRACEWRIGHT_PROFILE: `cpu:${hz}` }),
    ),
  ];
  const serversRun = leaveServiceCore();
  const how = quick ? { generations: 1, slices: 2 } : { ...STEADY, slices: 24 };
  const all = await measureInTurns(variants, how);
  const [, ...sampled] = all;
  return {
    tables: [
      {
        title: `Fastify 5, pg, mysql2 and redis, ${CONNECTIONS} connections, slices of ${STEADY.sliceMs} ms in turn, after ${STEADY.warmUpMs / 1000} s of load`,
        columns: ['', 'requests/s', '% of the hook', 'CPU us/request', '% of the hook'],
        rows: all.map(({ name, perSecond, perSecondShare, cpuUs, cpuShare }) => [
          name,
          perSecond,
          perSecondShare,
          cpuUs,
          cpuShare,
        ]),
      },
    ],
    goals: RATES.map((hz, i) => ({
      goal: `${hz} samples a second: at least ${LEAST[hz]} % of the hook's requests/s`,
      figure: sampled[i].perSecondShare,
      met: sampled[i].perSecondShare >= LEAST[hz],
    })),
    notes: [loadNote(), `The three servers have processes of their own, ${serversRun}.`],
  };
}

await main(import.meta.url, { title: 'What samples of the CPU profiler cost a service', measure });
