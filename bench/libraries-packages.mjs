// The packages of the service with libraries, and of its peers. npm installs them into build/libraries-service.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/package-layout.mjs';

const PACKAGES = {
  '@opentelemetry/api': '1.10.0',
  '@opentelemetry/auto-instrumentations-node': '0.82.0',
  'dd-trace': '6.21.0',
  express: '5.3.0',
  fastify: '5.12.8',
  ioredis: '6.0.0',
  mysql2: '3.24.6',
  pg: '8.23.1',
  redis: '6.3.1',
};

/** @returns the directory that has them. */
export function installPackages() {
  const place = join(root, 'build', 'libraries-service');
  const manifest = JSON.stringify({ private: true, dependencies: PACKAGES }, null, 2);
  const done = join(place, 'installed.json');
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return place;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), manifest);
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock'];
  const { status } = spawnSync('npm', args, { cwd: place, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm cannot install the packages');
  writeFileSync(done, manifest);
  return place;
}
