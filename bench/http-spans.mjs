// A service that records three spans of its own for each request, across awaits.

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

const SERVICE = fileURLToPath(new URL('http-spans-service.mjs', import.meta.url));
const HOOK = ['--import', 'tracewright/register'];

const VARIANTS = [
  { name: 'plain, without spans', flags: [SERVICE, 'plain'] },
  { name: 'three spans, without the hook', flags: [SERVICE, 'spans'] },
  {
    name: 'three spans, hook with context',
    flags: [...HOOK, SERVICE, 'spans'],
    env: { TRACEWRIGHT_CONTEXT: 'on' },
  },
  {
    name: 'three spans, hook without context',
    flags: [...HOOK, SERVICE, 'spans'],
    env: { TRACEWRIGHT_CONTEXT: 'off' },
  },
];

const WITH_CONTEXT = 2;
const LEAST = 85;

/** @param {{ quick: boolean, traces?: string }} options */
async function measure({ quick, traces }) {
  const how = {
    traces,
    ...(quick ? { generations: 1, slices: 10 } : { generations: 6, slices: 20 }),
  };
  const rows = await measureInTurns(VARIANTS, how);
  const { perSecondShare } = rows[WITH_CONTEXT];
  return {
    tables: [
      tableOf(
        `A node:http service with three spans a request, ${CONNECTIONS} connections, ${how.generations} times ${how.slices} slices of ${SLICE_MS} ms each in turn`,
        rows,
      ),
      processTableOf(rows),
    ],
    goals: [
      {
        goal: `three spans a request, with context: at least ${LEAST} % of the plain requests/s`,
        figure: perSecondShare,
        met: perSecondShare >= LEAST,
      },
    ],
    notes: [loadNote()],
  };
}

await main(import.meta.url, {
  title: 'The cost of spans in an HTTP service',
  ...TRACES_OPTION,
  measure,
});
