// Makes the binary that a package ships, by node-gyp, for this platform and C library. It works in a
// copy, because node-gyp clears build/, and with it the addon that the checkout runs on.
//
//   npm run prebuild [-- --output DIRECTORY]     into DIRECTORY/prebuilds; default: the checkout
//   npm run prebuild -- --all                    every platform: see prebuild-all.mjs

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './compile-native.mjs';

if (process.argv.includes('--all')) {
  await import('./prebuild-all.mjs');
  process.exit();
}

const { values: options } = parseArgs({
  options: { output: { type: 'string', default: root } },
});
const output = resolve(options.output);
const copy = mkdtempSync(join(tmpdir(), 'tracewright-prebuild-'));
try {
  for (const name of ['package.json', 'binding.gyp', 'native']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(output, { recursive: true });
  const prebuildify = join(root, 'node_modules', 'prebuildify', 'bin.js');
  // Headers installed with this Node need not be downloaded.
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  const nodedir = existsSync(join(prefix, 'include', 'node', 'node_api.h'))
    ? { npm_config_nodedir: prefix }
    : {};
  const { status } = spawnSync(
    process.execPath,
    [prebuildify, '--napi', '--strip', '--tag-libc', '--cwd', copy, '--out', output],
    { stdio: 'inherit', env: { JOBS: 'max', ...nodedir, ...process.env } },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
