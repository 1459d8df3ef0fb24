import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The libraries that the tests run, each under a name of its own: its newest version and the oldest that publishes
 * what it does. npm takes older majors on an old Node unless the version is exact.
 */
const PACKAGES = {
  'express-newest': 'npm:express@5.3.0',
  router: '2.3.0',
  'fastify-newest': 'npm:fastify@5.12.8',
  'fastify-oldest': 'npm:fastify@5.0.0',
  'ioredis-newest': 'npm:ioredis@6.0.0',
  'ioredis-oldest': 'npm:ioredis@5.11.0',
  'mysql2-newest': 'npm:mysql2@3.24.6',
  'mysql2-oldest': 'npm:mysql2@3.20.0',
  'redis-newest': 'npm:@redis/client@6.3.1',
  'redis-oldest': 'npm:@redis/client@5.12.0',
} as const;

/** A library and which of its versions. */
export type PackageName = keyof typeof PACKAGES;

/** The version of a library that the tests run. */
export function versionOf(name: PackageName): string {
  return PACKAGES[name].replace(/^npm:.*@/, '');
}

const place = fileURLToPath(new URL('../../build/libraries/', import.meta.url));
const manifest = JSON.stringify({ private: true, dependencies: PACKAGES }, null, 2);
const LOCK_AGE_MS = 300_000;

function isInstalled(): boolean {
  const done = join(place, 'installed.json');
  return existsSync(done) && readFileSync(done, 'utf8') === manifest;
}

/** Waits until no other test installs; false: another one has held the lock for too long, and it is free now. */
async function lock(path: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(path);
      return;
    } catch {
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > LOCK_AGE_MS) rmSync(path, { recursive: true, force: true });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** The directory with the packages, which are installed if they are not there yet. */
export async function installedPackages(): Promise<string> {
  mkdirSync(place, { recursive: true });
  const held = join(dirname(place), 'libraries.lock');
  await lock(held);
  try {
    if (isInstalled()) return place;
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), manifest);
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];
    const { status, stderr } = spawnSync('npm', ['install', ...options], {
      cwd: place,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`npm has not installed the libraries: ${stderr}`);
    writeFileSync(join(place, 'installed.json'), manifest);
    return place;
  } finally {
    rmSync(held, { recursive: true, force: true });
  }
}
