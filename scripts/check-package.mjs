// Checks what the built package exports, with publint and @arethetypeswrong/cli: every module system
// and every way in which TypeScript resolves modules must find code and types. Needs dist/.
//
//   node scripts/check-package.mjs

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './package-layout.mjs';

const copy = mkdtempSync(join(tmpdir(), 'tracewright-check-package-'));

/** Runs a step and ends with its output when it fails. */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status === 0) return;
  process.stderr.write(`${error?.message ?? ''}${stdout}${stderr}`);
  process.exitCode = 1;
}

try {
  // Without binaries and without the scripts that make them: neither changes what is exported.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  delete manifest.scripts;
  writeFileSync(join(copy, 'package.json'), JSON.stringify(manifest));
  for (const name of ['dist', 'README.md', 'LICENSE']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  const tool = (name) => join(root, 'node_modules', '.bin', name);
  run(tool('publint'), ['run', copy, '--strict', '--pack', 'npm'], root);
  run('npm', ['pack', '--silent'], copy);
  const tarball = join(copy, `tracewright-${manifest.version}.tgz`);
  run(tool('attw'), [tarball, '--format', 'table-flipped'], root);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
