// The packages of OpenTelemetry, and of a service, that measurements of a start need. npm installs them into
// build/start-otel.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/package-layout.mjs';

export const ALL = '@opentelemetry/auto-instrumentations-node';
const PACKAGES = {
  [ALL]: '0.81.2',
  '@opentelemetry/api': '1.9.1',
  express: '5.3.0',
  ioredis: '5.8.2',
  pg: '8.23.1',
};

/** Installs them if they are missing, and returns where they are. */
export function installPackages() {
  const place = join(root, 'build', 'start-otel');
  mkdirSync(place, { recursive: true });
  const manifest = { private: true, dependencies: PACKAGES };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  if (!existsSync(join(place, 'node_modules', ALL))) {
    const args = ['install', '--no-audit', '--no-fund'];
    const { status } = spawnSync('npm', args, { cwd: place, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error('npm cannot install the packages');
  }
  return place;
}
