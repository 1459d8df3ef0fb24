// Which file of the published package each module of src/ is built into. A few files start faster
// than many: Node spends longer on finding and compiling a small module than on running it.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const dist = join(root, 'dist');
export const source = join(root, 'src');

/** The folders of the trace formats: each says how its files are called. */
export const FORMATS = readdirSync(source).filter((name) =>
  existsSync(join(source, name, 'file-names.ts')),
);
const OF_FORMAT = FORMATS.join('|');

/** Every module of src/ but the page, which is built for browsers: its path there, without the suffix. */
export const modules = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts') && !name.startsWith('page/'))
  .map((name) => name.slice(0, -'.ts'.length));

const PATTERNS = {
  // Type imports are not matched: they end with the compilation.
  static: /^(?:import|export)\s+(\{[^}]*\}|\*(?: as \w+)?|\w+)\s+from\s+'(\.[^']+)\.js';/gm,
  late: /(\b)require\('(\.[^']+)\.js'\)/g,
};

/** The names within the braces of an import, without types; all (`*`) of any other. */
function namesIn(clause) {
  if (!clause.startsWith('{')) return ['*'];
  return clause
    .slice(1, -1)
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && !each.startsWith('type '))
    .map((each) => each.split(' as ')[0]);
}

/** What a module imports of others, or requires of them within its functions (`late`). */
export function importsOf(module) {
  const text = readFileSync(join(source, `${module}.ts`), 'utf8');
  return Object.entries(PATTERNS).flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].map(([, clause, path]) => ({
      kind,
      imported: posix.join(posix.dirname(module), path),
      names: namesIn(clause),
    })),
  );
}

/** What `exports` and `bin` of package.json name: the module in src/, which has a file of its own. */
export const faces = [
  'ovni/index',
  'heph/index',
  'dumpi/index',
  'dumpi/workers/index',
  'laplace/index',
  'spans/index',
  'otel/index',
  'node/register',
  'cli/main',
];

/** What the hook loads before the program runs: the modules that it imports, and those that they import. */
const atStart = new Set();
function addAtStart(module) {
  if (atStart.has(module)) return;
  atStart.add(module);
  for (const { kind, imported } of importsOf(module)) if (kind === 'static') addAtStart(imported);
}
addAtStart('node/begin-tracing');

/** Modules that do not lie in the file of their folder; the first rule that matches holds. */
const exceptions = [
  ...faces.map((face) => [new RegExp(`^${face}$`), face]),
  // What decides whether a process is traced at all, and loads the rest of the hook. register.js must stay small: what
  // looks for exports in it, for `--import`, takes Node 22 more than 10 ms for 9 kB.
  [/^(node\/(?:begin-hook|enabled)|core\/options\/switch)$/, 'node/hook'],
  // Smaller than what it costs to load a file.
  [/^spans\/(hook-spans|keep\/thread-stalls)$/, 'core/start'],
  // ncc finds the binaries in files of older syntax only: see load-addon.ts.
  [/^core\/load-addon$/, 'core/load-addon'],
  // Names of channels, of which the hook needs no more at the start.
  [/^libraries\/(table|channel-names|parentless-calls)$/, 'node/start'],
  // One flag, which several files share.
  [/^node\/otel\/other-tracing$/, 'node/start'],
  // All that the hook needs of Heph at the start; a file of its own would take longer to load.
  [/^(heph|ovni)\/file-names$/, 'core/start'],
  [/^ovni\/write\/hook-stream$/, 'core/start'],
];

