// Compiles the addon from the sources and flags that binding.gyp names, with nothing but a C++
// compiler: node-gyp would want Python, make and a download of Node's headers too. Node-API's own
// headers come with the package node-api-headers, and the addon runs on every supported Node.
//
//   node scripts/build-native.mjs [--target NAME] [--output DIRECTORY] [--define NAME]... [--if-stale]
//     [--werror]

import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compileSources, gypTarget, root, runCompiler } from './compile-native.mjs';

const require = createRequire(import.meta.url);
const { values: options } = parseArgs({
  options: {
    target: { type: 'string', default: 'tracewright' },
    output: { type: 'string', default: join(root, 'build') },
    define: { type: 'string', multiple: true, default: [] },
    'if-stale': { type: 'boolean', default: false },
    werror: { type: 'boolean', default: false },
  },
});

const target = gypTarget(options.target);
const build = resolve(options.output);
const output = join(build, 'Release', `${target.target_name}.node`);

function newest(directory) {
  return Math.max(
    statSync(join(root, 'binding.gyp')).mtimeMs,
    ...readdirSync(directory, { recursive: true }).map(
      (name) => statSync(join(directory, name)).mtimeMs,
    ),
  );
}

const stale = !existsSync(output) || statSync(output).mtimeMs <= newest(join(root, 'native'));
if (options['if-stale'] && !stale) process.exit(0);

const flags = [
  ...target.cflags_cc,
  ...(options.werror ? ['-Werror'] : []),
  ...[...target.defines, ...options.define].map((define) => `-D${define}`),
  `-DNODE_GYP_MODULE_NAME=${target.target_name}`,
  '-DBUILDING_NODE_EXTENSION',
  '-fPIC',
  '-pthread',
  // Node-API's headers are others' code: no warnings from there.
  '-isystem',
  require('node-addon-api').include_dir,
  '-isystem',
  require('node-api-headers').include_dir,
  `-I${join(root, 'native')}`,
];
const objects = await compileSources(
  target.sources,
  flags,
  join(build, 'objects', target.target_name),
);

// Linked under another name and renamed: a process that has loaded the old addon keeps it intact.
const link =
  process.platform === 'darwin'
    ? ['-bundle', '-undefined', 'dynamic_lookup']
    : ['-shared', '-Wl,-s'];
mkdirSync(dirname(output), { recursive: true });
await runCompiler(
  [...link, ...target.ldflags, '-pthread', ...objects, '-o', `${output}.new`],
  `${target.target_name}.node`,
);
renameSync(`${output}.new`, output);
