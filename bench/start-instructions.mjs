// The instructions that a preload adds to the start of a process that does nothing else. A busy machine does not change them.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { onPath } from './http-turns.mjs';
import { median } from './median.mjs';

const PROCESSES = 5;
const HOOK = ['--import', import.meta.resolve('tracewright/register')];
const FLOOR = ['--require', fileURLToPath(new URL('start-floor.cjs', import.meta.url))];
/** Starts that went before in the same directory: the first one compiles, later ones find finished traces. */
const VARIANTS = [
  { name: 'plain', flags: [], earlier: 0 },
  { name: "the hook's binary and built-ins alone", flags: FLOOR, earlier: 0 },
  { name: 'tracewright/register, in a new directory', flags: HOOK, earlier: 0 },
  { name: 'tracewright/register, in a directory with a finished trace', flags: HOOK, earlier: 1 },
];

/** @returns instructions of the main thread and of all threads. */
function countOnce(/** @type {(typeof VARIANTS)[number]} */ { flags, earlier }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-start-'));
  const program = [...flags, '-e', '0'];
  const env = { ...process.env, TRACEWRIGHT_DIR: join(directory, 'run'), TRACEWRIGHT_QUIET: '1' };
  const options = { cwd: tmpdir(), env };
  for (let i = 0; i < earlier; i++) spawnSync(process.execPath, program, options);
  const under = [
    '-q',
    '--tool=callgrind',
    '--smc-check=all-non-file',
    '--separate-threads=yes',
    `--callgrind-out-file=${join(directory, 'counts')}`,
  ];
  const { status } = spawnSync('valgrind', [...under, process.execPath, ...program], options);
  if (status !== 0) throw new Error(`the process ended with exit code ${status}`);
  const counts = readdirSync(directory)
    .filter((name) => name.startsWith('counts-'))
    .sort()
    .map((name) => /^(?:totals|summary): (\d+)/m.exec(readFileSync(join(directory, name), 'utf8')))
    .map((found) => Number(found?.[1] ?? 0));
  rmSync(directory, { recursive: true, force: true });
  return { first: counts[0], all: counts.reduce((sum, each) => sum + each, 0) };
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (!onPath('valgrind')) {
    return { tables: [], notes: ['Skipped: valgrind is not on the PATH.'] };
  }
  const processes = quick ? 1 : PROCESSES;
  const [major] = process.versions.node.split('.');
  // What is compiled is there for all that follow.
  spawnSync(process.execPath, [...HOOK, '-e', '0'], {
    cwd: tmpdir(),
    env: { ...process.env, TRACEWRIGHT_DIR: join(tmpdir(), 'tracewright-start-first') },
  });
  rmSync(join(tmpdir(), 'tracewright-start-first'), { recursive: true, force: true });
  const figures = VARIANTS.map((variant) => {
    const found = Array.from({ length: processes }, () => countOnce(variant));
    return [
      median(found.map(({ first }) => first)) / 1e6,
      median(found.map(({ all }) => all)) / 1e6,
    ];
  });
  const [plain] = figures;
  return {
    tables: [
      {
        title: `Start to end of a process that does nothing, millions of instructions, median of ${processes} processes`,
        columns: ['Node', 'preloaded', 'main thread', 'all threads', 'more than plain'],
        rows: VARIANTS.map(({ name }, i) => [
          Number(major),
          name,
          ...figures[i],
          i === 0 ? '' : figures[i][1] - plain[1],
        ]),
      },
    ],
    notes: ['Counted by callgrind, with the garbage collector.'],
  };
}

await main(import.meta.url, { title: "The instructions of a process's start", measure });
