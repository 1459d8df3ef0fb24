// Before the package is packed: what it holds is compiled, and its binaries are of these sources.

import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function binaries() {
  try {
    return readdirSync(`${root}prebuilds`, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.node'),
    );
  } catch {
    return [];
  }
}

function fail(reason) {
  process.stderr.write(`the package would hold ${reason}: run \`npm run prebuild\` first\n`);
  process.exit(1);
}

function newestSource() {
  const sources = readdirSync(`${root}native`, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(?:cc|h)$/.test(name) && !/^(?:test|bench|torture)\//.test(name),
  );
  return Math.max(...sources.map((name) => statSync(`${root}native/${name}`).mtimeMs));
}

if (binaries().length === 0) fail('no binary');
const newest = newestSource();
for (const name of binaries()) {
  if (statSync(`${root}prebuilds/${name}`).mtimeMs < newest) {
    fail(`${name}, which is older than a file of native/`);
  }
}
execFileSync('npm', ['run', 'compile:ts'], { cwd: root, stdio: 'inherit' });
