// Runs the TypeScript tests on another version of Node, which npm brings as a package.
//
//   node scripts/test-on-node.mjs VERSION [argument of vitest ...]     such as 22, or 24.1.0

import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { otherNode, VERSION } from './other-node.mjs';
import { root } from './package-layout.mjs';

const [version, ...rest] = process.argv.slice(2);
if (version === undefined || !VERSION.test(version)) {
  process.stderr.write('Usage: node scripts/test-on-node.mjs VERSION [argument of vitest ...]\n');
  process.exit(2);
}

const directory = otherNode(version);
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
