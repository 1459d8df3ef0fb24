import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './package-layout.mjs';

/**
 * Installs packages into a directory of build/ and runs a folder of tests, which find that directory in a variable.
 * The arguments of the process go to vitest.
 *
 * @param {object} run
 * @param {Readonly<Record<string, string>>} run.packages as in a package.json.
 * @param {Readonly<Record<string, string>>} [run.optional] without which tests of them are skipped.
 * @param {string} run.directory in build/.
 * @param {string} run.tests
 * @param {string} run.variable
 */
export function testWithPackages({ packages, optional = {}, directory, tests, variable }) {
  const place = join(root, 'build', directory);
  mkdirSync(place, { recursive: true });
  const manifest = { private: true, dependencies: packages, optionalDependencies: optional };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest, null, 2));
  const install = ['install', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', install, { cwd: place, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const ran = spawnSync(process.execPath, [vitest, 'run', tests, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, [variable]: place },
  });
  process.exitCode = ran.status ?? 1;
}
