// Counts the files of src that one recorded operation enters, and how often it turns back: a file calls one that
// the operation has entered before it. A file counts if V8's coverage says that a function of it ran.
//
//   node scripts/count-paths.mjs [--files] [OPERATION...]

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { root } from './package-layout.mjs';

/** What a path may have at most. @type {Record<string, { files: number, turns?: number }>} */
const GOALS = {
  request: { files: 10, turns: 6 },
  query: { files: 7, turns: 3 },
  ovni: { files: 7 },
  dumpi: { files: 8 },
};

const { values, positionals } = parseArgs({
  options: { files: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const out = join(root, 'build', 'path-count');

/** A file for each of src: the package joins them. */
async function compile() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = names.filter((name) => name.endsWith('.ts') && !name.startsWith('page/'));
  await build({
    entryPoints: sources.map((name) => join(root, 'src', name)),
    outbase: join(root, 'src'),
    outdir: out,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    define: { TRACEWRIGHT_VERSION: "'0.0.0'" },
    logLevel: 'error',
  });
  writeFileSync(join(out, 'package.json'), JSON.stringify({ type: 'commonjs' }));
}

/** @param {string} operation @returns {{ files: string[], unseen: string[], turns: string[] }} */
function pathOf(operation) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-paths-'));
  const isOfHook = operation === 'request' || operation === 'query';
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      ...(isOfHook ? ['-r', join(out, 'node/register.js')] : []),
      join(root, 'scripts/path-operation.mjs'),
      operation,
      out,
      directory,
    ],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        TRACEWRIGHT_PREBUILD: root,
        TRACEWRIGHT_DIR: join(directory, 'run'),
        TRACEWRIGHT_CONTEXT: 'on',
        TRACEWRIGHT_QUIET: '1',
        // Nothing else is to be recorded meanwhile.
        TRACEWRIGHT_STALL_MS: 'off',
        TRACEWRIGHT_GC_MS: 'off',
      },
    },
  );
  rmSync(directory, { recursive: true, force: true });
  if (status !== 0) throw new Error(`${operation}: ${stderr}`);
  const path = JSON.parse(stdout);
  // Every operation enters a file; one that none has entered was not recorded.
  if (path.files.length + path.unseen.length === 0) {
    throw new Error(
      `${operation}: no file of src was entered, so nothing was recorded. The hook stays off without the native ` +
        `addon (build it: npm run compile:native) and where TRACEWRIGHT_ENABLED or OTEL_SDK_DISABLED says so`,
    );
  }
  return path;
}

await compile();
for (const operation of positionals.length > 0 ? positionals : Object.keys(GOALS)) {
  const { files, unseen, turns } = pathOf(operation);
  const goal = GOALS[operation];
  const most = goal.turns === undefined ? `${goal.files}` : `${goal.files} + ${goal.turns}`;
  const all = [...files, ...unseen];
  process.stdout.write(
    `${operation}: ${all.length} files + ${turns.length} turns (at most ${most})\n`,
  );
  if (values.files) {
    for (const file of all) process.stdout.write(`  ${file}\n`);
    for (const turn of turns) process.stdout.write(`    ${turn}\n`);
  }
}
