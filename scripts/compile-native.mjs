// Compiles C++ sources side by side, each one only when it or a header is newer than its object.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The compiler: `CXX`, or what the system calls `c++`. */
export const compiler = process.env.CXX ?? 'c++';

/** Flags for a sanitizer, of compiler and linker. */
export const SANITIZERS = {
  address: ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
  undefined: ['-fsanitize=undefined', '-fno-sanitize-recover=all'],
  // GCC warns that TSan does not model fences. What they order here are atomics throughout.
  thread: ['-fsanitize=thread', '-Wno-unknown-warning-option', '-Wno-tsan'],
};

/** binding.gyp is kept as plain JSON, so that it can be the one list of sources and flags. */
function readGyp() {
  return JSON.parse(readFileSync(join(root, 'binding.gyp'), 'utf8'));
}

const CONDITIONS = { "OS=='linux'": 'linux', "OS=='mac'": 'darwin' };

/** A target of binding.gyp with the parts that apply to `platform`. */
export function gypTarget(name, platform = process.platform) {
  const gyp = readGyp();
  const conditional = (gyp.conditions ?? []).flatMap(([, part]) => part.targets ?? []);
  const found = [...gyp.targets, ...conditional].find((target) => target.target_name === name);
  if (found === undefined) throw new Error(`binding.gyp has no target ${name}`);
  const target = { ldflags: [], ...found };
  for (const [condition, part] of found.conditions ?? []) {
    const system = CONDITIONS[condition];
    if (system === undefined) throw new Error(`binding.gyp: cannot decide ${condition}`);
    if (system !== platform) continue;
    for (const [key, value] of Object.entries(part))
      target[key] = [...(target[key] ?? []), ...value];
  }
  return target;
}

/** Flags that compile the sources of a target of binding.gyp into an addon. */
export function addonFlags(target) {
  return [
    ...target.cflags_cc,
    ...target.defines.map((define) => `-D${define}`),
    `-DNODE_GYP_MODULE_NAME=${target.target_name}`,
    '-DBUILDING_NODE_EXTENSION',
    '-fPIC',
    '-pthread',
    // No warnings from Node-API's headers: they are not ours to change.
    '-isystem',
    require('node-addon-api').include_dir,
    '-isystem',
    require('node-api-headers').include_dir,
    `-I${join(root, 'native')}`,
  ];
}

/** Where the objects of an addon are kept: in the build directory `build`. */
export function addonObjects(target, build = join(root, 'build')) {
  return join(build, 'objects', target.target_name);
}

/** Flags that link an addon for `platform`. */
export function linkFlags(target, platform = process.platform) {
  const kind =
    platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared', '-Wl,-s'];
  return [...kind, ...target.ldflags, '-pthread'];
}

/** Runs the compiler; its words go to the terminal. */
export function runCompiler(args, purpose) {
  return new Promise((resolve, reject) => {
    const child = spawn(compiler, args, { stdio: 'inherit' });
    child.on('error', () => {
      reject(
        new Error(`${compiler} could not be started: install a C++ compiler, or name one in CXX`),
      );
    });
    child.on('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${compiler} failed on ${purpose}`));
    });
  });
}

function newestHeader() {
  const directory = join(root, 'native');
  const headers = readdirSync(directory, { recursive: true })
    .filter((name) => name.endsWith('.h'))
    .map((name) => statSync(join(directory, name)).mtimeMs);
  return Math.max(0, ...headers);
}

/**
 * Compiles `sources` (paths from the root) into the directory `objects` and returns the object
 * files. A changed header makes every object stale.
 */
export async function compileSources(sources, flags, objects) {
  mkdirSync(objects, { recursive: true });
  const command = [compiler, ...flags].join('\n');
  const commandFile = join(objects, 'command');
  const sameCommand = existsSync(commandFile) && readFileSync(commandFile, 'utf8') === command;
  const header = newestHeader();
  const files = sources.map((source) => ({
    source,
    object: join(objects, `${source.replaceAll('/', '-')}.o`),
  }));
  const waiting = files.filter(({ source, object }) => {
    if (!sameCommand || !existsSync(object)) return true;
    const age = statSync(object).mtimeMs;
    return age < header || age < statSync(join(root, source)).mtimeMs;
  });
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        await runCompiler(
          [...flags, '-c', join(root, file.source), '-o', file.object],
          file.source,
        );
      }
    }),
  );
  writeFileSync(commandFile, command);
  return files.map(({ object }) => object).sort();
}
