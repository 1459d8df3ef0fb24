// What hooks of the module loader add to the start of an ES module program, and which of them the register hook
// installs on which Node.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { otherNode } from '../scripts/other-node.mjs';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';
import { installPackages } from './otel-packages.mjs';
import {
  NODES_OPTION,
  PRINT_USAGE,
  startInTurns,
  startProcess,
  startTable,
} from './started-processes.mjs';

const NODES = '20,22,24,26';
const INCLUDE = JSON.stringify(['express', 'ioredis', 'pg', 'pg-pool']);

const PROGRAM = `import fs from 'node:fs';
import { trace } from '@opentelemetry/api';
import 'express';
import 'ioredis';
import 'pg';
trace.getTracer('program').startSpan('start').end();
${PRINT_USAGE}
setImmediate(() => process.exit());
`;

const FILES = {
  'program.mjs': PROGRAM,
  // In a thread of its own.
  'asynchronous.mjs': `import { register } from 'node:module';
register('import-in-the-middle/hook.mjs', import.meta.url, { data: { include: ${INCLUDE} } });
`,
  // In the program's thread; on Nodes that cannot do that it ends the process.
  'synchronous.mjs': `import { supportsSyncHooks } from 'import-in-the-middle/supports-sync-hooks.mjs';
if (!supportsSyncHooks()) process.exit(1);
const { register } = await import('import-in-the-middle/register-hooks.mjs');
register({ include: ${INCLUDE} });
`,
  // Writes which functions of node:module are called.
  'calls.cjs': `const loader = require('node:module');
const called = new Set();
for (const name of ['register', 'registerHooks']) {
  const own = loader[name];
  if (own === undefined) continue;
  loader[name] = function (...values) {
    called.add(name);
    return own.apply(this, values);
  };
}
loader.syncBuiltinESMExports();
process.on('exit', () => require('node:fs').writeFileSync(process.env.CALLS_FILE, [...called].join(', ')));
`,
};

const hookFlags = ['--import', import.meta.resolve('tracewright/register')];

/** @param {string} place */
function variantsIn(place) {
  const preload = (/** @type {string} */ name) => ['--import', join(place, name)];
  const off = { TRACEWRIGHT_INSTRUMENTATIONS: 'off' };
  return [
    { name: 'plain', flags: [], env: {} },
    { name: 'module.register alone', flags: preload('asynchronous.mjs'), env: {} },
    { name: 'registerHooks alone', flags: preload('synchronous.mjs'), env: {} },
    { name: 'tracewright/register without instrumentations', flags: hookFlags, env: off },
    { name: 'tracewright/register with instrumentations', flags: hookFlags, env: {} },
  ];
}
const SYNCHRONOUS = 2;

/** @param {{ quick: boolean, nodes?: string }} options */
async function measure({ quick, nodes = NODES }) {
  const rounds = quick ? 3 : 15;
  const place = installPackages();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(place, name), text);
  const rows = [];
  const own = process.versions.node.split('.')[0];
  for (const version of nodes.split(',')) {
    const node = version === own ? process.execPath : join(otherNode(version), 'node');
    const directory = mkdtempSync(join(tmpdir(), 'tracewright-module-hooks-'));
    /** @type {(flags: readonly string[], env: Record<string, string>, name: string) => import('./started-processes.mjs').Start} */
    const start = (flags, env, name) =>
      startProcess(node, [...flags, join(place, 'program.mjs')], {
        cwd: place,
        env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_DIR: join(directory, name), ...env },
      });
    const all = variantsIn(place);
    const file = join(directory, 'calls');
    const counting = ['--require', join(place, 'calls.cjs'), ...hookFlags];
    start(counting, { CALLS_FILE: file }, 'counting');
    const called = readFileSync(file, 'utf8');
    const variants = all.filter((_, i) => i !== SYNCHRONOUS || called.includes('registerHooks'));
    const figures = startInTurns(variants, { rounds, warmUpRounds: 1 }, ({ flags, env }, name) =>
      start(flags, env, name),
    );
    rmSync(directory, { recursive: true, force: true });
    const [plain] = figures;
    for (const [i, { name }] of variants.entries()) {
      const added = (/** @type {'ms' | 'cpuMs' | 'mb'} */ of) =>
        i === 0 ? '' : median(figures[i].map((figure, round) => figure[of] - plain[round][of]));
      const used = i === variants.length - 1 ? called : '';
      rows.push([
        version,
        name,
        median(figures[i].map(({ cpuMs }) => cpuMs)),
        added('ms'),
        added('cpuMs'),
        added('mb'),
        used,
      ]);
    }
  }
  return {
    tables: [
      startTable(
        'program of ES modules that imports express, ioredis, pg and the API',
        rounds,
        ['Node', 'preloaded', 'CPU ms', 'added ms', 'added CPU ms', 'added MB', 'the hook calls'],
        rows,
      ),
    ],
    notes: ['The module hooks are those of import-in-the-middle.'],
  };
}

await main(import.meta.url, {
  title: 'What module hooks add to the start of a program',
  ...NODES_OPTION,
  measure,
});
