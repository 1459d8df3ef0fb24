// Compiles the addon from the sources and flags that binding.gyp names, with nothing but a C++
// compiler: node-gyp would want Python, make and a download of Node's headers too. Node-API's own
// headers come with the package node-api-headers, and the addon runs on every supported Node.
//
//   node scripts/build-native.mjs [--target NAME] [--if-stale]

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const { values: options } = parseArgs({
  options: {
    target: { type: 'string', default: 'tracewright' },
    'if-stale': { type: 'boolean', default: false },
  },
});

const gyp = JSON.parse(readFileSync(join(root, 'binding.gyp'), 'utf8'));
const target = gyp.targets.find((each) => each.target_name === options.target);
if (target === undefined) throw new Error(`binding.gyp has no target ${options.target}`);
const output = join(root, 'build', 'Release', `${target.target_name}.node`);

function newest(directory) {
  return Math.max(
    statSync(join(root, 'binding.gyp')).mtimeMs,
    ...readdirSync(directory, { recursive: true }).map(
      (name) => statSync(join(directory, name)).mtimeMs,
    ),
  );
}

if (
  options['if-stale'] &&
  existsSync(output) &&
  statSync(output).mtimeMs > newest(join(root, 'native'))
) {
  process.exit(0);
}

const compiler = process.env.CXX ?? 'c++';
const flags = [
  ...target.cflags_cc,
  ...target.defines.map((define) => `-D${define}`),
  `-DNODE_GYP_MODULE_NAME=${target.target_name}`,
  '-DBUILDING_NODE_EXTENSION',
  '-fPIC',
  '-pthread',
  `-I${require('node-addon-api').include_dir}`,
  `-I${require('node-api-headers').include_dir}`,
  `-I${join(root, 'native')}`,
];
const objects = join(root, 'build', 'objects', target.target_name);
mkdirSync(objects, { recursive: true });
mkdirSync(dirname(output), { recursive: true });

function compile(source) {
  const object = join(objects, `${source.replaceAll('/', '-')}.o`);
  return new Promise((resolve, reject) => {
    const child = spawn(compiler, [...flags, '-c', join(root, source), '-o', object], {
      stdio: 'inherit',
    });
    child.on('error', () => {
      reject(
        new Error(`${compiler} could not be started: install a C++ compiler, or name one in CXX`),
      );
    });
    child.on('exit', (code) => {
      if (code === 0) resolve(object);
      else reject(new Error(`${compiler} failed on ${source}`));
    });
  });
}

const waiting = [...target.sources];
const done = [];
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
      done.push(await compile(source));
    }
  }),
);

// Linked beside and renamed, so that a process which has the old one loaded keeps it whole.
const link =
  process.platform === 'darwin'
    ? ['-bundle', '-undefined', 'dynamic_lookup']
    : ['-shared', '-Wl,--gc-sections', '-Wl,-s'];
execFileSync(compiler, [...link, '-pthread', ...done.sort(), '-o', `${output}.new`], {
  stdio: 'inherit',
});
renameSync(`${output}.new`, output);
