// Before the package is packed: what it holds is compiled, and lacks no binaries.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
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

if (binaries().length === 0) {
  process.stderr.write('the package would hold no binary: run `npm run prebuild` first\n');
  process.exit(1);
}
execFileSync('npm', ['run', 'compile:ts'], { cwd: root, stdio: 'inherit' });