/** The files of the modules that are loaded when they are first needed; the first rule that matches holds. */
const folders = [
  [/^core\/recovery\/(?!predecessor|process-identity|recovery-errors|ring-trust)/, 'core/recovery'],
  [/^core\/living\//, 'core/recovery'],
  [new RegExp(`^(${OF_FORMAT})/read/`), '$1/reading'],
  [/^dumpi\/workers\//, 'dumpi/workers/index'],
  [/^spans\/read\//, 'spans/reading'],
  // The hook looks at the variables before there is a span.
  [
    /^spans\/(open-telemetry-variables|resource-(variable|detectors)|sampling|limits|context\/(propagators-variable|trace-state-entries|trace-context))$/,
    'spans/variables',
  ],
  // Only if they are wanted.
  [/^spans\/context\/other-formats$/, 'spans/other-formats'],
  [/^otel\/program-propagator$/, 'otel/program-propagator'],
  // A process below npm reads one small file at its start.
  [/^core\/files\/(regular-file|file-view)$/, 'core/regular-file'],
  // Little, and needed by the hook where no spans are.
  [/^(spans\/(conventions|keep-setting|layout|route)|otel\/keys)$/, 'core/core'],
  // Where not every trace is kept.
  [/^(spans\/keep\/|core\/ring\/waiting-ring$)/, 'spans/keep'],
  [/^spans\//, 'spans/spans'],
  [/^otel\//, 'otel/otel'],
  // On request only, by either of two.
  [/^node\/program-format$/, 'node/program-format'],
  // For large files only.
  [/^node\/bundled-libraries$/, 'node/bundled-libraries'],
  // Loaded with the first library that has no channels of its own.
  [/^(node\/(changed-files|es-module-injection)|libraries\/injected\/.*)$/, 'node/changed-files'],
  // Where channels are put into a library, whether anything is recorded or not.
  [/^libraries\/engine\/(published-calls|fastify-route)$/, 'libraries/published-calls'],
  [/^libraries\/(record-library|library|engine\/(?!sql|redis))/, 'libraries/libraries'],
  [/^libraries\/engine\/sql/, 'libraries/sql'],
  [/^libraries\/engine\/redis-commands$/, 'libraries/redis-commands'],
  // Little, and needed for every request of HTTP/2.
  [/^libraries\/shared-grpc$/, 'node/request-spans'],
  // Loaded with the library's first message.
  [/^libraries\/kafka-messages$/, 'libraries/kafka'],
  [/^libraries\/([\w-]+)$/, 'libraries/$1'],
  // Only if earlier runs are unfinished, or count.
  [/^node\/run\/(earlier-traces|trace-content)$/, 'node/earlier-traces'],
  // Only if a process has left something unfinished.
  [/^node\/run\/recover-earlier$/, 'node/recover-earlier'],
  // Where there is no binary. They are loaded while core/start is, so they need no other file.
  [/^core\/(plain-core|control-layout|no-counts)$/, 'core/plain-core'],
  // What compiles emitters.
  [/^core\/(int64|ring\/(compile|emitter-builder))$/, 'core/emitters'],
  // Only if spans are to be sent.
  [/^node\/run\/start-shipper$/, 'node/start-shipper'],
  // Only where no service could run.
  [/^node\/few-descriptors$/, 'node/few-descriptors'],
  // Where a test runner or a package manager runs the program.
  [/^node\/run\/process-tree$/, 'node/process-tree'],
  [/^core\//, 'core/core'],
  [new RegExp(`^(${OF_FORMAT})/`), '$1/$1'],
  [/^node\/requests\/propagation-policy$/, 'node/propagation-policy'],
  // Before the first request of the program.
  [/^node\/requests\/stored-headers$/, 'node/stored-headers'],
  [/^node\/otel\/registering-copy$/, 'node/otel-registration'],
  [/^node\/otel\/(open-telemetry|yielding-api)$/, 'node/otel'],
  [/^node\/otel\/(served-parts|redirected-tracers)$/, 'node/otel-parts'],
  [/^node\/otel\//, 'node/instrumentations'],
  // What only counts requests needs no spans.
  [
    /^node\/(requests\/(?:trace-requests|server-requests|exchange|path-and-route)|run\/heph-trace)$/,
    'node/requests',
  ],
  [/^node\/requests\//, 'node/request-spans'],
  [
    /^node\/threads\/(cpu-profile|heap-profile|v8-profile|name-look-ups|shown-sleeps|uncaught-error)$/,
    'node/$1',
  ],
  // Where there is an ovni trace.
  [/^node\/threads\/(ovni-stream|requests-in-flight)$/, 'node/ovni-stream'],
  // Where the native core cannot note collections.
  [/^node\/threads\/collection-entries$/, 'node/collection-entries'],
  [
    /^node\/threads\/(activity-recorders|compiled-frames|pauses|sampled-spans)$/,
    'node/activity-recorders',
  ],
  // Each way of looking is loaded by the command that needs it.
  [/^look\/([\w-]+)\//, 'look/$1'],
  [/^export\//, 'export/export'],
  // For the command ship alone.
  [/^ship\//, 'ship/ship'],
  [/^rows\//, 'rows/rows'],
  [/^traces\//, 'traces/traces'],
  [/^cli\//, 'cli/commands'],
];

function matching(rules, module) {
  for (const [pattern, file] of rules) {
    const match = pattern.exec(module);
    if (match !== null) return file.replaceAll(/\$(\d)/g, (_, group) => match[group]);
  }
  return undefined;
}

/**
 * The file of dist/, without its suffix, that a module is built into. Each folder has one for what the
 * hook loads before the program runs.
 *
 * @param module path in src/ without its suffix, such as `ovni/write/emit`.
 */
export function fileOf(module) {
  const [folder] = module.split('/');
  const file =
    matching(exceptions, module) ??
    (atStart.has(module) ? `${folder}/start` : matching(folders, module));
  if (file === undefined) {
    throw new Error(`no file of the package holds src/${module}.ts: add a rule`);
  }
  return file;
}

/** Modules that tests, torture and fuzz runs use of the built package, next to what it exports. */
export const internals = [
  'core/addon',
  'core/errors',
  'core/files/make-directories',
  'ovni/layout',
  'ovni/read/dump',
  'ovni/read/view-trace',
  'ovni/write/rotation',
  'ovni/write/thread-start',
  'heph/layout',
  'heph/write/trace',
  'heph/read/dump',
  'heph/read/living-pass',
  'heph/read/packet-cursor',
  'dumpi/file-names',
  'dumpi/read/dump',
  'dumpi/read/view-trace',
  'laplace/read/dump',
  'laplace/read/view-trace',
  'look/index/open-look-index',
  'look/index/build/part-worker',
  'look/index/cache/stored-shape',
  'look/index/cache/stored-source',
  'look/index/serve/indexed-sources',
  'export/otlp/otlp-export',
  'export/otlp/otlp-json',
  'export/otlp/otlp-protobuf',
  'export/otlp/span-batches',
  'export/parquet/parquet-export',
  'export/perfetto/packet-writer',
  'export/picture/picture-export',
  'look/report/report',
  'node/threads/activity-recorders',
  'ship/checkpoint',
  'ship/metrics-text',
  'ship/shipper',
  'ship/span-metrics',
  'traces/check-found',
  'traces/find-traces',
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
