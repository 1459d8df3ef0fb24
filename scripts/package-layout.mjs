// Which file of the published package each module of src/ is built into. A few files start faster
// than many: Node spends longer on finding and compiling a small module than on running it.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const dist = join(root, 'dist');

/** What `exports` and `bin` of package.json name: the module in src/, which has a file of its own. */
export const faces = [
  'ovni/index',
  'heph/index',
  'dumpi/index',
  'dumpi/workers/index',
  'laplace/index',
  'spans/index',
  'node/register',
  'cli/main',
];

/** The modules of each file; the first rule that matches holds. */
const rules = [
  ...faces.map((face) => [new RegExp(`^${face}$`), face]),
  // Files that are loaded when they are first needed.
  [/^core\/recovery\/(?!predecessor|process-identity|recovery-errors|ring-trust)/, 'core/recovery'],
  [/^(ovni|heph|dumpi|laplace)\/read\//, '$1/reading'],
  [/^dumpi\/workers\//, 'dumpi/workers/index'],
  [/^spans\/read\//, 'spans/reading'],
  [/^spans\//, 'spans/spans'],
  [/^node\/run\/(earlier-traces|trace-content)$/, 'node/earlier-traces'],
  // What decides whether a process is traced at all needs nothing else.
  [/^(node\/enabled|core\/options\/switch)$/, 'node/enabled'],
  // ncc finds the binaries in files of older syntax only: see load-addon.ts.
  [/^core\/load-addon$/, 'core/load-addon'],
  [/^core\//, 'core/core'],
  [/^ovni\/(catalog|signature|declared-payload|write\/event)$/, 'ovni/events'],
  [/^(ovni|heph|dumpi|laplace)\//, '$1/$1'],
  [/^node\/requests\/context\/(?!propagation-policy)/, 'node/context'],
  [/^node\//, 'node/hook'],
  [/^(traces|cli)\//, 'cli/commands'],
];

/**
 * The file of dist/, without its suffix, that a module is built into.
 *
 * @param module path in src/ without its suffix, such as `ovni/write/emit`.
 */
export function fileOf(module) {
  for (const [pattern, file] of rules) {
    const match = pattern.exec(module);
    if (match !== null) return file.replaceAll(/\$(\d)/g, (_, group) => match[group]);
  }
  throw new Error(`no file of the package holds src/${module}.ts: add a rule`);
}

/** Modules that tests, torture and fuzz runs use of the built package, next to what it exports. */
export const internals = [
  'core/addon',
  'core/errors',
  'core/files/make-directories',
  'ovni/layout',
  'ovni/read/dump',
  'heph/layout',
  'heph/write/trace',
  'heph/read/dump',
  'dumpi/calls',
  'dumpi/file-names',
  'dumpi/read/dump',
  'laplace/read/dump',
];

/** The property by which one file of the package exports a module to the others. */
export function exportName(module) {
  return module.replaceAll(/[^\w]/g, '_');
}

const require = createRequire(import.meta.url);

/** One of the `internals` of the built package: the same instance that its exports use. */
export function internal(module) {
  if (!internals.includes(module)) throw new Error(`${module} is not listed in package-layout.mjs`);
  return require(join(dist, `${fileOf(module)}.js`))[exportName(module)];
}
