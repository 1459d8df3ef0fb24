// Runs the hook with real frameworks and loggers, which npm installs into build/frameworks.
//
//   npm run test:frameworks

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './package-layout.mjs';

const PACKAGES = {
  express4: 'npm:express@4.22.3',
  express5: 'npm:express@5.3.0',
  fastify4: 'npm:fastify@4.29.1',
  fastify5: 'npm:fastify@5.12.8',
  hono: '4.13.19',
  '@hono/node-server': '^1.19.0',
  '@koa/router': '^14.0.0',
  koa: '2.16.4',
  pino: '^10.0.0',
  winston: '^3.18.0',
};

const place = join(root, 'build', 'frameworks');
mkdirSync(place, { recursive: true });
writeFileSync(
  join(place, 'package.json'),
  JSON.stringify({ private: true, dependencies: PACKAGES }, null, 2),
);
const inherit = { cwd: place, stdio: 'inherit' };
const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], inherit);
if (status !== 0) process.exit(status ?? 1);
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const tests = spawnSync(
  process.execPath,
  [vitest, 'run', 'test/node/frameworks', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, TRACEWRIGHT_TEST_FRAMEWORKS: place } },
);
process.exitCode = tests.status ?? 1;
