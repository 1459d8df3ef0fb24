// What tracing adds to the start of a program that has the OpenTelemetry API and its instrumentations installed.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { otherNode } from '../scripts/other-node.mjs';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';
import { ALL, installPackages } from './otel-packages.mjs';
import {
  NODES,
  NODES_OPTION,
  PRINT_USAGE,
  startInTurns,
  startProcess,
  startTable,
} from './started-processes.mjs';

/** It loads what a service loads, and records one span. */
const PROGRAM = `const { trace } = require('@opentelemetry/api');
require('express');
require('ioredis');
require('pg');
trace.getTracer('program').startSpan('start').end();
const fs = require('node:fs');
${PRINT_USAGE}
setImmediate(() => process.exit());
`;

function install() {
  const place = installPackages();
  writeFileSync(join(place, 'program.cjs'), PROGRAM);
  return place;
}

/** The SDK with its batch processor and nothing that exports: as little as it can do. */
const SDK = {
  OTEL_TRACES_EXPORTER: 'none',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
  OTEL_NODE_RESOURCE_DETECTORS: 'none',
};

/** @param {string} place */
function variantsIn(place) {
  const hook = ['--import', import.meta.resolve('tracewright/register')];
  const official = createRequire(join(place, 'x')).resolve(`${ALL}/register`);
  return [
    { name: 'plain', flags: [], env: {} },
    { name: 'tracewright/register', flags: hook, env: {} },
    {
      name: 'the same, TRACEWRIGHT_INSTRUMENTATIONS=off',
      flags: hook,
      env: { TRACEWRIGHT_INSTRUMENTATIONS: 'off' },
    },
    { name: `${ALL}/register`, flags: ['--require', official], env: SDK },
  ];
}
const HOOK = 1;
const OFFICIAL = 3;

/** @param {{ quick: boolean, nodes?: string }} options */
async function measure({ quick, nodes = NODES }) {
  const rounds = quick ? 3 : 15;
  const place = install();
  const variants = variantsIn(place);
  const rows = [];
  const goals = [];
  const own = process.versions.node.split('.')[0];
  for (const version of nodes.split(',')) {
    const node = version === own ? process.execPath : join(otherNode(version), 'node');
    const directory = mkdtempSync(join(tmpdir(), 'tracewright-start-otel-'));
    const figures = startInTurns(variants, { rounds, warmUpRounds: 1 }, ({ flags, env }, name) =>
      startProcess(node, [...flags, join(place, 'program.cjs')], {
        cwd: place,
        env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_DIR: join(directory, name), ...env },
        isSilent: true,
      }),
    );
    rmSync(directory, { recursive: true, force: true });
    const [plain] = figures;
    /** @type {(i: number, of: 'ms' | 'cpuMs' | 'mb') => number} */
    const added = (i, of) =>
      median(figures[i].map((figure, round) => figure[of] - plain[round][of]));
    for (const [i, { name }] of variants.entries()) {
      const own = [
        median(figures[i].map(({ ms }) => ms)),
        median(figures[i].map(({ cpuMs }) => cpuMs)),
      ];
      const more = i === 0 ? ['', '', ''] : [added(i, 'ms'), added(i, 'cpuMs'), added(i, 'mb')];
      rows.push([version, name, ...own, ...more]);
    }
    const share = added(HOOK, 'cpuMs') / added(OFFICIAL, 'cpuMs');
    goals.push({
      goal: `Node ${version}: at most half of the CPU time that ${ALL}/register adds`,
      figure: share,
      met: share <= 0.5,
    });
  }
  return {
    tables: [
      startTable(
        'program that loads express, ioredis, pg and the API',
        rounds,
        ['Node', 'preloaded', 'median ms', 'CPU ms', 'added ms', 'added CPU ms', 'added MB'],
        rows,
      ),
    ],
    goals,
    notes: [
      'The hook starts those instrumentations whose library is installed. The SDK has no exporter and no resource detector.',
    ],
  };
}

await main(import.meta.url, {
  title: 'What tracing adds to the start of a program with OpenTelemetry',
  ...NODES_OPTION,
  measure,
});
