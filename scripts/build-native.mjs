// Compiles the addon from the sources and flags that binding.gyp names, with nothing but a C++
// compiler: node-gyp would want Python, make and a download of Node's headers too. Node-API's own
// headers come with the package node-api-headers, and the addon runs on every supported Node.
//
//   node scripts/build-native.mjs [--target NAME] [--output DIRECTORY] [--define NAME]... [--if-stale]
//     [--werror] [--sanitize address|thread|undefined]

import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  addonFlags,
  addonObjects,
  compileSources,
  gypTarget,
  linkFlags,
  root,
  runCompiler,
  SANITIZERS,
} from './compile-native.mjs';

const { values: options } = parseArgs({
  options: {
    target: { type: 'string', default: 'tracewright' },
    output: { type: 'string', default: join(root, 'build') },
    define: { type: 'string', multiple: true, default: [] },
    'if-stale': { type: 'boolean', default: false },
    sanitize: { type: 'string' },
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

// One of them is called "undefined".
const sanitizer = options.sanitize === undefined ? [] : SANITIZERS[options.sanitize];
const plainFlags = [
  ...addonFlags(target),
  ...(options.werror ? ['-Werror'] : []),
  ...sanitizer,
  ...(sanitizer.length > 0 ? ['-g', '-fno-omit-frame-pointer'] : []),
];
const defines = options.define.map((name) => `-D${name}`);
const headers = readdirSync(join(root, 'native'), { recursive: true })
  .filter((name) => name.endsWith('.h'))
  .map((name) => readFileSync(join(root, 'native', name), 'utf8'))
  .join('\n');
/** Whether a --define changes what a source compiles to: it names it, or a header does. */
function isChanged(source) {
  const text = readFileSync(join(root, source), 'utf8');
  return options.define.some((name) => text.includes(name) || headers.includes(name));
}
const changed = target.sources.filter(isChanged);
const objects = [
  // What no --define changes is shared with the addon of the checkout.
  ...(await compileSources(
    target.sources.filter((source) => !changed.includes(source)),
    plainFlags,
    addonObjects(target, changed.length > 0 && sanitizer.length === 0 ? undefined : build),
  )),
  ...(await compileSources(changed, [...plainFlags, ...defines], addonObjects(target, build))),
];

// Linked under another name and renamed: a process that has loaded the old addon keeps it intact.
mkdirSync(dirname(output), { recursive: true });
await runCompiler(
  // A sanitizer names functions.
  [
    ...linkFlags(target).filter((flag) => flag !== '-Wl,-s' || sanitizer.length === 0),
    ...sanitizer,
    ...objects,
    '-o',
    `${output}.new`,
  ],
  `${target.target_name}.node`,
);
renameSync(`${output}.new`, output);
