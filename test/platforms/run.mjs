// Tests the binaries of every platform as far as one machine can: that of its own platform under Node,
// arm64 under an emulator, musl in a C program, and all by what they ask of the system. What a tool is
// missing for is skipped, and named.
//
//   npm run test:platforms [-- --prebuilds DIRECTORY]
//
// Without a directory it makes the binaries first: `npm run prebuild -- --all`.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/package-layout.mjs';
import { platforms } from '../../scripts/platforms.mjs';
import { everyFormat, expectEveryFormat } from '../bundlers/every-format.mjs';
import { Project } from '../bundlers/project.mjs';
import { loadUnderMusl } from './musl.mjs';
import { emulatedNode } from './qemu.mjs';

const { values: options } = parseArgs({ options: { prebuilds: { type: 'string' } } });

function makeBinaries() {
  const place = join(tmpdir(), 'tracewright-platforms');
  const script = join(root, 'scripts', 'prebuild-all.mjs');
  const { status } = spawnSync(process.execPath, [script, '--all', '--output', place], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
  return join(place, 'prebuilds');
}

const prebuilds = resolve(options.prebuilds ?? makeBinaries());

/** The newest version of glibc that a binary asks for, such as 2.28. */
function glibcOf(bytes) {
  const versions = [...bytes.toString('latin1').matchAll(/GLIBC_2\.(\d+)/g)];
  return Math.max(...versions.map(([, minor]) => Number(minor)));
}

/** First bytes and, after those, the number of the processor. */
const HEADS = {
  'linux-x64': [0x464c457f, 18, 0x3e],
  'linux-arm64': [0x464c457f, 18, 0xb7],
  'darwin-x64': [0xfeedfacf, 4, 0x0007],
  'darwin-arm64': [0xfeedfacf, 4, 0x000c],
};

/** @throws when the binary is one of another platform, or needs a newer one than it may. */
function checkBinary({ name, file }) {
  const bytes = readFileSync(join(prebuilds, file));
  const [magic, at, machine] = HEADS[name.split('.')[0]];
  if (bytes.readUInt32LE(0) !== magic || bytes.readUInt16LE(at) !== machine) {
    throw new Error('this is a binary of another platform');
  }
  if (name.endsWith('.glibc') && glibcOf(bytes) > 28) {
    throw new Error(`this needs glibc 2.${glibcOf(bytes)}`);
  }
  if (bytes.includes('libstdc++.so')) throw new Error('this needs a C++ library');
}

/** Writes and reads every format with a Node. */
function runEveryFormat(command, binaries = prebuilds) {
  const project = new Project('', { 'formats.mjs': everyFormat }, [], binaries);
  try {
    const [program, ...args] = command;
    project.run(program, [...args, 'formats.mjs']);
    expectEveryFormat(project);
  } finally {
    rmSync(project.directory, { recursive: true, force: true });
  }
}

/** How a binary is run here; a text: why it cannot be. */
function runnerOf({ name, file }) {
  if (name === `${process.platform}-${process.arch}.glibc`) {
    return () => runEveryFormat([process.execPath]);
  }
  if (name === `${process.platform}-${process.arch}`)
    return () => runEveryFormat([process.execPath]);
  if (name === 'linux-arm64.glibc') {
    const node = emulatedNode();
    return typeof node === 'string' ? node : () => runEveryFormat(node);
  }
  if (name === `linux-${process.arch}.musl`) return loadUnderMusl(join(prebuilds, file));
  return 'there is nothing here to run it';
}

/** What `npm run prebuild` makes, by node-gyp, which the releases do not use. */
function runOwnPrebuild() {
  const output = mkdtempSync(join(tmpdir(), 'tracewright-prebuild-output-'));
  try {
    const script = join(root, 'scripts', 'prebuild.mjs');
    const { status } = spawnSync(process.execPath, [script, '--output', output], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) throw new Error('node-gyp has failed');
    runEveryFormat([process.execPath], join(output, 'prebuilds'));
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

try {
  runOwnPrebuild();
  process.stdout.write('npm run prebuild: runs\n');
} catch (error) {
  process.exitCode = 1;
  process.stdout.write(`npm run prebuild: FAILS\n${String(error?.message ?? error)}\n`);
}

for (const platform of platforms) {
  const { name, file } = platform;
  try {
    if (!existsSync(join(prebuilds, file))) throw new Error(`${file} is missing`);
    checkBinary(platform);
    const run = runnerOf(platform);
    if (typeof run === 'function') run();
    const what = typeof run === 'function' ? 'runs' : `checked, but not run: ${run}`;
    process.stdout.write(`${name}: ${what}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${name}: FAILS\n${String(error?.message ?? error)}\n`);
  }
}
