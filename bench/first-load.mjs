// What the hook adds to the load of the first library that it puts channels into, on several Nodes.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { otherNode } from '../scripts/other-node.mjs';
import { root } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';
import { NODES, NODES_OPTION } from './started-processes.mjs';

const GOAL_MS = 10;

/** @type {Readonly<Record<string, string>>} */
const PACKAGES = {
  hono: '4.13.19',
  kafkajs: '2.2.4',
  koa: '3.3.0',
  mongodb: '7.9.0',
  pg: '8.23.1',
};

/** Prints the milliseconds that loading took: by the clock, and of CPU time of all threads. */
const PROGRAM = `const fs = require('node:fs');
// Nothing of the start is left to the library.
setTimeout(async () => {
  const { performance } = globalThis;
  const before = process.cpuUsage();
  const from = performance.now();
  LOAD;
  const ms = performance.now() - from;
  const { user, system } = process.cpuUsage(before);
  fs.writeSync(1, JSON.stringify({ ms, cpuMs: (user + system) / 1e3 }));
  process.exit();
}, 20);
`;

/**
 * Installs one of them, if it is missing, and returns where it is. Each has a directory of its own: ES modules next to
 * others make each load slower on Nodes with synchronous hooks.
 *
 * @param {string} name
 */
function installPackage(name) {
  const place = join(root, 'build', 'first-load', name);
  const manifest = JSON.stringify({ private: true, dependencies: { [name]: PACKAGES[name] } });
  const done = join(place, 'installed.json');
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return place;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), manifest);
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  const { status } = spawnSync('npm', args, { cwd: place, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`npm cannot install ${name}`);
  writeFileSync(done, manifest);
  return place;
}

/** How a program loads each of them: hono is of ES modules. */
const LOADS = Object.keys(PACKAGES).map((name) => ({
  name,
  load: name === 'hono' ? `await import('hono')` : `require('${name}')`,
}));

const HOOK = ['--import', import.meta.resolve('tracewright/register')];
/** A young generation that no load fills. */
const YOUNG = ['--min-semi-space-size=64', '--max-semi-space-size=64'];
const VARIANTS = [[], HOOK, YOUNG, [...HOOK, ...YOUNG]];

/** @param {{ quick: boolean, nodes?: string }} options */
async function measure({ quick, nodes = NODES }) {
  const rounds = quick ? 3 : 40;
  const rows = [];
  const goals = [];
  const own = process.versions.node.split('.')[0];
  for (const version of nodes.split(',')) {
    const node = version === own ? process.execPath : join(otherNode(version), 'node');
    const directory = mkdtempSync(join(tmpdir(), 'tracewright-first-load-'));
    for (const { name, load } of LOADS) {
      const place = installPackage(name);
      const program = join(place, 'program.cjs');
      writeFileSync(program, PROGRAM.replace('LOAD', load));
      /** @type {{ ms: number, cpuMs: number }[][]} */
      const figures = VARIANTS.map(() => []);
      for (let round = -2; round < rounds; round++) {
        for (let turn = 0; turn < VARIANTS.length; turn++) {
          // Each of them begins in its turn.
          const variant = (turn + round + 2) % VARIANTS.length;
          const { status, stdout, stderr } = spawnSync(node, [...VARIANTS[variant], program], {
            cwd: place,
            encoding: 'utf8',
            env: {
              ...process.env,
              TRACEWRIGHT_CONTEXT: 'on',
              TRACEWRIGHT_QUIET: '1',
              TRACEWRIGHT_DIR: join(directory, `${name}-${round}`),
            },
          });
          if (status !== 0 || stderr !== '') throw new Error(`${name}: ${stderr}`);
          if (round >= 0) figures[variant].push(JSON.parse(stdout));
        }
      }
      const [plain, hooked, plainYoung, hookedYoung] = figures;
      const added = (/** @type {'ms' | 'cpuMs'} */ of, to = hooked, from = plain) =>
        median(to.map((figure, round) => figure[of] - from[round][of]));
      rows.push([
        version,
        name,
        median(plain.map(({ ms }) => ms)),
        median(hooked.map(({ ms }) => ms)),
        added('ms'),
        added('cpuMs'),
        added('cpuMs', hookedYoung, plainYoung),
      ]);
      goals.push({
        goal: `Node ${version}: ${name} takes at most ${GOAL_MS} ms of CPU time more`,
        figure: added('cpuMs'),
        met: added('cpuMs') <= GOAL_MS,
      });
    }
    rmSync(directory, { recursive: true, force: true });
  }
  return {
    tables: [
      {
        title: `Load of a library, the first that the hook changes; ${rounds} alternating rounds, medians`,
        columns: [
          'Node',
          'library',
          'plain ms',
          'with the hook ms',
          'added ms',
          'added CPU ms',
          'the same without collections',
        ],
        rows,
      },
    ],
    goals,
    notes: [
      'Each load is in a process of its own.',
      'With or without the hook a garbage collection may fall into the load; the last column has a heap that needs none.',
    ],
  };
}

await main(import.meta.url, {
  title: 'What the hook adds to the first load of a library',
  ...NODES_OPTION,
  measure,
});
