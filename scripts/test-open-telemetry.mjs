// Runs the hook with programs that use OpenTelemetry's API, SDK and instrumentations, of exact versions,
// which npm installs into build/open-telemetry. PostgreSQL and Redis of this machine must answer.
//
//   npm run test:open-telemetry

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './package-layout.mjs';

const PACKAGES = {
  '@fastify/otel': '0.21.2',
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/auto-instrumentations-node': '0.81.2',
  '@opentelemetry/context-async-hooks': '2.12.0',
  '@opentelemetry/instrumentation': '0.223.0',
  '@opentelemetry/instrumentation-express': '0.71.1',
  '@opentelemetry/instrumentation-http': '0.223.0',
  '@opentelemetry/instrumentation-ioredis': '0.71.0',
  '@opentelemetry/instrumentation-pg': '0.76.0',
  '@opentelemetry/sdk-node': '0.223.0',
  '@opentelemetry/sdk-trace-base': '2.12.1',
  '@opentelemetry/sdk-trace-node': '2.12.0',
  '@ai-sdk/openai-compatible': '2.0.91',
  '@prisma/adapter-pg': '7.10.0',
  '@prisma/client': '7.10.0',
  '@prisma/instrumentation': '7.10.0',
  '@vercel/otel': '2.1.3',
  ai: '6.0.324',
  'api-1.0': 'npm:@opentelemetry/api@1.0.0',
  'api-1.10': 'npm:@opentelemetry/api@1.10.0',
  bullmq: '6.7.0',
  'bullmq-otel': '2.0.1',
  express: '5.3.0',
  fastify: '5.12.8',
  // Publishes nothing on channels.
  'express-5.1': 'npm:express@5.1.0',
  ioredis: '5.8.2',
  next: '16.4.6',
  pg: '8.23.1',
  prisma: '7.10.0',
  react: '19.2.0',
  'react-dom': '19.2.0',
};

const place = join(root, 'build', 'open-telemetry');
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
  [vitest, 'run', 'test/node/open-telemetry', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, TRACEWRIGHT_TEST_OPEN_TELEMETRY: place } },
);
process.exitCode = tests.status ?? 1;
