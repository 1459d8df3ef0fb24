// Runs the TypeScript tests on another version of Node, which npm brings as a package.
//
//   node scripts/test-on-node.mjs VERSION [argument of vitest ...]     such as 22, or 24.1.0

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './compile-native.mjs';

const [version, ...rest] = process.argv.slice(2);
if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
  process.stderr.write('Usage: node scripts/test-on-node.mjs VERSION [argument of vitest ...]\n');
  process.exit(2);
}

// The packages that hold the binaries themselves, so that no install script has to run.
const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
const name = `${prefix}-${process.platform}-${process.arch}`;
const place = join(tmpdir(), `tracewright-node-${version}`);
const directory = join(place, 'node_modules', name, 'bin');

if (!existsSync(join(directory, 'node'))) {
  mkdirSync(place, { recursive: true });
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', place, '--no-audit', '--no-fund', `${name}@${version}`],
    { stdio: 'inherit' },
  );
  if (status !== 0) process.exit(1);
}

const node = join(directory, 'node');
spawnSync(node, ['--version'], { stdio: 'inherit' });
const { status } = spawnSync(
  node,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...rest],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${directory}${delimiter}${process.env.PATH}` },
  },
);
process.exitCode = status ?? 1;
