// What a preload adds to the start of a process that does nothing else, on several Nodes.

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { otherNode } from '../scripts/other-node.mjs';
import { main } from './benchmark.mjs';
import { median, quantile } from './median.mjs';
import {
  NODES,
  NODES_OPTION,
  PRINT_USAGE,
  startInTurns,
  startProcess,
  startTable,
} from './started-processes.mjs';

const MOST_MS = 11;
const MOST_MB = 8;

const require = createRequire(import.meta.url);
const preload = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/** The official package that registers every instrumentation, where it is installed. */
function officialRegister() {
  try {
    return require.resolve('@opentelemetry/auto-instrumentations-node/register');
  } catch {
    return undefined;
  }
}

const HOOK = ['--require', require.resolve('tracewright/register')];
/** @type {{ name: string, flags: string[], env?: Record<string, string>, from?: number, again?: boolean }[]} */
const VARIANTS = [
  { name: 'plain', flags: [] },
  { name: 'tracewright/register', flags: HOOK },
  { name: 'the same, in a directory with earlier traces', flags: HOOK, again: true },
  {
    name: 'the same by --import',
    flags: ['--import', import.meta.resolve('tracewright/register')],
  },
  {
    name: 'tracewright/register, NODE_COMPILE_CACHE',
    flags: HOOK,
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'tracewright-bench-cache') },
    from: 22,
  },
  {
    name: "the hook's binary and built-ins alone",
    flags: ['--require', preload('start-floor.cjs')],
  },
  { name: 'OpenTelemetry, HTTP only', flags: ['--require', preload('start-opentelemetry.cjs')] },
];
const official = officialRegister();
if (official !== undefined) {
  VARIANTS.push({ name: 'OpenTelemetry, all', flags: ['--require', official] });
}
const TRACED = 1;

/**
 * @param {string} node
 * @param {typeof VARIANTS} variants
 * @param {number} rounds
 */
function measureNode(node, variants, rounds) {
  // Deleted after the last round: ext4 would search for inodes that were not deleted just before.
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-start-'));
  const figures = startInTurns(
    variants,
    { rounds, warmUpRounds: 2 },
    ({ flags, env, again }, name) =>
      startProcess(node, [...flags, '-e', PRINT_USAGE], {
        // Not here: instrumentations of OpenTelemetry are looked for next to the program.
        cwd: tmpdir(),
        env: { TRACEWRIGHT_DIR: join(directory, again ? 'again' : name, 'run'), ...env },
      }),
  );
  rmSync(directory, { recursive: true, force: true });
  return figures;
}

/** @param {{ quick: boolean, nodes?: string }} options */
async function measure({ quick, nodes = NODES }) {
  const rounds = quick ? 5 : 40;
  const rows = [];
  const goals = [];
  const own = process.versions.node.split('.')[0];
  for (const version of nodes.split(',')) {
    const node = version === own ? process.execPath : join(otherNode(version), 'node');
    const variants = VARIANTS.filter(({ from = 0 }) => from <= Number.parseInt(version));
    const figures = measureNode(node, variants, rounds);
    const [plain] = figures;
    for (const [i, { name }] of variants.entries()) {
      const times = figures[i].map(({ ms }) => ms);
      const addedPercent =
        100 * median(figures[i].map(({ ms }, round) => ms / plain[round].ms - 1));
      const addedMb = median(figures[i].map(({ mb }, round) => mb - plain[round].mb));
      const added = median(figures[i].map(({ ms }, round) => ms - plain[round].ms));
      const cpu = median(figures[i].map(({ cpuMs }) => cpuMs));
      const addedCpu = median(figures[i].map(({ cpuMs }, round) => cpuMs - plain[round].cpuMs));
      rows.push([
        version,
        name,
        median(times),
        quantile(times, 0.1),
        cpu,
        ...(i === 0 ? ['', '', '', ''] : [added, addedPercent, addedCpu, addedMb]),
      ]);
      if (i !== TRACED) continue;
      goals.push({
        goal: `Node ${version}: at most ${MOST_MS} ms more than plain`,
        figure: added,
        met: added <= MOST_MS,
      });
      goals.push({
        goal: `Node ${version}: at most ${MOST_MB} MB more than plain`,
        figure: addedMb,
        met: addedMb <= MOST_MB,
      });
    }
  }
  return {
    tables: [
      startTable(
        'process that does nothing',
        rounds,
        [
          'Node',
          'preloaded',
          'median ms',
          'p10 ms',
          'CPU ms',
          'added ms',
          'added %',
          'added CPU ms',
          'added MB',
        ],
        rows,
      ),
    ],
    goals,
    notes: [
      'Time is from spawn to exit. CPU time, of all threads, and resident memory are those at the end of the program.',
    ],
  };
}

await main(import.meta.url, {
  title: "What tracing adds to a process's start",
  ...NODES_OPTION,
  measure,
});
