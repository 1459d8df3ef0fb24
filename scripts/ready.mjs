// Makes a clone ready to run: installs the dependencies, compiles the addon and the TypeScript, each
// only where that is missing or out of date. Says nothing when there is nothing to do. It runs
// before anything is installed, so it uses Node's own modules only.
//
//   node scripts/ready.mjs

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Runs a step; its output is shown when it fails, and then nothing else makes sense.
 *
 * @param usually how long it takes on a machine with two cores.
 */
function step(title, usually, command, args) {
  process.stderr.write(`${title} (${usually}) ...\n`);
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
  process.stderr.write(
    `\n${title} failed${error ? `: ${error.message}` : ''}: ${command} ${args.join(' ')}\n`,
  );
  process.exit(1);
}

/** The latest change of a file, or of anything in a directory but its tests; 0: there is nothing. */
function newest(...names) {
  let latest = 0;
  for (const name of names) {
    const path = join(root, name);
    if (!existsSync(path)) continue;
    latest = Math.max(latest, statSync(path).mtimeMs);
    if (!statSync(path).isDirectory()) continue;
    for (const entry of readdirSync(path, { recursive: true })) {
      if (/^(test|bench|torture)\b/.test(entry)) continue;
      latest = Math.max(latest, statSync(join(path, entry)).mtimeMs);
    }
  }
  return latest;
}

/** What the lock file held when the dependencies were installed last. */
const stamp = join(root, 'node_modules', '.tracewright-lock');

function dependenciesAreThere(lock) {
  if (!existsSync(join(root, 'node_modules'))) return false;
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8') === lock;
  // Installed by hand: npm's own record is as new as what it installed.
  const record = 'node_modules/.package-lock.json';
  return existsSync(join(root, record)) && newest(record) >= newest('package-lock.json');
}

const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
if (!dependenciesAreThere(lock)) {
  step('Installing dependencies', 'some 20 s', 'npm', ['ci', '--no-audit', '--no-fund']);
}
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) writeFileSync(stamp, lock);

const addon = newest('build/Release/tracewright.node');
if (addon <= newest('native', 'binding.gyp') || addon === 0) {
  step('Compiling the addon', 'some 30 s', process.execPath, ['scripts/build-native.mjs']);
}

// The compiler may leave files as they are, so the moment is kept in a file of its own; not in dist,
// which is published.
const compiled = join(root, 'build', '.typescript-compiled');
if (
  !existsSync(join(root, 'dist')) ||
  newest('build/.typescript-compiled') <=
    newest(
      'src',
      'scripts/build-package.mjs',
      'scripts/package-layout.mjs',
      'package.json',
      'tsconfig.json',
      'tsconfig.build.json',
    )
) {
  step('Compiling TypeScript', 'some 10 s', process.execPath, [
    join('scripts', 'build-package.mjs'),
  ]);
  writeFileSync(compiled, '');
}
